"""Times two builds of the command-line program, turn by turn, and appends the ratios to bench/record/before_after.jsonl.

    bench/before_after.py OLD NEW [--repeat 7] [JOB ...]

OLD and NEW are binaries. Ratios above 1 mean that NEW is faster; times are the best of all turns. Training times are those that the program reports; of
predictions, the time of the whole process.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA") or ROOT.parent / "shared/data")
#: name: (table, target, learner, parameters); with "predict" instead of a target, the model of the job named before it predicts the table.
JOBS = {
    "stump": ("covertype.csv.gz", "Cover_Type", "decision-stump", []),
    "cart": ("magic_telescope.csv.gz", "Class", "decision-tree", []),
    "cart numbers": ("california_housing.csv.gz", "median_house_value", "decision-tree", []),
    "forest": ("magic_telescope.csv.gz", "Class", "random-forest", []),
    "boosting": ("higgs_11k.csv.gz", "label", "gradient-boosting", ["n_estimators=200"]),
    "boosting categories": ("adult.csv.gz", "income", "gradient-boosting", ["n_estimators=200"]),
    "predict boosting": ("adult.csv.gz", None, "boosting categories", []),
    "adaboost": ("magic_telescope.csv.gz", "Class", "adaboost", []),
    "logistic": ("adult.csv.gz", "income", "logistic-regression", ["standardize=false"]),
    "lasso": ("california_housing.csv.gz", "median_house_value", "lasso", ["standardize=false"]),
    "svc": ("segment.csv.gz", "class", "svc", []),
    "neighbors": ("letter.csv.gz", "class", "nearest-neighbors", []),
    "predict neighbors": ("letter.csv.gz", None, "neighbors", []),
}


def run(binary, name, folder):
    """Seconds of one turn of a job."""
    table, target, learner, parameters = JOBS[name]
    if target is None:
        start = time.perf_counter()
        command = [binary, "predict", folder / f"{learner}.ermine", DATA / table, "-o", folder / "out.csv", "-q"]
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - start
    command = [binary, "train", DATA / table, "--target", target, "--learner", learner, "-o", folder / f"{name}.ermine", "--json"]
    for parameter in parameters:
        command += ["--set", parameter]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("jobs", nargs="*")
    args = parser.parse_args()
    record = {"date": str(datetime.date.today()), "ratios": {}}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in args.jobs or JOBS:
            best = {args.old: float("inf"), args.new: float("inf")}
            for _ in range(args.repeat):
                for binary in best:
                    best[binary] = min(best[binary], run(binary, name, folder))
            ratio = best[args.old] / best[args.new]
            record["ratios"][name] = round(ratio, 3)
            print(f"{name:20} old {best[args.old]:8.3f} s  new {best[args.new]:8.3f} s  old/new {ratio:.2f}", flush=True)
    with open(ROOT / "bench/record/before_after.jsonl", "a") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
