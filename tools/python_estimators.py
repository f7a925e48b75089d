#!/usr/bin/env python3
"""Writes the estimator modules of the Python package (ermine/tree.py, ...) from the registry's declared parameters.

    python tools/python_estimators.py            write them
    python tools/python_estimators.py --check    say which are out of date; exit code 1 if any is

Needs the installed package. The classes and where they live stand in ermine/_catalog.py; names, defaults, types and documentation of their
parameters come from Rust.
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from ermine import _data, _ranking, _target
from ermine._catalog import BESIDES, CATALOG, MODULES, Entry
from ermine._ermine import fit, learners, measures

PACKAGE = Path(__file__).resolve().parent.parent / "crates" / "ermine-python" / "python" / "ermine"
LEARNERS = {learner["info"]["name"]: learner for learner in json.loads(learners())}
WIDTH = 120

TITLES = {
    "dummy": "Predictors that ignore their input: what any other must beat.",
    "calibration": "Probabilities that mean what they say.",
    "multiclass": "Many classes by learners of two.",
    "multioutput": "Several labels by learners of classes.",
    "ranking": "An order of the rows within each query.",
    "linear_model": "Linear models.",
    "ensemble": "Many models that answer as one.",
    "neighbors": "Nearest neighbours: what is near is alike.",
    "svm": "Support vector machines.",
    "tree": "Decision trees and stumps.",
}

#: Functions that modules offer beside their classes.
FUNCTIONS = {"linear_model": ("enet_path", "lasso_path"), "tree": ("export_graphviz", "export_text", "plot_tree")}

#: Names of scikit-learn's that modules hand over: estimators over any others, of ours or not.
HANDED_OVER = {
    "ensemble": ("StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor"), "multioutput": ("MultiOutputRegressor", "RegressorChain"),
}

#: Where they live.
FUNCTIONS_OF = {"linear_model": "_path", "tree": "_export"}

#: Parameters that Python takes in another form than the rest of the house: type hint, type in words, documentation.
PYTHON_FORM = {
    "class_weight": ("Mapping[Any, float] | Literal[\"balanced\"] | None", "dict, 'balanced' or None",
                     "How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples / "
                     "(n_classes * rows of the class)."),
    "estimator": ("str | Estimator", "str or estimator",
                  "The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as "
                  "'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole."),
    "omega": ("Any", "str, callable or array-like of shape (n_places, n_places)",
              "What it costs to confuse two places: 'all-pairs', 'top-K' (such as 'top-10'), 'dcg', a matrix of costs, or a function of two places, which "
              "count from 1. Costs must be symmetric, must not fall with the distance, and must keep the triangle inequality."),
    "cv": ("Any", "int, splitter or iterable",
           "How many folds the rows are dealt to, in their order as scikit-learn does it; or a splitter of scikit-learn or pairs of row numbers, of which each row is tested in exactly one."),
    "monotone_constraints": ("Mapping[str, int] | Sequence[int]", "dict or list of int",
                             "Columns that the prediction must not fall with (1) or must not rise with (-1): {column: direction}, where columns that are not named are free; or a direction "
                             "(1, 0 or -1) for each column in turn. Empty for no constraints."),
    "interaction_constraints": ("Sequence[Sequence[int | str]]", "list of lists of int or str",
                                "Groups of columns (by number or by name) that may meet on a way from the root of a tree to a leaf; a column that no group names meets none. Empty for no constraints."),
    "constant": ("Any", "str, int, float, array-like or None", "Which constant, where the strategy is ``\"constant\"``: a class, or a number for each target."),
    "covariance": ("Any", "array-like of shape (n_features, n_features) or None",
                   "The covariance of the mahalanobis metric (of the columns after encoding); estimated from the training rows if None."),
}

#: Parameters of nearest neighbours that may be functions: what such a function does.
CALLABLES = {
    "metric": ("Callable[[np.ndarray, np.ndarray], float]", "A function gives the distance between two rows of numbers: symmetric, and not negative."),
    "weights": ("Callable[[np.ndarray], np.ndarray]", "A function gives the weights of neighbours at the distances it is called with."),
}

#: Names that a module takes in from another and shows as its own.
SHOWN = {"neighbors": ("NearestNeighbors",), "svm": ("OneClassSVM", "StringKernel", "is_psd")}

#: A kernel may be a function too.
OWN_KERNEL = ("Callable[[np.ndarray, np.ndarray], np.ndarray]", "A function gives the kernel values of each row of one table with each row of another.")

ATTRIBUTES = {
    "feature_importances": ("ndarray of shape (n_features_in_,)", "The share of each column in what all splits gain."),
    "n_leaves": ("int", "How many leaves the tree has."),
    "depth": ("int", "How many questions lie on the longest way to a leaf."),
    "ccp_alpha": ("float", "The alpha of cost-complexity pruning that cross-validation chose, where ``pruning`` is ``\"cross_validation\"``."),
    "oob_score": ("float", "The score on rows that members didn't see in training, where ``oob_score`` is set."),
    "n_estimators": ("int", "How many rounds there are."),
    "validation_loss": ("ndarray of shape (n_rounds,)", "The loss, or metric, on the rows kept aside, after each round; empty where none are."),
    "estimator_weights": ("ndarray of shape (n_rounds,)", "The vote of each round."),
    "coef": ("ndarray of shape (n_columns,) or (n_outputs, n_columns)", "Coefficients, in the units of the data."),
    "intercept": ("float or ndarray of shape (n_outputs,)", "Intercepts."),
    "n_iter": ("int", "How many iterations or passes it took."),
    "alpha": ("float", "The strength of the penalty that was chosen."),
    "l1_ratio": ("float", "The share of L1 in the penalty that was chosen."),
    "alphas": ("ndarray of shape (n_alphas,)", "The strengths that were tried."),
    "cv_errors": ("ndarray of shape (n_alphas,)", "The error of each strength on rows left out."),
    "mse_path": ("ndarray of shape (n_alphas, n_folds)", "The same for each fold."),
    "loss_curve": ("ndarray of shape (n_iter_,)", "The loss, objective or number of mistakes of each pass."),
    "scale": ("float", "The scale of the residuals."),
    "rank": ("int", "How many columns are linearly independent."),
    "r_squared": ("float", "The share of the variance that is explained."),
    "std_errors": ("ndarray of shape (n_columns,)", "The standard errors of the coefficients."),
    "support": ("ndarray of shape (n_support,)", "The training rows that support the boundary; those of a class together."),
    "n_support": ("ndarray of shape (n_classes,)", "How many of them each class has."),
    "support_vectors": ("ndarray of shape (n_support, n_columns)", "These rows, encoded and scaled."),
    "dual_coef": ("ndarray of shape (n_classes - 1, n_support)", "How much each counts, in each pair of its class."),
    "slack": ("ndarray of shape (n_samples,)", "How far each training row is within the margin or beyond; of two classes, or numbers."),
    "case": ("ndarray of shape (n_samples,)", "Where each training row lies: 0 outside the margin, 1 within it, 2 misclassified; of two classes."),
    "margin": ("ndarray of shape (n_pairs,)", "The width of the margin, 1 / |w|, for each pair of classes."),
    "n_mistakes": ("int", "How many mistakes were made in all passes."),
    "n_neighbors": ("int", "How many neighbours count."),
    "n_samples_fit": ("int", "How many rows are kept."),
    "kept_rows": ("ndarray of shape (n_samples_fit_,)", "The numbers of the training rows that are kept, where ``keep`` drops some."),
    "leave_one_out_errors": ("ndarray of shape (max_neighbors,)",
                             "The leave-one-out error of each number of neighbours from 1 up, where ``max_neighbors`` is set."),
    "estimator_errors": ("ndarray of shape (n_rounds,)", "The weighted error of each round; for numbers, its mean loss."),
    "train_errors": ("ndarray of shape (n_rounds,)", "The training error after each round; for numbers, the mean absolute error."),
    "normalizers": ("ndarray of shape (n_rounds,)", "What the weights of each round are divided by (Z)."),
    "train_error_bounds": ("ndarray of shape (n_rounds,)", "What the training error is at most: the product of the normalizers so far."),
    "oob_decision_function": ("ndarray of shape (n_samples, n_classes)",
                              "What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row."),
    "oob_prediction": ("ndarray of shape (n_samples,) or (n_samples, n_outputs)",
                       "What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row."),
    "permutation_importances": ("ndarray of shape (n_features_in_,)",
                                "How much worse trees get on rows that they didn't see when a column is shuffled (accuracy lost, or squared error "
                                "gained), where ``permutation_importances`` is set."),
}

RANDOM_STATE = ("random_state", "int | np.random.RandomState | None", "None", "int, RandomState instance or None",
                "Every random choice follows from it; the same number gives the same model.")
WARM_START = ("warm_start", "bool", "False", "bool",
              "Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``; random_state then stays what it was.")
PROBABILITY = ("probability", "bool", "False", "bool",
               "Whether ``predict_proba`` is asked for: five more machines are then fitted, each on four fifths of the rows, and a sigmoid of the decision "
               "values on the rows that they left out becomes the probability (Platt). CalibratedClassifierCV has more choices.")
COMMON = (
    ("n_jobs", "int | None", "None", "int",
     "How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one. The model doesn't "
     "depend on it."),
    ("verbose", "int", "0", "int", "Shows a progress bar on long fits if not 0."),
)

#: Parameters of scikit-learn's twins that are taken without effect: type hint, default, type in words, why they have none.
WITHOUT_EFFECT = {
    "copy_X": ("bool", "True", "bool", "X is never written to."),
    "tol": ("float | None", "1e-6", "float or None", "the solution is exact, or as good as it gets."),
    "max_iter": ("int | None", "None", "int or None", "the solution is exact."),
    "solver": ("str", None, "str", "there is one way, which chooses for itself."),
    "solver_options": ("Mapping[str, Any] | None", "None", "dict or None", "there is one way, which chooses for itself."),
    "gcv_mode": ("str | None", "None", "str or None", "there is one way, which chooses for itself."),
    "precompute": ("Any", "False", "bool or 'auto'", "what is worth computing first is found out."),
    "warm_start": ("bool", "False", "bool", "the solution is found to its tolerance from anywhere."),
    "random_state": ("int | np.random.RandomState | None", "None", "int, RandomState instance or None", "nothing is drawn."),
    "selection": ("Literal[\"cyclic\", \"random\"]", "\"cyclic\"", "{'cyclic', 'random'}", "the order of the columns is chosen as they need it."),
    "dual": ("bool", "False", "bool", "the solution is the same."),
    "intercept_scaling": ("float", "1.0", "float", "the intercept is never penalised."),
    "eta0": ("float", "1.0", "float", "it multiplies all weights alike."),
    "alpha": ("float", "0.0001", "float", "there is no penalty."),
    "l1_ratio": ("float", "0.15", "float", "there is no penalty."),
    "validation_fraction": ("float", "0.1", "float", "no rows are kept aside."),
    "criterion": ("str", "\"friedman_mse\"", "str", "splits are judged by gradients and curvatures."),
    "leaf_size": ("int", "30", "int", "the index chooses its own."),
    "shrinking": ("bool", "True", "bool", "it is always done, and the solution is the same."),
}

#: Parameters of scikit-learn's twins that are said in other words here: type hint, default, type in words, what they mean. Of some but one value has a meaning.
SAID_OTHERWISE = {
    "LogisticRegression": {
        "penalty": ("str | None", "\"deprecated\"", "{'l1', 'l2', 'elasticnet', None}", "As in earlier scikit-learn: 'l1' is ``l1_ratio=1``, 'l2' is ``l1_ratio=0``, None is ``C=inf``. By default ``l1_ratio`` and ``C`` say it."),
    },
    "Perceptron": {
        "penalty": ("None", "None", "None", "There is none: SGDClassifier has penalties."),
        "early_stopping": ("bool", "False", "bool", "No rows are kept aside: SGDClassifier can do it."),
        "warm_start": ("bool", "False", "bool", "Every fit starts anew: SGDClassifier has ``partial_fit``."),
    },
    "SGDClassifier": {"warm_start": ("bool", "False", "bool", "Every fit starts anew: ``partial_fit`` goes on.")},
    "SGDRegressor": {"warm_start": ("bool", "False", "bool", "Every fit starts anew: ``partial_fit`` goes on.")},
    "RidgeCV": {
        "cv": ("Any", "None", "None, int, splitter or iterable", "None leaves each row out once, exactly and at the cost of one fit; otherwise as in GridSearchCV over Ridge."),
        "scoring": ("str | Callable[..., float] | None", "None", "str, callable or None", "The score of the folds, where ``cv`` is given. Without, the squared error of rows left out is what is judged by."),
        "store_cv_results": ("bool", "False", "bool", "``cv_errors_`` has the mean errors; those of single rows are not kept."),
        "alpha_per_target": ("bool", "False", "bool", "One alpha is chosen for all targets."),
    },
    "CalibratedClassifierCV": {
        "ensemble": ("bool | Literal[\"auto\"]", "\"auto\"", "bool or 'auto'", "One model of all rows is calibrated, by what it says about rows left out: what False means in scikit-learn."),
    },
    "LinearSVC": {"multi_class": ("Literal[\"ovr\"]", "\"ovr\"", "{'ovr'}", "Of more than two classes, one against the rest.")},
} | dict.fromkeys(
    ("KNeighborsClassifier", "KNeighborsRegressor", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor"),
    {"metric_params": ("Mapping[str, Any] | None", "None", "dict or None", "What the metric needs: 'p' of minkowski, or 'VI' of mahalanobis, the inverse of ``covariance``.")},
) | dict.fromkeys(
    ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    {
        "alpha": ("float | None", "None", "float or None", "The quantile of ``loss=\"quantile\"``, as ``quantile_alpha`` says it; other losses don't look at it."),
        "max_features": ("int | float | str | None", "None", "int, float, 'sqrt', 'log2' or None", "How many columns each split chooses among, as ``colsample_bynode`` says it by their share."),
        "n_iter_no_change": ("int | None", "None", "int or None", "As ``early_stopping_rounds`` says it."),
        "warm_start": ("bool", "False", "bool", "Whether fitting again keeps the rounds that are there and adds others, until there are ``n_estimators``."),
    },
)

#: Words that a parameter may have in this class, where its learner has others for other tasks; and what it says of them, where that is less too.
CHOICES = {
    ("GradientBoostingClassifier", "loss"): (("auto", "log_loss"), None),
    ("GradientBoostingRegressor", "loss"): (("auto", "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"), None),
    ("GradientBoostingRanker", "loss"): (("auto", "lambdarank", "pairwise"), None),
    ("DummyClassifier", "strategy"): (
        ("prior", "most_frequent", "stratified", "uniform", "constant"),
        "What is said: the shares of the classes, of which the largest is predicted ('prior'); the most frequent class for certain; classes drawn by their shares ('stratified') or all alike ('uniform'); the ``constant``.",
    ),
    ("DummyRegressor", "strategy"): (("mean", "median", "quantile", "constant"), "What is said for every row."),
}

#: What scikit-learn's twins have for defaults.
SOLVERS = {"Ridge": '"auto"', "LogisticRegression": '"lbfgs"', "QuantileRegressor": '"highs"'}

EXAMPLE = {
    "classification": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = ["low"] * 6 + ["high"] * 6
        >>> model = {name}().fit(X, y)
        >>> model.predict([[1], [10]]).shape
        (2,)
        >>> model.classes_.tolist()
        ['high', 'low']
        """,
    "regression": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = [1.0] * 6 + [2.0] * 6
        >>> model = {name}().fit(X, y)
        >>> model.predict([[1], [10]]).shape
        (2,)
        """,
    "multilabel": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = [[i % 2, int(i > 5)] for i in range(12)]
        >>> model = {name}().fit(X, y)
        >>> model.predict([[1], [10]]).shape
        (2, 2)
        """,
    "ranking": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = [0, 0, 1, 2, 3, 4] * 2
        >>> model = {name}().fit(X, y, group=[6, 6])
        >>> model.predict([[1], [10]]).shape
        (2,)
        """,
}


def type_hint(kind: Any) -> str:
    """The Python type of a declared kind."""
    if isinstance(kind, str):
        return {"bool": "bool", "int": "int", "float": "float", "text": "str"}[kind]
    ((word, inner),) = kind.items()
    if word == "choice":
        return f"Literal[{', '.join(json.dumps(choice) for choice in inner)}]"
    if word == "list":
        return f"Sequence[{type_hint(inner)}]"
    if word == "optional":
        return f"{type_hint(inner)} | None"
    return " | ".join(dict.fromkeys(type_hint(each) for each in inner))


def type_words(kind: Any) -> str:
    """The type as numpydoc says it."""
    if isinstance(kind, str):
        return {"bool": "bool", "int": "int", "float": "float", "text": "str"}[kind]
    ((word, inner),) = kind.items()
    if word == "choice":
        return "{" + ", ".join(repr(choice) for choice in inner) + "}"
    if word == "list":
        return f"list of {type_words(inner)}"
    if word == "optional":
        return f"{type_words(inner)} or None"
    return " or ".join(dict.fromkeys(type_words(each) for each in inner))


def literal(value: Any) -> str:
    """A default as Python source."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    return repr(value)


