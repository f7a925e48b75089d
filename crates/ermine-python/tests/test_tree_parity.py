"""Trees and ensembles are as good as scikit-learn's twins, and show what users of the twins look at."""

import numpy as np
import pytest
from sklearn import ensemble as theirs_ensemble
from sklearn import tree as theirs_tree
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

import ermine
from ermine import ensemble, tree
from ermine.tree import DecisionStumpClassifier, DecisionTreeClassifier, DecisionTreeRegressor, OptimalTreeClassifier


def single(X):
    """Single precision, since scikit-learn's trees round to it."""
    return X.astype(np.float32)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_a_full_tree_fits_its_training_data(criterion, load):
    X, y = load(return_X_y=True)
    X = single(X)
    ours = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    theirs = theirs_tree.DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    assert ours.score(X, y) == theirs.score(X, y) == 1.0
    assert abs(ours.get_n_leaves() - theirs.get_n_leaves()) <= 0.2 * theirs.get_n_leaves()
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("params", [{"max_depth": 2}, {"max_depth": 4, "min_samples_leaf": 7}, {"max_leaf_nodes": 6}, {"ccp_alpha": 0.01}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_limited_trees_are_the_same_trees(params, seed):
    rng = np.random.default_rng(seed)
    X = single(rng.normal(size=(500, 5)))
    y = ((X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=500)) > 0.7).astype(int)
    ours = DecisionTreeClassifier(**params).fit(X, y)

    def same(theirs):
        probabilities = np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
        importances = np.allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
        return probabilities and importances and (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())

    # Of columns whose splits are equally good, theirs takes one at random.
    assert any(same(theirs_tree.DecisionTreeClassifier(**params, random_state=state).fit(X, y)) for state in range(8))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_limited_regression_trees_are_the_same_trees(criterion):
    rng = np.random.default_rng(5)
    X = single(rng.normal(size=(300, 4)))
    y = np.exp(X[:, 0]) + (X[:, 1] > 0) + 0.1 * rng.random(300)
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, y)
    theirs = theirs_tree.DecisionTreeRegressor(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    two = DecisionTreeRegressor(max_depth=3).fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(two.predict(X)[:, 0], -two.predict(X)[:, 1], atol=1e-9)


@pytest.mark.parametrize("weights", ["balanced", {0: 5.0, 1: 0.5}], ids=str)
def test_class_weights_are_theirs(weights, tmp_path):
    rng = np.random.default_rng(2)
    X = single(rng.normal(size=(400, 4)))
    y = (X[:, 0] + rng.normal(size=400) > 1).astype(int)
    ours = DecisionTreeClassifier(max_depth=3, class_weight=weights).fit(X, y)
    theirs = theirs_tree.DecisionTreeClassifier(max_depth=3, class_weight=weights, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    ours.save(tmp_path / "model.ermine")
    assert ermine.load(tmp_path / "model.ermine").class_weight == weights


def test_no_greedy_tree_beats_the_optimal_tree():
    X, y = load_wine(return_X_y=True)
    X = single(X)
    ours = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert "optimal" in ours.certificate_.proofs[0] and ours.get_depth() <= 2
    assert ours.score(X, y) >= theirs_tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y).score(X, y)
    assert 1 - ours.score(X, y) == pytest.approx(ours.certificate_.value)


CLASSIFIERS = [
    (ensemble.RandomForestClassifier(random_state=0), theirs_ensemble.RandomForestClassifier(random_state=0)),
    (ensemble.ExtraTreesClassifier(random_state=0), theirs_ensemble.ExtraTreesClassifier(random_state=0)),
    (ensemble.GradientBoostingClassifier(random_state=0), theirs_ensemble.GradientBoostingClassifier(random_state=0)),
    (ensemble.AdaBoostClassifier(random_state=0), theirs_ensemble.AdaBoostClassifier(random_state=0)),
    (ensemble.BaggingClassifier(random_state=0), theirs_ensemble.BaggingClassifier(random_state=0)),
]
REGRESSORS = [
    (ensemble.RandomForestRegressor(random_state=0), theirs_ensemble.RandomForestRegressor(random_state=0)),
    (ensemble.ExtraTreesRegressor(random_state=0), theirs_ensemble.ExtraTreesRegressor(random_state=0)),
    (ensemble.GradientBoostingRegressor(random_state=0), theirs_ensemble.GradientBoostingRegressor(random_state=0)),
    (
        ensemble.AdaBoostRegressor(estimator=DecisionTreeRegressor(max_depth=3), random_state=0),
        theirs_ensemble.AdaBoostRegressor(random_state=0),
    ),
    (ensemble.BaggingRegressor(random_state=0), theirs_ensemble.BaggingRegressor(random_state=0)),
]


def twins(value):
    return type(value).__name__ if hasattr(value, "fit") else None


@pytest.mark.parametrize("ours, theirs", CLASSIFIERS, ids=twins)
def test_ensembles_classify_as_well(ours, theirs):
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(ours, X, y, cv=3).mean() > cross_val_score(theirs, X, y, cv=3).mean() - 0.02


@pytest.mark.parametrize("ours, theirs", REGRESSORS, ids=twins)
def test_ensembles_predict_numbers_as_well(ours, theirs):
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(ours, X, y, cv=3).mean() > cross_val_score(theirs, X, y, cv=3).mean() - 0.04


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesClassifier", "GradientBoostingClassifier"])
def test_ten_classes(name):
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    ours = getattr(ensemble, name)(random_state=0).fit(train, y_train)
    assert ours.score(test, y_test) > 0.95
    assert ours.feature_importances_.shape == (64,) and ours.feature_importances_.sum() == pytest.approx(1.0)
    assert ours.feature_importances_[0] == 0.0, "the first pixel is always empty"


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees", "Bagging"])
def test_out_of_bag_scores_tell_the_error_on_new_rows(name):
    X, y = load_breast_cancer(return_X_y=True)
    ours = getattr(ensemble, f"{name}Classifier")(n_estimators=50, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    theirs = getattr(theirs_ensemble, f"{name}Classifier")(n_estimators=50, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.025)
    assert not hasattr(ours.set_params(oob_score=False).fit(X, y), "oob_score_")


def test_a_learner_is_given_as_an_estimator_or_by_name(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    by_name = ensemble.BaggingClassifier(estimator="decision-tree(max_depth=2)", random_state=3).fit(X, y)
    given = ensemble.BaggingClassifier(estimator=DecisionTreeClassifier(max_depth=2), random_state=3)
    np.testing.assert_array_equal(clone(given).fit(X, y).predict_proba(X), by_name.predict_proba(X))
    given.fit(X, y).save(tmp_path / "model.ermine")
    assert ermine.load(tmp_path / "model.ermine").estimator == "decision-tree(criterion=gini,max_depth=2)"
    search = GridSearchCV(given, {"estimator__max_depth": [1, 3]}, cv=2).fit(X, y)
    assert search.best_params_["estimator__max_depth"] == 3
    with pytest.raises(ValueError, match="decision-tree: max_depth must be"):
        ensemble.AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=0)).fit(X, y)
    with pytest.raises(ValueError, match="estimator"):
        ensemble.AdaBoostClassifier(estimator=object()).fit(X, y)


def test_boosting_stumps_is_theirs():
    X, y = load_breast_cancer(return_X_y=True)
    X = single(X)
    ours = ensemble.AdaBoostClassifier(estimator=DecisionStumpClassifier(criterion="gini"), n_estimators=20).fit(X, y)
    theirs = theirs_ensemble.AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.98
    assert ours.estimator_errors_[0] == pytest.approx(theirs.estimator_errors_[0])
    assert len(ours.estimator_weights_) == 20


def test_the_same_seed_gives_the_same_model():
    X, y = load_wine(return_X_y=True)
    proba = [ensemble.RandomForestClassifier(n_estimators=5, random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(proba[0], proba[1])
    assert (proba[0] != proba[2]).any()
    assert tree.DecisionTreeClassifier(splitter="random", random_state=1).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesClassifier", "BaggingClassifier"])
def test_warm_start_adds_members(name):
    X, y = load_wine(return_X_y=True)
    cls = getattr(ensemble, name)
    model = cls(n_estimators=4, random_state=1, warm_start=True).fit(X, y)
    assert len(model.estimators_) == 4
    model.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), cls(n_estimators=9, random_state=1).fit(X, y).predict_proba(X))
    assert len(model.estimators_) == 9
    np.testing.assert_allclose(np.mean([part.predict_proba(X) for part in model.estimators_], axis=0), model.predict_proba(X), atol=1e-12)
    with pytest.raises(ValueError, match="at least 9"):
        model.set_params(n_estimators=3).fit(X, y)


def test_a_forest_tells_leaves_proximity_and_reasons():
    X, y = load_breast_cancer(return_X_y=True)
    model = ensemble.RandomForestClassifier(
        n_estimators=20, max_depth=5, oob_score=True, permutation_importances=True, random_state=0).fit(X, y)
    leaves, alike = model.apply(X[:50]), model.proximity(X[:50])
    assert leaves.shape == (50, 20)
    np.testing.assert_allclose(alike, (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2))
    values = model.shap_values(X[:30])
    assert values.shape == (30, 30, 2)
    np.testing.assert_allclose(values.sum(axis=1) + model.expected_value_, model.predict_proba(X[:30]), atol=1e-9)
    assert model.shap_importances(X[:30]).shape == model.permutation_importances_.shape == (30,)
    assert model.oob_decision_function_.shape == (len(X), 2)
    seen = ~np.isnan(model.oob_decision_function_[:, 0])
    right = model.classes_[model.oob_decision_function_[seen].argmax(axis=1)] == y[seen]
    assert right.mean() == pytest.approx(model.oob_score_)
    tree_ = model.estimators_[0]
    assert isinstance(tree_, DecisionTreeClassifier) and tree_.get_depth() <= 5 and tree_.svg()


def test_quantiles_have_their_coverage():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(3000, 2))
    y = X[:, 0] + rng.normal(scale=1 + X[:, 1], size=3000)
    model = ensemble.RandomForestRegressor(min_samples_leaf=20, quantiles=True, random_state=0).fit(X[:2000], y[:2000])
    low, middle, high = model.predict_quantiles(X[2000:], [0.1, 0.5, 0.9]).T
    assert (low <= middle).all() and (middle <= high).all()
    assert ((y[2000:] >= low) & (y[2000:] <= high)).mean() == pytest.approx(0.8, abs=0.05)
    wide = X[2000:, 1] > 8
    assert (high - low)[wide].mean() > 2 * (high - low)[X[2000:, 1] < 2].mean(), "the spread follows the noise"
    with pytest.raises(ValueError, match="train a forest with quantiles = true"):
        ensemble.RandomForestRegressor(n_estimators=2).fit(X, y).predict_quantiles(X)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_forests_have_the_criteria_of_their_twins(criterion):
    X, y = load_diabetes(return_X_y=True)
    ours = ensemble.RandomForestRegressor(n_estimators=20, criterion=criterion, min_samples_leaf=5, random_state=0)
    theirs = theirs_ensemble.RandomForestRegressor(n_estimators=20, criterion=criterion, min_samples_leaf=5, random_state=0)
    assert cross_val_score(ours, X, y, cv=3).mean() > cross_val_score(theirs, X, y, cv=3).mean() - 0.04


