"""Makes the page of benchmarks, its charts and the chart of the README from bench/record.

    python tools/site/benchmarks.py        writes docs/images/benchmarks.svg, the chart of the README
"""

import importlib
import io
import json
import re
import sys
from pathlib import Path

import gallery

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "bench" / "record"
OURS = "ermine"
FAMILIES = {
    "stump": "Stumps", "tree": "Trees", "forest": "Forests", "adaboost": "AdaBoost", "boosting": "Gradient boosting", "linear": "Linear models", "svm": "Support vector machines",
    "neighbors": "Nearest neighbors", "search": "Searches", "predict": "Prediction", "csv": "Reading files", "python": "The Python package",
}
# The jobs of the README's chart: one or two for each family, among them those where Ermine does worst.
CHOSEN = [
    "tree, 2 classes, 100,000 x 50", "random forest, two classes", "extra-trees, two classes", "boosting, binary, 500,000 x 50", "boosting, flights with categories",
    "boosting, LambdaMART, 1,000 queries x 100", "predict 500,000 rows, 200 trees of 31 leaves", "logistic 200,000 x 100", "lasso 2,000 x 20,000", "svc rbf 20k x 20", "linear svm texts",
    "neighbors 200,000 x 10", "CSV, 100 MB of numbers",
]
LIBRARIES = ["scikit-learn", "scikit-learn-intelex", "XGBoost", "LightGBM"]


def american(job):
    """The name of a job; older records have another spelling."""
    return re.sub("neighbou?r", "neighbor", job)


def is_other(row):
    """Whether a result is of another library (Ermine may compete in several ways)."""
    return not row["contender"].startswith(OURS)


def latest():
    """The newest record of each job with at least one other library: when it was measured, by what versions, and its results. All results of a job are of one run."""
    found = {}
    for file in sorted(RECORD.glob("20*.jsonl")):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            jobs = {}
            for row in record["rows"]:
                jobs.setdefault(row["job"], []).append(row)
            for job, rows in jobs.items():
                timed = [row for row in rows if "seconds" in row]
                if any(row["contender"] == OURS for row in timed) and any(map(is_other, timed)):
                    found[american(job)] = (record, timed)
    return found


def families(jobs):
    """The jobs by their family, in the order of FAMILIES."""
    sys.path.insert(0, str(ROOT / "bench"))
    found = {}
    for module, heading in FAMILIES.items():
        named = {american(job.name) for job in importlib.import_module(f"jobs.{module}").JOBS}
        listed = [job for job in jobs if job in named]
        if listed:
            found[heading] = listed
    others = [job for job in jobs if not any(job in listed for listed in found.values())]
    return found | ({"Others": others} if others else {})


def library(contender):
    """The library of a contender, which may be named with its algorithm, or by scikit-learn's solver alone."""
    if contender in ("lbfgs", "newton-cholesky"):
        return "scikit-learn"
    return next((name for name in sorted(LIBRARIES, key=len, reverse=True) if contender.startswith(name)), "other")


