#!/usr/bin/env python3
"""How long imports take, each in a fresh process, best of several: numpy, ermine, ermine.tree, and scikit-learn's base for comparison."""

import subprocess
import sys

TRIES = 7
CODE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def seconds(module: str) -> float:
    run = lambda: float(subprocess.run([sys.executable, "-c", CODE.format(module)], check=True, capture_output=True, text=True).stdout)
    return min(run() for _ in range(TRIES))


for module in ("numpy", "ermine", "ermine.tree", "sklearn.base"):
    print(f"{module:14} {1000 * seconds(module):7.1f} ms")
