"""What a user of the Python package waits for and carries: import, Ctrl-C, the size of the wheel.

    python bench/python_package.py [WHEEL]

Imports are timed in fresh processes, best of several; Ctrl-C from the signal to the exception, the worst of several, for fits that would take minutes.
"""

import pathlib
import subprocess
import sys

TRIES = 7
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
STOP = """
import os, signal, threading, time, numpy as np
from ermine import ensemble, linear_model, multiclass, svm, tree
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 20))
y = (X[:, 0] * X[:, 1] + rng.normal(size=200_000) > 0).astype(int)
sent = []
def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1.0, send).start()
try:
    {}.fit(X, y)
except KeyboardInterrupt:
    print(time.monotonic() - sent[0], flush=True)
    os._exit(0)
"""
SLOW = [
    "ensemble.GradientBoostingClassifier(n_estimators=100000)",
    "ensemble.RandomForestClassifier(10000)",
    "tree.OptimalTreeClassifier(max_depth=5)",
    "svm.SVC()",
    "linear_model.SGDClassifier(max_iter=1000000, n_iter_no_change=1000000)",
    "multiclass.OneVsRestClassifier(svm.SVC())",
]


def run(code):
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout or "nan")


def main():
    from ermine._catalog import MODULES

    for module in ("numpy", "sklearn.base", "sklearn.ensemble", "ermine", *(f"ermine.{name}" for name in MODULES)):
        print(f"import {module:<24} {1000 * min(run(IMPORT.format(module)) for _ in range(TRIES)):>8.1f} ms{'  goal: below 150 ms' if module.startswith('ermine') else ''}", flush=True)
    for fit in SLOW:
        print(f"Ctrl-C in {fit:<75} {1000 * max(run(STOP.format(fit)) for _ in range(3)):>6.0f} ms  goal: below 500 ms", flush=True)
    for wheel in sys.argv[1:]:
        print(f"{pathlib.Path(wheel).name}: {pathlib.Path(wheel).stat().st_size / 1e6:.2f} MB  goal: below 10 MB")


if __name__ == "__main__":
    main()