def test_boosting_tells_its_rounds():
    X, y = load_breast_cancer(return_X_y=True)
    model = ensemble.AdaBoostClassifier(n_estimators=30).fit(X, y)
    errors = [1 - score for score in model.staged_score(X, y)]
    np.testing.assert_allclose(errors, model.train_errors_)
    assert (model.train_errors_ <= model.train_error_bounds_ + 1e-12).all()
    np.testing.assert_allclose(np.cumprod(model.normalizers_), model.train_error_bounds_)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, model.predict_proba(X))
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == model.classes_[1])
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    stopped = ensemble.AdaBoostClassifier(n_estimators=300, n_iter_no_change=5, random_state=0).fit(X, y)
    assert len(stopped.validation_errors_) == len(stopped.estimator_weights_) < 300
    numbers, t = load_diabetes(return_X_y=True)
    regressor = ensemble.AdaBoostRegressor(estimator=DecisionTreeRegressor(max_depth=2), n_estimators=8).fit(numbers, t)
    stages = list(regressor.staged_predict(numbers))
    np.testing.assert_array_equal(stages[-1], regressor.predict(numbers))
    np.testing.assert_array_equal(stages[0], regressor.estimators_[0].predict(numbers))


def test_comparison_forests_take_any_metric():
    X, y = load_wine(return_X_y=True)
    for metric in ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis"]:
        model = ensemble.ComparisonForestClassifier(n_estimators=30, metric=metric, oob_score=True, random_state=0).fit(X, y)
        assert model.oob_score_ > 0.85, metric


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "numbers"])
def test_single_trees_are_as_good_over_seeds(classes):
    """The means over seeds differ by no more than their noise."""
    scores = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = single(rng.normal(size=(1200, 6)))
        f = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + 0.5 * rng.normal(size=1200)
        y = (f > 0).astype(int) if classes else f
        name = "DecisionTreeClassifier" if classes else "DecisionTreeRegressor"
        fitted = [getattr(tree, name)(), getattr(theirs_tree, name)(random_state=seed)]
        scores.append([model.fit(X[:600], y[:600]).score(X[600:], y[600:]) for model in fitted])
    difference = np.subtract(*np.transpose(scores))
    noise = difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) <= 3 * noise + 0.005


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("leaf", [1, 5, 20])
def test_constrained_trees_are_theirs(seed, leaf):
    rng = np.random.default_rng(seed)
    X = single(rng.uniform(-2, 2, size=(800, 5)))
    f = X[:, 0] + 1.5 * np.sin(2 * X[:, 1]) - 0.5 * X[:, 4] + 0.5 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=800)
    constraints = [1, 0, 0, 0, -1]
    ours = DecisionTreeRegressor(min_samples_leaf=leaf, monotonic_cst=constraints).fit(X, f)
    theirs = theirs_tree.DecisionTreeRegressor(min_samples_leaf=leaf, monotonic_cst=constraints, random_state=0).fit(X, f)
    error = [np.mean((model.predict(X) - f) ** 2) for model in (ours, theirs)]
    assert error[0] == pytest.approx(error[1], rel=0.05)
    assert ours.get_n_leaves() == pytest.approx(theirs.get_n_leaves(), rel=0.05)
    y = (f > 0).astype(int)
    ours = DecisionTreeClassifier(min_samples_leaf=leaf, monotonic_cst=constraints).fit(X, y)
    theirs = theirs_tree.DecisionTreeClassifier(min_samples_leaf=leaf, monotonic_cst=constraints, random_state=0).fit(X, y)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)


