"""Writes crates/ermine/tests/golden/linear.json: what scikit-learn says about small problems, for the tests of linear models.

Run with scikit-learn 1.9 and numpy; the data is drawn here and kept in the file, so that the tests need neither.
"""

import gzip
import warnings

import golden_file
import numpy as np
import sklearn
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeCV,
)

warnings.filterwarnings("ignore")


def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 5)) * [1.0, 3.0, 0.2, 10.0, 1.0] + [0.0, 5.0, 1.0, -20.0, 0.0]
    X = X.round(4)
    signal = X @ [1.5, -0.7, 4.0, 0.1, 0.0]
    y = (signal + rng.standard_t(3, size=80)).round(4)
    two = (signal - np.median(signal) + rng.logistic(size=80) > 0).astype(int)
    three = np.digitize(signal + rng.logistic(size=80), np.quantile(signal, [0.33, 0.66]))
    weight = rng.integers(1, 4, size=80).astype(float)
    return X, y, two, three, weight


def statistics(X, y):
    """Standard errors, as in any textbook: of the coefficients, then of the intercept."""
    A = np.column_stack([X, np.ones(len(X))])
    beta, *_ = np.linalg.lstsq(A, y, rcond=None)
    residual = y - A @ beta
    variance = residual @ residual / (len(X) - A.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
    r2 = 1 - residual @ residual / ((y - y.mean()) @ (y - y.mean()))
    return {"errors": errors.tolist(), "r_squared": r2, "sigma": float(np.sqrt(variance))}


def case(learner, params, model, X, target, y, weight=None):
    model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    extra = {"alpha": float(model.alpha_)} if hasattr(model, "alpha_") else {}
    extra |= {"scale": float(model.scale_)} if hasattr(model, "scale_") else {}
    return {
        "learner": learner, "params": params, "target": target, "weighted": weight is not None,
        "coef": coef.ravel().tolist(), "intercept": intercept.tolist(), **extra,
    }


def agaricus():
    """Probabilities of every 40th mushroom of the sparse set that ships with the tests, at the optimum of L2-regularized logistic regression."""
    with gzip.open(golden_file.ROOT / "crates/ermine/tests/data/agaricus.train.libsvm.gz", "rt") as file:
        lines = [line.split() for line in file]
    x, y = np.zeros((len(lines), 127)), np.array([int(words[0]) for words in lines])
    for row, words in zip(x, lines):
        for index, value in (word.split(":") for word in words[1:]):
            row[int(index)] = float(value)
    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(x, y)
    return {"every": 40, "proba": model.predict_proba(x)[::40, 1].tolist()}


def main():
    X, y, two, three, w = data(7)
    tight = {"tol": 1e-12, "max_iter": 100_000}
    cases = [
        case("linear-regression", {}, LinearRegression(), X, "y", y),
        case("linear-regression", {}, LinearRegression(), X, "y", y, w),
        case("linear-regression", {"fit_intercept": False}, LinearRegression(fit_intercept=False), X, "y", y),
        case("ridge", {"alpha": 3.0}, Ridge(3.0), X, "y", y),
        case("ridge", {"alpha": 3.0}, Ridge(3.0), X, "y", y, w),
        case("ridge-cv", {"alphas": [0.01, 1.0, 30.0]}, RidgeCV([0.01, 1.0, 30.0]), X, "y", y),
        case("lasso", {"alpha": 0.3}, Lasso(0.3, **tight), X, "y", y),
        case("lasso", {"alpha": 0.3}, Lasso(0.3, **tight), X, "y", y, w),
        case("elastic-net", {"alpha": 0.3, "l1_ratio": 0.4}, ElasticNet(0.3, l1_ratio=0.4, **tight), X, "y", y),
        case("quantile-regression", {"quantile": 0.3, "alpha": 0.0}, QuantileRegressor(quantile=0.3, alpha=0.0), X, "y", y),
        case("quantile-regression", {"quantile": 0.7, "alpha": 0.05}, QuantileRegressor(quantile=0.7, alpha=0.05), X, "y", y),
        case("least-absolute-deviations", {}, QuantileRegressor(quantile=0.5, alpha=0.0), X, "y", y),
        case("huber-regression", {"alpha": 0.01}, HuberRegressor(alpha=0.01, tol=1e-10, max_iter=10_000), X, "y", y),
        case("logistic-regression", {"C": 0.5}, LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12), X, "two", two),
        case("logistic-regression", {"C": 0.5}, LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12), X, "two", two, w),
        case("logistic-regression", {"C": 0.5, "class_weight": "balanced"},
             LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12, class_weight="balanced"), X, "two", two),
        case("logistic-regression", {"C": 0.5, "l1_ratio": 1.0},
             LogisticRegression(C=0.5, l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=1_000_000), X, "two", two),
        case("logistic-regression", {"C": 0.5, "l1_ratio": 0.5},
             LogisticRegression(C=0.5, l1_ratio=0.5, solver="saga", tol=1e-12, max_iter=1_000_000), X, "two", two),
        case("logistic-regression", {"C": "inf"}, LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12), X, "two", two),
        case("logistic-regression", {"C": 0.5}, LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12), X, "three", three),
        case("logistic-regression", {"C": 0.5, "l1_ratio": 0.7},
             LogisticRegression(C=0.5, l1_ratio=0.7, solver="saga", tol=1e-12, max_iter=1_000_000), X, "three", three),
    ]
    document = {
        "x": X.tolist(), "y": y.tolist(), "two": two.tolist(), "three": three.tolist(), "weight": w.tolist(),
        "statistics": statistics(X, y), "cases": cases, "agaricus": agaricus(),
    }
    golden_file.write("linear.json", __file__, document, sklearn, np)


if __name__ == "__main__":
    main()
