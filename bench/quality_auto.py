"""How well automatic learners predict in the same time: `auto`, AutoGluon, FLAML and a tuned LightGBM, the same splits, several seeds.

    python bench/quality_auto.py run [--seconds 60] [--only LIBRARY ...] [--sets NAME ...] [--seeds N]
    python bench/quality_auto.py table

`run` fits what bench/record/quality_auto.json has no result for yet and keeps there, for each library, data set and seed: the test loss (log loss for classes, RMSE over the standard deviation of the target
for numbers), seconds of training, seconds of prediction per row, and bytes of the saved model. Libraries that are not installed are skipped and named. `table` prints losses, mean ranks and medians.
Default boosting (`ermine-boosting`) is among them: `auto` must not be worse.
"""

import argparse
import importlib.util
import json
import pathlib
import pickle
import shutil
import sys
import tempfile
import time
import warnings

import numpy as np

import quality_boosting
from quality_boosting import SETS, THREADS, load

RECORD = pathlib.Path(__file__).resolve().parent / "record" / "quality_auto.json"
quality_boosting.MOST_ROWS = 20_000


def size_of(path):
    path = pathlib.Path(path)
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size


def saved(model, folder):
    path = folder / "model"
    model.save(str(path)) if hasattr(model, "save") else path.write_bytes(pickle.dumps(model))
    return size_of(path)


def answers(model, X, task):
    return model.predict_proba(X) if task == "classes" else model.predict(X)


def ermine(task, X, y, seconds, seed, folder):
    from ermine.auto import AutoClassifier, AutoRegressor

    model = (AutoClassifier if task == "classes" else AutoRegressor)(time_limit=seconds, n_jobs=THREADS, random_state=seed).fit(X, y)
    return (lambda rows: answers(model, rows, task)), saved(model, folder)


def ermine_boosting(task, X, y, seconds, seed, folder):
    from ermine.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    model = (GradientBoostingClassifier if task == "classes" else GradientBoostingRegressor)(n_jobs=THREADS, random_state=seed).fit(X, y)
    return (lambda rows: answers(model, rows, task)), saved(model, folder)


def autogluon(preset):
    def run(task, X, y, seconds, seed, folder):
        from autogluon.tabular import TabularPredictor

        problem = "regression" if task == "numbers" else "binary" if len(np.unique(y)) == 2 else "multiclass"
        metric = "root_mean_squared_error" if task == "numbers" else "log_loss"
        predictor = TabularPredictor(label="target", problem_type=problem, eval_metric=metric, path=str(folder / "autogluon"), verbosity=0)
        predictor.fit(X.assign(target=y), time_limit=seconds, presets=preset, num_cpus=THREADS, excluded_model_types=["NN_TORCH", "FASTAI"])
        ask = lambda rows: predictor.predict(rows).to_numpy() if task == "numbers" else predictor.predict_proba(rows).to_numpy()
        return ask, size_of(folder / "autogluon")

    return run


def flaml(task, X, y, seconds, seed, folder):
    from flaml import AutoML

    model = AutoML()
    metric, problem = ("rmse", "regression") if task == "numbers" else ("log_loss", "classification")
    model.fit(X, y, task=problem, metric=metric, time_budget=seconds, seed=seed, n_jobs=THREADS, verbose=0)
    return (lambda rows: answers(model, rows, task)), saved(model, folder)


def tuned_lightgbm(task, X, y, seconds, seed, folder):
    """A random search over the usual ranges with early stopping, for as long as there is time."""
    import lightgbm
    from sklearn.model_selection import train_test_split

    rng, end = np.random.default_rng(seed), time.perf_counter() + seconds
    a, b, ya, yb = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y if task == "classes" and np.bincount(y).min() > 1 else None)
    make = lightgbm.LGBMClassifier if task == "classes" else lightgbm.LGBMRegressor
    best, longest = None, 0.0
    while best is None or time.perf_counter() + 2 * longest < end:
        start = time.perf_counter()
        params = {} if best is None else {
            "learning_rate": 10 ** rng.uniform(-2, -0.5), "num_leaves": int(2 ** rng.uniform(2.5, 7)), "min_child_samples": int(2 ** rng.uniform(1, 6)),
            "reg_lambda": 10 ** rng.uniform(-3, 2), "colsample_bytree": rng.uniform(0.4, 1), "subsample": rng.uniform(0.5, 1), "subsample_freq": 1,
        }
        model = make(n_estimators=2000, n_jobs=THREADS, random_state=seed, verbose=-1, **params)
        model.fit(a, ya, eval_set=[(b, yb)], callbacks=[lightgbm.early_stopping(50, verbose=False)])
        loss = next(iter(next(iter(model.best_score_.values())).values()))
        longest = max(longest, time.perf_counter() - start)
        if best is None or loss < best[0]:
            best = (loss, params, model.best_iteration_)
    model = make(n_estimators=max(1, int(best[2] * 1.2)), n_jobs=THREADS, random_state=seed, verbose=-1, **best[1]).fit(X, y)
    return (lambda rows: answers(model, rows, task)), saved(model, folder)