def chart(jobs, found, title=None):
    """Peer time over our time, a row for each job."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 0.9 + 0.32 * len(jobs)))
    colors = dict(zip([*LIBRARIES, "other"], gallery.PALETTE))
    markers = dict(zip([*LIBRARIES, "other"], "osD^v"))
    for place, job in enumerate(jobs):
        for row in found[job][1]:
            if is_other(row):
                name = library(row["contender"])
                axes.plot(row["ratio"], place, marker=markers[name], color=colors[name], markersize=7, linestyle="none")
    axes.axvline(1, color=gallery.INK[0], linewidth=1.2)
    axes.set_yticks(range(len(jobs)), jobs)
    axes.set_ylim(len(jobs) - 0.4, -0.6)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks = [tick for tick in ((0.5, 1, 2, 5, 10, 20, 50, 100) if high < 200 else (1, 10, 100, 1000, 10000)) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    figure.supxlabel("time of the other library / time of Ermine (right of the line: Ermine is faster)", fontsize=10)
    shown = {library(row["contender"]) for job in jobs for row in found[job][1] if is_other(row)}
    handles = [plt.Line2D([], [], marker=markers[name], color=colors[name], linestyle="none", label=name) for name in colors if name in shown]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, title=title)
    return figure


def seconds(value):
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


def table(job, rows):
    """Results of a job: the fastest first."""
    ours = next(row for row in rows if row["contender"] == OURS)
    measures = list(ours["quality"])
    lines = [f"**{job}**", "", "| library | time | time / Ermine's |" + "".join(f" {name} |" for name in measures), "|---|---:|---:|" + "---:|" * len(measures)]
    for row in sorted(rows, key=lambda row: row["seconds"]):
        name = row["contender"] if is_other(row) else f"**{row['contender'].replace(OURS, 'Ermine')}**"
        quality = "".join(f" {row['quality'][m]:.5g} |" if m in row["quality"] else " |" for m in measures)
        lines.append(f"| {name} | {seconds(row['seconds'])} | {row['seconds'] / ours['seconds']:.2f} |{quality}")
    return [*lines, ""]


def build(source):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = latest()
    ratios = [(row["ratio"], job, row["contender"]) for job, (_, rows) in found.items() for row in rows if is_other(row)]
    slower = sorted(entry for entry in ratios if entry[0] < 1)
    newest = max(record["time"] for record, _ in found.values())
    cpu = next(iter(found.values()))[0]["cpu"]
    lines = [
        "# Benchmarks", "",
        "This page is generated from the measurements in `bench/record/`; `make bench` measures and appends to them. All results of a job come from one run on one machine: each library in a process of its "
        f"own, with two threads, the best of several runs, data prepared outside the timer. The newest measurement here is of {newest}, on {cpu}. Compare the ratios: times of different runs are not comparable.", "",
        f"There are {len(ratios)} comparisons in {len(found)} jobs. The other library was faster in {len(slower)}" + (": " + "; ".join(f"{name} on “{job}” (by a factor of {1 / ratio:.2f})" for ratio, job, name in slower) if slower else "") + ".", "",
        "What the numbers don't show: synthetic data is friendlier than real data, two threads favor no library but are few, and Ermine's authors chose the jobs.", "",
    ]
    for number, (heading, jobs) in enumerate(families(found).items(), 1):
        with plt.rc_context(gallery.style()):
            gallery.save(chart(jobs, found), source / "gallery" / "images", f"benchmark_{number}")
            plt.close("all")
        lines += [f"## {heading}", "", gallery.image(f"benchmark_{number}", f"{heading}: time of other libraries over the time of Ermine"), ""]
        lines += ["::::{dropdown} Tables", ""]
        for job in jobs:
            lines += table(job, found[job][1])
        lines += ["::::", ""]
    versions = {}
    for record, _ in found.values():
        for name, version in record["versions"].items():
            versions.setdefault(name, set()).add(version)
    lines += ["## How well gradient boosting predicts without tuning", "", "Each library at its defaults on real data sets: [quality of gradient boosting](boosting-quality.md).", ""]
    lines += ["## Versions", "", ", ".join(f"{name} {' and '.join(sorted(versions[name]))}" for name in sorted(versions)) + ".", ""]
    (source / "benchmarks.md").write_text("\n".join(lines))


def readme_chart():
    """The chart of the README: on a white ground, since it is shown on light and dark pages alike."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = latest()
    missing = [job for job in CHOSEN if job not in found]
    if missing:
        raise SystemExit(f"bench/record has no comparison named {missing[0]!r}")
    with plt.rc_context(gallery.style() | {"figure.facecolor": "white", "savefig.facecolor": "white"}):
        figure = chart(CHOSEN, found)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    target = ROOT / "docs" / "images" / "benchmarks.svg"
    target.write_text("\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n")
    print(target)


if __name__ == "__main__":
    readme_chart()
