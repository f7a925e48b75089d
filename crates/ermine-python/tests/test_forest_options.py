"""Options of forests: scores of out-of-bag predictions that are functions, and warm starts that add nothing."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import explained_variance_score, f1_score

from ermine.ensemble import BaggingRegressor, ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("cls", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_out_of_bag_score_of_classes_may_be_a_function(cls):
    score = lambda true, predicted: f1_score(true, predicted, average="micro")
    forest = cls(30, oob_score=score, bootstrap=True, random_state=0).fit(X, Y)
    plain = cls(30, oob_score=True, bootstrap=True, random_state=0).fit(X, Y)
    assert forest.oob_score_ == pytest.approx(plain.oob_score_) and 0.9 < forest.oob_score_ < 1


def test_the_out_of_bag_score_of_numbers_may_be_a_function():
    forest = RandomForestRegressor(40, oob_score=explained_variance_score, random_state=0).fit(X[:, :3], X[:, 3])
    assert forest.oob_score_ == explained_variance_score(X[:, 3], forest.oob_prediction_)


def test_the_out_of_bag_score_of_several_targets_may_be_a_function():
    several = np.stack([Y, Y == 0], axis=1)
    forest = RandomForestClassifier(40, oob_score=lambda true, predicted: (true == predicted).mean(), random_state=0).fit(X, several)
    assert 0.9 < forest.oob_score_ <= 1


@pytest.mark.parametrize("model", [RandomForestClassifier(3, warm_start=True), BaggingRegressor(n_estimators=3, warm_start=True)])
def test_a_warm_start_that_adds_nothing_is_reported(model):
    model.fit(X, Y)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, Y)
