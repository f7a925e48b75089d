"""Where a Python class differs from the default that ``tools/python_estimators.py`` makes for every learner and task.

A learner without a line here gets a class named after it (``decision-stump`` -> ``DecisionStumpClassifier``) in the module of its family, with
all of its parameters as keywords. A line is needed only for a class that takes the name or the signature of a scikit-learn estimator, or that has
methods of its own. Everything here is data; the generator is in ``tools/python_estimators.py``.
"""

from typing import NamedTuple


class Class(NamedTuple):
    """How the class of a learner and task differs from the default."""

    learner: str
    task: str
    #: Its name, if it isn't the learner's name followed by Classifier, Regressor or Ranker.
    name: str = ""
    #: Parameters of the learner that don't apply to this class.
    hidden: tuple[str, ...] = ()
    #: Too simple for the scores that scikit-learn's checks require.
    poor_score: bool = False
    #: Takes ``random_state`` although the learner only draws random numbers with some settings.
    seeded: bool = False
    #: Defaults that differ from the learner's.
    defaults: tuple[tuple[str, float | str | None], ...] = ()
    #: The base class ("module.Class"), if it isn't the one for the task.
    base: str = ""
    #: Classes that add methods ("module.Class").
    mixins: tuple[str, ...] = ()
    #: Supports ``warm_start``.
    warm_start: bool = False
    #: Parameters that may be passed by position, as in scikit-learn.
    positional: tuple[str, ...] = ()
    #: Parameters of the scikit-learn estimator that are accepted without effect (see WITHOUT_EFFECT).
    without_effect: tuple[str, ...] = ()
    #: Parameters of the scikit-learn estimator that the class translates (see TRANSLATED).
    translated: tuple[str, ...] = ()
    #: Parameters that may also be functions (see CALLABLES).
    callables: tuple[str, ...] = ()


class Family(NamedTuple):
    """The Python module of a family of learners."""

    module: str
    title: str
    #: Functions and classes that the module exports beside its estimators: (module, names).
    exports: tuple[tuple[str, tuple[str, ...]], ...] = ()
    #: Names that the module forwards to scikit-learn: meta-estimators that work with any estimator.
    forwarded: tuple[str, ...] = ()


FAMILIES = {
    "auto": Family("auto", "The best model for a table, without choosing a learner."),
    "baseline": Family("dummy", "Predictors that ignore the features: the baseline that any other model must beat."),
    "calibration": Family("calibration", "Calibrated probabilities."),
    "ensemble": Family("ensemble", "Forests, boosting, bagging, stacking and voting."),
    "linear": Family("linear_model", "Linear models.", exports=(("_regularization_path", ("enet_path", "lasso_path")),)),
    "multiclass": Family("multiclass", "Multiclass classification by binary classifiers."),
    "multilabel": Family("multioutput", "Multilabel classification by classifiers.", forwarded=("MultiOutputRegressor", "RegressorChain")),
    "neighbors": Family("neighbors", "Nearest neighbors.", exports=(("_neighbors", ("NearestNeighbors",)),)),
    "ranking": Family("ranking", "Ranking of the rows within each query."),
    "support_vector": Family("svm", "Support vector machines.", exports=(("_svm", ("OneClassSVM", "StringKernel", "is_psd")),)),
    "tree": Family("tree", "Decision trees and stumps.", exports=(("_export", ("export_graphviz", "export_text", "plot_tree")),)),
}

