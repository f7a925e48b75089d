"""Beside the estimators of the same name in scikit-learn: the same answers, parameters, attributes and methods, or the reason why not.

The list of twins comes from the catalog, so that a new estimator needs a line here.
"""

import importlib
import inspect
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import cross_val_predict
from sklearn.utils import all_estimators

from ermine._catalog import CATALOG
from ermine.linear_model import LogisticRegression, Ridge
from sklearn_differences import DEFAULTS, FREE_LENGTH, GUIDE, NO_ATTRIBUTE, NO_METHOD, NO_PARAMETER, OTHER_SHAPE, in_guide

THEIRS = dict(all_estimators())
TWINS = [entry for entry in CATALOG if entry.name in THEIRS]
twins = pytest.mark.parametrize("entry", TWINS, ids=lambda entry: entry.name)

EXACT = {"tol": 1e-10}
LONG = {"tol": 1e-10, "max_iter": 1_000_000}
SURE = {"tol": 1e-12, "max_iter": 100_000, "solver": "newton-cholesky"}
TREES = {"n_estimators": 60, "random_state": 0}

#: How each is compared with its twin: our parameters and theirs, where the usual ones are not the same problem, and "exact" (what is predicted differs by at most 1e-6 of its spread) or "alike"
#: (what is random, or a heuristic: as good within noise, by cross-validation).
PARITY = {
    "DummyClassifier": ({}, {}, "exact"),
    "DummyRegressor": ({}, {}, "exact"),
    "DecisionTreeClassifier": ({"max_depth": 3}, {"max_depth": 3, "random_state": 0}, "exact"),
    "DecisionTreeRegressor": ({"max_depth": 3}, {"max_depth": 3, "random_state": 0}, "exact"),
    "RandomForestClassifier": (TREES, TREES, "alike"),
    "RandomForestRegressor": (TREES, TREES, "alike"),
    "ExtraTreesClassifier": (TREES, TREES, "alike"),
    "ExtraTreesRegressor": (TREES, TREES, "alike"),
    "GradientBoostingClassifier": ({"n_estimators": 60, "max_leaf_nodes": 8, "random_state": 0}, {"n_estimators": 60, "random_state": 0}, "alike"),
    "GradientBoostingRegressor": ({"n_estimators": 60, "max_leaf_nodes": 8, "random_state": 0}, {"n_estimators": 60, "random_state": 0}, "alike"),
    "AdaBoostClassifier": ({}, {}, "alike"),
    "AdaBoostRegressor": ({"estimator": "decision-tree(max_depth=3)", "random_state": 0}, {"random_state": 0}, "alike"),
    "BaggingClassifier": ({"n_estimators": 20, "random_state": 0}, {"n_estimators": 20, "random_state": 0}, "alike"),
    "BaggingRegressor": ({"n_estimators": 20, "random_state": 0}, {"n_estimators": 20, "random_state": 0}, "alike"),
    "StackingClassifier": ({"estimators": [("line", LogisticRegression())]}, {"estimators": [("line", TheirLogistic(**SURE))], "final_estimator": TheirLogistic(**SURE)}, "alike"),
    "StackingRegressor": ({"estimators": [("line", Ridge())]}, {"estimators": [("line", THEIRS["Ridge"]())]}, "exact"),
    "VotingClassifier": ({"estimators": [("line", LogisticRegression())], "voting": "soft"}, {"estimators": [("line", TheirLogistic(**SURE))], "voting": "soft"}, "exact"),
    "VotingRegressor": ({"estimators": [("line", Ridge())]}, {"estimators": [("line", THEIRS["Ridge"]())]}, "exact"),
    "LinearRegression": ({}, {}, "exact"),
    "Ridge": ({"alpha": 3.0}, {"alpha": 3.0}, "exact"),
    "RidgeCV": ({}, {}, "exact"),
    "Lasso": ({"alpha": 0.5}, {"alpha": 0.5, **LONG}, "exact"),
    "LassoCV": ({}, LONG, "exact"),
    "ElasticNet": ({"alpha": 0.1}, {"alpha": 0.1, **LONG}, "exact"),
    "ElasticNetCV": ({}, LONG, "exact"),
    "LogisticRegression": ({}, SURE, "exact"),
    "QuantileRegressor": ({"quantile": 0.7, "alpha": 0.02}, {"quantile": 0.7, "alpha": 0.02}, "exact"),
    "HuberRegressor": ({"alpha": 0.01}, {"alpha": 0.01, **LONG}, "exact"),
    "Perceptron": ({"max_iter": 200, "random_state": 0}, {}, "alike"),
    "SGDClassifier": ({"loss": "log_loss", "random_state": 0}, {"loss": "log_loss", "random_state": 0}, "alike"),
    "SGDRegressor": ({"random_state": 0}, {"random_state": 0}, "alike"),
    "CalibratedClassifierCV": ({"estimator": "logistic-regression", "random_state": 0}, {"estimator": TheirLogistic()}, "alike"),
    "OneVsRestClassifier": ({"estimator": LogisticRegression()}, {"estimator": TheirLogistic(**SURE)}, "exact"),
    "OneVsOneClassifier": ({"estimator": LogisticRegression()}, {"estimator": TheirLogistic(**SURE)}, "exact"),
    "OutputCodeClassifier": ({"estimator": "random-forest", "code_size": 4, "random_state": 0}, {"estimator": THEIRS["RandomForestClassifier"](random_state=0), "code_size": 4, "random_state": 0}, "alike"),
    "KNeighborsClassifier": ({"n_neighbors": 7}, {"n_neighbors": 7}, "exact"),
    "KNeighborsRegressor": ({"n_neighbors": 7}, {"n_neighbors": 7}, "exact"),
    "RadiusNeighborsClassifier": ({"radius": 4.0}, {"radius": 4.0}, "exact"),
    "RadiusNeighborsRegressor": ({"radius": 4.0}, {"radius": 4.0}, "exact"),
    "SVC": (EXACT, EXACT, "exact"),
    "SVR": (EXACT, EXACT, "exact"),
    "LinearSVC": (LONG, LONG, "exact"),
    "LinearSVR": (LONG, LONG, "exact"),
    "MultiOutputClassifier": ({"estimator": LogisticRegression()}, {"estimator": TheirLogistic(**SURE)}, "exact"),
    "ClassifierChain": ({"estimator": LogisticRegression()}, {"estimator": TheirLogistic(**SURE)}, "exact"),
}