def parameters(entry: Entry) -> list[tuple[str, str, str, str, str]]:
    """Name, type hint, default, type in words and documentation of each parameter."""
    learner = LEARNERS[entry.learner]
    own = []
    for p in learner["params"]:
        if p["name"] not in entry.hidden:
            usual = (type_hint(p["kind"]), type_words(p["kind"]), p["doc"])
            hint, words, doc = PYTHON_FORM.get(p["name"], usual)
            if p["name"] == "class_weight" and entry.module in ("tree", "ensemble"):
                doc += " Rows count by their own weights."
            if "balanced_subsample" in json.dumps(p["kind"]):
                hint = hint.replace('"balanced"', '"balanced", "balanced_subsample"')
                words = words.replace("'balanced'", "'balanced', 'balanced_subsample'")
                doc += " 'balanced_subsample' balances the rows that were drawn for each tree."
            if (entry.neighbors or entry.tells == ("_comparison", "Comparisons")) and p["name"] in CALLABLES:
                function, what = CALLABLES[p["name"]]
                hint, words, doc = f"{hint} | {function}", f"{words} or callable", f"{doc} {what}"
            if (entry.name, p["name"]) in CHOICES:
                choices, less = CHOICES[entry.name, p["name"]]
                hint, words, doc = type_hint({"choice": choices}), type_words({"choice": choices}), less or doc
            if p["name"] == "eval_metric":
                choices = ("loss", *measures(entry.task))
                hint, words = type_hint({"choice": choices}), type_words({"choice": choices})
            if entry.kernels and p["name"] == "kernel":
                hint, words, doc = f"{hint} | {OWN_KERNEL[0]}", f"{words} or callable", f"{doc} {OWN_KERNEL[1]}"
            default = dict(entry.defaults).get(p["name"], p["default"])
            if default is not p["default"]:
                hint, words = hint.removesuffix(" | None"), words.removesuffix(" or None")
            own.append((p["name"], hint, literal(default), words, doc))
    for name in entry.without_effect:
        hint, default, words, why = WITHOUT_EFFECT[name]
        default = SOLVERS[entry.name] if default is None else default
        own.append((name, hint, default, words, f"Taken as scikit-learn takes it, and without effect: {why}"))
    own += [(name, *SAID_OTHERWISE[entry.name][name]) for name in entry.said_otherwise]
    own.sort(key=lambda parameter: entry.positional.index(parameter[0]) if parameter[0] in entry.positional else len(entry.positional))
    own += [PROBABILITY] * (entry.kernels and entry.task == "classification")
    return own + [RANDOM_STATE] * is_random(entry) + [WARM_START] * entry.goes_on + list(COMMON)


