"""The messages of the twenty most common mistakes in Python, as a snapshot.

Run with ``ERMINE_UPDATE_MESSAGES=1`` to write the snapshot; read the changes before committing them.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

import ermine
from ermine.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from ermine.linear_model import LogisticRegression, Ridge
from ermine.neighbors import KNeighborsClassifier
from ermine.svm import SVC
from ermine.tree import DecisionTreeClassifier

SNAPSHOT = Path(__file__).parent / "messages.txt"

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]])
y = np.array(["a", "a", "a", "b", "b", "b"])
numbers = np.arange(6.0)
frame = pd.DataFrame({"size": X[:, 0], "width": X[:, 1]})
tree = DecisionTreeClassifier().fit(frame, y)

MISTAKES = {
    "DecisionTreeClassifier().predict(X)": lambda: DecisionTreeClassifier().predict(X),
    "DecisionTreeClassifier().fit(X, None)": lambda: DecisionTreeClassifier().fit(X, None),
    "DecisionTreeClassifier().fit(X, y[:4])": lambda: DecisionTreeClassifier().fit(X, y[:4]),
    "DecisionTreeClassifier().fit(X[:, 0], y)": lambda: DecisionTreeClassifier().fit(X[:, 0], y),
    "DecisionTreeClassifier().fit(X[:0], y[:0])": lambda: DecisionTreeClassifier().fit(X[:0], y[:0]),
    "DecisionTreeClassifier(max_dept=3)": lambda: DecisionTreeClassifier(max_dept=3),
    "DecisionTreeClassifier(criterion='ginny').fit(X, y)": lambda: DecisionTreeClassifier(criterion="ginny").fit(X, y),
    "DecisionTreeClassifier(max_depth='deep').fit(X, y)": lambda: DecisionTreeClassifier(max_depth="deep").fit(X, y),
    "GradientBoostingClassifier(learning_rate=-0.1).fit(X, y)": lambda: GradientBoostingClassifier(learning_rate=-0.1).fit(X, y),
    "RandomForestClassifier(n_estimators=0).fit(X, y)": lambda: RandomForestClassifier(n_estimators=0).fit(X, y),
    "Ridge().fit(X, y)": lambda: Ridge().fit(X, y),
    "Ridge().fit(X, [1, 2, nan, 4, 5, 6])": lambda: Ridge().fit(X, [1, 2, np.nan, 4, 5, 6]),
    "Ridge().fit(X, numbers, sample_weight=[-1, 1, 1, 1, 1, 1])": lambda: Ridge().fit(X, numbers, sample_weight=[-1, 1, 1, 1, 1, 1]),
    "LogisticRegression().fit(X, ['a'] * 6)": lambda: LogisticRegression().fit(X, ["a"] * 6),
    "KNeighborsClassifier(n_neighbors=0).fit(X, y)": lambda: KNeighborsClassifier(n_neighbors=0).fit(X, y),
    "SVC(C=0).fit(X, y)": lambda: SVC(C=0).fit(X, y),
    "GradientBoostingRegressor(loss='gamma').fit(X, -numbers)": lambda: GradientBoostingRegressor(loss="gamma").fit(X, -numbers),
    "tree.predict(X[:, :1])": lambda: tree.predict(X[:, :1]),
    "tree.predict(frame.rename(columns={'size': 'length'}))": lambda: tree.predict(frame.rename(columns={"size": "length"})),
    "ermine.load('nothing.ermine')": lambda: ermine.load("nothing.ermine"),
}


def message(mistake):
    """The type and text of the exception that a mistake raises."""
    try:
        mistake()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no exception"


def test_common_mistakes_are_explained():
    assert len(MISTAKES) == 20
    found = "\n\n".join(f">>> {code}\n{message(mistake)}" for code, mistake in MISTAKES.items()) + "\n"
    if os.environ.get("ERMINE_UPDATE_MESSAGES"):
        SNAPSHOT.write_text(found, encoding="utf-8")
    assert "no exception" not in found
    assert found == SNAPSHOT.read_text(encoding="utf-8")