#: Related learners, for the section "See Also" of the docstrings.
RELATED = {
    "decision-stump": ("decision-tree", "adaboost"), "decision-tree": ("random-forest", "optimal-tree", "c45"), "id3": ("c45", "decision-tree"), "c45": ("id3", "decision-tree"),
    "optimal-tree": ("decision-tree",), "oblique-tree": ("decision-tree",), "comparison-tree": ("comparison-forest", "nearest-neighbors"), "comparison-forest": ("comparison-tree",),
    "quad-tree": ("decision-tree",), "density-tree": ("decision-tree",), "random-forest": ("extra-trees", "gradient-boosting", "bagging"), "extra-trees": ("random-forest", "gradient-boosting"),
    "gradient-boosting": ("random-forest", "adaboost"), "adaboost": ("gradient-boosting", "decision-stump"), "bagging": ("random-forest",),
    "linear-regression": ("ridge", "lasso", "huber-regression"), "ridge": ("ridge-cv", "linear-regression", "lasso"), "ridge-cv": ("ridge", "lasso-cv"), "lasso": ("lasso-cv", "elastic-net"),
    "lasso-cv": ("lasso", "elastic-net-cv"), "elastic-net": ("elastic-net-cv", "lasso", "ridge"), "elastic-net-cv": ("elastic-net", "lasso-cv"),
    "huber-regression": ("least-absolute-deviations", "quantile-regression"), "least-absolute-deviations": ("quantile-regression", "huber-regression"),
    "quantile-regression": ("least-absolute-deviations", "gradient-boosting"), "logistic-regression": ("sgd", "linear-svc"), "halfspace": ("perceptron", "linear-svc"),
    "perceptron": ("halfspace", "sgd"), "sgd": ("gradient-descent", "logistic-regression"), "gradient-descent": ("sgd", "logistic-regression"),
    "svc": ("linear-svc", "logistic-regression"), "svr": ("linear-svr",), "linear-svc": ("svc", "logistic-regression"), "linear-svr": ("svr", "huber-regression"),
    "one-vs-rest": ("one-vs-one", "output-code"), "one-vs-one": ("one-vs-rest", "output-code"), "output-code": ("one-vs-rest", "one-vs-one"),
    "binary-relevance": ("classifier-chain", "label-powerset"), "classifier-chain": ("binary-relevance", "label-powerset"), "label-powerset": ("binary-relevance", "classifier-chain"),
    "rank-svm": ("gradient-boosting", "pairwise-ranking"), "pairwise-ranking": ("rank-svm", "omega-ranking"), "omega-ranking": ("pairwise-ranking",), "calibrated": ("logistic-regression",),
}

#: Learners whose estimator is written by hand, and why.
LEFT_OUT = {
    "one-class-svm": "it learns without a target: see OneClassSVM in ermine/_svm.py",
}

#: Parameters that concern voting among classes.
VOTES = ("tie", "tie_metric", "keep")
#: Parameters of boosting that belong to regression losses.
REGRESSION_LOSSES = ("quantile_alpha", "calibrate_quantiles", "huber_slope", "tweedie_variance_power", "aft_distribution", "aft_scale")
#: Parameters of boosting that belong to classification losses.
CLASSIFICATION_LOSSES = ("focal_gamma",)
#: Parameters of scikit-learn's gradient boosting.
SKLEARN_BOOSTING = (
    "max_features", "n_iter_no_change", "warm_start", "init", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease", "ccp_alpha", "tol",
)
#: Parameters of scikit-learn's coordinate descent.
SKLEARN_DESCENT = ("precompute", "copy_X", "warm_start", "random_state", "selection")

EXPLAINED = ("_ensemble.TreeExplanations",)
COMPARISONS = ("_comparison.ComparisonMethods",)
SEVERAL_TARGETS = ("_several_targets.SeveralTargetsByGini",)
AUTO = ("_auto.AutoWithFolds",)
METRIC = ("metric",)
NEIGHBORS = {"callables": ("metric", "weights"), "without_effect": ("leaf_size",), "translated": ("metric_params",)}

