"""Searches: the scores are those of separate fits, and of scikit-learn's own search over the same splits."""

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as theirs
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression

from ermine import model_selection as ours
from ermine.dummy import DummyClassifier
from ermine.ensemble import GradientBoostingClassifier
from ermine.linear_model import LogisticRegression, Ridge
from ermine.neighbors import KNeighborsClassifier
from ermine.tree import DecisionTreeClassifier, DecisionTreeRegressor

SEARCHES = {
    "ridge": (Ridge(), {"alpha": [0.1, 1.0, 100.0], "fit_intercept": [True, False]}, "r2"),
    "neighbors": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 8, 20], "weights": ["uniform", "distance"]}, "accuracy"),
    "pruning": (DecisionTreeClassifier(random_state=0), [{"ccp_alpha": [0.0, 0.01, 0.05]}, {"max_depth": [1, 3]}], "neg_log_loss"),
    "rounds": (GradientBoostingClassifier(learning_rate=0.3), {"n_estimators": [2, 5, 20], "max_leaf_nodes": [4, 8]}, "roc_auc"),
    "one after the other": (DecisionTreeRegressor(random_state=0), {"max_depth": [2, None]}, "neg_mean_absolute_error"),
}


def data(estimator):
    make = make_classification if hasattr(estimator, "predict_proba") else make_regression
    return make(300, 6, n_informative=4, random_state=0)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_same_scores_as_fitting_one_after_the_other(name):
    estimator, grid, scoring = SEARCHES[name]
    X, y = data(estimator)
    cv = theirs.KFold(4, shuffle=True, random_state=1)
    a = ours.GridSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(X, y)
    b = theirs.GridSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(X, y)
    assert a.cv_results_["params"] == b.cv_results_["params"]
    np.testing.assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], rtol=1e-9)
    np.testing.assert_allclose(a.cv_results_["std_test_score"], b.cv_results_["std_test_score"], rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(a.cv_results_["rank_test_score"][a.best_index_], 1)
    assert a.best_score_ == pytest.approx(b.best_score_) and a.n_splits_ == b.n_splits_
    np.testing.assert_allclose(a.predict(X), a.best_estimator_.predict(X))
    assert clone(a).fit(X, y).best_params_ == a.best_params_


@pytest.mark.parametrize("cv", [None, 2, 3, 7, np.int64(4)])
def test_integer_folds_equal_those_of_scikit_learn(cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(83, 3))
    y = np.array(["b", "a", "c"])[rng.choice(3, 83, p=[0.5, 0.3, 0.2])]
    np.testing.assert_allclose(ours.cross_val_score(DecisionTreeClassifier(random_state=0), X, y, cv=cv), theirs.cross_val_score(DecisionTreeClassifier(random_state=0), X, y, cv=cv))
    np.testing.assert_allclose(ours.cross_val_score(Ridge(), X, X[:, 0] ** 2, cv=cv), theirs.cross_val_score(Ridge(), X, X[:, 0] ** 2, cv=cv))
    a, b = (where.GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 4]}, cv=cv).fit(X, y) for where in (ours, theirs))
    for k in range(a.n_splits_):
        np.testing.assert_allclose(a.cv_results_[f"split{k}_test_score"], b.cv_results_[f"split{k}_test_score"])
    with pytest.raises(ValueError, match="folds"):
        ours.cross_val_score(Ridge(), X, X[:, 0], cv=84)
    with pytest.raises(ValueError, match="folds"):
        ours.cross_val_score(DecisionTreeClassifier(random_state=0), X, y, cv=1)


def test_settings_at_random_are_no_worse_than_the_estimator_itself():
    X, y = make_classification(300, 6, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)
    for search in (ours.RandomizedSearchCV(tree, n_iter=4, cv=3), ours.HalvingRandomSearchCV(tree, n_candidates=4, cv=3, factor=2)):
        search.fit(X, y)
        assert set(search.best_params_) <= set(tree.get_params())
        assert 0.5 < search.best_score_ <= 1.0
    at_random = ours.RandomizedSearchCV(tree, n_iter=4, cv=3).fit(X, y)
    assert at_random.best_score_ >= ours.cross_val_score(tree, X, y, cv=3).mean() - 1e-12


def test_scores_of_splits():
    X, y = make_regression(100, 3, random_state=0)
    cv = list(theirs.KFold(5).split(X))
    np.testing.assert_allclose(ours.cross_val_score(Ridge(), X, y, cv=cv), theirs.cross_val_score(Ridge(), X, y, cv=cv), rtol=1e-9)


