"""Writes crates/ermine/tests/golden/ranking.json: the least squared hinge loss over listed pairs, by scikit-learn's LinearSVC on the differences of rows."""

import golden_file
import numpy as np
import sklearn
from sklearn.svm import LinearSVC

rng = np.random.default_rng(5)
n, c = 120, 0.5
x = rng.normal(size=(n, 4)).round(6)
qid = np.sort(rng.integers(0, 8, n))
grade = np.clip(np.round(x @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=n)), 0, 3)
result = {"x": x.tolist(), "qid": qid.tolist(), "grades": grade.tolist(), "C": c}
for kind in ("equal", "grade"):
    first, second = np.nonzero((qid[:, None] == qid) & (grade[:, None] > grade))
    worth = np.ones(len(first)) if kind == "equal" else grade[first] - grade[second]
    apart = x[first] - x[second]
    # Both directions, each with half the weight: LinearSVC needs two classes.
    model = LinearSVC(C=c, loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-14, max_iter=100000)
    model.fit(np.vstack([apart, -apart]), np.repeat([1, -1], len(apart)), sample_weight=np.tile(worth / 2, 2))
    w = model.coef_[0]
    value = w @ w / 2 + c * (worth * np.maximum(0, 1 - apart @ w) ** 2).sum()
    result[kind] = {"coef": w.tolist(), "objective": value, "n_pairs": len(apart)}
golden_file.write("ranking.json", __file__, result, sklearn, np)