def is_random(entry: Entry) -> bool:
    return entry.seeded or LEARNERS[entry.learner]["info"]["capabilities"]["random"]


def attributes(entry: Entry) -> list[str]:
    """Names of the numbers that a fitted model shows, found by fitting one."""
    table, _ = _data.read([[float(i)] for i in range(12)], entry.name, False)
    y = [0] * 6 + [1] * 6
    if entry.task == "ranking":
        target = _ranking.relevance(y, 12)
    elif entry.task == "multilabel":
        target, _, _ = _target.labels([[i % 2, int(i > 5)] for i in range(12)], 12)
    else:
        target, _ = _target.classes(y, 12) if entry.task == "classification" else _target.values(y, 12, False)
    names = {p["name"] for p in LEARNERS[entry.learner]["params"]}
    wanted = (("pruning", "cross_validation"), ("oob_score", True), ("bootstrap", True), ("permutation_importances", True), ("max_neighbors", 3), ("keep", "condensed"))
    params = {name: value for name, value in wanted if name in names - set(entry.hidden)}
    group = _ranking.queries([12], None, 12) if entry.task == "ranking" else None
    return list(fit(entry.learner, params, table, target, None, seed=0, threads=1, note="{}", group=group).attributes())


def paragraph(text: str, indent: int) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)


