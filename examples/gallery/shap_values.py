"""SHAP values: what each column adds to a prediction

SHAP values split a prediction into one part per column; together with the expected value they add up to the prediction exactly. Ermine computes them exactly for every sum of trees.
Here: the progression of diabetes, predicted by gradient boosting.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from ermine.ensemble import GradientBoostingRegressor
from ermine.model_selection import train_test_split

data = load_diabetes(scaled=False)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.4, random_state=0)
model = GradientBoostingRegressor(n_estimators=80, learning_rate=0.05, max_leaf_nodes=6, random_state=0).fit(X_train, y_train)
shap = model.shap_values(X_test)
base = float(np.ravel(model.expected_value_)[0])

print(f"test R²: {model.score(X_test, y_test):.3f}")
print(f"one patient: {base:.1f} on average", *(f"{shap[0, i]:+.1f} ({data.feature_names[i]})" for i in np.argsort(-abs(shap[0]))[:4]), f"and others = {model.predict(X_test)[0]:.1f}")
print(f"largest difference between the sums and the predictions: {abs(shap.sum(axis=1) + base - model.predict(X_test)).max():.1e}")

# %%
# All rows at once: one dot per row, colored by the value of the column.

order = np.argsort(abs(shap).mean(axis=0))
random = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(6.6, 4.6))
for place, column in enumerate(order):
    values = X_test[:, column]
    rank = values.argsort().argsort() / len(values)
    dots = axes.scatter(shap[:, column], place + random.uniform(-0.25, 0.25, len(values)), c=rank, s=8, cmap="plasma", vmin=-0.1, vmax=1.1)
axes.axvline(0, color="gray", linewidth=1)
axes.set_yticks(range(len(order)), [data.feature_names[i] for i in order])
axes.set_xlabel("SHAP value (change of the predicted progression)")
bar = figure.colorbar(dots, ax=axes, ticks=[0, 1])
bar.ax.set_yticklabels(["low", "high"])
bar.set_label("value of the column", labelpad=-12)
bar.outline.set_visible(False)
plt.show()

# %%
# A dependence plot: the SHAP values of one column against its values. The color shows a second column; where colors separate, the two interact.

bmi, pressure = data.feature_names.index("bmi"), data.feature_names.index("bp")
figure, axes = plt.subplots()
dots = axes.scatter(X_test[:, bmi], shap[:, bmi], c=X_test[:, pressure], s=14, cmap="plasma")
axes.set_xlabel("body mass index")
axes.set_ylabel("SHAP value of the body mass index")
bar = figure.colorbar(dots, ax=axes)
bar.set_label("blood pressure")
bar.outline.set_visible(False)
plt.show()
