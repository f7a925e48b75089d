"""Random forests and extra-trees of 100 full trees: training, prediction in batch and of one row, and the size of the file.

Training is timed with one seed; quality is the mean score of forests of five seeds on rows that were not trained on.
"""

import os
import tempfile

from harness import OURS, Job

N, D, SEEDS = 100_000, 50, 5
ROWS_AT_ONCE = 200


def split(X, y):
    X = X.astype("float32")
    return {"X": X[:N], "y": y[:N], "X_test": X[N:], "y_test": y[N:]}


def two_classes():
    from sklearn.datasets import make_classification

    return split(*make_classification(N + 25_000, D, n_informative=20, random_state=0))


def seven_classes():
    from sklearn.datasets import make_classification

    return split(*make_classification(N + 25_000, D, n_informative=20, n_classes=7, random_state=0))


def numbers():
    from sklearn.datasets import make_regression

    return split(*make_regression(N + 25_000, D, n_informative=20, noise=10.0, random_state=0))


def sparse():
    """10,000 x 50,000 with 500,000 values other than zero; columns are as frequent as words."""
    import numpy as np
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    n, d, n_values = 12_500, 50_000, 625_000
    columns = (d ** rng.random(n_values) - 1).astype(int)
    X = csr_matrix((1.0 + rng.random(n_values), (rng.integers(0, n, n_values), columns)), shape=(n, d))
    score = X @ np.where(rng.random(d) < 0.1, rng.normal(size=d), 0.0)
    y = (score + rng.normal(size=n) > np.median(score)).astype(int)
    return {"X": X[:10_000], "y": y[:10_000], "X_test": X[10_000:], "y_test": y[10_000:]}


def make(library, name, seed=0):
    """The estimator of this name from the library."""
    if library == "ermine":
        import ermine.ensemble as ensemble
    elif library == "scikit-learn-intelex":
        import sklearnex.ensemble as ensemble
    else:
        import sklearn.ensemble as ensemble
    return getattr(ensemble, name)(n_estimators=100, n_jobs=2, random_state=seed)


def fit(library, name):
    """Trains."""

    def contender(data):
        return lambda: make(library, name).fit(data["X"], data["y"])

    return contender


def predict(library, name):
    """Predicts with a model that was trained before the clock starts."""

    def contender(data):
        model = make(library, name).fit(data["X"], data["y"])
        return lambda: (model.predict(data["X_test"]), model)[1]

    return contender


def predict_one(library, name):
    """Predicts for one row after the other, as a service does."""

    def contender(data):
        model = make(library, name).fit(data["X"][:20_000], data["y"][:20_000])
        rows = [data["X_test"][i : i + 1] for i in range(ROWS_AT_ONCE)]
        return lambda: ([model.predict(row) for row in rows], model)[1]

    return contender


def quality(data, model):
    """The mean score over five seeds, where the model is cheap enough to train again; the file size in megabytes."""
    import joblib

    scores = [model.score(data["X_test"], data["y_test"])]
    ours = type(model).__module__.startswith("ermine")
    if ours or "sklearnex" in type(model).__module__ or os.environ.get("ERMINE_BENCH_SEEDS"):
        for seed in range(1, SEEDS):
            other = type(model)(**{**model.get_params(), "random_state": seed}).fit(data["X"], data["y"])
            scores.append(other.score(data["X_test"], data["y_test"]))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        model.save(path) if ours else joblib.dump(model, path)
        return {"score": sum(scores) / len(scores), "seeds": len(scores), "megabytes": os.path.getsize(path) / 1e6}


def only_score(data, model):
    return {"score": model.score(data["X_test"], data["y_test"])}


def job(title, data, name, peers, goals, what=fit, judge=quality):
    contenders = {OURS: what("ermine", name)} | {peer: what(peer, name) for peer in peers}
    return Job(title, data, contenders, judge, goals)


BOTH = ["scikit-learn-intelex", "scikit-learn"]
FOREST = "RandomForestClassifier"
JOBS = [
    job("random forest, two classes", two_classes, FOREST, BOTH, {"scikit-learn-intelex": 4.0}),
    job("random forest, seven classes", seven_classes, FOREST, BOTH, {"scikit-learn-intelex": 3.0}),
    job("random forest, numbers", numbers, "RandomForestRegressor", BOTH, {"scikit-learn-intelex": 3.0}),
    job("extra-trees, two classes", two_classes, "ExtraTreesClassifier", ["scikit-learn"], {"scikit-learn": 6.0}),
    job("random forest, sparse 10,000 x 50,000", sparse, FOREST, ["scikit-learn"], {"scikit-learn": 0.5}, judge=only_score),
    job("random forest, predict 25,000 rows", two_classes, FOREST, BOTH, {"scikit-learn": 5.0}, predict, only_score),
    job("random forest, predict one row", two_classes, FOREST, BOTH, {"scikit-learn": 20.0}, predict_one, only_score),
]
