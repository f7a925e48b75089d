"""One decision stump: Ermine's exact search against a tree of depth 1."""

from harness import OURS, Job


def make():
    from sklearn.datasets import make_classification

    X, y = make_classification(100_000, 50, n_informative=20, random_state=0)
    return {"X": X, "y": y}


def make_single():
    data = make()
    return {"X": data["X"].astype("float32"), "y": data["y"]}


def ermine(data):
    from ermine.tree import DecisionStumpClassifier

    return lambda: DecisionStumpClassifier(criterion="gini", n_jobs=2).fit(data["X"], data["y"])


def sklearn(data):
    from sklearn.tree import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(max_depth=1).fit(data["X"], data["y"])


def quality(data, model):
    return {"accuracy": model.score(data["X"], data["y"])}


CONTENDERS = {OURS: ermine, "scikit-learn": sklearn}
GOALS = {"scikit-learn": 10.0}
JOBS = [
    Job("stump 100,000 x 50 f64", make, CONTENDERS, quality, GOALS),
    Job("stump 100,000 x 50 f32", make_single, CONTENDERS, quality, GOALS),
]
