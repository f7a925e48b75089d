"""Nearest neighbours by scikit-learn, for crates/ermine/tests/it/neighbors.rs.

    python tools/golden_neighbors.py [DATA_DIRECTORY]

writes crates/ermine/tests/golden/neighbors.json. With the directory of the shared data sets the digits are done too: the first 8,000 rows of
mnist_10k classify the last 2,000.
"""

import csv
import gzip
import json
import pathlib
import sys

import numpy as np
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
path = pathlib.Path("crates/ermine/tests/golden/neighbors.json")
if len(sys.argv) > 1:
    with gzip.open(pathlib.Path(sys.argv[1]) / "mnist_10k.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    label = np.array([row[0] for row in rows])
    pixel = np.array([row[1:] for row in rows], dtype=float)
    wrong = {}
    for k in (1, 3):
        model = KNeighborsClassifier(n_neighbors=k, algorithm="brute").fit(pixel[:8000], label[:8000])
        wrong[str(k)] = int((model.predict(pixel[8000:]) != label[8000:]).sum())
    golden["mnist_wrong"] = wrong
elif path.exists():
    golden["mnist_wrong"] = json.loads(path.read_text())["mnist_wrong"]
path.write_text(json.dumps(golden))
