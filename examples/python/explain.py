"""Explain a model: certificate, importances, partial dependence, SHAP values and a report.

    python examples/python/explain.py
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import ermine
from ermine.ensemble import GradientBoostingRegressor

DATA = Path(__file__).resolve().parents[1] / "data"

penguins = pd.read_csv(DATA / "penguins.csv").dropna(subset="body_mass_g")
X, y = penguins.drop(columns="body_mass_g"), penguins["body_mass_g"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = GradientBoostingRegressor(n_estimators=100, learning_rate=0.1, random_state=0).fit(X_train, y_train)
print(f"R² on the test set: {model.score(X_test, y_test):.3f}")
print(model.certificate_)

print("\nshare of the total gain, and mean |SHAP value| in grams:")
shap = model.shap_values(X_test)
for column in np.argsort(-model.feature_importances_):
    print(f"  {X.columns[column]:18} {model.feature_importances_[column]:6.3f} {np.abs(shap[:, column]).mean():8.1f}")

row = 0
print(f"\none penguin: {X_test.iloc[row].to_dict()}")
print(f"  {'mean prediction':18} {float(np.ravel(model.expected_value_)[0]):8.0f} g")
for column in np.argsort(-np.abs(shap[row])):
    print(f"  {X.columns[column]:18} {shap[row, column]:+8.0f} g")
print(f"  {'prediction':18} {model.predict(X_test)[row]:8.0f} g (observed {y_test.iloc[row]:.0f} g)")

with tempfile.TemporaryDirectory() as folder:
    # One HTML page with scores, curves, importances and the worst predictions; and the model itself.
    report = model.report(X_test, y_test)
    report.save(Path(folder) / "report.html")
    model.save(Path(folder) / "mass.ermine")
    print("\nsaved:", ", ".join(f"{path.name} ({path.stat().st_size // 1024} KB)" for path in sorted(Path(folder).iterdir())))
    same = np.array_equal(ermine.load(Path(folder) / "mass.ermine").predict(X_test), model.predict(X_test))
    print(f"the loaded model gives {'the same' if same else 'other'} predictions")
