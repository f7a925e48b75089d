"""Random forests and extra-trees of 100 full trees: training and prediction."""

from harness import OURS, Job

N, D = 100_000, 50


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


def fit(library, name):
    """Trains the class of this name from the library."""

    def contender(data):
        if library == "ermine":
            import ermine.ensemble as ensemble
        elif library == "scikit-learn-intelex":
            import sklearnex.ensemble as ensemble
        else:
            import sklearn.ensemble as ensemble
        make = getattr(ensemble, name)
        return lambda: make(n_estimators=100, n_jobs=2, random_state=0).fit(data["X"], data["y"])

    return contender


def predict(library, name):
    """Predicts with a model that was trained before the clock starts."""

    def contender(data):
        model = fit(library, name)(data)()
        return lambda: (model.predict(data["X_test"]), model)[1]

    return contender


def quality(data, model):
    return {"score": model.score(data["X_test"], data["y_test"])}


def job(title, make, name, peers, goals, what=fit):
    contenders = {OURS: what("ermine", name)} | {peer: what(peer, name) for peer in peers}
    return Job(title, make, contenders, quality, goals)


BOTH = ["scikit-learn-intelex", "scikit-learn"]
JOBS = [
    job("random forest, two classes", two_classes, "RandomForestClassifier", BOTH, {"scikit-learn-intelex": 4.0}),
    job("random forest, seven classes", seven_classes, "RandomForestClassifier", BOTH, {"scikit-learn-intelex": 3.0}),
    job("random forest, numbers", numbers, "RandomForestRegressor", BOTH, {"scikit-learn-intelex": 3.0}),
    job("extra-trees, two classes", two_classes, "ExtraTreesClassifier", ["scikit-learn"], {"scikit-learn": 6.0}),
    job(
        "random forest, predict 25,000 rows",
        two_classes,
        "RandomForestClassifier",
        ["scikit-learn"],
        {"scikit-learn": 5.0},
        predict,
    ),
]
