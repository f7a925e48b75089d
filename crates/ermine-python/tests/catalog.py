"""All estimators, for tests that hold for each of them."""

import importlib

from ermine._catalog import CATALOG

ESTIMATORS = [getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name) for entry in CATALOG]
CLASSIFIERS = [cls for cls, entry in zip(ESTIMATORS, CATALOG) if entry.task == "classification"]


def make(cls, **params):
    """An estimator whose random choices are fixed."""
    return cls(**params, **({"random_state": 0} if "random_state" in cls().get_params() else {}))


def name(value):
    """The name of a class, as the name of a test."""
    return getattr(value, "__name__", None)
