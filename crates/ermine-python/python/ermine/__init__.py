"""Ermine: supervised learning for tables, with scikit-learn's interface and a certificate on every fit.

>>> from ermine.tree import DecisionStumpClassifier
>>> model = DecisionStumpClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["low", "low", "high", "high"])
>>> print(model.predict([[0.5], [9.0]]))
['low' 'high']
>>> print(model.certificate_)
minimized: weighted 0-1 risk on the training data = 0
proven: optimal over all columns, their thresholds and the labels of the branches

Modules carry scikit-learn's names (``ermine.tree``, ``ermine.ensemble``, ...), and are loaded when they are first used.
"""

import importlib
import os
from typing import Any

from ermine._catalog import MODULES
from ermine._ermine import __version__

__all__ = ["Step", "__version__", "import_model", "load", *MODULES]


def load(path: "str | os.PathLike[str]") -> Any:
    """Loads a fitted estimator from a model file.

    Parameters
    ----------
    path : str or path-like
        A file written by ``save`` or by the command line.

    Returns
    -------
    estimator
        The estimator, of the class that was saved; for a file of the command line, of the class for its learner. A model file contains
        arrays and text, never code.
    """
    from ermine._estimator import from_file

    return from_file(os.fspath(path))


def import_model(path: "str | os.PathLike[str]") -> Any:
    """Reads a model of XGBoost (JSON or UBJSON) or LightGBM (text).

    Parameters
    ----------
    path : str or path-like
        A file written by ``save_model`` of either.

    Returns
    -------
    estimator
        A fitted ``GradientBoostingClassifier`` or ``GradientBoostingRegressor`` with the predictions of the original model, up to rounding.
    """
    from ermine._estimator import from_foreign

    return from_foreign(os.fspath(path))


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"ermine.{name}")
    if name == "Step":
        from ermine._progress import Step

        return Step
    raise AttributeError(f"module 'ermine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
