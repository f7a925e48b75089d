"""What users see: modules have public names only, every ``fit`` is documented, and messages about arguments name the user's class."""

import importlib
import inspect
from types import ModuleType

import numpy as np
import pytest

from ermine._catalog import CATALOG, MODULES
from ermine.ensemble import RandomForestClassifier
from ermine.neighbors import KNeighborsClassifier, NearestNeighbors
from ermine.svm import OneClassSVM

CLASSES = [getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name) for entry in CATALOG] + [OneClassSVM, NearestNeighbors]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("metrics", "model_selection")])
def test_modules_have_public_names_only(name):
    module = importlib.import_module(f"ermine.{name}")
    seen = {found for found, value in vars(module).items() if not found.startswith("_") and not isinstance(value, ModuleType)} - {"annotations"}
    assert seen == set(module.__all__)


def test_internal_bases_are_not_exported():
    with pytest.raises(ImportError):
        from ermine.ensemble import Regressor  # noqa: F401


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_fit_is_documented(cls):
    text = cls.fit.__doc__
    assert text and "Parameters\n" in text and "X : " in text and "Returns" in text
    for name in list(inspect.signature(cls.fit).parameters)[1:]:
        assert f"{name} :" in text or f"{name}, " in text or f", {name} :" in text or f"{name}\n" in text, name


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_messages_about_arguments_name_the_class(cls):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.fit\(\)"):
        cls().fit()


def test_members_of_a_forest():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    assert len(forest) == 3 and forest[0] is forest.estimators_[0] and [*forest] == forest.estimators_
    tree = forest[1].tree_
    assert tree.n_outputs == 1 and tree.n_features == 2 and tree.n_classes.tolist() == [2] and tree.max_n_classes == 2


def test_trees_are_drawn_by_scikit_learn():
    from sklearn.tree import export_graphviz

    from ermine.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) > 9
    assert "gini" in export_graphviz(DecisionTreeClassifier().fit(X, y)) and "squared_error" in export_graphviz(DecisionTreeRegressor().fit(X, y))


@pytest.mark.parametrize("cls", ["DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"])
def test_several_targets(cls, tmp_path):
    """A tree is that of scikit-learn; a forest predicts as well."""
    import sklearn.ensemble
    import sklearn.tree
    from sklearn.datasets import load_iris

    import ermine
    import ermine.ensemble
    import ermine.tree

    X, y = load_iris(return_X_y=True)
    Y = np.stack([np.array(["a", "b", "c"])[y], np.where(X[:, 1] > 3, "wide", "thin")], axis=1)
    part = "tree" if "Tree" in cls and "Extra" not in cls else "ensemble"
    params = {"max_depth": 3, "random_state": 0} | ({"class_weight": "balanced"} if part == "tree" else {})
    model, want = (getattr(importlib.import_module(f"{library}.{part}"), cls)(**params).fit(X, Y) for library in ("ermine", "sklearn"))
    assert [len(classes) for classes in model.classes_] == [3, 2] and model.n_outputs_ == 2 and model.n_classes_ == [3, 2]
    assert model.score(X, Y) >= (want.predict(X) == Y).all(axis=1).mean() - 0.05
    if part == "tree":
        for ours, theirs in zip(model.predict_proba(X), want.predict_proba(X)):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)
        np.testing.assert_allclose(model.tree_.value[0], want.tree_.value[0])
    model.save(tmp_path / "model.ermine")
    again = ermine.load(tmp_path / "model.ermine")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="must be 'gini' for several targets"):
        type(model)(criterion="entropy").fit(X, Y)
    assert KNeighborsClassifier().fit(X, Y).n_outputs_ == 2


def test_nodes_answer_for_rows():
    """Also where a threshold is infinite, because only missing values are split off."""
    import sklearn.tree

    from ermine.tree import DecisionTreeClassifier

    X, y = np.array([[np.nan], [np.nan], [1.0], [2.0], [3.0]]), [0, 0, 1, 1, 1]
    tree, want = DecisionTreeClassifier().fit(X, y), sklearn.tree.DecisionTreeClassifier().fit(X, y)
    assert np.isinf(tree.tree_.threshold[0]) and tree.tree_.missing_go_to_left[0] == want.tree_.missing_go_to_left[0]
    np.testing.assert_array_equal(tree.tree_.apply(X), tree.apply(X))
    np.testing.assert_array_equal(tree.tree_.predict(X), want.tree_.predict(X.astype(np.float32)))
    assert tree.tree_.decision_path(X).shape == (5, 3) and tree.tree_.capacity == 3
