"""Decision trees: exact CART grown to the end, how its cost grows with the rows, its memory; optimal trees."""

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


def rows(n):
    """Classes that need a deep tree, by 20 columns."""

    def make():
        import numpy as np

        rng = np.random.default_rng(0)
        X = rng.random((n, 20), dtype="float32")
        return {"X": X, "y": (np.sin(9 * X[:, 0]) + np.sin(7 * X[:, 1]) + X[:, 2:].sum(1) + rng.normal(0, 0.5, n) > 9.5).astype("int64")}

    return make


# Which answers stand along the sorted column of a chain, and who learns them.
CHAINS = {
    "classes": ("DecisionTreeClassifier", {}, lambda i: i % 2),
    "20 classes": ("DecisionTreeClassifier", {}, lambda i: i % 20),
    "numbers": ("DecisionTreeRegressor", {}, lambda i: i % 2),
}


def chain(kind, n):
    """A sorted column whose answers alternate: every split takes one row or two, and the tree ends at the default depth. Fitting and predicting all rows."""
    name, params, answers = CHAINS[kind]

    def make():
        import numpy as np

        X = np.arange(n, dtype="float64")[:, None]
        return {"X": X, "y": answers(np.arange(n))}

    def prepare(data):
        import importlib

        estimator = getattr(importlib.import_module("ermine.tree"), name)

        def run():
            model = estimator(n_jobs=2, **params).fit(data["X"], data["y"])
            model.predict(data["X"])
            return model

        return run

    return Job(f"tree, a chain of {kind}, {n:,} x 1", make, {OURS: prepare}, quality, {}, 3)


def memory_of(key):
    """A line of /proc/self/status in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))


def measured(prepare):
    """The same work, with the memory that it takes at most, beyond what is there before."""

    def prepared(data):
        run = prepare(data)
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        data["before"] = memory_of("VmRSS")
        return run

    return prepared


def extra_memory(data, model):
    return {"score": model.score(data["X"], data["y"]), "times the data": (memory_of("VmHWM") - data["before"]) / data["X"].nbytes}


def yes_or_no():
    """Columns of 0 and 1: quantiles of numbers."""
    import numpy as np
    from sklearn.datasets import make_classification

    X, y = make_classification(20_000, 15, n_informative=8, flip_y=0.05, random_state=0)
    return {"X": np.hstack([X > np.quantile(X, q, axis=0) for q in (0.25, 0.5, 0.75)]).astype("int32"), "y": y}


def our_optimal(depth):
    return fit("ermine.tree", "OptimalTreeClassifier", max_depth=depth, time_limit=None, n_jobs=2)


def streed(depth):
    def prepare(data):
        from pystreed import STreeDClassifier

        return lambda: STreeDClassifier("accuracy", max_depth=depth, max_num_nodes=2**depth - 1).fit(data["X"], data["y"])

    return prepare


def optimal(depth, repeat):
    contenders = {OURS: our_optimal(depth), "pystreed": streed(depth)}
    return Job(f"optimal tree of depth {depth}, 20,000 x 45 yes/no", yes_or_no, contenders, quality, {"pystreed": 1.0}, repeat)


JOBS = [
    Job("tree, 2 classes, 100,000 x 50", classes(2), contenders("DecisionTreeClassifier"), quality, {"scikit-learn": 30.0}, 3),
    Job("tree, 8 classes, 100,000 x 50", classes(8), contenders("DecisionTreeClassifier"), quality, {"scikit-learn": 10.0}, 3),
    Job("tree, numbers, 100,000 x 50", numbers, contenders("DecisionTreeRegressor"), quality, {"scikit-learn": 20.0}, 3),
    Job("tree, 10,000 x 20", rows(10_000), contenders("DecisionTreeClassifier"), quality, {}, 5),
    Job("tree, 100,000 x 20", rows(100_000), contenders("DecisionTreeClassifier"), quality, {}, 3),
    Job("tree, 1,000,000 x 20", rows(1_000_000), {OURS: contenders("DecisionTreeClassifier")[OURS]}, quality, {}, 2),
    Job("tree, memory, 1,000,000 x 20", rows(1_000_000), {OURS: measured(contenders("DecisionTreeClassifier")[OURS])}, extra_memory, {}, 1),
    *(chain(kind, 1 << k) for kind in CHAINS for k in (14, 16, 18)),
    optimal(3, 5),
    optimal(4, 2),
]