def test_balanced_classes_count_rows_by_weight():
    rng = np.random.default_rng(1)
    X = single(rng.normal(size=(200, 3)))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    weight = 1 + rng.integers(0, 3, size=200)
    weighted = DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(X, y, sample_weight=weight)
    repeated = DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_trees_describe_themselves():
    X, y = load_wine(return_X_y=True)
    for name in ("DecisionStumpClassifier", "ObliqueTreeClassifier", "QuadTreeClassifier", "ComparisonTreeClassifier"):
        model = getattr(tree, name)().fit(X[:, :4], y)
        assert "<svg" in model.svg() and "if " in model.rules() and "->" in model.dot() and "root: " in model.explain_row(X[:, :4])
    density = tree.DensityTreeClassifier().fit(X[:, :2], y)
    inside, outside = density.score_samples([X[0, :2], [1e6, 1e6]])
    assert np.isfinite(inside) and outside == -np.inf and "log density" in density.describe()
    with pytest.raises(ValueError, match="no graph"):
        density.dot()
    with pytest.raises(ValueError, match="finite"):
        tree.DensityTreeClassifier().fit([[np.inf], [1.0], [2.0]], [0, 1, 0])
    pruned = DecisionTreeClassifier(pruning="cross_validation").fit(X, y)
    assert pruned.ccp_alpha_ >= 0 and any("removed" in note for note in pruned.certificate_.notes)


