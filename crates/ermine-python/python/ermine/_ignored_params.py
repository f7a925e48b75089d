"""Parameters that are accepted for compatibility with scikit-learn and have no effect. Invalid values are refused all the same."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ermine import _catalog

#: What a value must be, and the test for it.
Rule = tuple[str, Callable[[Any], bool]]


def _is_number(value: Any, whole: bool = False) -> bool:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def _one_of(*choices: Any) -> Rule:
    return f"one of {', '.join(map(repr, choices))}", lambda value: value is None and None in choices or isinstance(value, str) and value in choices


BOOL: Rule = ("a bool", lambda value: isinstance(value, (bool, np.bool_)))
NOT_NEGATIVE: Rule = ("a number from 0 up or None", lambda value: value is None or _is_number(value) and value >= 0)
POSITIVE: Rule = ("a number above 0", lambda value: _is_number(value) and value > 0)

RULES: dict[str, Rule] = {
    "copy_X": BOOL,
    "shrinking": BOOL,
    "dual": BOOL,
    "warm_start": BOOL,
    "tol": NOT_NEGATIVE,
    "alpha": NOT_NEGATIVE,
    "eta0": POSITIVE,
    "intercept_scaling": POSITIVE,
    "max_iter": ("an int from 1 up or None", lambda value: value is None or _is_number(value, whole=True) and value >= 1),
    "leaf_size": ("an int from 1 up", lambda value: _is_number(value, whole=True) and value >= 1),
    "l1_ratio": ("a number from 0 to 1 or None", lambda value: value is None or _is_number(value) and 0 <= value <= 1),
    "validation_fraction": ("a number between 0 and 1", lambda value: _is_number(value) and 0 < value < 1),
    "selection": _one_of("cyclic", "random"),
    "gcv_mode": _one_of("auto", "svd", "eigen", None),
    "criterion": _one_of("friedman_mse", "squared_error", "deprecated"),
    "solver_options": ("a dict or None", lambda value: value is None or isinstance(value, Mapping)),
    "precompute": ("a bool, 'auto' or a Gram matrix", lambda value: isinstance(value, (bool, np.bool_)) or value is None or hasattr(value, "__array__") or isinstance(value, str) and value == "auto"),
    "random_state": (
        "an int from 0 up, a RandomState or None",
        lambda value: value is None or isinstance(value, (np.random.RandomState, np.random.Generator)) or _is_number(value, whole=True) and value >= 0,
    ),
}

SOLVERS: dict[str, Rule] = {
    "Ridge": _one_of("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
    "LogisticRegression": _one_of("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
    "QuantileRegressor": _one_of("highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"),
}

_IGNORED = {entry.name: entry.without_effect for entry in _catalog.CATALOG if entry.without_effect}


def is_ignored(estimator: Any, name: str) -> bool:
    """Whether a parameter has no effect."""
    return any(name in _IGNORED.get(cls.__name__, ()) for cls in type(estimator).__mro__)


def check(estimator: Any) -> None:
    """Refuses invalid values of the parameters that have no effect."""
    for cls in type(estimator).__mro__:
        for name in _IGNORED.get(cls.__name__, ()):
            allowed, is_valid = SOLVERS[cls.__name__] if name == "solver" else RULES[name]
            value = getattr(estimator, name)
            if not is_valid(value):
                raise ValueError(f"The {name!r} parameter of {type(estimator).__name__} must be {allowed}. Got {value!r} instead.")
