"""Categories and missing values need no preprocessing

Text columns and missing values go into every learner as they are: trees split on sets of categories and send missing values to the better side, linear models encode categories
themselves. Here values are removed at random from the penguins, and three learners are compared as more and more is missing.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ermine.ensemble import RandomForestClassifier
from ermine.linear_model import LogisticRegression
from ermine.model_selection import cross_val_score
from ermine.tree import DecisionTreeClassifier

DATA = Path(__file__).resolve().parents[1] / "data"
penguins = pd.read_csv(DATA / "penguins.csv").sample(frac=1, random_state=0)
X, y = penguins.drop(columns="species"), penguins["species"]
models = {"decision tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0), "random forest": RandomForestClassifier(100, random_state=0), "logistic regression": LogisticRegression(C=10.0, max_iter=1000)}

shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
scores = {name: [] for name in models}
for share in shares:
    removed = X.mask(np.random.default_rng(0).uniform(size=X.shape) < share)
    for name, model in models.items():
        scores[name].append(cross_val_score(model, removed, y, cv=5).mean())
print(f"{'missing':22}" + "".join(f"{share:7.0%}" for share in shares))
for name, values in scores.items():
    print(f"{name:22}" + "".join(f"{value:7.3f}" for value in values))

figure, axes = plt.subplots()
for (name, values), marker in zip(scores.items(), "osD"):
    axes.plot(np.array(shares) * 100, values, marker=marker, label=name)
axes.set_xlabel("values removed (%)")
axes.set_ylabel("accuracy, 5-fold cross-validation")
axes.legend()
plt.show()
