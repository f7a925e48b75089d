"""Stacking and voting beside scikit-learn, and what `auto` tells."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.linear_model
import sklearn.neighbors
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import KFold

import ermine
from ermine.auto import AutoClassifier, AutoRanker, AutoRegressor
from ermine.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from ermine.linear_model import LogisticRegression, Ridge
from ermine.neighbors import KNeighborsClassifier, KNeighborsRegressor

SURE = {"tol": 1e-12, "max_iter": 100_000, "solver": "newton-cholesky"}
OURS = {
    "classes": [("line", LogisticRegression()), ("near", KNeighborsClassifier(7))],
    "numbers": [("line", Ridge(2.0)), ("near", KNeighborsRegressor(7))],
}
THEIRS = {
    "classes": [("line", sklearn.linear_model.LogisticRegression(**SURE)), ("near", sklearn.neighbors.KNeighborsClassifier(7))],
    "numbers": [("line", sklearn.linear_model.Ridge(2.0)), ("near", sklearn.neighbors.KNeighborsRegressor(7))],
}


def classes(n_classes=3):
    return make_classification(240, 6, n_informative=4, n_classes=n_classes, random_state=3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", [None, [3, 1]])
def test_votes_are_those_of_scikit_learn(n_classes, weights):
    X, y = classes(n_classes)
    for voting in ("soft", "hard"):
        ours = VotingClassifier(OURS["classes"], voting=voting, weights=weights).fit(X, y)
        theirs = sklearn.ensemble.VotingClassifier(THEIRS["classes"], voting=voting, weights=weights).fit(X, y)
        assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-5)
        assert hasattr(ours, "predict_proba") == hasattr(theirs, "predict_proba") == (voting == "soft")
        if voting == "soft":
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_means_are_those_of_scikit_learn():
    X, y = make_regression(200, 5, noise=3, random_state=1)
    ours, theirs = VotingRegressor(OURS["numbers"], weights=[1, 2]).fit(X, y), sklearn.ensemble.VotingRegressor(THEIRS["numbers"], weights=[1, 2]).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"passthrough": True}, {"cv": KFold(4, shuffle=True, random_state=1)}, {"stack_method": "predict"}])
def test_stacked_classes_are_those_of_scikit_learn(n_classes, options):
    X, y = classes(n_classes)
    ours = StackingClassifier(OURS["classes"], LogisticRegression(), **options).fit(X, y)
    theirs = sklearn.ensemble.StackingClassifier(THEIRS["classes"], sklearn.linear_model.LogisticRegression(**SURE), **options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.final_estimator_.coef_, theirs.final_estimator_.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-5)
    assert ours.stack_method_ == theirs.stack_method_ and list(ours.named_estimators_) == ["line", "near"]


def test_stacked_numbers_are_those_of_scikit_learn():
    X, y = make_regression(200, 5, noise=3, random_state=1)
    for options in ({}, {"final_estimator": "ridge"}, {"passthrough": True, "cv": 3}):
        their_options = options | ({"final_estimator": sklearn.linear_model.Ridge()} if "final_estimator" in options else {})
        ours, theirs = StackingRegressor(OURS["numbers"], **options).fit(X, y), sklearn.ensemble.StackingRegressor(THEIRS["numbers"], **their_options).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-4)


def test_estimators_of_others_are_fitted_by_scikit_learn():
    X, y = classes()
    mixed = [("ours", LogisticRegression()), ("theirs", sklearn.neighbors.KNeighborsClassifier(7))]
    model = StackingClassifier(mixed).fit(X, y)
    assert model.score(X, y) > 0.6 and isinstance(model.named_estimators_["theirs"], sklearn.neighbors.KNeighborsClassifier)
    dropped = VotingClassifier([*OURS["classes"], ("gone", "drop")], voting="soft").fit(X, y)
    assert len(dropped.estimators_) == 2


def test_parameters_of_named_estimators(tmp_path):
    model = VotingClassifier(OURS["classes"], voting="soft")
    assert model.get_params()["near__n_neighbors"] == 7
    copy = clone(model).set_params(near__n_neighbors=3, line=LogisticRegression(C=5.0))
    assert copy.get_params()["line__C"] == 5.0 and copy.named_estimators["near"].n_neighbors == 3 and model.get_params()["near__n_neighbors"] == 7
    X, y = classes()
    fitted = copy.fit(X, y)
    fitted.save(tmp_path / "m.ermine")
    read = ermine.load(tmp_path / "m.ermine")
    assert isinstance(read, VotingClassifier)
    np.testing.assert_array_equal(read.predict_proba(X), fitted.predict_proba(X))
    for wrong, message in ({"estimators": []}, "non-empty"), ({"weights": [1]}, "must be equal"), ({"estimators": [("a", Ridge())]}, "classifier"):
        with pytest.raises(ValueError, match=message):
            VotingClassifier(**({"estimators": OURS["classes"], "voting": "soft"} | wrong)).fit(X, y)


def test_auto_tells_what_it_chose(tmp_path):
    X, y = classes(2)
    model = AutoClassifier(n_candidates=3, cv=3, random_state=0).fit(X, y)
    assert len(model.leaderboard_) == 3 and sum(entry["weight"] for entry in model.leaderboard_) == pytest.approx(1)
    assert [entry["score"] for entry in model.leaderboard_] == sorted(entry["score"] for entry in model.leaderboard_)
    assert model.score_interval_[0] <= model.score_estimate_ <= model.score_interval_[1] and "candidates" in model.choice_
    assert model.score(X, y) > 0.8 and model.feature_importances_.sum() == pytest.approx(1)
    model.save(tmp_path / "auto.ermine")
    read = ermine.load(tmp_path / "auto.ermine")
    np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    assert read.leaderboard_ == model.leaderboard_


def test_auto_for_numbers_and_rankings():
    X, y = make_regression(150, 4, noise=3, random_state=1)
    assert AutoRegressor(n_candidates=3, cv=3, random_state=0).fit(X, y).score(X, y) > 0.9
    ranker = AutoRanker(n_candidates=1, cv=2, random_state=0).fit(X, np.digitize(y, [-50, 0, 50]), group=[15] * 10)
    assert ranker.predict(X).shape == (150,)
