"""How long a large model file takes to open.

    python bench/load_model.py [TREES]

Trains a forest of fully grown regression trees (100 unless said: about a gigabyte), saves it, and opens it in a process of its own, beside reading the bytes of the file and nothing else. Printed, and appended to
bench/record/load_model.jsonl.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROWS, COLUMNS = 400_000, 5


def opened(path):
    """Seconds for reading the bytes, for opening the model, and for its first prediction."""
    start = time.perf_counter()
    with open(path, "rb") as file:
        file.read()
    read = time.perf_counter()
    import ermine

    imported = time.perf_counter()
    model = ermine.load(path)
    done = time.perf_counter()
    model.predict([[0.5] * COLUMNS])
    print(json.dumps({"read": round(read - start, 3), "open": round(done - imported, 3), "first row": round(time.perf_counter() - done, 3)}))


def main():
    import numpy as np
    from ermine.ensemble import RandomForestRegressor

    trees = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, COLUMNS))
    y = X @ rng.random(COLUMNS) + rng.normal(size=ROWS)
    model = RandomForestRegressor(trees, n_jobs=2, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "forest.ermine")
        model.save(path)
        said = subprocess.run([sys.executable, __file__, "--open", path], check=True, capture_output=True, text=True).stdout
        row = {"time": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC", "trees": trees, "megabytes": round(os.path.getsize(path) / 1e6), **json.loads(said)}
    print(json.dumps(row, indent=2))
    with open(HERE / "record" / "load_model.jsonl", "a") as record:
        record.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    opened(sys.argv[2]) if sys.argv[1:2] == ["--open"] else main()
