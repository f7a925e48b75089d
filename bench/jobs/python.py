"""What the Python package costs: one row at a time with small models, and many threads with one model.

Models are small, so that the calls are what is measured: 300 rows of 5 columns, 20 trees where there are trees. Each contender predicts one row after the other.
"""

import importlib

from harness import OURS, Job

CALLS = 200
#: Module, class, parameters, whether it predicts numbers.
MODELS = [
    ("tree", "DecisionTreeClassifier", {}, False),
    ("tree", "DecisionTreeRegressor", {}, True),
    ("ensemble", "RandomForestClassifier", {"n_estimators": 20}, False),
    ("ensemble", "ExtraTreesRegressor", {"n_estimators": 20}, True),
    ("ensemble", "GradientBoostingClassifier", {"n_estimators": 20}, False),
    ("ensemble", "AdaBoostClassifier", {"n_estimators": 20}, False),
    ("ensemble", "BaggingClassifier", {"n_estimators": 20}, False),
    ("linear_model", "LinearRegression", {}, True),
    ("linear_model", "Ridge", {}, True),
    ("linear_model", "Lasso", {}, True),
    ("linear_model", "LogisticRegression", {}, False),
    ("linear_model", "SGDClassifier", {}, False),
    ("svm", "SVC", {}, False),
    ("svm", "LinearSVC", {}, False),
    ("neighbors", "KNeighborsClassifier", {}, False),
    ("neighbors", "KNeighborsRegressor", {}, True),
]
THREADS, PARTS, PART_ROWS = 8, 32, 20_000


def small():
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    number = X[:, 0] + X[:, 1] * X[:, 2]
    return {"X": X, "number": number, "kind": (number > 0).astype(int)}


def fitted(library, module, name, params, numbers, data):
    model = getattr(importlib.import_module(f"{library}.{module}"), name)(**params)
    return model.fit(data["X"], data["number" if numbers else "kind"])


def one_row(library, module, name, params, numbers):
    def contender(data):
        model = fitted(library, module, name, params, numbers, data)
        rows = [data["X"][i % 300 : i % 300 + 1] for i in range(CALLS)]

        def work():
            for row in rows:
                model.predict(row)

        return work

    return contender


def many():
    import numpy as np

    X = np.random.default_rng(0).normal(size=(PARTS * PART_ROWS, 10))
    return {"X": X, "y": (X[:20_000, 0] + X[:20_000, 1] * X[:20_000, 2] > 0).astype(int)}


def predicting(n_threads):
    """All parts by threads of Python that share one model, each call on one core."""

    def contender(data):
        from concurrent.futures import ThreadPoolExecutor

        import numpy as np
        from ermine.ensemble import RandomForestClassifier

        model = RandomForestClassifier(50, random_state=0, n_jobs=2).fit(data["X"][:20_000], data["y"]).set_params(n_jobs=1)
        parts = np.split(data["X"], PARTS)
        if n_threads == 1:
            return lambda: [model.predict(part) for part in parts]
        pool = ThreadPoolExecutor(n_threads)
        return lambda: list(pool.map(model.predict, parts))

    return contender


def same(data, answers):
    import numpy as np

    return {"sum": float(np.concatenate(answers).sum())}


JOBS = [
    Job(
        f"one row of {name}, {CALLS:,} times", small,
        {OURS: one_row("ermine", module, name, params, numbers), "scikit-learn": one_row("sklearn", module, name, params, numbers)}, goals={"scikit-learn": 10.0},
    )
    for module, name, params, numbers in MODELS
] + [
    Job(
        f"{THREADS} threads predict {PARTS * PART_ROWS:,} rows with one forest", many, {OURS: predicting(THREADS), "ermine, one thread": predicting(1)}, same,
        {"ermine, one thread": 1.8},
    ),
]
