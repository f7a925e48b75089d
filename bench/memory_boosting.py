"""How much memory training takes, beside the data that it is given.

    python bench/memory_boosting.py [ROWS] [COLUMNS] [LIBRARY ...]

Makes ROWS x COLUMNS numbers of single precision (10,000,000 x 28 unless said), trains 20 rounds of 31 leaves on two classes, each library in a process of its own, and prints the
highest resident memory during training less that before it, in MiB and for each bin (one byte for each value is the least that bins can take).
"""

import subprocess
import sys

THREADS = 2


def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


def model(library):
    if library == "ermine":
        from ermine.ensemble import GradientBoostingClassifier

        return GradientBoostingClassifier(n_estimators=20, max_leaf_nodes=31, max_bins=255, n_jobs=THREADS, subsample=1.0, colsample_bytree=1.0, colsample_bynode=1.0)
    if library == "LightGBM":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=20, num_leaves=31, max_bin=255, n_jobs=THREADS, verbose=-1)
    import xgboost

    return xgboost.XGBClassifier(n_estimators=20, max_leaves=31, max_depth=0, grow_policy="lossguide", max_bin=255, n_jobs=THREADS)


def work(library, n, d):
    import time

    import numpy as np

    rng = np.random.default_rng(0)
    X = np.empty((n, d), dtype=np.float32)
    y = np.empty(n, dtype=np.int64)
    for start in range(0, n, 1_000_000):
        part = X[start : start + 1_000_000]
        rng.standard_normal(dtype=np.float32, out=part)
        y[start : start + len(part)] = part[:, 0] * part[:, 1] + part[:, 2] + rng.standard_normal(len(part)) > 0
    model(library).fit(X[:1000], y[:1000])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the highest so far
    before, start = resident("VmRSS"), time.perf_counter()
    fitted = model(library).fit(X, y)
    seconds, more = time.perf_counter() - start, resident("VmHWM") - before
    share = float((fitted.predict(X[:100_000]) == y[:100_000]).mean())
    print(f"{library:<10} {n:,} x {d}: {more:,.0f} MiB more while training, {more * 2**20 / (n * d):.2f} bytes for each value; {resident('VmHWM'):,.0f} MiB in all; "
          f"{seconds:.1f} s, {share:.4f} right")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        n, d = (sys.argv[1:3] + ["10000000", "28"][len(sys.argv[1:3]):])
        for library in sys.argv[3:] or ["ermine", "LightGBM", "XGBoost"]:
            subprocess.run([sys.executable, __file__, "--work", library, n, d], check=True)
