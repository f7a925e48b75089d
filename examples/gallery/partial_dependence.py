"""Partial dependence and monotone constraints

How does the predicted body mass of a penguin change with the length of its flippers, all else as observed? Thin lines follow single penguins (individual conditional
expectation), the thick line is their mean. A monotone constraint rules out what we know to be noise: a longer flipper must not lower the prediction.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from ermine.ensemble import GradientBoostingRegressor
from ermine.model_selection import cross_val_score

DATA = Path(__file__).resolve().parents[1] / "data"
penguins = pd.read_csv(DATA / "penguins.csv").dropna(subset="body_mass_g").sample(frac=1, random_state=0)
X, y = penguins.drop(columns="body_mass_g"), penguins["body_mass_g"]
models = {
    "unconstrained": GradientBoostingRegressor(n_estimators=150, random_state=0),
    "must not fall with the flipper length": GradientBoostingRegressor(n_estimators=150, monotone_constraints={"flipper_length_mm": 1}, random_state=0),
}

figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.8), sharey=True)
for panel, (name, model) in zip(axes, models.items()):
    curve = model.fit(X, y).partial_dependence(X, "flipper_length_mm", n_values=60, n_curves=60)
    panel.plot(curve["values"], curve["curves"].T, color="C0", alpha=0.25, linewidth=0.8)
    panel.plot(curve["values"], curve["mean"][:, 0], color="C1", linewidth=3)
    panel.set_title(name)
    panel.set_xlabel("flipper length (mm)")
    print(f"{name:38} cross-validated R² {cross_val_score(model, X, y, cv=5).mean():.3f}")
axes[0].set_ylabel("predicted body mass (g)")
plt.show()
