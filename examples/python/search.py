"""Search for good parameters with cross-validation, and compare the result with the defaults.

    python examples/python/search.py
"""

from pathlib import Path

import pandas as pd

from ermine.ensemble import GradientBoostingClassifier
from ermine.metrics import confidence_interval, roc_auc_score
from ermine.model_selection import GridSearchCV, RandomizedSearchCV

DATA = Path(__file__).resolve().parents[1] / "data"

flights = pd.read_csv(DATA / "flights.csv")
X = flights.drop(columns=["date", "arrival_delay"])
late = (flights["arrival_delay"] > 15).astype(int)
test = pd.factorize(flights["date"])[0] % 4 == 3
base = GradientBoostingClassifier(n_estimators=100, learning_rate=0.1, random_state=0)

# A grid: the numbers of rounds share one fit, so this costs 2 x 2 fits per fold instead of 12.
grid = GridSearchCV(base, {"n_estimators": [25, 50, 100], "max_leaf_nodes": [8, 16], "learning_rate": [0.05, 0.1]}, cv=3, scoring="roc_auc")
grid.fit(X[~test], late[~test])
table = pd.DataFrame(grid.cv_results_).sort_values("rank_test_score")
columns = [column for column in table if column.startswith("param_")]
print("grid search, best five of", len(table))
print(table[[*columns, "mean_test_score", "std_test_score"]].head().round(4).to_string(index=False))

# Random search: without a space, the learner's own tuning ranges are searched.
random = RandomizedSearchCV(base, n_iter=10, cv=3, scoring="roc_auc", random_state=0)
random.fit(X[~test], late[~test])
print("\nrandom search, best of 10:")
print("  " + ", ".join(f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}" for name, value in random.best_params_.items()))

print(f"\n{'test set':16} {'ROC AUC':>8}  95% interval")
for name, model in (("as given", base.fit(X[~test], late[~test])), ("grid search", grid), ("random search", random)):
    probability = model.predict_proba(X[test])[:, 1]
    value, low, high = confidence_interval(roc_auc_score, late[test], probability, n_resamples=500)
    print(f"{name:16} {value:8.3f}  {low:.3f} to {high:.3f}")
