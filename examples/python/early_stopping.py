"""Choose the number of boosting rounds by early stopping on a validation set.

    python examples/python/early_stopping.py
"""

from pathlib import Path

import pandas as pd

from ermine.ensemble import GradientBoostingClassifier
from ermine.metrics import log_loss, roc_auc_score

DATA = Path(__file__).resolve().parents[1] / "data"

flights = pd.read_csv(DATA / "flights.csv")
X = flights.drop(columns=["date", "arrival_delay"])
late = (flights["arrival_delay"] > 15).map({True: "late", False: "on time"})

# Whole days are held out: flights of one day share the weather.
day = pd.factorize(flights["date"])[0]
train, valid, test = day % 4 < 2, day % 4 == 2, day % 4 == 3

model = GradientBoostingClassifier(n_estimators=1000, learning_rate=0.05, early_stopping_rounds=20, random_state=0)
model.fit(X[train], late[train], eval_set=(X[valid], late[valid]))

losses = model.validation_loss_
print(f"{train.sum()} training, {valid.sum()} validation and {test.sum()} test rows")
print(f"stopped after {len(losses)} of {model.n_estimators} rounds; the model keeps the best {model.n_estimators_}")
print("\nround  validation log loss")
best = losses.argmin()
for i in sorted({0, best // 4, best // 2, best, len(losses) - 1}):
    print(f"{i + 1:5}  {losses[i]:.4f}{'  <- best' if i == best else ''}")

whole = GradientBoostingClassifier(n_estimators=1000, learning_rate=0.05, random_state=0).fit(X[train], late[train])
print(f"\n{'test set':24} {'log loss':>8} {'ROC AUC':>8}")
for name, fitted in (("early stopping", model), ("all 1000 rounds", whole)):
    probability = fitted.predict_proba(X[test])
    print(f"{name:24} {log_loss(late[test], probability):8.4f} {roc_auc_score(late[test] == 'on time', probability[:, 1]):8.4f}")
