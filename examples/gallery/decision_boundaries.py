"""Decision boundaries of classifiers

Twelve classifiers on the same two measurements of penguins. The shape of a boundary shows what a learner can express: axis-parallel steps for trees, straight lines for
linear models, smooth curves for kernels, ragged ones for nearest neighbors. The number in each panel is the accuracy on the rows that were not used for training.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap

from ermine.ensemble import AdaBoostClassifier, ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from ermine.linear_model import LogisticRegression, Perceptron
from ermine.model_selection import train_test_split
from ermine.neighbors import KNeighborsClassifier
from ermine.svm import SVC, LinearSVC
from ermine.tree import DecisionStumpClassifier, DecisionTreeClassifier, ObliqueTreeClassifier

DATA = Path(__file__).resolve().parents[1] / "data"
penguins = pd.read_csv(DATA / "penguins.csv")[["bill_length_mm", "flipper_length_mm", "species"]].dropna()
X = penguins[["bill_length_mm", "flipper_length_mm"]].to_numpy()
y = penguins["species"].to_numpy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)

models = {
    "decision stump": DecisionStumpClassifier(),
    "decision tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "oblique tree": ObliqueTreeClassifier(max_depth=3, random_state=0),
    "random forest": RandomForestClassifier(100, random_state=0),
    "extra-trees": ExtraTreesClassifier(100, random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=50),
    "gradient boosting": GradientBoostingClassifier(n_estimators=60, random_state=0),
    "logistic regression": LogisticRegression(C=100.0, max_iter=1000),
    "perceptron": Perceptron(random_state=0),
    "linear SVM": LinearSVC(standardize=True),
    "SVM, Gaussian kernel": SVC(standardize=True),
    "5 nearest neighbors": KNeighborsClassifier(5),
}
for model in models.values():
    model.fit(X_train, y_train)
scores = {name: model.score(X_test, y_test) for name, model in models.items()}
for name in sorted(scores, key=scores.get, reverse=True):
    print(f"{name:22} {scores[name]:.3f}")

# %%
# The background shows the prediction at each point, dots are the training rows.

classes = list(models["decision tree"].classes_)
colors = ["#2f81c8", "#e07b1f", "#1a9e77"]
low, high = X.min(axis=0) - 2, X.max(axis=0) + 2
columns, rows = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 150))
grid = np.column_stack([columns.ravel(), rows.ravel()])

figure, axes = plt.subplots(4, 3, figsize=(7.4, 8.6), sharex=True, sharey=True)
for panel, (name, model) in zip(axes.flat, models.items()):
    codes = np.searchsorted(classes, model.predict(grid)).reshape(columns.shape)
    panel.pcolormesh(columns, rows, codes, cmap=ListedColormap(colors), vmin=0, vmax=2, alpha=0.35, rasterized=True)
    for code, (label, color) in enumerate(zip(classes, colors)):
        panel.scatter(*X_train[y_train == label].T, s=7, color=color, label=label)
    panel.set_title(f"{name}: {scores[name]:.2f}", fontsize=10)
    panel.grid(False)
figure.supxlabel("bill length (mm)")
figure.supylabel("flipper length (mm)")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()
