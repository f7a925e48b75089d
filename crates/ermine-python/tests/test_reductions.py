"""Labels and rankings: what `fit` takes beside scikit-learn's usual, and that the answers are scikit-learn's where it has the thing."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.metrics import roc_auc_score
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.multioutput import MultiOutputClassifier as TheirMultiOutput

import ermine
from ermine.linear_model import LogisticRegression
from ermine.multioutput import ClassifierChain, LabelPowersetClassifier, MultiOutputClassifier
from ermine.ranking import BipartiteRanker, OmegaRanker, PairwiseRanker, RankSVM
from ermine.tree import DecisionTreeClassifier


@pytest.fixture
def labels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    first = X[:, 0] + 0.5 * rng.normal(size=300) > 0
    return X, np.stack([first, X[:, 1] + first > 0.4, (X[:, 2] > 1) & ~first], axis=1).astype(int)


@pytest.fixture
def queries():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=400), [-1, 0.5, 1.5])
    return X, y, np.repeat(np.arange(20), 20)


def theirs():
    return TheirLogistic(solver="newton-cholesky", tol=1e-10)


def test_labels_are_those_of_scikit_learn(labels):
    X, y = labels
    ours, them = MultiOutputClassifier(estimator=LogisticRegression()).fit(X, y), TheirMultiOutput(theirs()).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), them.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), them.predict_proba(X), atol=1e-5)
    assert ours.score(X, y) == them.score(X, y)
    for order in (None, [2, 0, 1]):
        ours, them = ClassifierChain(estimator=LogisticRegression(), order=order).fit(X, y), TheirChain(theirs(), order=order).fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), them.predict(X))
        np.testing.assert_allclose(ours.predict_proba(X), them.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("cls", [MultiOutputClassifier, ClassifierChain, LabelPowersetClassifier])
def test_labels_in_any_form_saved_and_loaded(cls, labels, tmp_path):
    X, y = labels
    model = cls(estimator=DecisionTreeClassifier(max_depth=4), random_state=0).fit(X, y)
    for form in (y.astype(bool), scipy.sparse.csr_matrix(y), y.tolist()):
        np.testing.assert_array_equal(cls(estimator=DecisionTreeClassifier(max_depth=4), random_state=0).fit(X, form).predict(X), model.predict(X))
    named = cls(estimator=DecisionTreeClassifier(max_depth=4), random_state=0).fit(X, pd.DataFrame(y, columns=["a", "b", "c"]))
    assert named.label_names_.tolist() == ["a", "b", "c"]
    model.save(tmp_path / "m.ermine")
    loaded = ermine.load(tmp_path / "m.ermine")
    assert type(loaded) is cls
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert model.score(X, y) > 0.7 and model.predict(X).shape == y.shape


@pytest.mark.parametrize("cls", [MultiOutputClassifier, ClassifierChain, LabelPowersetClassifier])
def test_labels_may_have_any_two_values(cls, labels, tmp_path):
    X, y = labels
    plain = cls(estimator=DecisionTreeClassifier(max_depth=4), random_state=0).fit(X, y)
    words = np.where(y > 0, "yes", "no")
    model = cls(estimator=DecisionTreeClassifier(max_depth=4), random_state=0).fit(X, words)
    np.testing.assert_array_equal(model.predict(X), np.where(plain.predict(X) > 0, "yes", "no"))
    assert [values.tolist() for values in model.classes_] == [["no", "yes"]] * 3 and model.score(X, words) == plain.score(X, y)
    assert model.report(X, words).scores == plain.report(X, y).scores
    model.save(tmp_path / "m.ermine")
    np.testing.assert_array_equal(ermine.load(tmp_path / "m.ermine").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="other values"):
        model.report(X, y)


def test_what_is_no_label_is_refused(labels):
    X, y = labels
    with pytest.raises(ValueError, match="a column for each label"):
        ClassifierChain().fit(X, y[:, 0])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ClassifierChain().fit(X, y + y[:, [0]])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        ClassifierChain().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="NaN"):
        ClassifierChain().fit(X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        ClassifierChain().fit(X, y[:10])
    with pytest.raises(ValueError, match="order"):
        ClassifierChain(order=[0, 1]).fit(X, y)
    with pytest.raises(AttributeError, match="decision_function"):
        LabelPowersetClassifier().fit(X, y).predict_proba(X)


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(), RankSVM(pair_weight="grade"), PairwiseRanker(), PairwiseRanker(estimator=DecisionTreeClassifier(max_depth=5), random_state=0),
        PairwiseRanker(features="greater", random_state=0), OmegaRanker(random_state=0), OmegaRanker(omega="top-5", sort="votes", random_state=0),
        OmegaRanker(omega="dcg", features="greater", sort="probabilistic", random_state=0),
        OmegaRanker(omega=lambda i, j: abs(i - j), estimator=DecisionTreeClassifier(max_depth=5), random_state=0),
        OmegaRanker(omega=[[0, 1], [1, 0]], random_state=0),
    ],
    ids=lambda m: repr(m)[:60],
)
def test_rankers_rank(model, queries, tmp_path):
    X, y, qid = queries
    model.fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) > 0.75
    sizes = clone(model).fit(X, y, group=[20] * 20)
    np.testing.assert_array_equal(sizes.predict(X, group=[20] * 20), model.predict(X, qid=qid))
    model.save(tmp_path / "r.ermine")
    np.testing.assert_array_equal(ermine.load(tmp_path / "r.ermine").predict(X, qid=qid), model.predict(X, qid=qid))


def test_two_classes_are_ranked(queries):
    X, y, _ = queries
    relevant = np.where(y > 2, "yes", "no")
    model = BipartiteRanker().fit(X, relevant)
    auc = roc_auc_score(relevant == "yes", model.decision_function(X))
    assert auc > 0.95
    same = RankSVM().fit(X, y > 2)
    assert roc_auc_score(relevant == "yes", same.predict(X)) == pytest.approx(auc, abs=1e-6)


def test_what_is_no_ranking_is_refused(queries):
    X, y, qid = queries
    with pytest.raises(ValueError, match="qid.shape"):
        RankSVM().fit(X, y, qid=qid[:5])
    with pytest.raises(ValueError, match="sum to 400"):
        PairwiseRanker().fit(X, y, group=[3])
    with pytest.raises(ValueError, match="symmetric"):
        OmegaRanker(omega=lambda i, j: i).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="square matrix"):
        OmegaRanker(omega=[[0, 1, 2], [1, 0, 1]]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="no order to learn"):
        PairwiseRanker().fit(X, np.ones(400), qid=qid)
