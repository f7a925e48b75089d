"""Cross-validated grid searches, where one fit gives the models of many settings: the search inside the core against scikit-learn's GridSearchCV over scikit-learn's estimators.

Beside each search stands what a single fit takes ("single fit"): the search's ratio over the single fits' ratio is what sharing pays.
"""

import time

from harness import OURS, Job

SEARCHES = {
    "ridge, 20 strengths": ("linear_model", "Ridge", "Ridge", {"alpha": [10.0 ** (i / 4 - 2) for i in range(20)]}, {}),
    "neighbours, 15 numbers of them": ("neighbors", "KNeighborsClassifier", "KNeighborsClassifier", {"n_neighbors": list(range(1, 31, 2))}, {}),
    "pruning, 12 strengths": ("tree", "DecisionTreeClassifier", "DecisionTreeClassifier", {"ccp_alpha": [0.0001 * 1.5**i for i in range(12)]}, {}),
    "boosting, 10 numbers of rounds": ("ensemble", "GradientBoostingClassifier", "HistGradientBoostingClassifier", list(range(20, 201, 20)), {}),
}


def make(kind):
    def made():
        from sklearn.datasets import make_classification, make_regression

        X, y = make_regression(100_000, 50, noise=10, random_state=0) if kind == "Ridge" else make_classification(20_000, 10, n_informative=8, random_state=0)
        return {"X": X, "y": y}

    return made


def parts(search, library):
    """The estimator of a library and its grid."""
    import importlib

    module, our_name, their_name, grid, params = SEARCHES[search]
    name = our_name if library == "ermine" else their_name
    if not isinstance(grid, dict):
        grid = {"n_estimators" if library == "ermine" else "max_iter": grid}
        params = {} if library == "ermine" else {"early_stopping": False}
    return getattr(importlib.import_module(f"{library}.{module}"), name)(**params), grid


def contender(search, library):
    def prepare(data):
        import importlib

        estimator, grid = parts(search, library)
        find = importlib.import_module(f"{library}.model_selection").GridSearchCV
        return lambda: find(estimator, grid, cv=5, n_jobs=2, refit=False).fit(data["X"], data["y"])

    return prepare


def quality(data, found):
    """The best score, and how long a single fit and prediction take."""
    estimator = type(found.estimator)(**found.estimator.get_params()).set_params(**found.best_params_)
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=2)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        estimator.fit(data["X"], data["y"]).predict(data["X"])
        times.append(time.perf_counter() - start)
    return {"best score": found.best_score_, "single fit": min(times)}


def job(search):
    contenders = {OURS: contender(search, "ermine"), "scikit-learn": contender(search, "sklearn")}
    return Job(f"search: {search}", make(SEARCHES[search][1]), contenders, quality, {}, 2)


JOBS = [job(search) for search in SEARCHES]
