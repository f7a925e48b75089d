"""Learning to rank

Which flights of a day should a traveler worry about? Each day is a query, each flight a row with a grade from 0 to 3 by its delay. Rankers learn an order within each query, and NDCG compares
that order with the best one. Every day is ranked by models that were trained on other days. Boosted trees (LambdaMART) and a linear ranker over all pairs are compared with a random order and with the scheduled hour.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ermine.ensemble import GradientBoostingRanker
from ermine.metrics import ndcg_score
from ermine.ranking import RankSVM

DATA = Path(__file__).resolve().parents[1] / "data"
flights = pd.read_csv(DATA / "flights.csv")
X = flights.drop(columns=["date", "arrival_delay"])
grade = np.digitize(flights["arrival_delay"], [0, 15, 60])
day = pd.factorize(flights["date"])[0]
sizes = np.bincount(day)

rankers = {"LambdaMART": GradientBoostingRanker(n_estimators=60, learning_rate=0.05, max_leaf_nodes=8, random_state=0), "linear RankSVM": RankSVM()}
scores = {name: np.empty(len(X)) for name in rankers}
for fold in range(4):
    train, test = day % 4 != fold, day % 4 == fold
    for name, ranker in rankers.items():
        scores[name][test] = ranker.fit(X[train], grade[train], qid=day[train]).predict(X[test])
scores["later in the day first"] = X["hour"].to_numpy(dtype=float)
scores["random order"] = np.random.default_rng(0).uniform(size=len(X))

ks = [1, 3, 5, 10, 20, 50, 100]
figure, axes = plt.subplots()
print(f"{'':24}" + "".join(f"NDCG@{k:<6}" for k in (5, 10, 50)))
for (name, score), style in zip(scores.items(), ("-", "--", "-.", ":")):
    curve = [ndcg_score(grade, score, k=k, group=sizes) for k in ks]
    print(f"{name:24}" + "".join(f"{curve[ks.index(k)]:<11.4f}" for k in (5, 10, 50)))
    axes.plot(ks, curve, linestyle=style, marker="o", markersize=4, label=name)
axes.set_xscale("log")
axes.set_xticks(ks, ks)
axes.minorticks_off()
axes.set_xlabel("k")
axes.set_ylabel("NDCG@k")
axes.legend()
plt.show()
