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
    #: Takes ``random_state`` though the learner draws nothing unless a parameter makes it.
    seeded: bool = False
    #: One tree, which has a depth and a number of leaves.
    tree: bool = False


CATALOG: tuple[Entry, ...] = (
    Entry("dummy", "DummyClassifier", "baseline", "classification", poor_score=True),
    Entry("dummy", "DummyRegressor", "baseline", "regression", poor_score=True),
    Entry("tree", "DecisionStumpClassifier", "decision-stump", "classification", poor_score=True),
    Entry("tree", "DecisionStumpRegressor", "decision-stump", "regression", hidden=("criterion", "polarity"), poor_score=True),
    Entry("tree", "DecisionTreeClassifier", "decision-tree", "classification", seeded=True, tree=True),
    Entry("tree", "DecisionTreeRegressor", "decision-tree", "regression", hidden=("class_weight", "confidence_factor"), seeded=True, tree=True),
    Entry("tree", "Id3Classifier", "id3", "classification", tree=True),
    Entry("tree", "C45Classifier", "c45", "classification", tree=True),
    Entry("tree", "OptimalTreeClassifier", "optimal-tree", "classification", tree=True),
    Entry("tree", "ObliqueTreeClassifier", "oblique-tree", "classification", tree=True),
    Entry("tree", "ObliqueTreeRegressor", "oblique-tree", "regression", tree=True),
    Entry("tree", "QuadTreeClassifier", "quad-tree", "classification", tree=True),
    Entry("tree", "QuadTreeRegressor", "quad-tree", "regression", tree=True),
    Entry("ensemble", "RandomForestClassifier", "random-forest", "classification"),
    Entry("ensemble", "RandomForestRegressor", "random-forest", "regression", hidden=("criterion", "class_weight")),
    Entry("ensemble", "ExtraTreesClassifier", "extra-trees", "classification"),
    Entry("ensemble", "ExtraTreesRegressor", "extra-trees", "regression", hidden=("criterion", "class_weight")),
    Entry("ensemble", "GradientBoostingClassifier", "gradient-boosting", "classification"),
    Entry("ensemble", "GradientBoostingRegressor", "gradient-boosting", "regression"),
    Entry("ensemble", "AdaBoostClassifier", "adaboost", "classification", hidden=("loss",), seeded=True),
    Entry(
        "ensemble", "AdaBoostRegressor", "adaboost", "regression",
        hidden=("algorithm", "criterion", "max_categories", "n_iter_no_change", "validation_fraction"), seeded=True,
    ),
    Entry("ensemble", "BaggingClassifier", "bagging", "classification"),
    Entry("ensemble", "BaggingRegressor", "bagging", "regression"),
)

#: Learners without an estimator, and why.
LEFT_OUT: dict[str, str] = {
    "comparison-tree": "not yet held against scikit-learn's checks; the command line and the crate have it",
    "density-tree": "not yet held against scikit-learn's checks; the command line and the crate have it",
}

#: Tasks of learners that have estimators for others, and why.
TASKS_LEFT_OUT: dict[tuple[str, str], str] = {
    ("gradient-boosting", "ranking"): "query groups are not passed from Python yet; the command line and the crate rank",
}

MODULES: tuple[str, ...] = tuple(sorted({entry.module for entry in CATALOG}))


def find(name: str | None, learner: str, task: str) -> Entry:
    """The estimator for a model file: by its name, or else the first one for its learner and task."""
    fitting = [entry for entry in CATALOG if (entry.learner, entry.task) == (learner, task)]
    named = [entry for entry in fitting if entry.name == name]
    if not fitting:
        raise ValueError(f"no estimator stands for a model of {learner} for {task}")
    return (named or fitting)[0]
