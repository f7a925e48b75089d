"""Regression with outliers

Squared error lets a few wrong rows pull the line; absolute error and the Huber loss do not. Ten of the eighty rows are corrupted here. The Huber regressor also lists
the rows whose residual is so large that they only count linearly.
"""

import matplotlib.pyplot as plt
import numpy as np

from ermine.linear_model import HuberRegressor, LADRegressor, LinearRegression

random = np.random.default_rng(4)
x = np.sort(random.uniform(0, 10, 80))
y = 2 * x + 1 + random.normal(0, 1, 80)
y[66:76] -= 25
X = x[:, None]

figure, axes = plt.subplots()
models = {"least squares": LinearRegression(), "Huber loss": HuberRegressor(), "least absolute deviations": LADRegressor()}
for model in models.values():
    model.fit(X, y)
outliers = np.asarray(models["Huber loss"].outliers_, dtype=bool)
axes.scatter(x[~outliers], y[~outliers], s=14, color="gray", label="rows")
axes.scatter(x[outliers], y[outliers], s=26, color="C3", marker="x", label="rows with a linear loss (Huber)")
for style, (name, model) in zip(("-", "--", ":"), models.items()):
    slope, intercept = np.ravel(model.coef_)[0], np.ravel(model.intercept_)[0]
    print(f"{name:26} slope {slope:6.3f} (true: 2), intercept {intercept:6.3f} (true: 1)")
    axes.plot(x, model.predict(X), linestyle=style, linewidth=2.2, label=name)
axes.set_xlabel("x")
axes.set_ylabel("y")
axes.legend()
plt.show()
