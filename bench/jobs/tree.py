"""Decision trees grown to the end: exact CART on 100,000 x 50."""

from harness import OURS, Job


def classes(n_classes):
    def make():
        from sklearn.datasets import make_classification

        X, y = make_classification(100_000, 50, n_informative=20, n_classes=n_classes, random_state=0)
        return {"X": X.astype("float32"), "y": y}

    return make


def numbers():
    from sklearn.datasets import make_regression

    X, y = make_regression(100_000, 50, n_informative=20, noise=10, random_state=0)
    return {"X": X.astype("float32"), "y": y}


def fit(module, name, **params):
    def prepare(data):
        import importlib

        estimator = getattr(importlib.import_module(module), name)
        return lambda: estimator(**params).fit(data["X"], data["y"])

    return prepare


def quality(data, model):
    return {"score": model.score(data["X"], data["y"])}


def contenders(name):
    return {OURS: fit("ermine.tree", name, n_jobs=2), "scikit-learn": fit("sklearn.tree", name, random_state=0)}


JOBS = [
    Job("tree, 2 classes, 100,000 x 50", classes(2), contenders("DecisionTreeClassifier"), quality, {"scikit-learn": 30.0}, 3),
    Job("tree, 8 classes, 100,000 x 50", classes(8), contenders("DecisionTreeClassifier"), quality, {"scikit-learn": 10.0}, 3),
    Job("tree, numbers, 100,000 x 50", numbers, contenders("DecisionTreeRegressor"), quality, {"scikit-learn": 20.0}, 3),
]
