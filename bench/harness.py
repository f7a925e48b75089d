"""Measures Ermine side by side with its peers, in one run.

A job (bench/jobs/*.py) makes its data once and names contenders. Each contender runs in a process of its own with two threads: it prepares, then
its work is timed several times and the best time counts; the quality of its result is taken outside the timer. Printed is peer time / our time: above 1 we
are faster. Times are for scale only, because machines differ and are noisy; the ratio of one run is the measurement.
"""

import argparse
import dataclasses
import datetime
import importlib
import json
import os
import pathlib
import pickle
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA", HERE.parent.parent / "shared" / "data"))
THREADS = 2
OURS = "ermine"


@dataclasses.dataclass
class Job:
    """One comparison. `contenders[name](data)` prepares and returns the work to be timed; `quality(data, result)` judges its result."""

    name: str
    make: Callable[[], dict]
    contenders: dict[str, Callable[[dict], Callable[[], Any]]]
    quality: Callable[[dict, Any], dict] = lambda data, result: {}
    goals: dict[str, float] = dataclasses.field(default_factory=dict)
    repeat: int = 5


def jobs(names: list[str]) -> list[Job]:
    """All jobs, or those of the named modules and jobs."""
    sys.path.insert(0, str(HERE))
    modules = sorted(p.stem for p in (HERE / "jobs").glob("[a-z]*.py"))
    found = [(m, job) for m in modules for job in importlib.import_module(f"jobs.{m}").JOBS]
    unknown = set(names) - {m for m, _ in found} - {job.name for _, job in found}
    if unknown:
        sys.exit(f"no job named {', '.join(sorted(unknown))}; there are: {', '.join(sorted({m for m, _ in found}))}")
    return [job for m, job in found if not names or m in names or job.name in names]


def work(name: str, contender: str, data_file: str, repeat: int) -> None:
    """The inside of a contender's process: prepare, time, judge, print one line of JSON."""
    (job,) = [j for j in jobs([name]) if j.name == name]
    with open(data_file, "rb") as file:
        data = pickle.load(file)
    run = job.contenders[contender](data)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
        if sum(times) > 60:
            break
    print(json.dumps({"seconds": min(times), "runs": len(times), "quality": job.quality(data, result)}))


def measure(job: Job, contender: str, data_file: str) -> dict:
    """Runs a contender in its own process."""
    threads = {k: str(THREADS) for k in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS",
                                         "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS")}
    command = [sys.executable, __file__, "--work", job.name, contender, data_file, str(job.repeat)]
    done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(job: Job, folder: str) -> list[dict]:
    """Runs all contenders of a job and prints the comparison."""
    data_file = os.path.join(folder, "data.pickle")
    with open(data_file, "wb") as file:
        pickle.dump(job.make(), file, protocol=5)
    print(f"\n{job.name}")
    results = {name: measure(job, name, data_file) for name in job.contenders}
    ours = results.get(OURS, {}).get("seconds")
    rows = []
    for name, result in sorted(results.items(), key=lambda item: item[1].get("seconds", 1e9)):
        row = {"job": job.name, "contender": name, **result}
        if "error" in result:
            print(f"  {name:<28} failed: {result['error']}")
        else:
            ratio = result["seconds"] / ours if ours else float("nan")
            goal = job.goals.get(name)
            row |= {"ratio": round(ratio, 3)} | ({"goal": goal} if goal else {})
            mark = "" if goal is None else f"  goal {goal}x {'reached' if ratio >= goal else 'NOT REACHED'}"
            quality = "  ".join(f"{k} {v:.5g}" for k, v in result["quality"].items())
            print(f"  {name:<28} {result['seconds']:>10.4f} s  {ratio:>8.2f}x  {quality}{mark}", flush=True)
        rows.append(row)
    return rows


def versions() -> dict:
    """What was compared, and on what."""
    from importlib.metadata import distributions

    wanted = {line.split("==")[0].strip().lower() for line in (HERE / "requirements.txt").read_text().splitlines() if "==" in line}
    found = {d.metadata["Name"].lower(): d.version for d in distributions() if d.metadata["Name"]}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
    with open("/proc/cpuinfo") as info:
        cpu = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), platform.machine())
    return {"commit": commit, "cpu": cpu, "threads": THREADS, "versions": {k: found[k] for k in sorted(wanted & found.keys())}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", help="modules of bench/jobs, or jobs; all if none is named")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--no-record", action="store_true", help="print only, don't append to bench/record")
    args = parser.parse_args()
    if args.work:
        name, contender, data_file, repeat = args.work
        return work(name, contender, data_file, int(repeat))
    rows = []
    for job in jobs(args.jobs):
        with tempfile.TemporaryDirectory() as folder:
            rows += compare(job, folder)
    if not args.no_record:
        now = datetime.datetime.now(datetime.UTC)
        record = HERE / "record" / f"{now:%Y-%m-%d}.jsonl"
        with open(record, "a") as file:
            file.write(json.dumps({"time": f"{now:%Y-%m-%d %H:%M} UTC", **versions(), "rows": rows}) + "\n")
        print(f"\nappended to {record.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
