"""Calibration curves: do probabilities mean what they say?

Of all rows that are predicted with probability 0.8, about 80 % should be positive. Boosted stumps push probabilities toward the middle, forests away from 0 and 1, and a support vector
machine does not predict probabilities at all. `CalibratedClassifierCV` maps scores to probabilities with held-out folds.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ermine.calibration import CalibratedClassifierCV
from ermine.ensemble import AdaBoostClassifier, RandomForestClassifier
from ermine.linear_model import LogisticRegression
from ermine.metrics import brier_score_loss, calibration_curve, expected_calibration_error
from ermine.model_selection import train_test_split
from ermine.svm import LinearSVC

DATA = Path(__file__).resolve().parents[1] / "data"
flights = pd.read_csv(DATA / "flights.csv")
X = flights.drop(columns=["date", "arrival_delay"])
late = (flights["arrival_delay"] > 0).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, late, test_size=0.5, random_state=0)

models = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "AdaBoost": AdaBoostClassifier(n_estimators=100),
    "random forest": RandomForestClassifier(200, random_state=0),
    "random forest, calibrated": CalibratedClassifierCV(RandomForestClassifier(200, random_state=0), method="isotonic", random_state=0),
    "linear SVM, calibrated": CalibratedClassifierCV(LinearSVC(standardize=True), method="sigmoid", random_state=0),
}
figure, axes = plt.subplots(figsize=(6.0, 4.8))
axes.plot([0, 1], [0, 1], linestyle=":", color="gray", label="perfectly calibrated")
print(f"{'':26} {'Brier score':>11} {'calibration error':>18}")
for marker, (name, model) in zip("osD^v", models.items()):
    probability = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    observed, predicted = calibration_curve(y_test, probability, n_bins=10)
    counts = np.histogram(probability, np.linspace(0, 1, 11))[0]
    enough = counts[counts > 0] >= 30
    print(f"{name:26} {brier_score_loss(y_test, probability):11.4f} {expected_calibration_error(y_test, probability):18.4f}")
    axes.plot(predicted[enough], observed[enough], marker=marker, markersize=5, label=name)
axes.set_xlabel("predicted probability")
axes.set_ylabel("share of late flights (bins of at least 30 rows)")
axes.legend()
plt.show()
