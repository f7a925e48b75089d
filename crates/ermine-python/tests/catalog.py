"""All estimators, for tests that hold for each of them. Rankers, whose fit needs queries, and those of labels have tests of their own."""

import importlib

from ermine._catalog import CATALOG
from ermine._estimator import Classifier

ESTIMATORS = [getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name) for entry in CATALOG if entry.task not in ("ranking", "multilabel")]
CLASSIFIERS = [cls for cls in ESTIMATORS if issubclass(cls, Classifier)]


def make(cls, **params):
    """An estimator whose random choices are fixed."""
    return cls(**params, **({"random_state": 0} if cls._is_random else {}))


def name(value):
    """The name of a class, as the name of a test."""
    return getattr(value, "__name__", None)