def docstring(entry: Entry, params: list[tuple[str, str, str, str, str]]) -> str:
    info = LEARNERS[entry.learner]["info"]
    lines = [f'    """{info["summary"][0].upper()}{info["summary"][1:]}.', "", "    Parameters", "    ----------"]
    for name, _, default, words, doc in params:
        lines += [f"    {name} : {words}, default={default}", paragraph(doc, 8)]
    lines += ["", "    Attributes", "    ----------"]
    if entry.task == "classification":
        lines += ["    classes_ : ndarray of shape (n_classes,)", "        The distinct labels in ascending order."]
    if entry.task == "multilabel":
        lines += ["    label_names_ : ndarray of shape (n_labels,)", "        The names of the labels."]
    lines += [
        "    n_features_in_ : int", "        How many columns it was fitted on.",
        "    feature_names_in_ : ndarray of shape (n_features_in_,)", "        Their names, where the data had names.",
        *(line for name in attributes(entry) for line in (f"    {name}_ : {ATTRIBUTES[name][0]}", f"        {ATTRIBUTES[name][1]}")),
        "    certificate_ : Certificate", "        What was minimised, and what is proven about it.",
        "", "    Examples", "    --------",
    ]
    example = textwrap.dedent(EXAMPLE[entry.task]).strip().format(module=entry.module, name=entry.name)
    lines += [f"    {line}" for line in example.splitlines()] + ['    """']
    return "\n".join(lines)


