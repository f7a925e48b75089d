"""Export a model: C, Rust, ONNX, JSON

A trained sum of trees becomes a C or Rust source file without dependencies, or an ONNX graph; any model becomes JSON. Here the C file is compiled and called through `ctypes`, and its
probabilities are compared with the model's.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ermine
from ermine.ensemble import GradientBoostingClassifier

DATA = Path(__file__).resolve().parents[1] / "data"
penguins = pd.read_csv(DATA / "penguins.csv")
X, y = penguins[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]], penguins["species"]
model = GradientBoostingClassifier(n_estimators=40, random_state=0).fit(X, y)

folder = Path(tempfile.mkdtemp())
model.save(folder / "penguins.ermine")
for name in ("penguins.c", "penguins.rs", "penguins.onnx", "penguins.json"):
    model.export(folder / name)
sizes = {path.name: path.stat().st_size / 1024 for path in sorted(folder.iterdir())}
for name, size in sizes.items():
    print(f"{name:16} {size:7.0f} KB")

# %%
# The C file has one function, `void ermine_predict(const double *x, double *out)`. A missing value is NaN.

subprocess.run(["cc", "-O2", "-shared", "-fPIC", folder / "penguins.c", "-o", folder / "penguins.so", "-lm"], check=True)
library = ctypes.CDLL(str(folder / "penguins.so"))
pointer = ctypes.POINTER(ctypes.c_double)
library.ermine_predict.argtypes = [pointer, pointer]
library.ermine_predict.restype = None

rows = np.ascontiguousarray(X, dtype=float)
from_c = np.empty((len(rows), len(model.classes_)))
for row, out in zip(rows, from_c):
    library.ermine_predict(row.ctypes.data_as(pointer), out.ctypes.data_as(pointer))
loaded = ermine.load(folder / "penguins.ermine").predict_proba(X)
print(f"largest difference: C {abs(from_c - model.predict_proba(X)).max():.1e}, loaded model {abs(loaded - model.predict_proba(X)).max():.1e}")

figure, axes = plt.subplots(figsize=(4.8, 4.4))
for column, (name, marker) in enumerate(zip(model.classes_, "osD")):
    axes.scatter(model.predict_proba(X)[:, column], from_c[:, column], s=16, marker=marker, alpha=0.7, label=name)
axes.set_xlabel("probability by the model")
axes.set_ylabel("probability by the C function")
axes.legend()
plt.show()
