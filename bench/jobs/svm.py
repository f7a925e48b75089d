"""Support vector machines: Gaussian kernels on 20,000 x 20 and on letters (26 classes), their predictions; linear machines on 200,000 x 100, dense, and on sparse data.

Kernel machines stop at the same violation (1e-3); `dual` is the dual objective that was reached (lower is better), computed here in double precision from each one's coefficients. Linear machines
minimize the squared hinge loss with C = 1, each stopping where LIBLINEAR does by default (ours at 0.1, as LIBLINEAR's dual; scikit-learn at its 1e-4); `objective` is the primal value that was
reached. Ours and scikit-learn's times have the conversion of their input in them; LIBLINEAR's data is made beforehand.
"""

import functools
import gzip

from harness import DATA, OURS, Job


def make_gaussian():
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler

    X, y = make_classification(25_000, 20, n_informative=10, n_redundant=0, class_sep=1.0, flip_y=0.02, random_state=0)
    X = StandardScaler().fit_transform(X)
    return {"X": X[:20_000], "y": y[:20_000], "test": X[20_000:], "truth": y[20_000:], "C": 1.0, "gamma": 0.05}


def make_letter():
    import pandas as pd
    from sklearn.preprocessing import StandardScaler

    table = pd.read_csv(DATA / "letter.csv.gz")
    target = next(c for c in table.columns if table[c].dtype.kind not in "if")
    X = StandardScaler().fit_transform(table.drop(columns=target).to_numpy(float))
    y = table[target].to_numpy().astype(str)
    return {"X": X[:16_000], "y": y[:16_000], "test": X[16_000:], "truth": y[16_000:], "C": 10.0, "gamma": 0.1}


def machine(data, make):
    params = {"C": data["C"], "gamma": data["gamma"], "tol": 1e-3, "cache_size": 500}
    return make(params)


def ours(params):
    from ermine.svm import SVC

    return SVC(n_jobs=2, **params)


def intelex(params):
    from sklearnex.svm import SVC

    return SVC(**params)


def sklearn(params):
    from sklearn.svm import SVC

    return SVC(**params)


MACHINES = {OURS: ours, "scikit-learn-intelex": intelex, "scikit-learn": sklearn}


def training(data, make):
    return lambda: machine(data, make).fit(data["X"], data["y"])


def predicting(data, make):
    model = machine(data, make).fit(data["X"], data["y"])
    return lambda: model.predict(data["test"])


def dual(data, model):
    """The dual objective, summed over pairs of classes, in double precision."""
    import numpy as np

    X, support = np.asarray(data["X"], float), np.asarray(model.support_, int)
    coef, counts = np.asarray(model.dual_coef_), np.asarray(model.n_support_, int)
    begins, k, total = np.concatenate([[0], np.cumsum(counts)]), len(counts), 0.0
    for a in range(k):
        for b in range(a + 1, k):
            first, second = np.arange(begins[a], begins[a + 1]), np.arange(begins[b], begins[b + 1])
            c = np.concatenate([coef[b - 1 if k > 2 else 0, first], coef[a if k > 2 else 0, second]])
            places = np.concatenate([first, second])[c != 0]
            c, rows = c[c != 0], X[support[places]]
            squares = (rows**2).sum(axis=1)
            for start in range(0, len(rows), 2000):
                part = slice(start, start + 2000)
                distances = squares[part, None] + squares - 2 * rows[part] @ rows.T
                total += c[part] @ (np.exp(-data["gamma"] * np.maximum(distances, 0)) @ c) / 2
            total -= np.abs(c).sum()
    return {"dual": total, "accuracy": float((model.predict(data["test"]) == data["truth"]).mean())}


def accuracy(data, predicted):
    return {"accuracy": float((predicted == data["truth"]).mean())}


# Linear machines.


def make_dense():
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 100))
    score = X @ rng.normal(size=100) / 10 + 0.5 * rng.logistic(size=200_000)
    return {"X": X, "y": np.where(score > 0, 1, -1)}


