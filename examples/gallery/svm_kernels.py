"""Kernels change what a support vector machine can express

The same data, a ring around a disk, with four kernels. A kernel is a dot product in another space: no line separates the classes here, but a plane in the space of the
polynomial kernel does. A kernel may also be a function of two tables.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from ermine.svm import SVC

X, y = make_circles(240, noise=0.12, factor=0.45, random_state=0)
X_test, y_test = make_circles(1000, noise=0.12, factor=0.45, random_state=1)


def quadratic(A, B):
    """A kernel of our own: all products of two columns."""
    return (A @ B.T) ** 2


models = {"linear": SVC(kernel="linear"), "polynomial of degree 2": SVC(kernel="poly", degree=2, coef0=1.0), "Gaussian": SVC(), "a function: $(x^T z)^2$": SVC(kernel=quadratic)}
columns, rows = np.meshgrid(np.linspace(-1.6, 1.6, 120), np.linspace(-1.6, 1.6, 120))
grid = np.column_stack([columns.ravel(), rows.ravel()])
figure, axes = plt.subplots(2, 2, figsize=(6.4, 6.4), sharex=True, sharey=True)
for panel, (name, model) in zip(axes.flat, models.items()):
    model.fit(X, y)
    score = model.score(X_test, y_test)
    print(f"{name:24} test accuracy {score:.3f}, {len(model.support_)} support vectors")
    values = model.decision_function(grid).reshape(columns.shape)
    panel.contourf(columns, rows, values, levels=[-100, 0, 100], colors=["#2f81c8", "#e07b1f"], alpha=0.25)
    panel.contour(columns, rows, values, levels=[-1, 0, 1], colors="gray", linestyles=["--", "-", "--"], linewidths=1)
    panel.scatter(*X.T, c=np.where(y == 1, "#e07b1f", "#2f81c8"), s=9)
    panel.set_title(f"{name}: {score:.2f}")
    panel.grid(False)
plt.show()
