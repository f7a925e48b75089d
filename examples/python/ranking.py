"""Rank the rows within each query: which flights of a day will be the most delayed?

    python examples/python/ranking.py
"""

from pathlib import Path

import numpy as np
import pandas as pd

from ermine.ensemble import GradientBoostingRanker
from ermine.metrics import ndcg_score
from ermine.ranking import RankSVM

DATA = Path(__file__).resolve().parents[1] / "data"

flights = pd.read_csv(DATA / "flights.csv")
# The relevance is a grade: 0 for at most 15 minutes late, 3 for more than two hours.
relevance = np.digitize(flights["arrival_delay"], [15, 60, 120])
X = flights.drop(columns=["date", "arrival_delay"])
query = pd.factorize(flights["date"])[0]  # a day is a query; its rows stand together
train, test = query < 30, query >= 30

print(f"{query.max() + 1} days with {np.bincount(query)[0]} flights each; grades {np.bincount(relevance).tolist()}")
print(f"\n{'':24} {'NDCG@5':>8} {'NDCG@10':>8}")


def show(name, scores):
    values = [ndcg_score(relevance[test], scores, k=k, qid=query[test]) for k in (5, 10)]
    print(f"{name:24} {values[0]:8.3f} {values[1]:8.3f}")


show("random order", np.random.default_rng(0).random(test.sum()))
show("later in the day first", X["hour"][test])
for model in (RankSVM(), GradientBoostingRanker(n_estimators=50, learning_rate=0.05, random_state=0)):
    model.fit(X[train], relevance[train], qid=query[train])
    show(type(model).__name__, model.predict(X[test]))

# The top of one test day.
day = test & (query == 30)
top = flights[day].assign(score=model.predict(X[day])).nlargest(5, "score")
print(f"\n{top['date'].iloc[0]}, most likely to be delayed:")
print(top[["hour", "carrier", "origin", "destination", "arrival_delay"]].to_string(index=False))