def make_a9a():
    from sklearn.datasets import load_svmlight_file

    with gzip.open(DATA / "a9a.train.libsvm.gz", "rb") as file:
        X, y = load_svmlight_file(file, n_features=123)
    X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
    return {"X": X, "y": y.astype(int)}


def make_text():
    """Like the texts of rcv1: 20,000 rows of about 75 of 47,000 words, whose frequencies fall as 1 / rank; rows of length 1."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(0)
    n, words, each = 20_000, 47_000, 75
    frequency = 1.0 / np.arange(1, words + 1)
    places = rng.choice(words, size=(n, each), p=frequency / frequency.sum())
    X = sp.csr_matrix((rng.exponential(size=n * each), places.ravel(), np.arange(0, n * each + 1, each)), shape=(n, words))
    X.sum_duplicates()
    X = normalize(X)
    score = X @ rng.normal(size=words) + 0.3 * rng.logistic(size=n)
    return {"X": X, "y": np.where(score > 0, 1, -1)}


def linear_ours(data):
    from ermine.svm import LinearSVC

    return lambda: (lambda m: (m.coef_[0], float(m.intercept_[0])))(LinearSVC(n_jobs=2, tol=0.1).fit(data["X"], data["y"]))


def linear_sklearn(data):
    from sklearn.svm import LinearSVC

    return lambda: (lambda m: (m.coef_[0], float(m.intercept_[0])))(LinearSVC(random_state=0).fit(data["X"], data["y"]))


def liblinear(data, solver):
    """LIBLINEAR itself, its data made beforehand; `-B 1` carries the intercept as the others do."""
    import numpy as np
    import scipy.sparse as sp
    from liblinear.liblinearutil import parameter, problem, train

    made = problem(np.asarray(data["y"], float), sp.csr_matrix(data["X"]), bias=1)
    options = parameter(f"-s {solver} -c 1 -B 1 -q")

    def run():
        w, b = train(made, options).get_decfun()
        return np.asarray(w), float(b)

    return run


def objective(data, result):
    import numpy as np

    w, b = result
    y = np.asarray(data["y"], float)
    f = data["X"] @ w + b
    # LIBLINEAR may take either class for the positive one.
    slack = min(np.square(np.maximum(1 - s * y * f, 0)).sum() for s in (1, -1))
    return {"objective": (w @ w + b * b) / 2 + slack}


LINEAR = {
    OURS: linear_ours, "LIBLINEAR primal (-s 2)": functools.partial(liblinear, solver=2), "LIBLINEAR dual (-s 1)": functools.partial(liblinear, solver=1),
    "scikit-learn": linear_sklearn,
}


def each(work):
    return {name: functools.partial(work, make=make) for name, make in MACHINES.items()}


JOBS = [
    Job("svc rbf 20k x 20", make_gaussian, each(training), dual, {"scikit-learn-intelex": 4.0}, repeat=3),
    Job("svc rbf letter", make_letter, each(training), dual, {"scikit-learn-intelex": 4.0}, repeat=3),
    Job("svc rbf predict", make_gaussian, each(predicting), accuracy, {"scikit-learn": 10.0}, repeat=5),
    Job("svc letter predict", make_letter, each(predicting), accuracy, {"scikit-learn": 10.0}, repeat=5),
    Job("linear svm 200k x 100", make_dense, LINEAR, objective, {"LIBLINEAR primal (-s 2)": 2.0, "LIBLINEAR dual (-s 1)": 2.0}, repeat=3),
    Job("linear svm a9a", make_a9a, LINEAR, objective, {"LIBLINEAR primal (-s 2)": 1.2, "LIBLINEAR dual (-s 1)": 1.2}, repeat=5),
    Job("linear svm texts", make_text, LINEAR, objective, {"LIBLINEAR primal (-s 2)": 1.2, "LIBLINEAR dual (-s 1)": 1.2}, repeat=5),
]
