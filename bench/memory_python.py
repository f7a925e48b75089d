"""How much memory a fit from Python holds, beside the same fit in the Rust core alone.

    cargo build --release -p ermine-bench --example fit_memory
    python bench/memory_python.py [ROWS] [COLUMNS] [LAYOUT ...]

Each fit runs in a process of its own on the same ROWS x COLUMNS numbers (500,000 x 50 unless said), in the given layouts: rows first (C) or columns first (F), of 8 or 4 bytes (C8, F8 and C4 unless said). Compared
is the highest resident memory less what the process had before there was data: the array, the targets, and all that training needs. The goal is at most 1.2 times the core. Printed, and appended to
bench/record/memory_python.jsonl.
"""

import json
import pathlib
import subprocess
import sys
import time

GOAL = 1.2
#: Learner in the registry, and in Python.
LEARNERS = {
    "decision-stump": "tree.DecisionStumpClassifier()",
    "decision-tree(max_depth=6)": "tree.DecisionTreeClassifier(max_depth=6)",
    "random-forest(n_estimators=10)": "ensemble.RandomForestClassifier(10)",
    "gradient-boosting(n_estimators=20)": "ensemble.GradientBoostingClassifier(n_estimators=20)",
    "ridge": "linear_model.Ridge()",
    "logistic-regression": "linear_model.LogisticRegression()",
    "nearest-neighbors": "neighbors.KNeighborsClassifier()",
    "linear-svc": "svm.LinearSVC()",
}
LAYOUTS = ("C8", "F8", "C4")
HERE = pathlib.Path(__file__).resolve().parent
CORE = HERE.parent / "target" / "release" / "examples" / "fit_memory"


def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


def numbers(n, d, layout):
    """The numbers of the core's example."""
    import numpy as np

    X = np.empty((n, d), dtype=f"f{layout[1]}", order=layout[0])
    with np.errstate(over="ignore"):
        for start in range(0, n, 10_000):
            i = np.arange(start * d, min(start + 10_000, n) * d, dtype=np.uint64)
            mixed = i * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            X[start : start + 10_000] = (((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(11)) / 2.0**53).reshape(-1, d)
    return X


def work(made, n, d, layout):
    """One fit, in this process."""
    import numpy as np
    from ermine import ensemble, linear_model, neighbors, svm, tree

    places = {"ensemble": ensemble, "linear_model": linear_model, "neighbors": neighbors, "svm": svm, "tree": tree}
    model = eval(made, places).set_params(n_jobs=2)
    model.fit(np.random.default_rng(0).normal(size=(100, d)).astype(f"f{layout[1]}"), np.arange(100) % 2)  # what is loaded once is loaded
    before = resident("VmRSS")
    X = numbers(n, d, layout)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the highest so far
    model.fit(X, y)
    print(resident("VmHWM") - before)


def main():
    n, d, *layouts = sys.argv[1:3] + ["500000", "50"][len(sys.argv[1:3]) :] + (sys.argv[3:] or list(LAYOUTS))
    print(f"{n} x {d}: MiB at the highest\n{'':<40}{'Python':>8}{'core':>8}{'ratio':>8}")
    for layout in layouts:
        for learner, made in LEARNERS.items():
            ours = float(subprocess.run([sys.executable, __file__, "--work", made, n, d, layout], check=True, capture_output=True, text=True).stdout)
            core = float(subprocess.run([CORE, n, d, layout, learner], check=True, capture_output=True, text=True).stdout.split("\t")[2])
            print(f"{layout}  {learner:<36}{ours:>8.0f}{core:>8.0f}{ours / core:>8.2f}{'' if ours <= GOAL * core else '  NOT REACHED'}", flush=True)
            row = {"time": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "rows": int(n), "columns": int(d), "layout": layout, "learner": learner, "Python MiB": round(ours), "core MiB": round(core)}
            with open(HERE / "record" / "memory_python.jsonl", "a") as record:
                record.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    work(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]) if sys.argv[1:2] == ["--work"] else main()
