"""Support vector machines: scikit-learn's names, shapes and numbers; kernels that are functions; one class."""

import pickle

import numpy as np
import pytest
import sklearn.svm as theirs
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import cross_val_score

import ermine
from ermine import _estimator, model_selection
from ermine.calibration import CalibratedClassifierCV
from ermine.multiclass import OneVsOneClassifier
from ermine.svm import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM, StringKernel, is_psd


@pytest.fixture
def two():
    return make_classification(150, 4, random_state=1, flip_y=0.1)


@pytest.fixture
def three():
    return load_iris(return_X_y=True)


PARAMS = [{}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"gamma": "auto", "C": 5.0}, {"gamma": 0.3, "class_weight": "balanced"}]


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("many", [False, True])
def test_classes_as_in_scikit_learn(params, many, two, three):
    X, y = three if many else two
    ours, other = SVC(tol=1e-7, **params).fit(X, y), theirs.SVC(tol=1e-7, **params).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, other.support_)
    np.testing.assert_array_equal(ours.n_support_, other.n_support_)
    assert ours.dual_coef_.shape == other.dual_coef_.shape and ours.intercept_.shape == other.intercept_.shape
    np.testing.assert_allclose(ours.dual_coef_, other.dual_coef_, atol=1e-4 * ours.C * 10)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.support_vectors_, other.support_vectors_)
    if params.get("kernel") == "linear":
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    else:
        assert not hasattr(ours, "coef_")
    assert ours.certificate_.converged


def test_pairs_of_classes(three):
    X, y = three
    ours = SVC(decision_function_shape="ovo", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.SVC(decision_function_shape="ovo", tol=1e-7).fit(X, y).decision_function(X), atol=1e-4)


def test_slacks_and_cases(two):
    X, y = two
    model = SVC().fit(X, y)
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    np.testing.assert_allclose(model.slack_, np.maximum(1 - margin, 0), atol=1e-6)
    assert ((model.case_ == 2) == (margin < 0)).all()
    with pytest.raises(ValueError, match="no picture"):
        model.svg()
    assert "misclassified" in model.describe()
    assert SVC().fit(X[:, :2], y).svg().startswith("<svg")


def test_a_hard_margin_needs_separable_classes(two):
    X, y = two
    with pytest.raises(ValueError, match="can't be separated"):
        SVC(C=np.inf, kernel="linear").fit(X, y)


@pytest.mark.parametrize("params", [{}, {"kernel": "linear", "epsilon": 0.3}], ids=str)
def test_numbers_as_in_scikit_learn(params, two):
    X, _ = two
    y = X[:, 0] + np.sin(X[:, 1])
    ours, other = SVR(tol=1e-7, **params).fit(X, y), theirs.SVR(tol=1e-7, **params).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, other.support_)
    np.testing.assert_allclose(ours.dual_coef_, other.dual_coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=1e-4)


def laplacian(a, b):
    return np.exp(-0.3 * np.abs(a[:, None] - b).sum(axis=2))


def test_a_kernel_may_be_a_function(two):
    X, y = two
    ours, other = SVC(kernel=laplacian, tol=1e-7).fit(X, y), theirs.SVC(kernel=laplacian, tol=1e-7).fit(X, y)
    named = SVC(kernel="laplacian", gamma=0.3, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X[:9]), other.decision_function(X[:9]), atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X[:9]), named.decision_function(X[:9]), atol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).predict(X), ours.predict(X))
    assert ours.fit(X[:100], y[:100]).predict(X[100:]).shape == (50,)
    with pytest.raises(ValueError, match="features"):
        ours.predict(X[:, :2])
    with pytest.raises(ValueError, match="symmetric"):
        SVC(kernel=lambda a, b: np.arange(len(a) * len(b), dtype=float).reshape(len(a), len(b))).fit(X, y)


def test_given_kernel_values_are_cut_by_rows_and_columns(two):
    X, y = two
    scores = cross_val_score(SVC(kernel="precomputed"), laplacian(X, X), y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(SVC(kernel="laplacian", gamma=0.3), X, y, cv=3))


