"""Writes crates/ermine/tests/golden/multiclass.json: scikit-learn's reductions to two classes over shallow trees, on data without ties."""

import golden_file
import numpy as np
import sklearn
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(3)
n, k = 150, 4
x = rng.normal(size=(n, 3)).round(6)
y = ((x[:, 0] > 0.2).astype(int) + 2 * (x[:, 1] + 0.3 * x[:, 2] > 0)).astype(int)
flip = rng.random(n) < 0.1
y[flip] = rng.integers(0, k, flip.sum())
new = rng.normal(size=(200, 3)).round(6)
# Of equally good splits scikit-learn takes one at random, as Ermine does: without any, all seeds give the same models.
def fitted(seed):
    tree = DecisionTreeClassifier(max_depth=2, random_state=seed)
    return OneVsRestClassifier(tree).fit(x, y), OneVsOneClassifier(tree).fit(x, y)


rest, pairs = fitted(0)
for other_rest, other_pairs in map(fitted, range(1, 20)):
    assert (other_rest.predict_proba(new) == rest.predict_proba(new)).all()
    assert (other_pairs.decision_function(new) == pairs.decision_function(new)).all()
golden_file.write("multiclass.json", __file__, {
    "x": x.tolist(), "y": y.tolist(), "new": new.tolist(),
    "one-vs-rest": {"proba": rest.predict_proba(new).tolist(), "class": rest.predict(new).tolist()},
    "one-vs-one": {"scores": pairs.decision_function(new).tolist(), "class": pairs.predict(new).tolist()},
}, sklearn, np)