CLASSES = (
    Class(
        "baseline", "classification", "DummyClassifier", hidden=("quantile",), poor_score=True, seeded=True,
        defaults=(("strategy", "prior"), ("constant", None)), mixins=("_dummy.DummyClassifierMethods",),
    ),
    Class(
        "baseline", "regression", "DummyRegressor", poor_score=True, defaults=(("strategy", "mean"), ("constant", None)),
        mixins=("_dummy.DummyRegressorMethods",),
    ),
    Class("decision-stump", "classification", poor_score=True, mixins=EXPLAINED),
    Class("decision-stump", "regression", hidden=("criterion", "polarity"), poor_score=True, mixins=EXPLAINED),
    Class("decision-tree", "classification", defaults=(("criterion", "gini"), ("monotonic_cst", None),), seeded=True, mixins=(*EXPLAINED, *SEVERAL_TARGETS)),
    Class("decision-tree", "regression", defaults=(("criterion", "squared_error"), ("monotonic_cst", None),), hidden=("class_weight", "confidence_factor"), seeded=True, mixins=("_ensemble.RegressionTreeOptions", *EXPLAINED)),
    Class("id3", "classification", mixins=EXPLAINED),
    Class("optimal-tree", "classification", mixins=EXPLAINED),
    Class("density-tree", "classification", poor_score=True, mixins=("_density.DensityMethods",)),
    Class("comparison-tree", "classification", callables=METRIC, mixins=COMPARISONS),
    Class("comparison-tree", "regression", callables=METRIC, mixins=COMPARISONS),
    Class(
        "random-forest", "classification", defaults=(("criterion", "gini"), ("monotonic_cst", None), ("max_features", "sqrt"),), hidden=("quantiles",), warm_start=True, positional=("n_estimators",),
        mixins=("_ensemble.ForestMethods", *SEVERAL_TARGETS),
    ),
    Class(
        "random-forest", "regression", defaults=(("criterion", "squared_error"), ("monotonic_cst", None), ("max_features", 1.0),), hidden=("class_weight",), warm_start=True, positional=("n_estimators",),
        mixins=("_ensemble.RegressionForestMethods",),
    ),
    Class(
        "extra-trees", "classification", defaults=(("criterion", "gini"), ("monotonic_cst", None), ("max_features", "sqrt"),), hidden=("quantiles",), warm_start=True, positional=("n_estimators",),
        mixins=("_ensemble.ForestMethods", *SEVERAL_TARGETS),
    ),
    Class("extra-trees", "regression", defaults=(("criterion", "squared_error"), ("monotonic_cst", None), ("max_features", 1.0),), hidden=("class_weight",), warm_start=True, positional=("n_estimators",), mixins=("_ensemble.RegressionForestMethods",)),
    Class("comparison-forest", "classification", callables=METRIC, mixins=COMPARISONS),
    Class("comparison-forest", "regression", callables=METRIC, mixins=COMPARISONS),
    Class(
        "gradient-boosting", "classification", hidden=REGRESSION_LOSSES, defaults=(("n_estimators", "auto"),), base="_boosting.BoostingClassifier", without_effect=("criterion",),
        translated=SKLEARN_BOOSTING,
    ),
    Class(
        "gradient-boosting", "regression", hidden=CLASSIFICATION_LOSSES, defaults=(("n_estimators", "auto"),), base="_boosting.BoostingRegressor", without_effect=("criterion",),
        translated=("alpha", *SKLEARN_BOOSTING),
    ),
    Class("gradient-boosting", "ranking", hidden=(*REGRESSION_LOSSES, *CLASSIFICATION_LOSSES), defaults=(("n_estimators", "auto"),), base="_boosting.BoostingRanker"),
    Class(
        "adaboost", "classification", "AdaBoostClassifier", defaults=(("estimator", None),), hidden=("loss",), seeded=True, positional=("estimator",),
        mixins=("_ensemble.AdaBoostClassifierMethods",),
    ),
    Class(
        "adaboost", "regression", "AdaBoostRegressor", hidden=("algorithm", "criterion", "max_categories"), seeded=True, positional=("estimator",),
        defaults=(("estimator", None),),
        mixins=("_ensemble.AdaBoostRegressorMethods",),
    ),
    Class("linear-regression", "regression", "LinearRegression", without_effect=("copy_X", "tol"), translated=("positive",), mixins=("_linear.PositiveCoefficients",)),
    Class(
        "ridge", "regression", "Ridge", positional=("alpha",), without_effect=("copy_X", "max_iter", "tol", "solver", "random_state"),
        translated=("positive",), mixins=("_linear.ClosedFormMethods",),
    ),
    Class(
        "ridge-cv", "regression", "RidgeCV", positional=("alphas",), without_effect=("gcv_mode",),
        translated=("cv", "scoring", "store_cv_results", "alpha_per_target"), mixins=("_cross_validated.RidgeCVMethods",),
    ),
    Class("lasso", "regression", "Lasso", positional=("alpha",), without_effect=SKLEARN_DESCENT, translated=("positive",), mixins=("_linear.CoordinateDescentMethods",)),
    Class("lasso-cv", "regression", "LassoCV", defaults=(("alphas", 100), ("cv", None),), without_effect=("precompute", "copy_X", "selection"), translated=("positive",), mixins=("_cross_validated.CoordinateDescentCVMethods",)),
    Class("elastic-net", "regression", "ElasticNet", positional=("alpha",), without_effect=SKLEARN_DESCENT, translated=("positive",), mixins=("_linear.CoordinateDescentMethods",)),
    Class("elastic-net-cv", "regression", "ElasticNetCV", defaults=(("alphas", 100), ("cv", None), ("l1_ratio", 0.5),), without_effect=("precompute", "copy_X", "selection"), translated=("positive",), mixins=("_cross_validated.CoordinateDescentCVMethods",)),
    Class(
        "logistic-regression", "classification", "LogisticRegression", base="_estimator.LogOddsClassifier", positional=("penalty",),
        without_effect=("solver", "dual", "intercept_scaling", "warm_start", "random_state"), translated=("penalty",),
        mixins=("_linear.LogisticPenalty",),
    ),
    Class("least-absolute-deviations", "regression", "LADRegressor"),
    Class("quantile-regression", "regression", "QuantileRegressor", without_effect=("solver", "solver_options")),
    Class("huber-regression", "regression", "HuberRegressor", without_effect=("warm_start",), mixins=("_linear.HuberMethods",)),
    Class("halfspace", "classification", "HalfspaceLP"),
    Class(
        "perceptron", "classification", "Perceptron", without_effect=("eta0", "tol", "alpha", "l1_ratio", "validation_fraction"),
        translated=("penalty", "early_stopping", "warm_start"), mixins=("_linear.PerceptronMethods",),
    ),
    Class(
        "sgd", "classification", "SGDClassifier", defaults=(("loss", "hinge"), ("learning_rate", "optimal"), ("power_t", 0.5),), hidden=("quantile",), base="_linear.SGDClassifierMethods", positional=("loss",),
        translated=("warm_start",), mixins=("_linear.SGDMethods", "_streaming.PartialFitMethods"),
    ),
    Class(
        "sgd", "regression", "SGDRegressor", defaults=(("loss", "squared_error"), ("learning_rate", "invscaling"),), hidden=("class_weight",), positional=("loss",), translated=("warm_start",),
        mixins=("_linear.SGDMethods", "_linear.InterceptInArray", "_streaming.PartialFitMethods"),
    ),
    Class("gradient-descent", "classification", hidden=("quantile",)),
    Class("gradient-descent", "regression", hidden=("class_weight",)),
    Class(
        "calibrated", "classification", "CalibratedClassifierCV", defaults=(("estimator", None), ("cv", None),), positional=("estimator",), translated=("ensemble",),
        mixins=("_cross_validated.CalibratedMethods",),
    ),
    Class("one-vs-rest", "classification", base="_reduction.MulticlassReduction", positional=("estimator",)),
    Class("one-vs-one", "classification", base="_reduction.MulticlassReduction", positional=("estimator",)),
    Class("output-code", "classification", base="_reduction.MulticlassReduction", positional=("estimator",)),
    Class(
        "nearest-neighbors", "classification", "KNeighborsClassifier", hidden=("radius",), positional=("n_neighbors",),
        mixins=("_neighbors.NeighborClassifierMethods",), **NEIGHBORS,
    ),
    Class(
        "nearest-neighbors", "regression", "KNeighborsRegressor", hidden=("radius", *VOTES), positional=("n_neighbors",),
        mixins=("_neighbors.NeighborMethods",), **NEIGHBORS,
    ),
    Class(
        "nearest-neighbors", "classification", "RadiusNeighborsClassifier", hidden=("n_neighbors", "max_neighbors"), defaults=(("radius", 1.0),),
        positional=("radius",), mixins=("_neighbors.NeighborClassifierMethods",), **NEIGHBORS | {"translated": ("metric_params", "outlier_label")},
    ),
    Class(
        "nearest-neighbors", "regression", "RadiusNeighborsRegressor", hidden=("n_neighbors", "max_neighbors", *VOTES),
        defaults=(("radius", 1.0),), positional=("radius",), mixins=("_neighbors.NeighborMethods",), **NEIGHBORS,
    ),
    Class("svc", "classification", "SVC", defaults=(("cache_size", 200), ("max_iter", -1),), base="_svm.KernelClassifier", without_effect=("shrinking", "random_state"), callables=("kernel",)),
    Class("svr", "regression", "SVR", defaults=(("cache_size", 200), ("max_iter", -1),), base="_svm.KernelRegressor", without_effect=("shrinking",), callables=("kernel",)),
    Class("linear-svc", "classification", "LinearSVC", positional=("penalty", "loss"), translated=("multi_class",), mixins=("_linear.Coefficients",)),
    Class("linear-svr", "regression", "LinearSVR", mixins=("_linear.InterceptInArray",)),
    Class("binary-relevance", "multilabel", "MultiOutputClassifier", base="_multilabel.BinaryRelevance", positional=("estimator",)),
    Class(
        "classifier-chain", "multilabel", "ClassifierChain", base="_multilabel.ChainClassifier", positional=("estimator",), translated=("cv", "chain_method"),
        defaults=(("order", None),),
    ),
    Class("label-powerset", "multilabel", base="_multilabel.ProbabilisticLabelClassifier", positional=("estimator",)),
    Class("rank-svm", "ranking", "RankSVM", base="_ranking.Ranker"),
    Class("rank-svm", "classification", "BipartiteRanker", hidden=("pair_weight",)),
    Class("pairwise-ranking", "ranking", "PairwiseRanker", base="_ranking.Ranker", positional=("estimator",)),
    Class("omega-ranking", "ranking", "OmegaRanker", base="_ranking.CostRanker", positional=("estimator",)),
    Class(
        "bagging", "classification", defaults=(("estimator", None), ("max_samples", None),), base="_reduction.MetaClassifier", warm_start=True, positional=("estimator", "n_estimators"),
        mixins=("_ensemble.BaggingMethods",),
    ),
    Class(
        "stacking", "classification", positional=("estimators", "final_estimator"), defaults=(("cv", None),), base="_reduction.MetaClassifier",
        mixins=("_stacked.StackingClassifierMethods",),
    ),
    Class("stacking", "regression", hidden=("stack_method",), positional=("estimators", "final_estimator"), defaults=(("cv", None),), mixins=("_stacked.StackingMethods",)),
    Class(
        "voting", "classification", positional=("estimators",), defaults=(("voting", "hard"), ("weights", None)), base="_reduction.MetaClassifier",
        translated=("flatten_transform",), mixins=("_stacked.VotingClassifierMethods",),
    ),
    Class("voting", "regression", hidden=("voting",), positional=("estimators",), defaults=(("weights", None),), mixins=("_stacked.VotingMethods",)),
    Class("auto", "classification", mixins=AUTO),
    Class("auto", "regression", mixins=AUTO),
    Class("auto", "ranking", base="_ranking.Ranker", mixins=("_auto.AutoMethods",)),
    Class("auto", "multilabel", "AutoMultilabelClassifier", base="_multilabel.ProbabilisticLabelClassifier", mixins=AUTO),
    Class("bagging", "regression", defaults=(("estimator", None), ("max_samples", None),), warm_start=True, positional=("estimator", "n_estimators"), mixins=("_ensemble.BaggingMethods",)),
)

