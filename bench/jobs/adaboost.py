"""AdaBoost over decision stumps: exact stumps in every round."""

from harness import OURS, Job


def make():
    from sklearn.datasets import make_classification

    X, y = make_classification(125_000, 50, n_informative=20, random_state=0)
    X = X.astype("float32")
    return {"X": X[:100_000], "y": y[:100_000], "X_test": X[100_000:], "y_test": y[100_000:]}


def ermine(data):
    from ermine.ensemble import AdaBoostClassifier

    model = AdaBoostClassifier(n_estimators=100, criterion="gini", n_jobs=2)
    return lambda: model.fit(data["X"], data["y"])


def sklearn(data):
    from sklearn.ensemble import AdaBoostClassifier

    return lambda: AdaBoostClassifier(n_estimators=100).fit(data["X"], data["y"])


def quality(data, model):
    return {"accuracy": model.score(data["X_test"], data["y_test"])}


JOBS = [
    Job(
        "AdaBoost, 100 stumps, 100,000 x 50",
        make,
        {OURS: ermine, "scikit-learn": sklearn},
        quality,
        {"scikit-learn": 200.0},
    ),
]
