"""Replace scikit-learn's import and keep the rest of the program.

    python examples/python/import_swap.py
"""

import time
from pathlib import Path

import pandas as pd
import sklearn.ensemble
from sklearn.compose import make_column_transformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import ermine.ensemble

DATA = Path(__file__).resolve().parents[1] / "data"

flights = pd.read_csv(DATA / "flights.csv")
X = flights.drop(columns=["date", "arrival_delay"])
late = flights["arrival_delay"] > 15
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["weekday", "carrier", "origin", "destination"]),
    remainder="passthrough",
    sparse_threshold=0,
)

print(f"{len(X)} flights, {late.mean():.0%} of them late by more than 15 minutes")
print(f"{'':32} {'ROC AUC':>8} {'seconds':>8}")
for library in (sklearn.ensemble, ermine.ensemble):
    model = library.RandomForestClassifier(100, min_samples_leaf=3, random_state=0, n_jobs=-1)
    start = time.perf_counter()
    scores = cross_val_score(make_pipeline(encode, model), X, late, scoring="roc_auc")
    print(f"{library.__name__:32} {scores.mean():8.3f} {time.perf_counter() - start:8.2f}")

# Ermine takes the table as it is: no encoding is needed.
start = time.perf_counter()
model = ermine.ensemble.RandomForestClassifier(100, min_samples_leaf=3, random_state=0)
scores = cross_val_score(model, X, late, scoring="roc_auc")
print(f"{'ermine.ensemble, not encoded':32} {scores.mean():8.3f} {time.perf_counter() - start:8.2f}")