def test_splits_are_masks_or_row_numbers_from_either_end():
    X, y = make_regression(40, 2, noise=9, random_state=0)
    mask = np.arange(40) < 20
    for cv in ([(mask, ~mask)], [(list(range(30)), [-1, -2, -5])]):
        np.testing.assert_allclose(ours.cross_val_score(Ridge(), X, y, cv=cv), theirs.cross_val_score(Ridge(), X, y, cv=cv), rtol=1e-9)
    for cv, words in (([(mask[:9], mask)], "a mask of 9 rows"), ([([0, 1], [40])], "numbered below 40"), ([([0.0, 1.0], [2])], "whole numbers")):
        with pytest.raises(ValueError, match=words):
            ours.cross_val_score(Ridge(), X, y, cv=cv)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"param_grid": {"alpha": 3.0}}, "list or an array"),
        ({"param_grid": {"alpa": [1.0]}}, "alpa"),
        ({"param_grid": {"alpha": [-1.0]}}, "alpha"),
        ({"scoring": "beauty"}, "scoring.*beauty"),
        ({"cv": 1}, "folds"),
        ({"cv": 1000}, "folds"),
        ({"cv": [([0], [99])]}, "numbered below"),
        ({"cv": [([], [1])]}, "at least one row each"),
        ({"param_grid": []}, "no settings"),
    ],
)
def test_invalid_searches_are_errors(change, words):
    X, y = make_regression(50, 3, random_state=0)
    with pytest.raises(ValueError, match=words):
        ours.GridSearchCV(Ridge(), **({"param_grid": {"alpha": [1.0]}} | change)).fit(X, y)


def test_a_validation_curve_is_that_of_scikit_learn():
    X, y = make_classification(300, 6, random_state=0)
    cv = list(theirs.StratifiedKFold(4).split(X, y))
    kw = {"param_name": "max_depth", "param_range": [1, 3, 9], "cv": cv, "scoring": "neg_log_loss"}
    a = ours.validation_curve(DecisionTreeClassifier(random_state=0), X, y, **kw)
    b = theirs.validation_curve(DecisionTreeClassifier(random_state=0), X, y, **kw)
    for mine, other in zip(a, b):
        np.testing.assert_allclose(mine, other, rtol=1e-9)


@pytest.mark.parametrize("cv", [4, 5, "given", theirs.KFold(3)])
def test_a_learning_curve_is_that_of_scikit_learn(cv):
    X, y = make_regression(203, 4, noise=20.0, random_state=0)
    cv = list(theirs.ShuffleSplit(3, random_state=0).split(X)) if cv == "given" else cv
    for sizes in ([0.1, 0.5, 1.0], [0.33, 0.331, 0.9], [10, 60, 61], np.linspace(0.1, 1.0, 5)):
        want = theirs.learning_curve(Ridge(), X, y, train_sizes=sizes, cv=cv)
        for a, b in zip(ours.learning_curve(Ridge(), X, y, train_sizes=sizes, cv=cv), want):
            np.testing.assert_allclose(a, b, rtol=1e-9)
    shuffled = [of.learning_curve(Ridge(), X, y, cv=cv, shuffle=True, random_state=1)[2] for of in (ours, theirs)]
    np.testing.assert_allclose(*shuffled, rtol=1e-9)
    for wrong in ([], [0.0], [-1.0], [5, 500], [0.5, 20.0]):
        with pytest.raises(ValueError, match="train_sizes"):
            ours.learning_curve(Ridge(), X, y, train_sizes=wrong, cv=cv)


def test_a_learning_curve_of_classes_is_that_of_scikit_learn():
    X, y = make_classification(301, 6, n_classes=3, n_informative=4, random_state=0)
    for cv in (4, theirs.StratifiedKFold(3)):
        got, want = (of.learning_curve(DecisionTreeClassifier(random_state=0), X, y, cv=cv) for of in (ours, theirs))
        for a, b in zip(got, want):
            np.testing.assert_allclose(a, b, rtol=1e-9)


def test_groups_are_kept_together():
    X, y = make_regression(120, 4, noise=20.0, random_state=0)
    groups = np.arange(120) % 10
    for cv in (theirs.GroupKFold(3), theirs.LeaveOneGroupOut()):
        got, want = (of.GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=cv).fit(X, y, groups=groups) for of in (ours, theirs))
        np.testing.assert_allclose(got.cv_results_["split1_test_score"], want.cv_results_["split1_test_score"], rtol=1e-9)
        assert got.best_params_ == want.best_params_ and got.n_splits_ == want.n_splits_
        scores = [of.cross_val_score(Ridge(), X, y, cv=cv, groups=groups) for of in (ours, theirs)]
        np.testing.assert_allclose(*scores, rtol=1e-9)
        curves = [of.learning_curve(Ridge(), X, y, cv=cv, groups=groups)[2] for of in (ours, theirs)]
        np.testing.assert_allclose(*curves, rtol=1e-9)
    assert set(ours.GridSearchCV(Ridge(), {"alpha": [1.0]}).fit(X, y).cv_results_) == set(theirs.GridSearchCV(Ridge(), {"alpha": [1.0]}).fit(X, y).cv_results_)


