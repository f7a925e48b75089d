"""Linear models beside their twins in scikit-learn, and what they offer beyond them."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as twin
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning

import ermine
from ermine import linear_model as ours


@pytest.fixture(scope="module")
def regression():
    X, y = make_regression(200, 8, n_informative=5, noise=5.0, random_state=0)
    return X * np.logspace(-1, 1, 8), y


@pytest.fixture(scope="module")
def classification():
    X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
    return X, y


@pytest.mark.parametrize(
    ("name", "mine", "theirs"),
    [
        ("LinearRegression", {}, {}),
        ("LinearRegression", {"fit_intercept": False}, {"fit_intercept": False}),
        ("Ridge", {"alpha": 2.0}, {"alpha": 2.0}),
        ("RidgeCV", {"alphas": (0.1, 1.0, 10.0)}, {"alphas": (0.1, 1.0, 10.0)}),
        ("Lasso", {"alpha": 1.0}, {"alpha": 1.0, "tol": 1e-10}),
        ("ElasticNet", {"alpha": 0.5, "l1_ratio": 0.3}, {"alpha": 0.5, "l1_ratio": 0.3, "tol": 1e-10, "max_iter": 100_000}),
        ("QuantileRegressor", {"quantile": 0.8, "alpha": 0.01}, {"quantile": 0.8, "alpha": 0.01}),
        ("HuberRegressor", {"alpha": 0.01}, {"alpha": 0.01, "tol": 1e-9, "max_iter": 100_000}),
    ],
)
def test_regressors_are_their_twins(name, mine, theirs, regression):
    X, y = regression
    a, b = getattr(ours, name)(**mine).fit(X, y), getattr(twin, name)(**theirs).fit(X, y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-3, atol=1e-2)
    assert a.coef_.shape == b.coef_.shape and np.isscalar(a.intercept_)
    assert a.certificate_.converged


@pytest.mark.parametrize("params", [{}, {"C": 0.1}, {"l1_ratio": 1.0}, {"l1_ratio": 0.5, "C": 0.2}, {"class_weight": {0: 3.0}}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_is_its_twin(params, n_classes, classification):
    X, y = classification
    X, y = X[y < n_classes], y[y < n_classes]
    a = ours.LogisticRegression(**params).fit(X, y)
    b = twin.LogisticRegression(solver="saga", tol=1e-8, max_iter=100_000, **params).fit(X, y)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-2)
    assert a.coef_.shape == b.coef_.shape and a.intercept_.shape == b.intercept_.shape
    assert a.certificate_.converged and a.n_iter_ >= 1


def test_several_outputs(regression):
    X, y = regression
    Y = np.column_stack([y, -2 * y])
    for cls in (ours.LinearRegression, ours.Ridge, ours.Lasso):
        model = cls().fit(X, Y)
        assert model.coef_.shape == (2, 8) and model.intercept_.shape == (2,)
        assert model.predict(X).shape == Y.shape


def test_sparse_matrices(classification):
    X, y = classification
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
        a, b = ours.LogisticRegression().fit(make(X), y), ours.LogisticRegression().fit(X, y)
        np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-6)
        np.testing.assert_allclose(a.predict_proba(make(X)), b.predict_proba(X), atol=1e-6)


def test_paths(regression):
    X, y = regression
    alphas, coefs, gaps = ours.lasso_path(X, y, n_alphas=20)
    assert alphas.shape == (20,) and coefs.shape == (8, 20) and gaps.shape == (20,)
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    expected_alphas, expected, _ = twin.lasso_path(Xc, yc, alphas=alphas, tol=1e-10)
    np.testing.assert_allclose(alphas, expected_alphas)
    np.testing.assert_allclose(coefs, expected, atol=1e-4)
    assert (gaps >= 0).all() and (gaps <= 1e-9 * (yc @ yc)).all()
    _, coefs, _ = ours.enet_path(X, y, l1_ratio=0.5, alphas=[1.0, 10.0])
    np.testing.assert_allclose(coefs[:, 1], twin.ElasticNet(alpha=1.0, tol=1e-10).fit(X, y).coef_, atol=1e-3)


def test_streams(classification):
    X, y = classification
    model = ours.SGDClassifier(random_state=0)
    for start in range(0, 300, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1, 2])
    assert model.coef_.shape == (3, 8) and model.score(X, y) > 0.4
    before = model.coef_.copy()
    model.partial_fit(X[:50], y[:50])
    assert (model.coef_ != before).any()
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], [7, 8])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:2, :3], y[:2])
    with pytest.raises(ValueError, match="first call"):
        model.partial_fit(X[:2], y[:2], classes=[0, 1])
    number = ours.SGDRegressor(random_state=0)
    for _ in range(200):
        number.partial_fit(X, X[:, 0] - 2 * X[:, 1])
    np.testing.assert_allclose(number.predict(X), X[:, 0] - 2 * X[:, 1], atol=0.1)


def test_non_convergence_warns(regression):
    X, y = regression
    with pytest.warns(ConvergenceWarning, match="2 iterations"):
        model = ours.GradientDescentRegressor(max_iter=2).fit(X, y)
    assert not model.certificate_.converged


def test_categories_and_missing_values(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0, None, 4.0] * 10, "color": pandas.Categorical(["red", "blue", "red", None] * 10)})
    y = np.arange(40) % 4 + 0.0
    model = ours.LinearRegression().fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), y, atol=1e-8)
    assert "linearly dependent" in model.describe()
    assert "std. error" in ours.LinearRegression().fit(frame[["size"]], y).describe()
    path = tmp_path / "m.ermine"
    model.save(path)
    again = ermine.load(path)
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_halfspace_and_perceptron():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0.1, "up", "down")
    halfspace = ours.HalfspaceLP().fit(X, y)
    assert halfspace.score(X, y) == 1.0 and "separable" in str(halfspace.certificate_)
    perceptron = ours.Perceptron(random_state=0, n_iter_no_change=None).fit(X, y)
    assert perceptron.score(X, y) == 1.0
    (bound,) = [proof["bound"] for proof in perceptron.certificate_.proofs if "bound" in proof]
    assert 0 < bound["observed"] == perceptron.n_mistakes_ <= bound["bound"]
    ring = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1).astype(int)
    assert ours.Perceptron(kernel="rbf", gamma=1.0, random_state=0).fit(X, ring).score(X, ring) > 0.95


#: Grows by a fit of 32 MB: run by itself, because the peak of a process never falls.
MEMORY = """
import resource, sys
import numpy as np
import ermine.linear_model as ours
name, order = sys.argv[1:]
rng = np.random.default_rng(0)
X = np.asarray(rng.standard_normal((40_000, 100)), order=order)
y = X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(len(X))
y = np.digitize(y, [-1.0, 1.0]) if name == "Multinomial" else (y > 0).astype(int) if name in ("LogisticRegression", "SGDClassifier", "Perceptron") else y
make = getattr(ours, "LogisticRegression" if name == "Multinomial" else name)
make().fit(X[:1000], y[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
make().fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes)
"""


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet", "LogisticRegression", "Multinomial", "HuberRegressor", "SGDClassifier", "SGDRegressor", "Perceptron"])
def test_arrays_are_not_copied(name, order):
    """The memory that a fit adds is far below the size of its input."""
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", MEMORY, name, order], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.25


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("epsilon", [1.0, 1.01, 1.35, 3.0])
def test_huber_is_never_worse_than_its_twin(epsilon, alpha, offset):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 4))
    y = X @ [1, -2, 0, 0.5] + rng.standard_t(2, size=150)

    def objective(model, X):
        away, cost = np.abs(y - X @ model.coef_ - model.intercept_), alpha * (model.coef_**2).sum()
        if model.scale_ == 0:  # losses are straight
            return 2 * epsilon * away.sum() + cost
        away /= model.scale_
        losses = np.where(away <= epsilon, away**2, 2 * epsilon * away - epsilon**2)
        return (model.scale_ * (1 + losses)).sum() + cost

    mine = ours.HuberRegressor(epsilon=epsilon, alpha=alpha).fit(X + offset, y)
    theirs = twin.HuberRegressor(epsilon=epsilon, alpha=alpha, tol=1e-10, max_iter=10_000).fit(X, y)
    # With few rows inside and no penalty, rounding may hide the last digits; then the certificate says so.
    assert mine.certificate_.converged or (alpha == 0.0 and epsilon < 1.1)
    assert objective(mine, X + offset) <= objective(theirs, X) * (1 + 1e-7)


def test_parameters_may_be_arrays(regression):
    X, y = regression
    alphas = np.logspace(-3, 3, 7)
    model = ours.RidgeCV(alphas=alphas).fit(X, y)
    assert model.alpha_ == twin.RidgeCV(alphas=alphas).fit(X, y).alpha_
    assert ours.ElasticNetCV(l1_ratio=np.array([0.5, 1.0])).fit(X, y).l1_ratio_ in (0.5, 1.0)


def test_coefficients_have_names():
    """Missing values add an indicator column, and categories one for each: which coefficient is which has to be known."""
    import pandas as pd

    from ermine.linear_model import LogisticRegression, Ridge

    frame = pd.DataFrame({"size": [1.0, 2.0, None, 4.0] * 10, "color": ["red", "blue", "green", "red"] * 10})
    model = Ridge().fit(frame, [1.0, 2.0, 3.0, 4.0] * 10)
    assert model.coef_names_.tolist() == ["size", "size is missing", "color=blue", "color=green", "color=red"] and len(model.coef_) == 5
    several = LogisticRegression().fit(frame, [0, 1, 2, 0] * 10)
    assert several.coef_.shape == (3, len(several.coef_names_))


def test_separable_classes_without_a_penalty_are_reported():
    from ermine.linear_model import LogisticRegression

    X = np.linspace(-1, 1, 40).reshape(-1, 1)
    with pytest.warns(UserWarning, match="separable"):
        model = LogisticRegression(C=np.inf).fit(X, X[:, 0] > 0)
    assert not model.certificate_.converged and "separable" in str(model.certificate_)