def test_an_indefinite_kernel_is_reported(two):
    X, y = two
    with pytest.warns(UserWarning, match="eigenvalue is -"):
        model = SVC(kernel=lambda a, b: np.tanh(a @ b.T - 1)).fit(X, y)
    assert "eigenvalue is -" in str(model.certificate_)
    psd, least = is_psd(lambda a, b: np.tanh(a @ b.T - 1), X)
    assert not psd and least < 0
    assert is_psd(laplacian, X)[0] and is_psd(laplacian(X, X))[0]
    for wrong in (laplacian(X, X[:5]), [1.0], np.full((2, 2), np.nan)):
        with pytest.raises(ValueError):
            is_psd(wrong)
    with pytest.raises(ValueError, match="as X"):
        is_psd(laplacian)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_classes_as_in_scikit_learn(loss, two, three):
    for X, y in (two, three):
        ours = LinearSVC(loss=loss, tol=1e-8, max_iter=100_000, C=0.5, random_state=0).fit(X, y)
        other = theirs.LinearSVC(loss=loss, tol=1e-8, max_iter=1_000_000, C=0.5, random_state=0).fit(X, y)
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-3)
        np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=2e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_numbers_as_in_scikit_learn(loss, two):
    X, _ = two
    y = X @ [1.0, -1.0, 0.5, 2.0] + 0.2 * np.sin(9 * X[:, 0])
    ours = LinearSVR(loss=loss, tol=1e-8, max_iter=100_000, epsilon=0.05, random_state=0).fit(X, y)
    other = theirs.LinearSVR(loss=loss, tol=1e-8, max_iter=1_000_000, epsilon=0.05, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, np.ravel(other.intercept_)[0], atol=2e-3)


def test_one_class_as_in_scikit_learn(two):
    X, _ = two
    ours, other = OneClassSVM(nu=0.2, tol=1e-8).fit(X), theirs.OneClassSVM(nu=0.2, tol=1e-8).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(ours.score_samples(X), other.score_samples(X), atol=1e-5)
    inside = np.abs(other.decision_function(X)) > 1e-5
    np.testing.assert_array_equal(ours.predict(X)[inside], other.predict(X)[inside])
    assert ours.offset_ == pytest.approx(float(np.ravel(other.offset_)[0]), abs=1e-5)


def test_probabilities_by_calibration(two):
    X, y = two
    model = CalibratedClassifierCV(estimator=SVC(C=2.0), random_state=0).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert ((p[:, 1] > 0.5) == y).mean() > 0.8


def test_primal_and_dual_and_sparse_tables_agree(two):
    import scipy.sparse as sp

    X, y = two
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    primal, dual = (LinearSVC(dual=dual, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y) for dual in (False, True))
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=1e-5)
    with pytest.raises(ValueError, match="dual"):
        LinearSVC(dual=False, loss="hinge").fit(X, y)
    dense, sparse = SVC(tol=1e-7).fit(X, y), SVC(tol=1e-7).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(sp.csr_matrix(X)), atol=1e-6)


def test_probabilities_are_available_on_request(two, three):
    X, y = two
    model = SVC(probability=True).fit(X, y)
    found = model.predict_proba(X)
    assert found.shape == (len(X), 2)
    assert np.allclose(found.sum(axis=1), 1)
    # A sigmoid: the probability of the second class rises with the decision value.
    order = np.argsort(model.decision_function(X))
    assert (np.diff(found[order, 1]) >= -1e-12).all()
    same = CalibratedClassifierCV(estimator=SVC(), cv=5, random_state=0).fit(X, y)
    assert np.array_equal(found, same.predict_proba(X))
    assert np.allclose(model.predict_log_proba(X), np.log(found))
    X, y = three
    found = SVC(probability=True).fit(X, y).predict_proba(X)
    assert found.shape == (len(X), 3) and np.allclose(found.sum(axis=1), 1)
    assert not hasattr(SVC().fit(X, y), "predict_proba")
    with pytest.raises(ValueError, match="kernel by name"):
        SVC(probability=True, kernel=lambda a, b: a @ b.T).fit(X, y)