def test_comparisons_take_a_users_metric():
    X, y = load_wine(return_X_y=True)

    def manhattan(a, b):
        return float(np.abs(a - b).sum())

    for make in (tree.ComparisonTreeClassifier, lambda **p: ensemble.ComparisonForestClassifier(n_estimators=5, **p)):
        own = make(metric=manhattan, random_state=0).fit(X[::2], y[::2])
        built_in = make(metric="manhattan", random_state=0).fit(X[::2], y[::2])
        assert np.array_equal(own.predict(X[1::2]), built_in.predict(X[1::2]))


def test_invalid_options_are_errors():
    X, y = load_wine(return_X_y=True)
    for params in ({"max_samples": 2.0}, {"max_samples": 1000}, {"max_features": 0}):
        with pytest.raises(ValueError, match=next(iter(params))):
            ensemble.RandomForestClassifier(n_estimators=2, **params).fit(X, y)
    with pytest.raises(ValueError, match="estimator can't be DecisionTreeRegressor"):
        ensemble.AdaBoostClassifier(estimator=DecisionTreeRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="weights above 0"):
        DecisionTreeClassifier(class_weight={0: -1.0}).fit(X, y)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        ensemble.RandomForestClassifier(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="oob_score"):
        ensemble.BaggingClassifier(bootstrap=False, oob_score=True).fit(X, y)
