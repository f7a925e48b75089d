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
tree = DecisionTreeClassifier(max_depth=3, random_state=0)
rest, pairs = OneVsRestClassifier(tree).fit(x, y), OneVsOneClassifier(tree).fit(x, y)
golden_file.write("multiclass.json", __file__, {
    "x": x.tolist(), "y": y.tolist(), "new": new.tolist(),
    "one-vs-rest": {"proba": rest.predict_proba(new).tolist(), "class": rest.predict(new).tolist()},
    "one-vs-one": {"scores": pairs.decision_function(new).tolist(), "class": pairs.predict(new).tolist()},
}, sklearn, np)
