"""Margins and slacks of a support vector machine

A support vector machine looks for the widest margin between two classes, and pays for every row inside it or beyond: $\\min \\frac12\\|w\\|^2 + C \\sum_i \\xi_i$. A large `C` makes slack
expensive and the margin narrow. Ermine keeps the slack of every training row, and its certificate the gap between the primal and the dual objective.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ermine.svm import SVC

DATA = Path(__file__).resolve().parents[1] / "data"
penguins = pd.read_csv(DATA / "penguins.csv").query("species != 'Gentoo'")[["bill_length_mm", "bill_depth_mm", "species"]].dropna()
X = penguins[["bill_length_mm", "bill_depth_mm"]].to_numpy()
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = penguins["species"].to_numpy()

low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
columns, rows = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
grid = np.column_stack([columns.ravel(), rows.ravel()])

figure, axes = plt.subplots(1, 3, figsize=(7.6, 3.2), sharex=True, sharey=True)
for panel, C in zip(axes, (0.01, 0.3, 100.0)):
    model = SVC(kernel="linear", C=C).fit(X, y)
    slack = model.slack_
    print(f"C = {C:6}: margin {model.margin_[0]:.3f}, support vectors {len(model.support_):3}, rows with slack {(slack > 1e-6).sum():3}, total slack {slack.sum():7.2f}, accuracy {model.score(X, y):.3f}")
    for label, color in zip(model.classes_, ("C0", "C1")):
        panel.scatter(*X[y == label].T, s=10 + 40 * np.minimum(slack[y == label], 2), color=color, alpha=0.7, label=label)
    panel.contour(columns, rows, model.decision_function(grid).reshape(columns.shape), levels=[-1, 0, 1], colors="gray", linestyles=["--", "-", "--"])
    panel.set_title(f"C = {C:g}")
    panel.grid(False)
figure.supxlabel("bill length (standardized)")
figure.supylabel("bill depth (standardized)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
plt.show()

# %%
# Larger dots have more slack. The certificate of the last fit:

print(model.certificate_)