def test_failing_settings_get_the_error_score():
    from ermine.tree import DecisionTreeRegressor

    X, y = make_regression(60, 3, random_state=0)
    assert y.min() < 0
    grid = {"criterion": ["squared_error", "poisson"]}
    with pytest.warns(RuntimeWarning, match="1 of 2 settings could not be used"):
        search = ours.GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=3).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True] and search.best_params_ == {"criterion": "squared_error"}
    with pytest.warns(RuntimeWarning, match="set to -7"):
        search = ours.GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=3, error_score=-7).fit(X, y)
    assert search.cv_results_["split0_test_score"][1] == -7
    with pytest.raises(ValueError, match="error_score"):
        ours.GridSearchCV(DecisionTreeRegressor(random_state=0), grid, cv=3, error_score="zero").fit(X, y)


def test_without_a_refit_there_is_nothing_to_predict_with():
    X, y = make_regression(60, 3, random_state=0)
    search = ours.GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, refit=False)
    with pytest.raises(ValueError, match="not fitted"):
        search.predict(X)
    with pytest.raises(AttributeError, match="refit=False.*best_params_"):
        search.fit(X, y).predict(X)


def test_halving_accepts_the_arguments_of_scikit_learn():
    from scipy.stats import loguniform
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401

    X, y = make_classification(300, 6, random_state=0)
    options = {"param_distributions": {"max_depth": [1, 2, 4, 8], "min_impurity_decrease": loguniform(1e-5, 1e-2)}, "factor": 2, "random_state": 0, "cv": 3, "n_candidates": 6}
    got, want = (of.HalvingRandomSearchCV(DecisionTreeClassifier(random_state=0), **options).fit(X, y) for of in (ours, theirs))
    assert got.best_params_ == want.best_params_ and got.n_iterations_ == want.n_iterations_
    for wrong, words in (({"factor": 1}, "factor"), ({"resource": "n_estimators"}, "param_distributions")):
        with pytest.raises(ValueError, match=words):
            ours.HalvingRandomSearchCV(DecisionTreeClassifier(random_state=0), **wrong).fit(X, y)
    search = ours.HalvingRandomSearchCV(DecisionTreeClassifier(random_state=0), n_candidates=9, factor=9, cv=3)
    assert search.get_params(deep=False)["factor"] == 9 and search.fit(X, y).best_score_ > 0.5


@pytest.mark.parametrize("gamma", [0.02, "scale"])
def test_a_search_over_the_price_of_slack_agrees_with_separate_fits(gamma):
    from ermine.svm import SVC

    X, y = make_classification(300, 60, n_informative=10, random_state=0)
    cv = list(theirs.StratifiedKFold(4).split(X, y))
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [gamma]}
    a = ours.GridSearchCV(SVC(), grid, cv=cv).fit(X, y)
    b = theirs.GridSearchCV(SVC(), grid, cv=cv).fit(X, y)
    # A row within the tolerance of the boundary may change sides.
    np.testing.assert_allclose(a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], atol=0.007)


def test_other_estimators_are_left_to_scikit_learn():
    from sklearn.linear_model import Ridge as Other

    X, y = make_regression(40, 3, noise=5.0, random_state=0)
    a, b = (module.GridSearchCV(Other(), {"alpha": [1.0, 100.0]}).fit(X, y) for module in (ours, theirs))
    assert a.best_params_ == b.best_params_ and a.best_score_ == b.best_score_ and isinstance(a.best_estimator_, Other)


def test_a_search_is_an_estimator_like_others():
    import pandas as pd
    from sklearn.base import is_classifier, is_regressor
    from sklearn.model_selection import cross_val_score as their_cross_val_score
    from sklearn.utils.validation import check_is_fitted

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    y = (X["a"] > 0).astype(int)
    search = ours.GridSearchCV(LogisticRegression(), [{"C": [0.1, 1.0]}, {"l1_ratio": [1.0]}], cv=3)
    assert is_classifier(search) and is_regressor(ours.GridSearchCV(Ridge(), {"alpha": [1.0]})) and clone(search).get_params(deep=False).keys() == search.get_params(deep=False).keys()
    assert their_cross_val_score(search, X, y, cv=3).mean() > 0.8
    assert hasattr(search, "decision_function") and not hasattr(ours.GridSearchCV(Ridge(), {}), "predict_proba")
    check_is_fitted(search.fit(X, y))
    assert search.n_features_in_ == 3 and list(search.feature_names_in_) == list("abc") and search.decision_function(X).shape == (90,) and search.refit_time_ > 0
    table = pd.DataFrame(search.cv_results_)
    assert table["param_C"].tolist()[:2] == [0.1, 1.0] and search.cv_results_["param_C"].mask.tolist() == [False, False, True]
    assert "best of 3" in search._repr_html_()