def bases(entry: Entry) -> list[str]:
    return ([entry.tells[1]] if entry.tells else []) + ["Tree"] * entry.tree + ["Streaming"] * entry.stream + ["NeighborClasses" if entry.task == "classification" else "Neighbors"] * entry.neighbors + [entry.many] * bool(entry.many) + [base(entry)]


def home(entry: Entry, name: str) -> str:
    """The module where a base class lives."""
    homes = {"Neighbors": "_neighbors", "NeighborClasses": "_neighbors", "Tree": "_tree", "Streaming": "_streaming", entry.many: "_ensemble"}
    if entry.tells and entry.tells[1] == name:
        return entry.tells[0]
    if name in homes:
        return homes[name]
    return entry.base[0] if entry.base and entry.base[1] == name else "_estimator"


def base(entry: Entry) -> str:
    if entry.base:
        return entry.base[1]
    if entry.task == "regression":
        return "Regressor"
    if entry.log_odds:
        return "LogOddsClassifier"
    return "ProbabilisticClassifier" if LEARNERS[entry.learner]["info"]["capabilities"]["probabilities"] else "MarginClassifier"


def facts(entry: Entry) -> list[str]:
    """What the class says about its learner, as far as it differs from its base."""
    can = LEARNERS[entry.learner]["info"]["capabilities"]
    own = tuple(p["name"] for p in LEARNERS[entry.learner]["params"] if p["name"] not in entry.hidden)
    said = {
        "_learner": (entry.learner, None),
        "_parameters": (own, None),
        "_takes_sparse": (can["sparse"], False),
        "_is_random": (is_random(entry), False),
        "_poor_score": (entry.poor_score, False),
        "_multi_output": (can["multi_output"] and entry.task == "regression", False),
    }
    return [f"    {name} = {literal(value)}" for name, (value, usual) in said.items() if value != usual]


