"""Nearest neighbours by scikit-learn, for crates/ermine/tests/it/neighbors.rs.

    python tools/golden_neighbors.py [DATA_DIRECTORY]

writes crates/ermine/tests/golden/neighbors.json. With the directory of the shared data sets MNIST is done too: the first 8,000 rows of
mnist_10k classify the last 2,000. The digits that ship with the tests are always done.
"""

import csv
import gzip
import json
import pathlib
import sys

import golden_file
import numpy as np
import sklearn
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsRegressor

rng = np.random.default_rng(3)
x = rng.normal(size=(160, 4)) @ rng.normal(size=(4, 4))
queries = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
classes = rng.integers(0, 3, size=160)
values = np.stack([x[:, 0] ** 2 + rng.normal(size=160), x.sum(axis=1)], axis=1)

METRICS = {
    "euclidean": {},
    "manhattan": {},
    "chebyshev": {},
    "minkowski": {"p": 3.0},
    "cosine": {},
    "mahalanobis": {"metric_params": {"VI": np.linalg.inv(np.cov(x.T))}},
}
cases = []
for metric, extra in METRICS.items():
    for k in (1, 4, 7):
        for weights in ("uniform", "distance"):
            options = dict(n_neighbors=k, weights=weights, metric=metric, algorithm="brute", **extra)
            cases.append({
                "metric": metric, "p": extra.get("p", 2.0), "k": k, "weights": weights,
                "probabilities": KNeighborsClassifier(**options).fit(x, classes).predict_proba(queries).tolist(),
                "means": KNeighborsRegressor(**options).fit(x, values).predict(queries).tolist(),
            })
radius = RadiusNeighborsRegressor(radius=3.0, weights="distance").fit(x, values)
inside = [len(rows) for rows in radius.radius_neighbors(queries, return_distance=False)]
kept = [i for i, n in enumerate(inside) if n > 0]
golden = {
    "x": x.tolist(), "queries": queries.tolist(), "classes": classes.tolist(), "values": values.tolist(), "cases": cases,
    "radius": {"rows": kept, "means": radius.predict(queries[kept]).tolist()},
}


def wrong(file, label, n_train):
    """How many rows after the first ``n_train`` are classified wrongly by them, for one and for three neighbors."""
    with gzip.open(file, "rt") as lines:
        header, *rows = csv.reader(lines)
    at = header.index(label)
    truth = np.array([row.pop(at) for row in rows])
    pixel = np.array(rows, dtype=float)
    models = {k: KNeighborsClassifier(n_neighbors=k, algorithm="brute").fit(pixel[:n_train], truth[:n_train]) for k in (1, 3)}
    return {str(k): int((model.predict(pixel[n_train:]) != truth[n_train:]).sum()) for k, model in models.items()}


golden["digits_wrong"] = wrong(golden_file.ROOT / "crates/ermine/tests/data/digits.csv.gz", "label", 1400)
if len(sys.argv) > 1:
    golden["mnist_wrong"] = wrong(pathlib.Path(sys.argv[1]) / "mnist_10k.csv.gz", "label", 8000)
else:
    golden["mnist_wrong"] = json.loads((golden_file.FOLDER / "neighbors.json").read_text())["mnist_wrong"]
golden_file.write("neighbors.json", __file__, golden, sklearn, np)