#: Parameters that have another form in Python than in Rust and on the command line: type hint, type for the documentation, documentation.
PYTHON_FORM = {
    "class_weight": (
        "Mapping[Any, float] | Literal[\"balanced\"] | None", "dict, 'balanced' or None",
        "Weights of the classes: {class: weight}, 1 for a class that is not listed; 'balanced' for n_samples / (n_classes * number of rows of "
        "the class).",
    ),
    "estimator": (
        "Any", "str or estimator",
        "The base estimator. An estimator of this package (or the name of a learner with its parameters in parentheses, such as "
        "'decision-tree(max_depth=3)') is fitted in the core, with random_state, n_jobs and verbose of this estimator. Any other estimator, such as a "
        "pipeline, is fitted by scikit-learn's class of the same name; the model can then be pickled, but not saved.",
    ),
    "estimators": (
        "Any", "list of (str, estimator) tuples",
        "The estimators with their names. Estimators of this package (or names of learners with their parameters in parentheses) are fitted in the core, with random_state, "
        "n_jobs and verbose of this estimator. With any other estimator among them, or 'drop', scikit-learn's class of the same name fits them all; the model can then be "
        "pickled, but not saved.",
    ),
    "final_estimator": (
        "Any", "str, estimator or None",
        "The estimator that combines the predictions of the others. None for logistic regression (classes) or ridge regression with a cross-validated penalty (numbers).",
    ),
    "omega": (
        "Any", "str, callable or array-like of shape (n_places, n_places)",
        "Cost of confusing two ranks: 'all-pairs', 'top-K' (such as 'top-10'), 'dcg', a matrix of costs, or a function of two ranks, which "
        "count from 1. Costs must be symmetric, must not decrease with the distance, and must satisfy the triangle inequality.",
    ),
    "cv": (
        "Any", "int, splitter or iterable",
        "Number of folds, cut in row order as in scikit-learn; or a scikit-learn splitter or an iterable of pairs of row indices in which each "
        "row is tested exactly once.",
    ),
    "monotone_constraints": (
        "Mapping[str, int] | Sequence[int]", "dict or list of int",
        "Features in which the prediction must not decrease (1) or must not increase (-1): {feature: direction}, with no constraint for "
        "features that are not listed; or a direction (1, 0 or -1) for each feature. Empty for no constraints.",
    ),
    "interaction_constraints": (
        "Sequence[Sequence[int | str]]", "list of lists of int or str",
        "Groups of features (by index or by name) that may occur together on a path from the root of a tree to a leaf; a feature in no group "
        "interacts with none. Empty for no constraints.",
    ),
    "constant": ("Any", "str, int, float, array-like or None", "The constant for ``strategy=\"constant\"``: a class, or a number for each target."),
    "covariance": (
        "Any", "array-like of shape (n_features, n_features) or None",
        "Covariance for the mahalanobis metric (of the encoded columns); estimated from the training rows if None.",
    ),
}

