"""Linear models: every contender reaches the same objective (printed; lower is better), on two threads."""

import functools
import gzip

import numpy as np

from harness import DATA, OURS, Job

SKLEARN, INTELEX, CELER, SKGLM = "scikit-learn", "scikit-learn-intelex", "celer", "skglm"


# Data


def tall(n, p, seed=0, informative=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    w = np.zeros(p)
    w[: informative or p] = rng.standard_normal(informative or p)
    return {"X": X, "y": X @ w + rng.standard_normal(n)}


def squares():
    return tall(500_000, 100)


def lasso_data(n, p, informative, share):
    data = tall(n, p, informative=informative)
    centered = data["X"] - data["X"].mean(axis=0)
    data["alpha"] = float(share * np.abs(centered.T @ (data["y"] - data["y"].mean())).max() / n)
    # Coordinate methods want columns side by side; everybody gets them so.
    data["X"] = np.asfortranarray(data["X"])
    return data


def lasso_tall():
    return lasso_data(100_000, 500, 50, 0.05)


def lasso_wide():
    return lasso_data(2_000, 20_000, 100, 0.05)


def two_classes():
    data = tall(200_000, 100, informative=20)
    rng = np.random.default_rng(1)
    return {"X": data["X"], "y": (data["y"] / 3 + rng.logistic(size=len(data["y"])) > 0).astype(int)}


def two_classes_wide(p):
    data = tall(50, p, informative=20)
    return {"X": data["X"], "y": (data["y"] > 0).astype(int)}


def ten_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 100))
    scores = X @ rng.standard_normal((100, 10)) / 3 + rng.gumbel(size=(200_000, 10))
    return {"X": X, "y": scores.argmax(axis=1)}


