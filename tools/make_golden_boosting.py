"""Writes crates/ermine/tests/golden/boosting.json: what XGBoost's exact trees say about small data without ties.

Run with an interpreter that has numpy and xgboost: python tools/make_golden_boosting.py
"""

import json

import golden_file
import numpy as np
import xgboost


def tree(node):
    """A tree as nested lists: [column, threshold, missing goes left, left, right], or the weight of a leaf."""
    if "leaf" in node:
        return node["leaf"]
    children = {child["nodeid"]: child for child in node["children"]}
    yes, no = tree(children[node["yes"]]), tree(children[node["no"]])
    return [int(node["split"][1:]), node["split_condition"], node["missing"] == node["yes"], yes, no]


def case(name, objective, x, y, rounds, weight=None, **params):
    data = xgboost.DMatrix(x, y, weight=weight)
    booster = xgboost.train(
        {"objective": objective, "tree_method": "exact", "base_score": 0.5, "eta": 0.3, "nthread": 1, **params}, data, rounds
    )
    return {
        "name": name,
        "rounds": rounds,
        "params": params,
        "weight": None if weight is None else weight.tolist(),
        "y": y.tolist(),
        "trees": [tree(json.loads(dump)) for dump in booster.get_dump(dump_format="json")],
        "margin": booster.predict(data, output_margin=True).astype(float).ravel().tolist(),
    }


rng = np.random.default_rng(5)
# Single precision, as XGBoost computes; no two values of a column are the same.
x = rng.normal(size=(150, 4)).astype(np.float32)
x[:, 3] = np.where(rng.random(150) < 0.3, np.nan, x[:, 3])
noise = rng.normal(size=150)
number = (x[:, 0] * x[:, 1] + np.nan_to_num(x[:, 3], nan=1.0) + 0.3 * noise).astype(np.float32)
two = (number > 0).astype(np.float32)
three = np.digitize(number, [-0.5, 0.8]).astype(np.float32)
weight = rng.uniform(0.5, 2.0, size=150).astype(np.float32)
cases = [
    case("squared error", "reg:squarederror", x, number, 3, max_depth=4, reg_lambda=1.0),
    case("squared error, penalties", "reg:squarederror", x, number, 3, max_depth=4, reg_lambda=0.5, reg_alpha=0.4, min_child_weight=5.0),
    case("squared error, weights", "reg:squarederror", x, number, 2, weight, max_depth=3, reg_lambda=2.0),
    case("log loss", "binary:logistic", x, two, 3, max_depth=4, reg_lambda=1.0),
    case("log loss, penalties", "binary:logistic", x, two, 3, max_depth=5, reg_lambda=0.1, reg_alpha=0.1, min_child_weight=2.0),
    case("three classes", "multi:softprob", x, three, 3, max_depth=4, reg_lambda=1.0, num_class=3),
    case("three classes, penalties", "multi:softprob", x, three, 3, max_depth=5, reg_lambda=0.2, reg_alpha=0.1, min_child_weight=2.0, num_class=3),
]
rows = [[None if np.isnan(v) else float(v) for v in row] for row in x]
print(golden_file.write("boosting.json", __file__, {"x": rows, "cases": cases}, xgboost, np), len(cases), "cases")
