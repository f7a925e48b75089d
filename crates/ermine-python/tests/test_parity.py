"""The same data and objective give the same model as scikit-learn's twin."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier as TheirDummyClassifier
from sklearn.dummy import DummyRegressor as TheirDummyRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ermine.dummy import DummyClassifier, DummyRegressor
from ermine.tree import DecisionStumpClassifier, DecisionStumpRegressor


def make(seed, n_classes=2, n=400, missing=False):
    """Single precision, since scikit-learn's trees round to it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).astype(np.float32)
    score = X[:, seed % 6] + 0.5 * rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.digitize(score, np.linspace(-1, 1, n_classes + 1)[1:-1]), score, rng.integers(1, 5, size=n).astype(float)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_stump_is_a_tree_of_depth_one(criterion, n_classes, weighted, seed):
    X, y, _, weight = make(seed, n_classes)
    weight = weight if weighted else None
    ours = DecisionStumpClassifier(criterion=criterion).fit(X, y, weight)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    impurity = (theirs.tree_.impurity[1:] * theirs.tree_.weighted_n_node_samples[1:]).sum() / theirs.tree_.weighted_n_node_samples[0]
    assert ours.certificate_.value == pytest.approx(impurity, abs=1e-9)
    assert ours.feature_importances_.tolist() == theirs.feature_importances_.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_missing_values_go_where_they_do_less_harm(seed):
    X, y, _, _ = make(seed, missing=True)
    ours = DecisionStumpClassifier(criterion="gini").fit(X, y)
    theirs = DecisionTreeClassifier(max_depth=1).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_regression_stump_is_a_tree_of_depth_one(weighted, seed):
    X, _, y, weight = make(seed)
    weight = weight if weighted else None
    ours = DecisionStumpRegressor().fit(X, y, weight)
    theirs = DecisionTreeRegressor(max_depth=1).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert ours.score(X, y, weight) == pytest.approx(theirs.score(X, y, weight), abs=1e-9)


def test_no_tree_of_depth_one_has_a_lower_error():
    for seed in range(10):
        X, y, _, _ = make(seed, n_classes=3)
        ours = DecisionStumpClassifier().fit(X, y)
        assert ours.score(X, y) >= DecisionTreeClassifier(max_depth=1).fit(X, y).score(X, y)
        assert 1 - ours.score(X, y) == pytest.approx(ours.certificate_.value)


def test_baselines_are_their_dummies():
    X, y, score, weight = make(0, n_classes=3)
    ours, theirs = DummyClassifier().fit(X, y, weight), TheirDummyClassifier().fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(DummyRegressor().fit(X, score, weight).predict(X), TheirDummyRegressor().fit(X, score, weight).predict(X))