def test_custom_kernels_are_checked(two, tmp_path):
    X, y = two
    with pytest.raises(ValueError, match="gave nan for rows 0 and 0"):
        SVC(kernel=lambda a, b: np.full((len(a), len(b)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        SVC(kernel=lambda a, b: np.ones(3)).fit(X, y)
    model = SVC(kernel=laplacian).fit(X, y)
    with pytest.raises(ValueError, match="pickle"):
        model.save(tmp_path / "m.ermine")
    # What a search in the core can't call is left to scikit-learn's.
    own, named = (model_selection.cross_val_score(SVC(kernel=kernel, gamma=0.3), X, y, cv=3) for kernel in (laplacian, "laplacian"))
    assert own.shape == (3,) and abs(own - named).max() < 0.2


def test_given_values_are_calibrated_coupled_and_validated(three):
    X, y = three
    K = laplacian(X, X)
    for cls in (CalibratedClassifierCV, OneVsOneClassifier):
        given = cls(SVC(kernel="precomputed", tol=1e-7), random_state=0).fit(K, y)
        plain = cls(SVC(kernel="laplacian", gamma=0.3, tol=1e-7), random_state=0).fit(X, y)
        np.testing.assert_allclose(given.decision_function(K) if cls is OneVsOneClassifier else given.predict_proba(K),
                                   plain.decision_function(X) if cls is OneVsOneClassifier else plain.predict_proba(X), atol=1e-4)
    scores = model_selection.cross_val_score(SVC(kernel="precomputed"), K, y)
    np.testing.assert_allclose(scores, model_selection.cross_val_score(SVC(kernel="laplacian", gamma=0.3), X, y))


@pytest.mark.parametrize("kernel", [StringKernel(), StringKernel(kind="spectrum", length=3), lambda a, b: np.array([[float(set(s) == set(t)) for t in b] for s in a])])
def test_texts_are_learned(kernel):
    texts = ["banana", "bananas", "ananas", "cabana", "kiwi", "kiwis", "wiki", "kiwi!"]
    labels = ["long"] * 4 + ["short"] * 4
    model = SVC(kernel=kernel, C=10.0).fit(texts, labels)
    assert model.score(texts, labels) >= 0.75
    if isinstance(kernel, StringKernel):
        assert model.predict(["bananana", "kiwikiwi"]).tolist() == ["long", "short"]
        assert pickle.loads(pickle.dumps(model)).predict(texts).tolist() == model.predict(texts).tolist()
        np.testing.assert_allclose(np.diag(kernel(texts, texts)), 1)


def test_extreme_numbers_are_errors(two):
    X, y = two
    for factor in (1e200, 1e-200):
        with pytest.raises(ValueError, match="standardize = true"):
            SVC().fit(X * factor, y)
    with pytest.raises(ValueError, match="overflow"):
        SVC(kernel="poly", degree=50, gamma=1e100).fit(X, y)


def test_one_class_svm_keeps_its_guarantee(two):
    X, _ = two
    for nu in (1e-3, 0.05, 0.5):
        model = OneClassSVM(nu=nu).fit(X[:60])
        assert (model.predict(X[:60]) == -1).mean() <= nu


def test_a_hard_margin_far_from_the_origin():
    rng = np.random.default_rng(0)
    X = np.c_[1.7e9 + np.sort(rng.uniform(0, 1e6, 40)), rng.normal(size=40)]
    y = np.arange(40) >= 20
    X[20:, 0] += 3600
    far, near = SVC(C=np.inf, kernel="linear").fit(X, y), SVC(C=np.inf, kernel="linear").fit(X - X.mean(axis=0), y)
    np.testing.assert_allclose(far.margin_, near.margin_, rtol=1e-3)
    assert far.score(X, y) == 1.0


def test_a_one_class_model_comes_back_from_its_file(two, tmp_path):
    X, _ = two
    model = OneClassSVM(nu=0.3, kernel="poly", degree=2).fit(X)
    model.save(tmp_path / "inside.ermine")
    read = ermine.load(tmp_path / "inside.ermine")
    assert type(read) is OneClassSVM and read.get_params() == model.get_params()
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    np.testing.assert_array_equal(read.score_samples(X), model.score_samples(X))
    # The command line notes no class in its files.
    header = {"learner": "one-class-svm", "schema": {"task": "regression"}}
    assert _estimator.class_for(header, {}) is OneClassSVM


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_give_sparse_support_vectors(kernel):
    import scipy.sparse
    import sklearn.svm
    from sklearn.datasets import load_iris

    from ermine.svm import SVC, OneClassSVM

    X, y = load_iris(return_X_y=True)
    rows = scipy.sparse.csr_matrix(X)
    ours, theirs = SVC(kernel=kernel, tol=1e-8).fit(rows, y), sklearn.svm.SVC(kernel=kernel, tol=1e-8).fit(rows, y)
    assert scipy.sparse.issparse(ours.support_vectors_) and scipy.sparse.issparse(ours.dual_coef_) and ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    ours, theirs = OneClassSVM(kernel=kernel).fit(rows), sklearn.svm.OneClassSVM(kernel=kernel).fit(rows)
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
    assert scipy.sparse.issparse(ours.support_vectors_)
