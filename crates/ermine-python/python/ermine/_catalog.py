"""The one list of estimators: which class stands for which learner of the registry.

All else follows from it and from the parameters that each learner declares in Rust: ``tools/python_estimators.py`` writes the modules
``ermine.tree`` and so on, with signatures, type hints and documentation.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """An estimator class."""

    module: str
    name: str
    learner: str
    task: str
    #: Parameters of the learner that have no meaning for this class.
    hidden: tuple[str, ...] = ()
    #: Too simple for the scores that scikit-learn's checks ask for, as its twin there would be.
    poor_score: bool = False
    #: Takes ``random_state`` though the learner draws nothing unless a parameter makes it.
    seeded: bool = False
    #: One tree, which has a depth and a number of leaves.
    tree: bool = False
    #: Goes on learning from rows that come in pieces.
    stream: bool = False
    #: Probabilities made of log odds, which it can tell.
    log_odds: bool = False
    #: Tells neighbours, and takes functions for a metric and for weights.
    neighbors: bool = False
    #: Takes a function for a kernel.
    kernels: bool = False
    #: Defaults that differ from the learner's.
    defaults: tuple[tuple[str, float | str | None], ...] = ()
    #: Another base class than the task's, and where it lives.
    base: tuple[str, str] | None = None
    #: What it can tell because it is made of many: a class of ``_ensemble``.
    many: str = ""
    #: Can go on from what it has learned before (``warm_start``).
    goes_on: bool = False
    #: Parameters that may be given by position, as in scikit-learn.
    positional: tuple[str, ...] = ()
    #: Parameters of scikit-learn's twin that say how it is to compute, not what: taken, so that programs run as they are, and without effect here.
    without_effect: tuple[str, ...] = ()
    #: Parameters of scikit-learn's twin that its class says in the learner's own words.
    said_otherwise: tuple[str, ...] = ()
    #: What else it can tell: another class, and where it lives.
    tells: tuple[str, str] | None = None


#: Parameters of nearest neighbours that are about classes.
VOTES = ("tie", "tie_metric", "keep")

#: Parameters of boosting that belong to losses of numbers.
OF_NUMBERS = ("quantile_alpha", "huber_slope", "tweedie_variance_power")

#: Words of scikit-learn's gradient boosting.
BOOSTED = ("max_features", "n_iter_no_change", "warm_start")

#: How scikit-learn's coordinate descent may go about it.
OF_DESCENT = ("precompute", "copy_X", "warm_start", "random_state", "selection")
OVER = ("_reduction", "CodedClassifier")

CATALOG: tuple[Entry, ...] = (
    Entry(
        "dummy", "DummyClassifier", "baseline", "classification", hidden=("quantile",), poor_score=True, seeded=True, defaults=(("strategy", "prior"), ("constant", None)), tells=("_dummy", "Prior"),
    ),
    Entry("dummy", "DummyRegressor", "baseline", "regression", poor_score=True, defaults=(("strategy", "mean"), ("constant", None)), tells=("_dummy", "Constant")),
    Entry("tree", "DecisionStumpClassifier", "decision-stump", "classification", poor_score=True, many="Explained"),
    Entry("tree", "DecisionStumpRegressor", "decision-stump", "regression", hidden=("criterion", "polarity"), poor_score=True, many="Explained"),
    Entry("tree", "DecisionTreeClassifier", "decision-tree", "classification", seeded=True, tree=True, many="Explained"),
    Entry("tree", "DecisionTreeRegressor", "decision-tree", "regression", hidden=("class_weight", "confidence_factor"), seeded=True, tree=True, many="Explained"),
    Entry("tree", "Id3Classifier", "id3", "classification", tree=True, many="Explained"),
    Entry("tree", "C45Classifier", "c45", "classification", tree=True),
    Entry("tree", "OptimalTreeClassifier", "optimal-tree", "classification", tree=True, many="Explained"),
    Entry("tree", "ObliqueTreeClassifier", "oblique-tree", "classification", tree=True),
    Entry("tree", "ObliqueTreeRegressor", "oblique-tree", "regression", tree=True),
    Entry("tree", "DensityTreeClassifier", "density-tree", "classification", poor_score=True, tells=("_density", "Densities")),
    Entry("tree", "QuadTreeClassifier", "quad-tree", "classification", tree=True),
    Entry("tree", "QuadTreeRegressor", "quad-tree", "regression", tree=True),
    Entry("tree", "ComparisonTreeClassifier", "comparison-tree", "classification", tree=True, tells=("_comparison", "Comparisons")),
    Entry("tree", "ComparisonTreeRegressor", "comparison-tree", "regression", tree=True, tells=("_comparison", "Comparisons")),
    Entry("ensemble", "RandomForestClassifier", "random-forest", "classification", hidden=("quantiles",), many="Forest", goes_on=True, positional=("n_estimators",)),
    Entry("ensemble", "RandomForestRegressor", "random-forest", "regression", hidden=("class_weight",), many="QuantileForest", goes_on=True, positional=("n_estimators",)),
    Entry("ensemble", "ExtraTreesClassifier", "extra-trees", "classification", hidden=("quantiles",), many="Forest", goes_on=True, positional=("n_estimators",)),
    Entry("ensemble", "ExtraTreesRegressor", "extra-trees", "regression", hidden=("class_weight",), many="QuantileForest", goes_on=True, positional=("n_estimators",)),
    Entry("ensemble", "ComparisonForestClassifier", "comparison-forest", "classification", tells=("_comparison", "Comparisons")),
    Entry("ensemble", "ComparisonForestRegressor", "comparison-forest", "regression", tells=("_comparison", "Comparisons")),
    Entry(
        "ensemble", "GradientBoostingClassifier", "gradient-boosting", "classification", hidden=OF_NUMBERS, without_effect=("criterion",), said_otherwise=BOOSTED,
        base=("_boosting", "BoostingClassifier"),
    ),
    Entry(
        "ensemble", "GradientBoostingRegressor", "gradient-boosting", "regression", without_effect=("criterion",), said_otherwise=("alpha", *BOOSTED), base=("_boosting", "BoostingRegressor"),
    ),
    Entry("ensemble", "GradientBoostingRanker", "gradient-boosting", "ranking", hidden=OF_NUMBERS, base=("_boosting", "BoostingRanker")),
    Entry("ensemble", "AdaBoostClassifier", "adaboost", "classification", hidden=("loss",), seeded=True, many="BoostedClasses", positional=("estimator",)),
    Entry(
        "ensemble", "AdaBoostRegressor", "adaboost", "regression",
        hidden=("algorithm", "criterion", "max_categories"), seeded=True, many="BoostedNumbers", positional=("estimator",),
    ),
    Entry("linear_model", "LinearRegression", "linear-regression", "regression", without_effect=("copy_X", "tol")),
    Entry("linear_model", "Ridge", "ridge", "regression", positional=("alpha",), without_effect=("copy_X", "max_iter", "tol", "solver", "random_state"), tells=("_linear", "Direct")),
    Entry(
        "linear_model", "RidgeCV", "ridge-cv", "regression", positional=("alphas",), without_effect=("gcv_mode",),
        said_otherwise=("cv", "scoring", "store_cv_results", "alpha_per_target"), tells=("_folds", "LeaveOneOut"),
    ),
    Entry("linear_model", "Lasso", "lasso", "regression", positional=("alpha",), without_effect=OF_DESCENT, tells=("_linear", "Penalised")),
    Entry("linear_model", "LassoCV", "lasso-cv", "regression", without_effect=("precompute", "copy_X", "selection"), tells=("_folds", "PenalisedCV")),
    Entry("linear_model", "ElasticNet", "elastic-net", "regression", positional=("alpha",), without_effect=OF_DESCENT, tells=("_linear", "Penalised")),
    Entry("linear_model", "ElasticNetCV", "elastic-net-cv", "regression", without_effect=("precompute", "copy_X", "selection"), tells=("_folds", "PenalisedCV")),
    Entry(
        "linear_model", "LogisticRegression", "logistic-regression", "classification", log_odds=True, positional=("penalty",), without_effect=("solver", "dual", "intercept_scaling", "warm_start", "random_state"),
        said_otherwise=("penalty",), tells=("_linear", "PenaltyByName"),
    ),
    Entry("linear_model", "LADRegressor", "least-absolute-deviations", "regression"),
    Entry("linear_model", "QuantileRegressor", "quantile-regression", "regression", without_effect=("solver", "solver_options")),
    Entry("linear_model", "HuberRegressor", "huber-regression", "regression", without_effect=("warm_start",), tells=("_linear", "Robust")),
    Entry("linear_model", "HalfspaceLP", "halfspace", "classification"),
    Entry(
        "linear_model", "Perceptron", "perceptron", "classification", without_effect=("eta0", "tol", "alpha", "l1_ratio", "validation_fraction"),
        said_otherwise=("penalty", "early_stopping", "warm_start"), tells=("_linear", "Unpenalised"),
    ),
    Entry("linear_model", "SGDClassifier", "sgd", "classification", hidden=("quantile",), stream=True, positional=("loss",), said_otherwise=("warm_start",), base=("_linear", "OddsIfLogistic")),
    Entry("linear_model", "SGDRegressor", "sgd", "regression", hidden=("class_weight",), stream=True, positional=("loss",), said_otherwise=("warm_start",), tells=("_linear", "InterceptInArray")),
    Entry("linear_model", "GradientDescentClassifier", "gradient-descent", "classification", hidden=("quantile",)),
    Entry("linear_model", "GradientDescentRegressor", "gradient-descent", "regression", hidden=("class_weight",)),
    Entry("calibration", "CalibratedClassifierCV", "calibrated", "classification", positional=("estimator",), said_otherwise=("ensemble",), tells=("_folds", "Calibrated")),
    Entry("multiclass", "OneVsRestClassifier", "one-vs-rest", "classification", positional=("estimator",), base=OVER),
    Entry("multiclass", "OneVsOneClassifier", "one-vs-one", "classification", positional=("estimator",), base=OVER),
    Entry("multiclass", "OutputCodeClassifier", "output-code", "classification", positional=("estimator",), base=OVER),
    Entry("neighbors", "KNeighborsClassifier", "nearest-neighbors", "classification", hidden=("radius",), neighbors=True, positional=("n_neighbors",), without_effect=("leaf_size",), said_otherwise=("metric_params",)),
    Entry("neighbors", "KNeighborsRegressor", "nearest-neighbors", "regression", hidden=("radius", *VOTES), neighbors=True, positional=("n_neighbors",), without_effect=("leaf_size",), said_otherwise=("metric_params",)),
    Entry(
        "neighbors", "RadiusNeighborsClassifier", "nearest-neighbors", "classification",
        hidden=("n_neighbors", "max_neighbors"), neighbors=True, defaults=(("radius", 1.0),), positional=("radius",), without_effect=("leaf_size",), said_otherwise=("metric_params",),
    ),
    Entry(
        "neighbors", "RadiusNeighborsRegressor", "nearest-neighbors", "regression",
        hidden=("n_neighbors", "max_neighbors", *VOTES), neighbors=True, defaults=(("radius", 1.0),), positional=("radius",), without_effect=("leaf_size",), said_otherwise=("metric_params",),
    ),
    Entry("svm", "SVC", "svc", "classification", base=("_svm", "KernelClassifier"), kernels=True, without_effect=("shrinking", "random_state")),
    Entry("svm", "SVR", "svr", "regression", base=("_svm", "KernelRegressor"), kernels=True, without_effect=("shrinking",)),
    Entry("svm", "LinearSVC", "linear-svc", "classification", positional=("penalty", "loss"), said_otherwise=("multi_class",), tells=("_linear", "Coefficients")),
    Entry("svm", "LinearSVR", "linear-svr", "regression", tells=("_linear", "InterceptInArray")),
    Entry("multioutput", "MultiOutputClassifier", "binary-relevance", "multilabel", base=("_labels", "LabelByLabelClassifier"), positional=("estimator",)),
    Entry("multioutput", "ClassifierChain", "classifier-chain", "multilabel", base=("_labels", "ChainClassifier"), positional=("estimator",)),
    Entry("multioutput", "LabelPowersetClassifier", "label-powerset", "multilabel", base=("_labels", "ProbabilisticLabelClassifier"), positional=("estimator",)),
    Entry("ranking", "RankSVM", "rank-svm", "ranking", base=("_ranking", "Ranker")),
    Entry("ranking", "BipartiteRanker", "rank-svm", "classification", hidden=("pair_weight",)),
    Entry("ranking", "PairwiseRanker", "pairwise-ranking", "ranking", base=("_ranking", "Ranker"), positional=("estimator",)),
    Entry("ranking", "OmegaRanker", "omega-ranking", "ranking", base=("_ranking", "CostRanker"), positional=("estimator",)),
    Entry("ensemble", "BaggingClassifier", "bagging", "classification", many="Bag", goes_on=True, positional=("estimator", "n_estimators"), base=("_reduction", "OverClassifier")),
    Entry("ensemble", "BaggingRegressor", "bagging", "regression", many="Bag", goes_on=True, positional=("estimator", "n_estimators")),
)

#: Learners without an estimator, and why.
LEFT_OUT: dict[str, str] = {
    "one-class-svm": "it learns without a target: ermine.svm.OneClassSVM is written by hand",
}

#: Tasks of learners that have estimators for others, and why.
TASKS_LEFT_OUT: dict[tuple[str, str], str] = {}

#: Modules that hold something else than estimators of learners.
BESIDES = ("metrics", "model_selection")

MODULES: tuple[str, ...] = tuple(sorted({entry.module for entry in CATALOG} | set(BESIDES)))


def find(name: str | None, learner: str, task: str) -> Entry:
    """The estimator for a model file: by its name, or else the first one for its learner and task."""
    # By its name whatever the task: a classifier of several targets learns numbers.
    named = [entry for entry in CATALOG if entry.learner == learner and entry.name == name]
    fitting = named or [entry for entry in CATALOG if (entry.learner, entry.task) == (learner, task)]
    if not fitting:
        raise ValueError(f"no estimator stands for a model of {learner} for {task}")
    return fitting[0]
