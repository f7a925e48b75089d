"""Compare learners

`compare` cross-validates learners on the same folds, with their default parameters, and tunes the best ones if `n_iter` allows it. The question is seldom which one is first, but which ones are
clearly worse: look at the spread over the folds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from ermine.model_selection import compare

X, y = load_wine(return_X_y=True, as_frame=True)
learners = ["baseline", "decision-stump", "decision-tree", "random-forest", "extra-trees", "adaboost", "gradient-boosting", "logistic-regression", "svc", "linear-svc", "nearest-neighbors"]
board = compare(X, y, learners=learners, cv=10, n_iter=0)
for entry in board:
    print(f"{type(entry.estimator).__name__:28} {entry.mean_score:.4f} ± {entry.scores.std():.4f}")

# %%
# Each dot is a fold. Where the dots of two learners overlap, their order means little.

figure, axes = plt.subplots(figsize=(6.6, 4.4))
for place, entry in enumerate(board):
    axes.scatter(entry.scores, [place] * len(entry.scores), color="C0", alpha=0.45, s=22)
    axes.scatter(entry.mean_score, place, color="C1", marker="D", s=40)
axes.set_yticks(range(len(board)), [type(entry.estimator).__name__ for entry in board])
axes.invert_yaxis()
axes.set_xlabel("accuracy (dots: folds, diamonds: means)")
plt.show()
