"""The one list of estimators: which class stands for which learner of the registry.

All else follows from it and from the parameters that each learner declares in Rust: ``tools/python_estimators.py`` writes the modules
``ermine.tree`` and so on, with signatures, type hints and documentation.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """An estimator class."""

    module: str
    name: str
    learner: str
    task: str
    #: Parameters of the learner that have no meaning for this class.
    hidden: tuple[str, ...] = ()
    #: Too simple for the scores that scikit-learn's checks ask for, as its twin there would be.
    poor_score: bool = False


CATALOG: tuple[Entry, ...] = (
    Entry("dummy", "DummyClassifier", "baseline", "classification", poor_score=True),
    Entry("dummy", "DummyRegressor", "baseline", "regression", poor_score=True),
    Entry("tree", "DecisionStumpClassifier", "decision-stump", "classification", poor_score=True),
    Entry("tree", "DecisionStumpRegressor", "decision-stump", "regression", hidden=("criterion", "polarity"), poor_score=True),
)

MODULES: tuple[str, ...] = tuple(sorted({entry.module for entry in CATALOG}))


def find(name: str | None, learner: str, task: str) -> Entry:
    """The estimator for a model file: by its name, or else the first one for its learner and task."""
    fitting = [entry for entry in CATALOG if (entry.learner, entry.task) == (learner, task)]
    named = [entry for entry in fitting if entry.name == name]
    if not fitting:
        raise ValueError(f"no estimator stands for a model of {learner} for {task}")
    return (named or fitting)[0]