def test_estimators_are_compared_in_order():
    X, y = make_classification(n_samples=200, n_classes=3, n_informative=4, random_state=0)
    board = ours.compare(X, y, learners=["baseline", "decision-stump", "logistic-regression"], n_iter=0)
    assert [type(row.estimator).__name__ for row in board] == ["LogisticRegression", "DecisionStumpClassifier", "DummyClassifier"]
    assert all(row.mean_score == pytest.approx(row.scores.mean()) and len(row.scores) == 5 for row in board)
    assert board[0].mean_score == pytest.approx(ours.cross_val_score(board[0].estimator, X, y).mean())
    assert board[0].estimator.fit(X, y).score(X, y) > 0.5
    assert "LogisticRegression" in repr(board)


def test_a_comparison_without_time_says_who_was_left_out():
    board = ours.compare([[0.0], [1.0]] * 10, [0.5, 1.25] * 10, budget=0.0)
    assert not board and {"ridge", "gradient-boosting"} <= set(board.skipped)
    with pytest.raises(ValueError, match="not known for regression"):
        ours.compare([[0.0], [1.0]] * 10, [0.5, 1.25] * 10, learners=["svc"])
    with pytest.raises(ValueError, match="expected 'auto'"):
        ours.compare([[0.0], [1.0]] * 10, [0.5, 1.25] * 10, task="ranking")


SPLITTERS = [
    ("KFold", (3,), {}), ("KFold", (4,), {"shuffle": True, "random_state": 7}),
    ("StratifiedKFold", (3,), {}), ("StratifiedKFold", (4,), {"shuffle": True, "random_state": 7}),
    ("GroupKFold", (3,), {}), ("GroupKFold", (3,), {"shuffle": True, "random_state": 7}), ("LeaveOneOut", (), {}),
    ("ShuffleSplit", (3,), {"random_state": 7}), ("ShuffleSplit", (2,), {"test_size": 0.3, "train_size": 0.5, "random_state": 7}),
    ("StratifiedShuffleSplit", (3,), {"test_size": 0.4, "random_state": 7}),
]


@pytest.mark.parametrize(("name", "args", "more"), SPLITTERS)
def test_splitters_draw_the_rows_of_scikit_learn(name, args, more):
    rng = np.random.default_rng(3)
    for n in (20, 33, 58):
        X, y, groups = rng.normal(size=(n, 2)), rng.integers(0, 3, n).astype(str), rng.integers(0, 6, n)
        y[:9], groups[:6] = list("000111222"), range(6)
        own, other = getattr(ours, name)(*args, **more), getattr(theirs, name)(*args, **more)
        assert type(own) is not type(other)
        assert own.get_n_splits(X, y, groups) == other.get_n_splits(X, y, groups)
        for (a, b), (c, d) in zip(own.split(X, y, groups), other.split(X, y, groups), strict=True):
            np.testing.assert_array_equal(a, c)
            np.testing.assert_array_equal(b, d)
    assert theirs.cross_val_score(DummyClassifier(), X, y, cv=own, groups=groups).shape == (own.get_n_splits(X),)


@pytest.mark.parametrize("more", [{}, {"test_size": 0.3}, {"train_size": 0.5}, {"test_size": 5, "train_size": 6}, {"stratify": True}, {"stratify": True, "test_size": 0.3}, {"shuffle": False}])
def test_train_test_split_draws_the_rows_of_scikit_learn(more):
    rng = np.random.default_rng(4)
    X, y = pd.DataFrame(rng.normal(size=(41, 2)), columns=["a", "b"]), rng.integers(0, 3, 41)
    more = more | ({"stratify": y} if "stratify" in more else {})
    for seed in range(5):
        own, other = (module.train_test_split(X, y, y.tolist(), random_state=seed, **more) for module in (ours, theirs))
        pd.testing.assert_frame_equal(own[0], other[0])
        pd.testing.assert_frame_equal(own[1], other[1])
        for a, b in zip(own[2:], other[2:], strict=True):
            assert type(a) is type(b)
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="test_size=1.5"):
        ours.train_test_split(X, test_size=1.5)
    with pytest.raises(ValueError, match="inconsistent"):
        ours.train_test_split(X, y[:-1])


def test_compare_takes_the_first_class_of_a_learner():
    X, y = np.arange(40.0)[:, None], ["a", "b"] * 20
    board = ours.compare(X, y, learners=["nearest-neighbors"], n_iter=0)
    assert [type(entry.estimator).__name__ for entry in board] == ["KNeighborsClassifier"]
