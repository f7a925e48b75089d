"""Gradient boosting: what `fit` takes beside the data, and what fitted estimators tell."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import ndcg_score, roc_auc_score

import ermine
from ermine.ensemble import GradientBoostingClassifier, GradientBoostingRanker, GradientBoostingRegressor


@pytest.fixture
def numbers():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 5))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * rng.normal(size=600)


@pytest.fixture
def queries():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(900, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=900), [-1, 0.5, 1.5])
    return X, y, np.repeat(np.arange(45), 20)


def same(a, b):
    return json.loads(a._model.header())["certificate"] == json.loads(b._model.header())["certificate"] and a._model.to_bytes() == b._model.to_bytes()


def test_a_custom_squared_error_equals_the_built_in_one(numbers):
    X, y = numbers
    calls = []

    def objective(y, score):
        calls.append(len(y))
        return score - y, np.ones_like(score)

    params = {"n_estimators": 20, "base_score": 0.0, "random_state": 0}
    own = GradientBoostingRegressor(**params).fit(X, y, objective=objective)
    built_in = GradientBoostingRegressor(**params).fit(X, y)
    assert np.allclose(own.predict(X), built_in.predict(X), atol=1e-6)
    assert set(calls) == {600}, "all rows at once"
    weight = np.random.default_rng(0).integers(1, 3, size=600)
    own = GradientBoostingRegressor(**params).fit(X, y, weight, objective=objective)
    assert np.allclose(own.predict(X), GradientBoostingRegressor(**params).fit(X, y, weight).predict(X), atol=1e-6)


def test_own_log_loss_of_classes(numbers):
    X, y = numbers
    labels = np.where(y > 0, "yes", "no")

    def objective(y, score):
        p = 1 / (1 + np.exp(-score))
        return p - y, p * (1 - p)

    params = {"n_estimators": 20, "base_score": 0.0, "random_state": 0}
    own = GradientBoostingClassifier(**params).fit(X, labels, objective=objective)
    assert np.allclose(own.predict_proba(X), GradientBoostingClassifier(**params).fit(X, labels).predict_proba(X), atol=1e-5)
    three = np.digitize(y, [-0.5, 0.5])

    def softmax(y, score):
        assert score.shape == (600, 3)
        p = np.exp(score - score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p - np.eye(3)[y.astype(int)], 1.5 * p * (1 - p)

    own = GradientBoostingClassifier(**params).fit(X, three, objective=softmax)
    assert np.allclose(own.predict_proba(X), GradientBoostingClassifier(**params).fit(X, three).predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("wrong", [
    lambda y, s: (s - y, -np.ones_like(s)), lambda y, s: (s[1:], s[1:]), lambda y, s: (s * np.nan, s), lambda y, s: None, lambda y, s: 1 / 0,
])
def test_mistakes_of_an_own_loss_are_raised(numbers, wrong):
    with pytest.raises((ValueError, TypeError, ZeroDivisionError)):
        GradientBoostingRegressor(n_estimators=3).fit(*numbers, objective=wrong)


def test_eval_set_history_and_early_stopping(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=300, learning_rate=0.4, early_stopping_rounds=5, random_state=0)
    model.fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    history = model.validation_loss_
    assert model.n_estimators_ == history.argmin() + 1 < 300
    staged = [np.mean((stage - y[400:]) ** 2) / 2 for stage in model.staged_predict(X[400:])]
    assert np.allclose(staged, history[: model.n_estimators_])
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    seen = []

    def metric(y, predicted):
        seen.append(np.abs(y - predicted).mean())
        return seen[-1]

    model.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], eval_metric=metric)
    assert np.allclose(seen, model.validation_loss_) and model.n_estimators_ == np.argmin(seen) + 1
    built_in = GradientBoostingRegressor(n_estimators=300, learning_rate=0.4, early_stopping_rounds=5, random_state=0, eval_metric="mae")
    assert np.array_equal(built_in.fit(X[:400], y[:400], eval_set=(X[400:], y[400:])).predict(X), model.predict(X))
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y, eval_set=(X, y), eval_metric=lambda y, p: 1 / 0)


def test_eval_set_of_classes_has_the_classes_of_the_training_rows(numbers):
    X, y = numbers
    labels = np.where(y > 0.5, "b", np.where(y > -0.5, "a", "c"))
    model = GradientBoostingClassifier(n_estimators=30, early_stopping_rounds=3, random_state=0)
    model.fit(X[:400], labels[:400], eval_set=(X[400:], labels[400:]))
    assert len(model.validation_loss_) >= model.n_estimators_
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_estimators_ and np.array_equal(stages[-1], model.predict(X))
    assert np.array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    with pytest.raises(ValueError, match="classes"):
        model.fit(X, labels, eval_set=(X, np.full(600, "z")))


def test_training_continues_from_a_model_and_a_checkpoint(numbers, tmp_path):
    X, y = numbers
    params = {"n_estimators": 25, "subsample": 0.7, "random_state": 3}
    whole = GradientBoostingRegressor(**params).fit(X, y, checkpoint=tmp_path / "part.ermine", checkpoint_every=10)
    resumed = GradientBoostingRegressor(**params).fit(X, y, init_model=tmp_path / "part.ermine")
    assert same(whole, resumed)
    part = GradientBoostingRegressor(**{**params, "n_estimators": 10}).fit(X, y)
    assert same(whole, GradientBoostingRegressor(**params).fit(X, y, init_model=part))
    assert ermine.load(tmp_path / "part.ermine").n_estimators_ == 20
    with pytest.raises(OSError):
        GradientBoostingRegressor().fit(X, y, init_model=tmp_path / "nowhere.ermine")


def test_init_score_is_where_scores_start(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y, init_score=y)
    assert np.abs(model.predict(X)).max() < 1e-6
    with pytest.raises(ValueError):
        GradientBoostingRegressor().fit(X, y, init_score=y[1:])


def test_quantiles_keep_their_order_and_never_cross(numbers):
    X, y = numbers
    model = GradientBoostingRegressor(loss="quantile", quantile_alpha=[0.9, 0.1, 0.5], random_state=0).fit(X, y)
    found = model.predict_quantiles(X)
    assert found.shape == (600, 3) and (found[:, 1] <= found[:, 2]).all() and (found[:, 2] <= found[:, 0]).all()
    assert np.array_equal(found[:, 2], model.predict(X))
    assert 0.8 < (y <= found[:, 0]).mean() <= 1
    with pytest.raises(ValueError, match="quantile"):
        GradientBoostingRegressor(n_estimators=2).fit(X, y).predict_quantiles(X)


def test_ranking_with_sizes_and_numbers_of_queries(queries):
    X, y, qid = queries
    model = GradientBoostingRanker(n_estimators=30, random_state=0).fit(X, y, group=[20] * 45)
    other = GradientBoostingRanker(n_estimators=30, random_state=0).fit(X, y, qid=qid)
    assert np.array_equal(model.predict(X), other.predict(X))
    assert model.score(X, y, qid=qid) > 0.9 > model.score(X, np.random.default_rng(0).permutation(y), qid=qid)
    watched = GradientBoostingRanker(n_estimators=100, learning_rate=0.4, early_stopping_rounds=5, random_state=0)
    watched.fit(X[:600], y[:600], qid=qid[:600], eval_set=(X[600:], y[600:]), eval_group=[20] * 15)
    ndcg = 1 - watched.validation_loss_.min()
    score, said = watched.score(X[600:], y[600:], qid=qid[600:]), watched.predict(X[600:])
    # Ties share their gains, as in scikit-learn; the training takes them as they come.
    assert score == pytest.approx(ndcg_score((2.0 ** y[600:] - 1).reshape(15, 20), said.reshape(15, 20), k=10), abs=1e-9)
    assert score == pytest.approx(ndcg, abs=5e-3)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    for wrong in ({}, {"group": [20] * 44}, {"qid": qid[1:]}, {"group": [20] * 45, "qid": qid}):
        with pytest.raises(ValueError):
            GradientBoostingRanker().fit(X, y, **wrong)


def test_a_ranker_comes_back_from_its_file(queries, tmp_path):
    X, y, qid = queries
    model = GradientBoostingRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid)
    model.save(tmp_path / "rank.ermine")
    loaded = ermine.load(tmp_path / "rank.ermine")
    assert isinstance(loaded, GradientBoostingRanker) and np.array_equal(loaded.predict(X), model.predict(X))


def test_sparse_matrices_are_taken_as_they_are(numbers):
    X, y = numbers
    X = np.where(np.abs(X) > 1, X, 0.0)
    sparse = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(scipy.sparse.csr_matrix(X), y)
    dense = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    assert np.array_equal(sparse.predict(scipy.sparse.csc_matrix(X)), dense.predict(X))


def test_watched_rows_start_from_their_own_init_score(numbers):
    X, y = numbers
    guess = 100 + np.round(y)
    model = GradientBoostingRegressor(n_estimators=300, learning_rate=0.3, early_stopping_rounds=5, random_state=0)
    model.fit(X[:400], y[:400], init_score=guess[:400], eval_set=(X[400:], y[400:]), eval_init_score=guess[400:])
    staged = [np.mean((guess[400:] + stage - y[400:]) ** 2) / 2 for stage in model.staged_predict(X[400:])]
    assert np.allclose(staged, model.validation_loss_[: model.n_estimators_])
    assert model.n_estimators_ == model.validation_loss_.argmin() + 1
    assert model.evals_result_ == {"validation_0": {"loss": model.validation_loss_.tolist()}}
    with pytest.raises(ValueError, match="validation set has no init scores"):
        model.fit(X[:400], y[:400], init_score=guess[:400], eval_set=(X[400:], y[400:]))
    with pytest.raises(ValueError, match="eval_init_score"):
        model.fit(X, y, eval_init_score=guess)
    with pytest.raises(ValueError):
        model.fit(X[:400], y[:400], init_score=guess[:400], eval_set=(X[400:], y[400:]), eval_init_score=guess[401:])
    # A share of the rows takes its scores along; rows without weight are left out with theirs.
    exact = GradientBoostingRegressor(early_stopping_rounds=3, n_estimators=10, random_state=0)
    exact.fit(X, 1000 * y, np.arange(600) % 3, init_score=1000 * y)
    assert exact.validation_loss_.max() < 1e-6 and np.abs(exact.predict(X)).max() < 1e-6
    labels = np.digitize(y, [-0.5, 0.5])
    sure = GradientBoostingClassifier(n_estimators=5, early_stopping_rounds=2, random_state=0)
    sure.fit(X, labels, init_score=50 * np.eye(3)[labels], eval_set=[(X, labels)], eval_init_score=50 * np.eye(3)[labels])
    assert sure.validation_loss_.max() < 1e-9


def test_own_loss_from_the_same_start_gives_the_built_in_model(numbers):
    X, y = numbers
    own = GradientBoostingRegressor(n_estimators=20, base_score=y.mean(), random_state=0).fit(X, y, objective=lambda y, score: (score - y, np.ones_like(y)))
    assert np.allclose(own.predict(X), GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y).predict(X), atol=1e-6)


def test_measures_are_watched_by_name(numbers, queries):
    X, y = numbers
    three = np.digitize(y, [-0.5, 0.5])
    model = GradientBoostingClassifier(n_estimators=40, eval_metric="roc-auc", early_stopping_rounds=5, random_state=0)
    model.fit(X[:400], three[:400], eval_set=(X[400:], three[400:]))
    auc = roc_auc_score(three[400:], model.predict_proba(X[400:]), multi_class="ovr", average="macro")
    assert model.validation_loss_.min() == pytest.approx(1 - auc, abs=1e-9) and list(model.evals_result_["validation_0"]) == ["roc-auc"]
    X, y, qid = queries
    ranker = GradientBoostingRanker(n_estimators=10, eval_metric="ndcg-5", random_state=0)
    ranker.fit(X[:600], y[:600], qid=qid[:600], eval_set=(X[600:], y[600:]), eval_qid=qid[600:])
    ndcg = ndcg_score((2.0 ** y[600:] - 1).reshape(15, 20), ranker.predict(X[600:]).reshape(15, 20), k=5)
    assert ranker.validation_loss_[-1] == pytest.approx(1 - ndcg, abs=1e-9)
    with pytest.raises(ValueError, match="roc-auc"):
        GradientBoostingClassifier(eval_metric="auc").fit(X, y)
    with pytest.raises(ValueError, match="ndcg-5"):
        GradientBoostingRanker(eval_metric="rmse").fit(X, y, qid=qid)
    with pytest.raises(TypeError, match="parameter: GradientBoostingRanker"):
        GradientBoostingRanker().fit(X, y, qid=qid, eval_metric="ndcg")


def test_forms_of_eval_sets(numbers):
    X, y = numbers
    weight = np.ones(200)
    model = GradientBoostingRegressor(n_estimators=5, random_state=0)
    histories = []
    for eval_set in ((X[400:], y[400:]), [X[400:], y[400:]], [(X[400:], y[400:])], [(X[400:], y[400:], weight)], (X[400:], y[400:], weight)):
        histories.append(model.fit(X[:400], y[:400], eval_set=eval_set).validation_loss_)
    assert all(np.allclose(histories[0], other) for other in histories)
    several = model.fit(X[:400], y[:400], eval_set=[(X[:400], y[:400]), (X[400:], y[400:])])
    assert np.allclose(several.validation_loss_, histories[0])
    known = pickle.loads(pickle.dumps(several)).evals_result_
    assert list(known) == ["validation_0", "validation_1"] and known["validation_1"]["loss"] == several.validation_loss_.tolist()
    assert np.allclose(known["validation_0"]["loss"], [np.mean((stage - y[:400]) ** 2) / 2 for stage in several.staged_predict(X[:400])])
    with pytest.raises(ValueError, match="one entry for each of the 2 sets"):
        model.fit(X, y, init_score=y, eval_set=[(X, y), (X, y)], eval_init_score=y)
    with pytest.raises(ValueError, match="eval_set must be"):
        model.fit(X, y, eval_set=X)


def test_columns_are_constrained_by_name(numbers):
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcde"))
    by_name = GradientBoostingRegressor(n_estimators=10, monotone_constraints={"c": 1, "a": -1}, interaction_constraints=[["a", "b"], ["c", 3, "e"]], random_state=0)
    by_place = GradientBoostingRegressor(n_estimators=10, monotone_constraints=[-1, 0, 1, 0, 0], interaction_constraints=[[0, 1], [2, 3, 4]], random_state=0)
    assert np.array_equal(by_name.fit(frame, y).predict(frame), by_place.fit(frame, y).predict(frame))
    assert clone(by_name).monotone_constraints == {"c": 1, "a": -1}
    with pytest.raises(ValueError, match="'monotone_constraints' parameter .* name of a feature column; did you mean 'a'"):
        GradientBoostingRegressor(monotone_constraints={"aa": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="age=\\+1"):
        GradientBoostingRegressor(monotone_constraints={"a": 2}).fit(frame, y)
    with pytest.raises(ValueError, match="'interaction_constraints' parameter .* name of a feature column"):
        GradientBoostingRegressor(interaction_constraints=[["a", "z"]]).fit(frame, y)