#: The documentation of ``estimator`` where scikit-learn has no class of the name, so that only estimators of this package are taken.
OWN_ESTIMATOR = (
    "The base estimator: another estimator of this package, or the name of a learner with its parameters in parentheses, such as "
    "'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of this estimator."
)

#: Parameters that may be functions: the type of the function and what it computes.
CALLABLES = {
    "metric": ("Callable[[np.ndarray, np.ndarray], float]", "A function returns the distance between two rows of numbers; it must be symmetric and nonnegative."),
    "weights": ("Callable[[np.ndarray], np.ndarray]", "A function returns the weights of neighbors at the given distances."),
    "kernel": ("Callable[[np.ndarray, np.ndarray], np.ndarray]", "A function returns the matrix of kernel values between the rows of two arrays."),
}

#: Parameters of scikit-learn estimators that are accepted without effect: type hint, default, type for the documentation, why they have no effect.
WITHOUT_EFFECT = {
    "copy_X": ("bool", "True", "bool", "X is never modified."),
    "tol": ("float | None", "1e-6", "float or None", "the solution is exact up to rounding."),
    "max_iter": ("int | None", "None", "int or None", "the solution is exact."),
    "solver": ("str", None, "str", "the solver is chosen automatically."),
    "solver_options": ("Mapping[str, Any] | None", "None", "dict or None", "the solver is chosen automatically."),
    "gcv_mode": ("str | None", "None", "str or None", "the solver is chosen automatically."),
    "precompute": ("Any", "False", "bool or 'auto'", "what to precompute is chosen automatically."),
    "warm_start": ("bool", "False", "bool", "the solution does not depend on the starting point."),
    "random_state": ("int | np.random.RandomState | None", "None", "int, RandomState instance or None", "the fit is deterministic."),
    "selection": ("Literal[\"cyclic\", \"random\"]", "\"cyclic\"", "{'cyclic', 'random'}", "the order of the coordinates is chosen automatically."),
    "dual": ("bool", "False", "bool", "the solution is the same."),
    "intercept_scaling": ("float", "1.0", "float", "the intercept is never penalized."),
    "eta0": ("float", "1.0", "float", "it scales all coefficients equally."),
    "alpha": ("float", "0.0001", "float", "there is no penalty."),
    "l1_ratio": ("float", "0.15", "float", "there is no penalty."),
    "validation_fraction": ("float", "0.1", "float", "no rows are held out."),
    "criterion": ("str", "\"friedman_mse\"", "str", "splits are scored by gradients and Hessians."),
    "leaf_size": ("int", "30", "int", "the index chooses its own leaf size."),
    "shrinking": ("bool", "True", "bool", "shrinking is always used, and the solution is the same."),
}