def robust(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    return {"X": X, "y": X @ rng.standard_normal(20) + rng.standard_t(2, size=n)}


def a9a():
    from sklearn.datasets import load_svmlight_file

    with gzip.open(DATA / "a9a.train.libsvm.gz") as file:
        X, y = load_svmlight_file(file, n_features=123)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return {"X": X, "y": (y > 0).astype(int)}


# Contenders: `ours(...)` and `theirs(...)` make the function that the harness calls with the data.


def ours(name, **params):
    def prepare(data):
        import ermine.linear_model

        given = {k: data["alpha"] if v == "alpha" else v for k, v in params.items()}
        return lambda: getattr(ermine.linear_model, name)(**given, n_jobs=2).fit(data["X"], data["y"])

    return prepare


def theirs(module, name, **params):
    def prepare(data):
        import importlib
        import warnings

        if module == "sklearnex.linear_model":
            from sklearnex import patch_sklearn

            patch_sklearn(verbose=False)
        warnings.filterwarnings("ignore")
        cls = getattr(importlib.import_module(module), name)
        given = {k: data["alpha"] if v == "alpha" else v for k, v in params.items()}
        model = cls(**given)
        if module in ("celer", "skglm"):
            model.fit(data["X"][:200, :20], data["y"][:200])  # compiles
        return lambda: cls(**given).fit(data["X"], data["y"])

    return prepare


# Paths of 100 strengths, down to a share `eps` of the largest that matters.


def our_path(data, eps):
    from ermine.linear_model import lasso_path

    def run():
        alphas, coefs, gaps = lasso_path(data["X"], data["y"], eps=eps, n_jobs=2, tol=1e-8)
        return alphas, coefs

    return run


def sklearn_path(data, eps):
    from sklearn.linear_model import lasso_path

    def run():
        X, y = data["X"] - data["X"].mean(axis=0), data["y"] - data["y"].mean()
        alphas, coefs, _ = lasso_path(np.asfortranarray(X), y, eps=eps, alphas=100, tol=1e-8, max_iter=100_000)
        return alphas, coefs

    return run


def celer_path(data, eps):
    from celer import celer_path as path

    X, y = data["X"] - data["X"].mean(axis=0), data["y"] - data["y"].mean()
    path(np.asfortranarray(X[:200, :20]), y[:200], "lasso", n_alphas=3)  # compiles

    def run():
        X, y = data["X"] - data["X"].mean(axis=0), data["y"] - data["y"].mean()
        alphas, coefs, _ = path(np.asfortranarray(X), y, "lasso", eps=eps, n_alphas=100, tol=1e-8)
        return alphas, coefs

    return run


def paths(eps):
    return {name: functools.partial(path, eps=eps) for name, path in ((OURS, our_path), (SKLEARN, sklearn_path), (CELER, celer_path))}


# Qualities


def residual_sum(data, model):
    return {"rss": float(((data["y"] - model.predict(data["X"])) ** 2).sum())}


def ridge_objective(data, model):
    return {"objective": residual_sum(data, model)["rss"] + float((np.ravel(model.coef_) ** 2).sum())}


def net_objective(l1_ratio):
    def quality(data, model):
        w = np.ravel(model.coef_)
        loss = ((data["y"] - data["X"] @ w - model.intercept_) ** 2).mean() / 2
        penalty = l1_ratio * np.abs(w).sum() + (1 - l1_ratio) * (w**2).sum() / 2
        return {"objective": float(loss + data["alpha"] * penalty), "used": int((w != 0).sum())}

    return quality


def path_objective(data, result):
    """The sum of the objectives of all strengths."""
    alphas, coefs = result
    Xm, y = data["X"].mean(axis=0), data["y"] - data["y"].mean()
    fits = data["X"] @ coefs - Xm @ coefs
    losses = ((y[:, None] - fits) ** 2).mean(axis=0) / 2 + alphas * np.abs(coefs).sum(axis=0)
    return {"objective": float(losses.sum())}


def logistic_objective(data, model):
    """C = 1 times the sum of log losses, plus half the squared coefficients, divided by the rows."""
    w = np.atleast_2d(model.coef_)
    z = data["X"] @ w.T + np.atleast_1d(model.intercept_)
    if w.shape[0] == 1:
        loss = np.logaddexp(0, -(2 * data["y"] - 1) * z[:, 0]).sum()
    else:
        top = z.max(axis=1)
        loss = (np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - z[np.arange(len(z)), data["y"]]).sum()
    return {"objective": float((loss + (w**2).sum() / 2) / len(z))}


def quantile_objective(tau):
    def quality(data, model):
        r = data["y"] - model.predict(data["X"])
        return {"objective": float(np.maximum(tau * r, (tau - 1) * r).mean())}

    return quality


def accuracy(data, model):
    return {"accuracy": float((model.predict(data["X"]) == data["y"]).mean())}


# Jobs

TIGHT = {"tol": 1e-8, "max_iter": 100_000}
EPOCHS = {"max_iter": 5, "tol": None}
NET = {"alpha": "alpha", "l1_ratio": 0.5}

JOBS = [
    Job("least squares 500,000 x 100", squares,
        {OURS: ours("LinearRegression"), SKLEARN: theirs("sklearn.linear_model", "LinearRegression"),
         INTELEX: theirs("sklearnex.linear_model", "LinearRegression")}, residual_sum, {INTELEX: 2.0}),
    Job("ridge 500,000 x 100", squares,
        {OURS: ours("Ridge"), SKLEARN: theirs("sklearn.linear_model", "Ridge"), INTELEX: theirs("sklearnex.linear_model", "Ridge")},
        ridge_objective, {INTELEX: 2.0}),
    Job("lasso 100,000 x 500", lasso_tall,
        {OURS: ours("Lasso", alpha="alpha"), SKLEARN: theirs("sklearn.linear_model", "Lasso", alpha="alpha", **TIGHT),
         CELER: theirs("celer", "Lasso", alpha="alpha", tol=1e-8), SKGLM: theirs("skglm", "Lasso", alpha="alpha", tol=1e-8)},
        net_objective(1.0), {SKLEARN: 1.5, CELER: 1.5, SKGLM: 1.5}),
    Job("elastic net 100,000 x 500", lasso_tall,
        {OURS: ours("ElasticNet", **NET), SKLEARN: theirs("sklearn.linear_model", "ElasticNet", **NET, **TIGHT),
         CELER: theirs("celer", "ElasticNet", **NET, tol=1e-8), SKGLM: theirs("skglm", "ElasticNet", **NET, tol=1e-8)},
        net_objective(0.5), {SKLEARN: 1.5, CELER: 1.5, SKGLM: 1.5}),
    Job("lasso path of 100, 100,000 x 500", lasso_tall, paths(1e-3), path_objective,
        {SKLEARN: 1.5, CELER: 1.5}, repeat=3),
    Job("lasso 2,000 x 20,000", lasso_wide,
        {OURS: ours("Lasso", alpha="alpha"), SKLEARN: theirs("sklearn.linear_model", "Lasso", alpha="alpha", **TIGHT),
         CELER: theirs("celer", "Lasso", alpha="alpha", tol=1e-8), SKGLM: theirs("skglm", "Lasso", alpha="alpha", tol=1e-8)},
        net_objective(1.0), {SKLEARN: 1.5, CELER: 1.5, SKGLM: 1.5}, repeat=3),
    Job("elastic net 2,000 x 20,000", lasso_wide,
        {OURS: ours("ElasticNet", **NET), SKLEARN: theirs("sklearn.linear_model", "ElasticNet", **NET, **TIGHT),
         CELER: theirs("celer", "ElasticNet", **NET, tol=1e-8), SKGLM: theirs("skglm", "ElasticNet", **NET, tol=1e-8)},
        net_objective(0.5), {SKLEARN: 1.5, CELER: 1.5, SKGLM: 1.5}, repeat=3),
    # Not further down: with fewer rows than columns all is fitted there, and scikit-learn takes minutes.
    Job("lasso path of 100, 2,000 x 20,000", lasso_wide, paths(0.05), path_objective,
        {SKLEARN: 1.5, CELER: 1.5}, repeat=2),
    Job("logistic 200,000 x 100", two_classes,
        {OURS: ours("LogisticRegression"),
         "newton-cholesky": theirs("sklearn.linear_model", "LogisticRegression", solver="newton-cholesky", tol=1e-6),
         "lbfgs": theirs("sklearn.linear_model", "LogisticRegression", tol=1e-6, max_iter=1000),
         INTELEX: theirs("sklearnex.linear_model", "LogisticRegression", tol=1e-6, max_iter=1000)},
        logistic_objective, {"newton-cholesky": 4.0}, repeat=3),
    Job("logistic 50 x 50,000", lambda: two_classes_wide(50_000),
        {OURS: ours("LogisticRegression"), "lbfgs": theirs("sklearn.linear_model", "LogisticRegression", tol=1e-6, max_iter=1000)},
        logistic_objective, {"lbfgs": 1.0}, repeat=3),
    Job("logistic 50 x 100,000", lambda: two_classes_wide(100_000),
        {OURS: ours("LogisticRegression"), "lbfgs": theirs("sklearn.linear_model", "LogisticRegression", tol=1e-6, max_iter=1000)},
        logistic_objective, {"lbfgs": 1.0}, repeat=3),
    Job("logistic of 10 classes, 200,000 x 100", ten_classes,
        {OURS: ours("LogisticRegression"), "lbfgs": theirs("sklearn.linear_model", "LogisticRegression", tol=1e-6, max_iter=1000),
         INTELEX: theirs("sklearnex.linear_model", "LogisticRegression", tol=1e-6, max_iter=1000)},
        logistic_objective, {"lbfgs": 3.0, INTELEX: 3.0}, repeat=2),
    Job("least absolute deviations 5,000 x 20", lambda: robust(5_000),
        {OURS: ours("LADRegressor"), SKLEARN: theirs("sklearn.linear_model", "QuantileRegressor", alpha=0.0)},
        quantile_objective(0.5), {SKLEARN: 200.0}, repeat=5),
    Job("quantile 0.9, 5,000 x 20", lambda: robust(5_000),
        {OURS: ours("QuantileRegressor", quantile=0.9, alpha=0.0),
         SKLEARN: theirs("sklearn.linear_model", "QuantileRegressor", quantile=0.9, alpha=0.0)},
        quantile_objective(0.9), {SKLEARN: 200.0}, repeat=5),
    Job("least absolute deviations 100,000 x 20", lambda: robust(100_000), {OURS: ours("LADRegressor")}, quantile_objective(0.5)),
    Job("SGD, hinge, 5 passes, 200,000 x 100", two_classes,
        {OURS: ours("SGDClassifier", **EPOCHS, standardize=False), SKLEARN: theirs("sklearn.linear_model", "SGDClassifier", **EPOCHS)},
        accuracy, {SKLEARN: 2.0}),
    Job("perceptron, 5 passes, 200,000 x 100", two_classes,
        {OURS: ours("Perceptron", max_iter=5, standardize=False), SKLEARN: theirs("sklearn.linear_model", "Perceptron", **EPOCHS)},
        accuracy, {SKLEARN: 2.0}),
    Job("sparse logistic, a9a", a9a,
        # LIBLINEAR would penalise the intercept: both go without.
        {OURS: ours("LogisticRegression", fit_intercept=False),
         "LIBLINEAR": theirs("sklearn.linear_model", "LogisticRegression", solver="liblinear", fit_intercept=False, tol=1e-6, max_iter=1000)},
        logistic_objective, {"LIBLINEAR": 1.5}),
]
