"""Writes crates/ermine/tests/golden/multilabel.json: scikit-learn's reductions of labels to classes, exactly on made data, and their quality on emotions, scene and
yeast, which are looked for in ERMINE_DATA. Also its scores of sets of labels."""

import gzip
import os
import pathlib
import warnings

import golden_file
import numpy as np
import sklearn
from sklearn import metrics as m
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

ROOT = pathlib.Path(__file__).parent.parent
DATA = pathlib.Path(os.environ.get("ERMINE_DATA", ROOT / "../shared/data"))
#: File, labels, rows to learn from.
SETS = {"emotions": (6, 391), "scene": (6, 1211), "yeast": (14, 1500)}


def logistic() -> LogisticRegression:
    return LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10, max_iter=1000)


class Powerset:
    """Each set of labels as a class."""

    def __init__(self, base):
        self.base = base

    def fit(self, x, y):
        self.sets, codes = np.unique(y, axis=0, return_inverse=True)
        self.base.fit(x, codes.reshape(-1))
        return self

    def predict(self, x):
        return self.sets[self.base.predict(x)]


def scores(truth, said, weight=None):
    kw = {"sample_weight": weight}
    return {
        "subset accuracy": m.accuracy_score(truth, said, **kw),
        "Hamming loss": m.hamming_loss(truth, said, **kw),
        "micro F1": m.f1_score(truth, said, average="micro", zero_division=0, **kw),
        "macro F1": m.f1_score(truth, said, average="macro", zero_division=0, **kw),
    }


def made(rng):
    n, x = 200, rng.normal(size=(320, 4)).round(6)
    first = x[:, 0] + 0.5 * x[:, 1] + 0.6 * rng.normal(size=320) > 0
    second = x[:, 1] - first + 0.6 * rng.normal(size=320) > -0.5
    third = first ^ (x[:, 2] > 0.2)
    y = np.stack([first, second, third], axis=1).astype(int)
    new, order = x[n:], [2, 0, 1]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    both = MultiOutputClassifier(logistic()).fit(x[:n], y[:n])
    chain = ClassifierChain(logistic(), order=order).fit(x[:n], y[:n])
    trees = ClassifierChain(tree).fit(x[:n], y[:n])
    sets = Powerset(tree).fit(x[:n], y[:n])
    return {
        "x": x[:n].tolist(), "y": y[:n].tolist(), "new": new.tolist(), "order": order,
        "binary-relevance": np.stack([p[:, 1] for p in both.predict_proba(new)], axis=1).tolist(),
        "classifier-chain": chain.predict_proba(new).tolist(),
        "chain of trees": trees.predict_proba(new).tolist(),
        "label-powerset": sets.predict(new).tolist(),
    }


def quality(name):
    n_labels, n = SETS[name]
    with gzip.open(DATA / f"{name}_multilabel.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    x, y = table[:, :-n_labels], table[:, -n_labels:].astype(int)
    base = KNeighborsClassifier(10) if name == "yeast" else logistic()
    learners = {
        "binary-relevance": MultiOutputClassifier(logistic()),
        "classifier-chain": ClassifierChain(logistic()),
        "label-powerset": Powerset(base),
    }
    return {key: scores(y[n:], learner.fit(x[:n], y[:n]).predict(x[n:])) for key, learner in learners.items()}


def measured(rng):
    truth, said = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, (60, 4))
    truth[:, 3] = said[:, 3] = 0
    weight = rng.integers(1, 9, 60) / 4
    return {
        "truth": truth.tolist(), "said": said.tolist(), "weight": weight.tolist(),
        "plain": scores(truth, said), "weighted": scores(truth, said, weight),
    }


warnings.filterwarnings("ignore")
rng = np.random.default_rng(11)
golden = {"made": made(rng), "measured": measured(rng), "quality": {name: quality(name) for name in SETS}}
golden_file.write("multilabel.json", __file__, golden, sklearn, np)