def data(entry, seed=0):
    """Single precision, since scikit-learn's trees round to it."""
    if entry.task == "regression":
        X, y = make_regression(240, 6, n_informative=4, noise=5.0, random_state=seed)
        return X.astype(np.float32).astype(float), y / 10
    X, y = make_classification(240, 6, n_informative=4, n_classes=3, class_sep=1.5, random_state=seed)
    X = X.astype(np.float32).astype(float)
    return X, np.stack([y == 0, y > 1], axis=1).astype(int) if entry.task == "multilabel" else y


def ours(entry, **params):
    return getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name)(**params)


def theirs(entry, **params):
    return THEIRS[entry.name](**params)


def pair(entry, **more):
    mine, their, _ = PARITY[entry.name]
    taken = {name: value for name, value in more.items() if name in inspect.signature(THEIRS[entry.name]).parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ours(entry, **mine | taken).fit(*data(entry)), theirs(entry, **their | taken).fit(*data(entry))


def test_all_twins_are_compared():
    assert set(PARITY) == {entry.name for entry in TWINS}
    for table in (DEFAULTS, NO_PARAMETER, NO_ATTRIBUTE, NO_METHOD, OTHER_SHAPE):
        assert set(table) <= set(PARITY) and all(why for of_class in table.values() for why in of_class.values())


def said(model, X, both):
    """All that a model says about rows, by method."""
    methods = [name for name in ("predict_proba", "decision_function", "predict") if all(hasattr(m, name) for m in both)]
    return {name: np.asarray(getattr(model, name)(X), dtype=float) for name in methods}


@pytest.mark.parametrize("entry", [entry for entry in TWINS if PARITY[entry.name][2] == "exact"], ids=lambda entry: entry.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_answers(entry, weighted):
    X, y = data(entry)
    (mine, their, _) = PARITY[entry.name]
    a, b = ours(entry, **mine), theirs(entry, **their)
    weight = {}
    if weighted:
        both = all("sample_weight" in inspect.signature(m.fit).parameters for m in (a, b))
        if not both or entry.name in ("QuantileRegressor", "SVC", "SVR", "LinearSVC", "LinearSVR"):
            pytest.skip("one of both takes no weights, or has a problem of its own scale with them")
        weight = {"sample_weight": np.random.default_rng(1).integers(1, 4, len(y)).astype(float)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a.fit(X, y, **weight)
        b.fit(X, y, **weight)
    for name, want in said(b, X, (a, b)).items():
        got = said(a, X, (a, b))[name]
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, atol=1e-6 * max(1.0, np.abs(want).max()), rtol=0, err_msg=name)


@pytest.mark.parametrize("entry", [entry for entry in TWINS if PARITY[entry.name][2] == "alike"], ids=lambda entry: entry.name)
def test_answers_as_good(entry):
    """Cross-validated loss of each row; the means differ by less than three standard errors of the difference, or ours is lower."""
    mine, their, _ = PARITY[entry.name]
    X, y = data(entry)
    losses = []
    for model in (ours(entry, **mine), theirs(entry, **their)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = cross_val_predict(model, X, y, cv=4)
        losses.append((predicted - y) ** 2 if entry.task == "regression" else (predicted != y).astype(float))
    worse = losses[0] - losses[1]
    assert worse.mean() <= 3 * worse.std() / np.sqrt(len(worse)) + 1e-3 * losses[1].mean()
    assert losses[0].mean() < 0.7 * (y.var() if entry.task == "regression" else 2 / 3)


@twins
def test_parameters(entry):
    of_theirs = inspect.signature(THEIRS[entry.name]).parameters
    of_ours = inspect.signature(type(ours(entry))).parameters
    assert set(of_theirs) - set(of_ours) == set(NO_PARAMETER.get(entry.name, {}))
    positional = [name for name, p in of_theirs.items() if p.kind != p.KEYWORD_ONLY and name not in NO_PARAMETER.get(entry.name, {})]
    assert positional == list(entry.positional)
    assert set(entry.without_effect) <= set(of_theirs)


@twins
def test_constructor_defaults(entry):
    of_theirs, of_ours = (inspect.signature(cls).parameters for cls in (THEIRS[entry.name], type(ours(entry))))
    different = {name for name, p in of_theirs.items() if name in of_ours and of_ours[name].default != p.default}
    assert different == set(DEFAULTS.get(entry.name, {}))


def test_the_table_of_differences_in_the_guide_is_that_of_the_list():
    assert GUIDE.read_text() == in_guide()


@twins
def test_the_defaults_of_twins_are_taken(entry):
    """Programs write defaults out: None for the usual estimator, -1 for no limit, and so on."""
    given = {name: p.default for name, p in inspect.signature(THEIRS[entry.name]).parameters.items() if p.default is not p.empty}
    known = {name: value for name, value in given.items() if name in ours(entry).get_params(deep=False)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours(entry, **known).fit(*data(entry))


@twins
def test_attributes(entry):
    a, b = pair(entry, oob_score=True, bootstrap=True) if "bootstrap" in ours(entry).get_params() else pair(entry)
    shown = lambda model: {name for name in dir(model) if name.endswith("_") and not name.startswith("_") and hasattr(model, name)}
    assert shown(b) - shown(a) == set(NO_ATTRIBUTE.get(entry.name, {}))


@twins
def test_methods(entry):
    a, b = pair(entry)
    public = lambda model: {name for name in dir(model) if not name.startswith("_") and not name.endswith("_") and callable(getattr(model, name, None))}
    assert public(b) - public(a) - set(b.get_params()) == set(NO_METHOD.get(entry.name, {}))


def form(name, value):
    """The shape of an attribute and what it holds: numbers with a fraction, whole numbers, or anything else."""
    if name in FREE_LENGTH:
        return np.ndim(value) if isinstance(value, np.ndarray) else "sequence"
    kind = getattr(value, "dtype", np.asarray(value).dtype if np.isscalar(value) else np.dtype(object)).kind
    return np.shape(value) if not isinstance(value, (list, dict)) else type(value).__name__, {"u": "i", "U": "O"}.get(kind, kind)


@twins
def test_attributes_have_the_same_form(entry):
    a, b = pair(entry, oob_score=True, bootstrap=True) if "bootstrap" in ours(entry).get_params() else pair(entry)
    names = [name for name in dir(b) if name.endswith("_") and not name.startswith("_") and hasattr(a, name) and hasattr(b, name) and name not in ("tree_", "estimator_", "label_binarizer_")]
    different = {name for name in names if form(name, getattr(a, name)) != form(name, getattr(b, name))}
    assert different == set(OTHER_SHAPE.get(entry.name, {}))
    if hasattr(b, "estimators_"):
        assert len(a.estimators_) == len(b.estimators_) or "AdaBoost" in entry.name
        first = a.estimators_.ravel()[0] if isinstance(a.estimators_, np.ndarray) else a.estimators_[0]
        assert first.predict(data(entry)[0][:, : first.n_features_in_]).shape[0] == 240 or entry.task == "multilabel"


@twins
def test_answers_have_the_same_shape(entry):
    a, b = pair(entry)
    for name in ("apply", "predict", "predict_proba", "predict_log_proba", "decision_function"):
        if hasattr(a, name) and hasattr(b, name):
            assert np.shape(getattr(a, name)(data(entry)[0])) == np.shape(getattr(b, name)(data(entry)[0])), name


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_nodes_are_theirs(name):
    (entry,) = [entry for entry in TWINS if entry.name == name]
    X, y = data(entry)
    a, b = pair(entry)
    assert a.tree_.node_count == b.tree_.node_count and a.tree_.max_depth == b.tree_.max_depth == 3 and a.tree_.n_leaves == b.tree_.n_leaves
    by_size = lambda tree: sorted(zip(tree.n_node_samples.tolist(), tree.feature.tolist(), tree.threshold.round(4).tolist(), tree.impurity.round(6).tolist()))
    for mine, their in zip(by_size(a.tree_), by_size(b.tree_)):
        assert mine == pytest.approx(their, abs=2e-3)
    np.testing.assert_allclose(a.tree_.value[0], b.tree_.value[0])
    np.testing.assert_allclose(np.sort(a.tree_.weighted_n_node_samples), np.sort(b.tree_.weighted_n_node_samples))
    leaves = a.apply(X)
    np.testing.assert_array_equal(a.tree_.children_left[leaves], -1)
    got = a.tree_.value[leaves, 0]
    np.testing.assert_allclose(got if "Classifier" in name else got[:, 0], a.predict_proba(X) if "Classifier" in name else a.predict(X))
    way = a.decision_path(X)
    assert way.shape == (240, a.tree_.node_count) and (way[:, 0].toarray() == 1).all() and (np.asarray(way[np.arange(240), leaves]) == 1).all()
    np.testing.assert_array_equal(np.sort(way.sum(axis=0)), np.sort(b.decision_path(X).sum(axis=0)))


def test_paths_of_a_forest():
    (entry,) = [entry for entry in TWINS if entry.name == "RandomForestClassifier"]
    X, y = data(entry)
    forest = ours(entry, n_estimators=5, random_state=0).fit(X, y)
    way, starts = forest.decision_path(X)
    assert way.shape == (240, starts[-1]) and len(starts) == 6
    for t, tree in enumerate(forest.estimators_):
        np.testing.assert_array_equal(way[:, starts[t] : starts[t + 1]].toarray(), tree.decision_path(X).toarray())
        np.testing.assert_array_equal(tree.apply(X), forest.apply(X)[:, t])


def test_nodes_that_ask_about_categories():
    import pandas as pd

    from ermine.tree import C45Classifier, DecisionTreeClassifier, ObliqueTreeClassifier

    X = pd.DataFrame({"color": ["red", "green", "blue", "black"] * 15, "size": [1.0, 2.0, 3.0, None] * 15})
    y = [0, 1, 0, 2] * 15
    tree = DecisionTreeClassifier().fit(X, y).tree_
    assert tree.feature[0] == 0 and np.isnan(tree.threshold[0]) and tree.categories[0] is not None
    # Categories by number: black, blue, green, red.
    assert set(tree.categories[0]) in ({1, 3}, {0, 2}, {0, 1, 3}, {2}, {0}, {1, 2, 3})
    many = C45Classifier().fit(X[["color"]], y).tree_
    assert len(many.children(0)) >= 4 and many.max_depth == 1
    with pytest.raises(AttributeError, match="several columns"):
        ObliqueTreeClassifier().fit(np.random.default_rng(0).normal(size=(60, 2)), y).tree_


def test_estimators_by_position():
    from ermine.ensemble import BaggingClassifier, RandomForestClassifier
    from ermine.linear_model import Lasso, Ridge
    from ermine.multiclass import OneVsRestClassifier
    from ermine.neighbors import KNeighborsClassifier
    from ermine.tree import DecisionTreeClassifier

    assert KNeighborsClassifier(3).n_neighbors == 3 and Ridge(0.5).alpha == Lasso(0.5).alpha == 0.5 and RandomForestClassifier(7).n_estimators == 7
    assert BaggingClassifier(DecisionTreeClassifier(max_depth=2), 5).get_params()["estimator__max_depth"] == 2
    assert OneVsRestClassifier(LogisticRegression(C=3)).set_params(estimator__C=5).estimator.C == 5


def test_members_agree_with_the_ensemble():
    from ermine.ensemble import AdaBoostClassifier
    from ermine.multiclass import OneVsOneClassifier, OneVsRestClassifier
    from ermine.multioutput import ClassifierChain, MultiOutputClassifier
    from ermine.svm import LinearSVC

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=200), [-0.5, 0.5])
    rest = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    each = np.stack([part.predict_proba(X)[:, 1] for part in rest.estimators_], axis=1)
    np.testing.assert_allclose(rest.predict_proba(X), each / each.sum(axis=1, keepdims=True))
    assert rest.estimators_[0].get_params()["C"] == 1.0 and len(OneVsOneClassifier(LogisticRegression()).fit(X, y).estimators_) == 3
    margins = OneVsRestClassifier(LinearSVC()).fit(X, y)
    assert not hasattr(margins, "predict_proba") and not hasattr(OneVsRestClassifier(LinearSVC()), "predict_proba") and hasattr(OneVsRestClassifier(), "predict_proba")
    np.testing.assert_allclose(margins.decision_function(X), np.stack([part.decision_function(X) for part in margins.estimators_], axis=1))
    coupled = OneVsOneClassifier(LogisticRegression(), vote="coupling").fit(X, y)
    np.testing.assert_allclose(coupled.predict_proba(X).sum(axis=1), 1)

    marks = np.stack([y == 0, X[:, 1] > 0], axis=1).astype(int)
    labels = MultiOutputClassifier(LogisticRegression()).fit(X, marks)
    np.testing.assert_allclose(labels.estimators_[1].predict_proba(X), labels.predict_proba(X)[1])
    chain = ClassifierChain(LogisticRegression(), order=[1, 0]).fit(X, marks)
    assert chain.order_.tolist() == [1, 0] and [part.n_features_in_ for part in chain.estimators_] == [4, 5]

    stumps = AdaBoostClassifier(n_estimators=8).fit(X, y > 0)
    votes = np.stack([np.where(part.predict(X), 1.0, -1.0) for part in stumps.estimators_]) * stumps.estimator_weights_[:, None]
    np.testing.assert_array_equal(votes.sum(axis=0) > 0, stumps.predict(X))
    assert type(stumps.estimator_).__name__ == "DecisionStumpClassifier" and not hasattr(stumps.estimator_, "classes_")
