"""Writes crates/ermine/tests/golden/tree.json: what scikit-learn's trees say about small data without ties.

Run with an interpreter that has numpy and scikit-learn: python tools/golden_tree.py
"""

import golden_file
import numpy as np
import sklearn
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


def case(name, model, x, y, weight=None):
    model.fit(x, y, sample_weight=weight)
    tree = model.tree_
    path = model.cost_complexity_pruning_path(x, y, sample_weight=weight)
    left, right = tree.children_left[0], tree.children_right[0]
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    prediction = model.predict_proba(x) if hasattr(model, "predict_proba") else model.predict(x)
    return {
        "name": name,
        "params": {k: v for k, v in model.get_params().items() if k in ("criterion", "max_depth", "min_samples_leaf", "max_leaf_nodes")},
        "weight": None if weight is None else weight.tolist(),
        "y": np.asarray(y).tolist(),
        "root_decrease": float(
            tree.impurity[0] - share[left] * tree.impurity[left] - share[right] * tree.impurity[right]
        ),
        "alphas": path.ccp_alphas.tolist(),
        "impurities": path.impurities.tolist(),
        "prediction": np.asarray(prediction).reshape(len(y), -1).tolist(),
    }


def main():
    rng = np.random.default_rng(7)
    n, d = 160, 5
    # Multiples of 1/1024, all distinct within a column: exact in single precision, and no ties.
    x = np.stack([rng.permutation(n * 8)[:n] for _ in range(d)], axis=1) / 1024.0
    signal = x[:, 0] + x[:, 1] * x[:, 2] + 0.2 * rng.normal(size=n)
    two = (signal > np.median(signal)).astype(int)
    three = np.digitize(signal, np.quantile(signal, [0.3, 0.7]))
    weight = rng.uniform(0.5, 2.0, size=n)
    counts = rng.poisson(np.exp(signal))
    cases = [
        case("two classes", DecisionTreeClassifier(random_state=0), x, two),
        case("two classes, entropy, weights", DecisionTreeClassifier(criterion="entropy", min_samples_leaf=8, random_state=0), x, two, weight),
        case("three classes, weights", DecisionTreeClassifier(min_samples_leaf=8, random_state=0), x, three, weight),
        case("numbers", DecisionTreeRegressor(min_samples_leaf=4, random_state=0), x, signal),
        case("numbers, weights", DecisionTreeRegressor(max_depth=5, random_state=0), x, signal, weight),
        case("numbers, best first", DecisionTreeRegressor(max_leaf_nodes=9, random_state=0), x, signal),
        case("absolute error", DecisionTreeRegressor(criterion="absolute_error", max_depth=3, random_state=0), x, signal),
        case("poisson", DecisionTreeRegressor(criterion="poisson", max_depth=3, random_state=0), x, counts),
        case("two outputs", DecisionTreeRegressor(max_depth=4, random_state=0), x, np.stack([signal, x[:, 3] - signal**2], axis=1)),
    ]
    golden_file.write("tree.json", __file__, {"x": x.tolist(), "cases": cases}, sklearn, np)


if __name__ == "__main__":
    main()
