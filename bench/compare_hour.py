"""Whether a short comparison finds a model about as good as a long search.

    cargo build --release -p ermine-cli
    python bench/compare_hour.py [--budget 60s] [--search 60m]

Two thirds of adult.csv.gz to learn from, the others to test on. `ermine compare` has a short budget, and the command that it prints trains its winner; `ermine tune` searches the settings of gradient boosting for an hour. Both
models predict the rows kept for testing; the difference of their errors, row by row, comes with its 95 % interval. Printed, and appended to bench/record/compare_hour.jsonl.
"""

import argparse
import datetime
import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA", HERE.parent.parent / "shared" / "data"))
ERMINE = str(pathlib.Path(os.environ.get("ERMINE", HERE.parent / "target" / "release" / "ermine")))


def ermine(*args, **kwargs):
    return subprocess.run([ERMINE, *args], check=True, capture_output=True, text=True, **kwargs).stdout


def probabilities(model, test, place):
    """The probability of the true class of each row."""
    ermine("predict", model, test, "--proba", "-o", "said.csv", cwd=place)
    said, truth = pd.read_csv(place / "said.csv"), pd.read_csv(place / test)["class"].str.strip()
    return np.array([said[f"probability_{name}"].iloc[i] for i, name in enumerate(truth)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--search", default="60m")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        frame = pd.read_csv(DATA / "adult.csv.gz").sample(frac=1.0, random_state=0)
        frame = frame.rename(columns={frame.columns[-1]: "class"})
        cut = len(frame) * 2 // 3
        frame[:cut].to_csv(place / "train.csv", index=False)
        frame[cut:].to_csv(place / "test.csv", index=False)
        start = time.time()
        found = json.loads(ermine("compare", "train.csv", "-t", "class", "--measure", "log-loss", "--budget", args.budget, "--json", cwd=place))
        seconds = time.time() - start
        command = shlex.split(found["next"])[1:]
        winner = command[command.index("-o") + 1]
        ermine(*command, cwd=place)
        ermine("tune", "train.csv", "-t", "class", "--learner", "gradient-boosting", "--measure", "log-loss", "--trials", "100000", "--budget", args.search,
               "-o", "searched.ermine", cwd=place)
        short, long = (-np.log(np.clip(probabilities(m, "test.csv", place), 1e-15, 1)) for m in (winner, "searched.ermine"))
    apart = short - long
    row = {
        "time": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC", "budget": args.budget, "compare took": round(seconds, 1), "winner": " ".join(command), "search": args.search,
        "log loss of the winner": round(short.mean(), 5), "log loss of the search": round(long.mean(), 5),
        "difference": round(apart.mean(), 5), "95 %": round(1.96 * apart.std(ddof=1) / np.sqrt(len(apart)), 5),
    }
    print(json.dumps(row, indent=2))
    with open(HERE / "record" / "compare_hour.jsonl", "a") as record:
        record.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