#: The defaults of ``solver`` in scikit-learn.
SOLVERS = {"Ridge": '"auto"', "LogisticRegression": '"lbfgs"', "QuantileRegressor": '"highs"'}

#: Parameters of scikit-learn estimators that the class translates: type hint, default, type for the documentation, documentation.
_SKLEARN_WARM_START = ("bool", "False", "bool", "Whether the next fit starts from this one, by scikit-learn's class of the same name; ``partial_fit`` continues here.")
_METRIC_PARAMS = {
    "metric_params": ("Mapping[str, Any] | None", "None", "dict or None", "Parameters of the metric: 'p' for minkowski, or 'VI' for mahalanobis, the inverse of ``covariance``."),
}
_BY_SKLEARN = "Other values than the default are fitted by scikit-learn's class of the same name."
_BOOSTING = {
    "alpha": ("float | None", "None", "float or None", "The quantile of ``loss=\"quantile\"``, same as ``quantile_alpha``; ignored by other losses."),
    "max_features": (
        "int | float | str | None", "None", "int, float, 'sqrt', 'log2' or None",
        "Number of features considered at each split; ``colsample_bynode`` is the same as a fraction.",
    ),
    "n_iter_no_change": ("int | None", "None", "int or None", "Same as ``early_stopping_rounds``."),
    "init": ("Any", "None", "estimator, 'zero' or None", f"The model that boosting starts from. {_BY_SKLEARN}"),
    "min_samples_split": ("int | float", "2", "int or float", f"Minimum number of rows a node needs to be split. {_BY_SKLEARN}"),
    "min_samples_leaf": ("int | float", "1", "int or float", f"Minimum number of rows in a leaf; ``min_child_weight`` limits the sum of Hessians. {_BY_SKLEARN}"),
    "min_weight_fraction_leaf": ("float", "0.0", "float", f"Minimum fraction of the sample weights in a leaf. {_BY_SKLEARN}"),
    "min_impurity_decrease": ("float", "0.0", "float", f"Minimum decrease of the impurity by a split; ``gamma`` limits the gain. {_BY_SKLEARN}"),
    "ccp_alpha": ("float", "0.0", "float", f"Complexity parameter of cost-complexity pruning. {_BY_SKLEARN}"),
    "tol": ("float", "0.0001", "float", f"Minimum improvement in ``n_iter_no_change`` rounds. {_BY_SKLEARN}"),
    "warm_start": ("bool", "False", "bool", "If true, fitting again keeps the existing rounds and adds more, up to ``n_estimators``."),
}
_POSITIVE = {"positive": ("bool", "False", "bool", "Whether coefficients must not be negative; scikit-learn's class of the same name fits such models.")}
TRANSLATED = {
    **{name: _POSITIVE for name in ("LinearRegression", "Ridge", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV")},
    "LogisticRegression": {
        "penalty": (
            "str | None", "\"deprecated\"", "{'l1', 'l2', 'elasticnet', None}",
            "As in earlier versions of scikit-learn: 'l1' is ``l1_ratio=1``, 'l2' is ``l1_ratio=0``, None is ``C=inf``. By default ``l1_ratio`` and ``C`` decide.",
        ),
    },
    "Perceptron": {
        "penalty": ("None", "None", "None", "Not supported: use SGDClassifier for penalties."),
        "early_stopping": ("bool", "False", "bool", "Not supported: use SGDClassifier for early stopping."),
        "warm_start": ("bool", "False", "bool", "Not supported: use ``partial_fit`` of SGDClassifier to continue."),
    },
    "SGDClassifier": {"warm_start": _SKLEARN_WARM_START},
    "SGDRegressor": {"warm_start": _SKLEARN_WARM_START},
    "RidgeCV": {
        "cv": (
            "Any", "None", "None, int, splitter or iterable",
            "None for exact leave-one-out cross-validation at the cost of one fit; otherwise as in GridSearchCV over Ridge.",
        ),
        "scoring": ("str | Callable[..., float] | None", "None", "str, callable or None", "The score on the folds or, without ``cv``, of the leave-one-out predictions, by scikit-learn's class of the same name. None for the leave-one-out squared error."),
        "store_cv_results": ("bool", "False", "bool", "Whether the errors of single rows are kept, by scikit-learn's class of the same name. ``cv_errors_`` has the mean errors in any case."),
        "alpha_per_target": ("bool", "False", "bool", "Whether each target has its own alpha, without ``cv``, by scikit-learn's class of the same name."),
    },
    "CalibratedClassifierCV": {
        "ensemble": (
            "bool | Literal[\"auto\"]", "\"auto\"", "bool or 'auto'",
            "If False, one model of all rows is calibrated on out-of-fold predictions. If True, scikit-learn fits and calibrates one model per fold. 'auto' is False for "
            "estimators of this package, and True for others.",
        ),
    },
    "VotingClassifier": {
        "flatten_transform": ("bool", "True", "bool", "Whether ``transform`` puts the probabilities of all estimators beside each other; otherwise they are stacked along a new axis."),
    },
    "ClassifierChain": {
        "cv": ("Any", "None", "int, splitter, iterable or None", "If given, each estimator is trained on out-of-fold predictions of the earlier labels, by scikit-learn; by default on the true labels."),
        "chain_method": (
            "str | Sequence[str]", "\"predict\"", "{'predict', 'predict_proba', 'predict_log_proba', 'decision_function'} or list of them",
            "Output of the earlier estimators that the next ones use as features; methods other than 'predict' are fitted by scikit-learn.",
        ),
    },
    "LinearSVC": {"multi_class": ("Literal[\"ovr\"]", "\"ovr\"", "{'ovr'}", "More than two classes are handled one-vs-rest.")},
    "KNeighborsClassifier": _METRIC_PARAMS,
    "KNeighborsRegressor": _METRIC_PARAMS,
    "RadiusNeighborsClassifier": _METRIC_PARAMS | {
        "outlier_label": (
            "Any", "None", "label, 'most_frequent' or None",
            "The class of rows without neighbors, fitted by scikit-learn. None for the most frequent class.",
        ),
    },
    "RadiusNeighborsRegressor": _METRIC_PARAMS,
    "GradientBoostingClassifier": _BOOSTING,
    "GradientBoostingRegressor": _BOOSTING,
}

#: Values that a parameter may have in this class, if the learner has others for other tasks; and its documentation, if that differs too.
CHOICES = {
    ("GradientBoostingClassifier", "loss"): (("auto", "log_loss", "focal"), None),
    ("GradientBoostingRegressor", "loss"): (("auto", "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie", "aft", "cox"), None),
    ("GradientBoostingRanker", "loss"): (("auto", "lambdarank", "pairwise"), None),
    ("DummyClassifier", "strategy"): (
        ("prior", "most_frequent", "stratified", "uniform", "constant"),
        "What to predict: the class frequencies, with the most frequent class as prediction ('prior'); the most frequent class with probability 1; "
        "classes drawn by frequency ('stratified') or uniformly ('uniform'); the ``constant``.",
    ),
    ("DummyRegressor", "strategy"): (("mean", "median", "quantile", "constant"), "What to predict: the mean, the median, a quantile or a constant."),
}

#: Parameters that are not the learner's: name, type hint, default, type for the documentation, documentation.
RANDOM_STATE = (
    "random_state", "int | np.random.RandomState | None", "None", "int, RandomState instance or None",
    "Random seed; the same seed gives the same model.",
)
WARM_START = (
    "warm_start", "bool", "False", "bool",
    "If true, fitting again keeps the existing members and adds more, up to ``n_estimators``; random_state keeps its first value.",
)
PROBABILITY = (
    "probability", "bool", "False", "bool",
    "Enables ``predict_proba``: five more models are fitted, each on four fifths of the rows, and a sigmoid is fitted to the decision values of the "
    "held-out rows (Platt scaling). CalibratedClassifierCV has more options.",
)
COMMON = (
    (
        "n_jobs", "int | None", "None", "int",
        "Number of threads: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one. The model does not depend on it.",
    ),
    ("verbose", "int", "0", "int", "If not 0, long fits show a progress bar."),
)
