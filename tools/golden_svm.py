"""Writes crates/ermine/tests/golden/svm.json: dual objectives and predictions of scikit-learn's SVC and SVR (LIBSVM) at a tolerance of 1e-6, on the small sets of the
shared data, for the tests of support vector machines; and linear machines (LIBLINEAR) on data that is drawn here and kept in the file.

Run with scikit-learn 1.9, numpy and pandas; ERMINE_DATA names the folder of the sets.
"""

import os
import pathlib
import warnings

import golden_file
import numpy as np
import pandas as pd
import sklearn
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA", HERE.parent / "shared" / "data"))
#: Sets that ship with the tests are taken from there.
SHIPPED = HERE / "crates/ermine/tests/data"

#: Set, target, task. None of them has a missing value.
SETS = [
    ("iris", "class", "classes"), ("wine", "class", "classes"), ("sonar", "Class", "classes"), ("ionosphere", "class", "classes"),
    ("pima_diabetes", "class", "classes"), ("glass", "Type", "classes"), ("vowel", "Class", "classes"),
    ("concrete", "strength", "numbers"),
]
KERNELS = [
    {"kernel": "rbf"}, {"kernel": "rbf", "C": 10.0, "gamma": 0.1}, {"kernel": "linear", "C": 0.1},
    {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "sigmoid", "gamma": 0.001},
]


def pair_objectives(model, K, y):
    """The least value of the dual, summed over all pairs of classes, from the coefficients."""
    n_support, coef, sv = model.n_support_, model.dual_coef_, model.support_
    begins = np.concatenate([[0], np.cumsum(n_support)])
    k, total = len(n_support), 0.0
    for a in range(k):
        for b in range(a + 1, k):
            first, second = np.arange(begins[a], begins[a + 1]), np.arange(begins[b], begins[b + 1])
            c = np.concatenate([coef[b - 1 if k > 2 else 0, first], coef[a if k > 2 else 0, second]])
            rows = sv[np.concatenate([first, second])]
            total += c @ K[np.ix_(rows, rows)] @ c / 2 - np.abs(c).sum()
    return total


def kernel_matrix(params, gamma, X):
    gamma = params.get("gamma", gamma)
    products = X @ X.T
    squares = np.diag(products)
    return {
        "rbf": lambda: np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * products, 0)),
        "linear": lambda: products,
        "poly": lambda: (gamma * products + params.get("coef0", 0.0)) ** params.get("degree", 3),
        "sigmoid": lambda: np.tanh(gamma * products + params.get("coef0", 0.0)),
    }[params["kernel"]]()


def read(name, target):
    """The table and its numeric columns."""
    file = f"{name}.csv.gz"
    table = pd.read_csv((SHIPPED if (SHIPPED / file).exists() else DATA) / file)
    X = table.drop(columns=target).select_dtypes("number")
    return table, list(X.columns), X.to_numpy(float)


def machines():
    cases = []
    for name, target, task in SETS:
        table, columns, raw = read(name, target)
        deviation = raw.std(axis=0)
        X = (raw - raw.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
        gamma = 1.0 / (X.shape[1] * X.var())
        for params in KERNELS:
            if task == "classes":
                y = table[target].astype(str).to_numpy()
                model = SVC(tol=1e-6, cache_size=500, **params).fit(X, y)
                objective = pair_objectives(model, kernel_matrix(params, gamma, X), y)
                predictions = model.predict(X).tolist()
            else:
                y = table[target].to_numpy(float)
                if params["kernel"] == "sigmoid":
                    continue
                model = SVR(tol=1e-6, cache_size=500, epsilon=0.2, **params).fit(X, y)
                c, K = model.dual_coef_[0], kernel_matrix(params, gamma, X)[np.ix_(model.support_, model.support_)]
                objective = c @ K @ c / 2 - c @ y[model.support_] + 0.2 * np.abs(c).sum()
                predictions = model.predict(X).tolist()
            cases.append({
                "set": name, "target": target, "columns": columns, "task": task, "params": params, "objective": float(objective),
                "predictions": predictions, "n_support": int(model.n_support_.sum()),
            })
    return cases


def linear():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4)).round(4)
    y = (X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=120)).round(4)
    two = (y > 0.2).astype(int)
    three = np.digitize(y, [-0.8, 0.8])
    cases = []
    for params, target in [
        ({"loss": "squared_hinge"}, "two"), ({"loss": "squared_hinge", "C": 0.05}, "three"), ({"loss": "hinge", "C": 0.5}, "two"),
        ({"loss": "squared_hinge", "fit_intercept": False}, "two"), ({"loss": "squared_hinge", "intercept_scaling": 10.0}, "two"),
    ]:
        model = LinearSVC(tol=1e-9, max_iter=2_000_000, random_state=0, dual=params["loss"] == "hinge", **params).fit(X, two if target == "two" else three)
        cases.append({"learner": "linear-svc", "params": params, "target": target, "coef": model.coef_.ravel().tolist(), "intercept": np.ravel(model.intercept_).tolist()})
    for params in [{"loss": "epsilon_insensitive", "epsilon": 0.1}, {"loss": "squared_epsilon_insensitive", "epsilon": 0.1, "C": 0.5}]:
        model = LinearSVR(tol=1e-9, max_iter=2_000_000, random_state=0, dual=params["loss"] == "epsilon_insensitive", **params).fit(X, y)
        cases.append({"learner": "linear-svr", "params": params, "target": "y", "coef": model.coef_.ravel().tolist(), "intercept": np.ravel(model.intercept_).tolist()})
    one = OneClassSVM(nu=0.3, tol=1e-8).fit(X)
    return {
        "x": X.tolist(), "y": y.tolist(), "two": two.tolist(), "three": three.tolist(), "cases": cases,
        "one_class": {"nu": 0.3, "scores": one.decision_function(X).tolist()},
    }


if __name__ == "__main__":
    golden = {"machines": machines(), "linear": linear()}
    path = golden_file.write("svm.json", __file__, golden, sklearn, np, pd, separators=(",", ":"))
    print(f"{len(golden['machines'])} machines, {path.stat().st_size} bytes")
