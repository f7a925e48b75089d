"""Cross-validated grid searches, where one fit gives the models of many settings: the search inside the core against scikit-learn's GridSearchCV over scikit-learn's estimators.

Beside each search stands what a single fit and prediction take ("single fit"): the search's ratio over the single fits' ratio is what sharing pays.
"""

import time

from harness import OURS, Job

#: The module and names of the estimator, the grid, what else is set, and rows and columns.
SEARCHES = {
    "ridge, 20 strengths": ("linear_model", "Ridge", "Ridge", {"alpha": [10.0 ** (i / 4 - 2) for i in range(20)]}, {}, (100_000, 50)),
    "lasso, 20 strengths": ("linear_model", "Lasso", "Lasso", {"alpha": [10.0 ** (1 - i / 8) for i in range(20)]}, {}, (20_000, 100)),
    "neighbours, 15 numbers of them": ("neighbors", "KNeighborsClassifier", "KNeighborsClassifier", {"n_neighbors": list(range(1, 31, 2))}, {}, (20_000, 10)),
    "pruning, 12 strengths": ("tree", "DecisionTreeClassifier", "DecisionTreeClassifier", {"ccp_alpha": [0.0001 * 1.5**i for i in range(12)]}, {}, (20_000, 10)),
    "boosting, 10 numbers of rounds": ("ensemble", "GradientBoostingClassifier", "HistGradientBoostingClassifier", list(range(10, 101, 10)), {}, (10_000, 10)),
    "svm, 5 C x 4 gamma": ("svm", "SVC", "SVC", {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [0.001, 0.005, 0.02, 0.1]}, {}, (2_000, 60)),
}


def make(search):
    def made():
        from sklearn.datasets import make_classification, make_regression

        *_, (n, d) = SEARCHES[search]
        if SEARCHES[search][1] in ("Ridge", "Lasso"):
            X, y = make_regression(n, d, n_informative=10, noise=10, random_state=0)
        else:
            X, y = make_classification(n, d, n_informative=8, random_state=0)
        return {"X": X, "y": y}

    return made


def parts(search, library):
    """The estimator of a library and its grid."""
    import importlib

    module, our_name, their_name, grid, params, _ = SEARCHES[search]
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
        # scikit-learn's boosting has threads of its own, which a second process would fight for the same cores.
        jobs = 1 if search.startswith("boosting") and library == "sklearn" else 2
        return lambda: find(estimator, grid, cv=5, n_jobs=jobs, refit=False).fit(data["X"], data["y"])

    return prepare


def quality(data, found):
    """The best score, and how long a single fit and prediction take."""
    estimator = type(found.estimator)(**found.estimator.get_params()).set_params(**found.best_params_)
    if "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=2)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        estimator.fit(data["X"], data["y"]).predict(data["X"])
        times.append(time.perf_counter() - start)
    return {"best score": found.best_score_, "single fit": min(times)}


def job(search):
    contenders = {OURS: contender(search, "ermine"), "scikit-learn": contender(search, "sklearn")}
    return Job(f"search: {search}", make(search), contenders, quality, {}, 2)


JOBS = [job(search) for search in SEARCHES]