def class_source(entry: Entry) -> str:
    params = parameters(entry)
    # Nearest neighbours take no weights.
    narrower = "  # type: ignore[misc]" * entry.neighbors
    lines = [f"class {entry.name}({', '.join(bases(entry))}):{narrower}", docstring(entry, params), "", *facts(entry), "", "    def __init__(", "        self,"]
    for place, (name, hint, default, _, _) in enumerate(params):
        lines += ["        *,"] * (place == len(entry.positional)) + [f"        {name}: {hint} = {default},"]
    lines += ["    ) -> None:"] + [f"        self.{name} = {name}" for name, *_ in params]
    return "\n".join(lines)


def module_source(module: str) -> str:
    entries = [entry for entry in CATALOG if entry.module == module]
    body = "\n\n\n".join(class_source(entry) for entry in entries)
    functions, shown = FUNCTIONS.get(module, ()), SHOWN.get(module, ())
    names = ", ".join(f'"{name}"' for name in [*(entry.name for entry in entries), *functions, *shown])
    ours = {(home(entry, name), name) for entry in entries for name in bases(entry)} | ({("_estimator", "Estimator")} if "| Estimator" in body else set())
    ours |= {(FUNCTIONS_OF[module], name) for name in functions} | {(f"_{module}", name) for name in shown}
    ours |= {("_elsewhere", "handed_over")} if module in HANDED_OVER else set()
    imports = []
    for source, names_there in (("collections.abc", ("Callable", "Mapping", "Sequence")), ("typing", ("Any", "Literal"))):
        used = [name for name in names_there if f"{name}[" in body or f"[{name}," in body or f": {name} =" in body]
        imports += [f"from {source} import {', '.join(used)}"] * bool(used)
    imports += [""] * bool(imports)
    imports += ["import numpy as np", ""] * ("np." in body)
    for source in sorted({source for source, _ in ours}):
        imports.append(f"from ermine.{source} import {', '.join(sorted(name for there, name in ours if there == source))}")
    head = f'"""{TITLES[module]}\n\nWritten by tools/python_estimators.py from the parameters that the learners declare: change them there.\n"""\n\n# Types by name only: numpy.random is loaded when it is needed.\nfrom __future__ import annotations\n'
    handed = [f"__getattr__ = handed_over({literal(module)}, __all__, {literal(HANDED_OVER[module])})", "", ""] if module in HANDED_OVER else []
    return "\n".join([head, *imports, "", f"__all__ = [{names}]", "", *handed, *[""] * (not handed), body, ""])


def main() -> int:
    stale = []
    for module in sorted(set(MODULES) - set(BESIDES)):
        path, source = PACKAGE / f"{module}.py", module_source(module)
        if not path.exists() or path.read_text() != source:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(source)
    print(f"{'out of date' if '--check' in sys.argv else 'written'}: {', '.join(stale) or 'nothing'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