#: Name, package that it needs, how it is run.
LIBRARIES = {
    "ermine-auto": ("ermine", ermine),
    "ermine-boosting": ("ermine", ermine_boosting),
    "autogluon-good": ("autogluon", autogluon("good_quality")),
    "autogluon-best": ("autogluon", autogluon("best_quality")),
    "flaml": ("flaml", flaml),
    "lightgbm-tuned": ("lightgbm", tuned_lightgbm),
}


def loss_of(task, predicted, y, n_classes):
    if task == "numbers":
        return float(np.sqrt(np.mean((predicted - y) ** 2)) / np.std(y))
    predicted = np.clip(np.asarray(predicted)[:, :n_classes], 1e-15, 1)
    predicted /= predicted.sum(axis=1, keepdims=True)
    return float(-np.log(predicted[np.arange(len(y)), y]).mean())


def measure(library, name, target, task, seconds, seed):
    (X, y, _), (test, truth, _) = load(name, target, task, seed)
    if task == "classes":
        # Classes that training doesn't have can't be predicted by anyone.
        known = np.unique(y)
        y, keep = np.searchsorted(known, y), np.isin(truth, known)
        test, truth = test[keep], np.searchsorted(known, truth[keep])
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        start = time.perf_counter()
        ask, n_bytes = LIBRARIES[library][1](task, X.reset_index(drop=True), y, seconds, seed, folder)
        fitted = time.perf_counter() - start
        start = time.perf_counter()
        predicted = ask(test.reset_index(drop=True))
        per_row = (time.perf_counter() - start) / len(test)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"loss": loss_of(task, predicted, truth, int(y.max()) + 1 if task == "classes" else 0), "fit_s": fitted, "predict_s_per_row": per_row, "bytes": n_bytes}


def run(args):
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    wanted = [name for name in LIBRARIES if not args.only or name in args.only]
    missing = [name for name in wanted if importlib.util.find_spec(LIBRARIES[name][0]) is None]
    if missing:
        print(f"not installed, skipped: {', '.join(missing)}", file=sys.stderr)
    for name, target, task in SETS:
        if task == "ranking" or (args.sets and name not in args.sets):
            continue
        for seed in range(args.seeds):
            for library in (one for one in wanted if one not in missing):
                key = f"{library} {args.seconds:g}s {name} {seed}"
                if key in record:
                    continue
                try:
                    record[key] = measure(library, name, target, task, args.seconds, seed)
                except Exception as error:  # A failure is a result: it is reported, and the others go on.
                    record[key] = {"failed": f"{type(error).__name__}: {error}"}
                print(key, record[key], flush=True)
                RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def table(_):
    record = json.loads(RECORD.read_text())
    losses, rest = {}, {}
    for key, value in record.items():
        library, seconds, name, _seed = key.split(" ")
        if "loss" in value:
            losses.setdefault(name, {}).setdefault(f"{library} {seconds}", []).append(value["loss"])
            rest.setdefault(f"{library} {seconds}", []).append(value)
    columns = sorted(rest)
    print("| table |", " | ".join(columns), "|")
    print("|---|", "|".join("---:" for _ in columns), "|")
    ranks = {column: [] for column in columns}
    for name, by in sorted(losses.items()):
        means = {column: np.mean(by[column]) for column in columns if column in by}
        for column, loss in means.items():
            ranks[column].append(1 + sum(other < loss for other in means.values()))
        print(f"| {name} |", " | ".join(f"{means[column]:.4f}" if column in means else "-" for column in columns), "|")
    print("| mean rank |", " | ".join(f"{np.mean(ranks[column]):.2f}" for column in columns), "|")
    for key in ("fit_s", "predict_s_per_row", "bytes"):
        print(f"| median {key} |", " | ".join(f"{np.median([value[key] for value in rest[column]]):.3g}" for column in columns), "|")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=list(LIBRARIES))
    parser.add_argument("--sets", nargs="*")
    args = parser.parse_args()
    {"run": run, "table": table}[args.what](args)
