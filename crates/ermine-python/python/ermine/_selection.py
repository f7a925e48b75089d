"""What searches and curves ask of the core: the names of scores, splits, tables; and who does what the core can't."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ermine import _target
from ermine._estimator import Classifier, Estimator
from ermine._fallback import runs_in_core

#: scikit-learn's names of scores: the measure behind each, and whether its sign is turned.
SCORERS: dict[str, tuple[str, bool]] = {
    "accuracy": ("accuracy", False),
    "balanced_accuracy": ("balanced-accuracy", False),
    "f1_macro": ("macro-f1", False),
    "f1_weighted": ("weighted-f1", False),
    "precision_macro": ("macro-precision", False),
    "precision_weighted": ("weighted-precision", False),
    "recall_macro": ("macro-recall", False),
    "recall_weighted": ("weighted-recall", False),
    "matthews_corrcoef": ("mcc", False),
    "neg_log_loss": ("log-loss", True),
    "neg_brier_score": ("brier", True),
    "roc_auc": ("roc-auc", False),
    "average_precision": ("average-precision", False),
    "r2": ("r2", False),
    "neg_mean_squared_error": ("mse", True),
    "neg_root_mean_squared_error": ("rmse", True),
    "neg_mean_absolute_error": ("mae", True),
    "neg_median_absolute_error": ("median-ae", True),
    "neg_mean_poisson_deviance": ("poisson-deviance", True),
    "neg_mean_gamma_deviance": ("gamma-deviance", True),
}


def scorer(scoring: str | None, estimator: Estimator) -> tuple[str, bool]:
    if scoring is None:
        scoring = "accuracy" if isinstance(estimator, Classifier) else "r2"
    if scoring not in SCORERS:
        raise ValueError(f"scoring={scoring!r} is not known here; there are: {', '.join(SCORERS)}")
    return SCORERS[scoring]


def check(estimator: Any) -> None:
    if not isinstance(estimator, Estimator):
        raise TypeError(f"{estimator!r} is not an estimator of Ermine; scikit-learn's own search takes any estimator")
    if estimator._functions():
        raise ValueError("custom functions are not searched here; scikit-learn's own search takes them")


def scikit_learn(estimator: Any, scoring: Any, *more: bool) -> Any:
    """``sklearn.model_selection`` if the core can't do it, or else ``None``."""
    ours = isinstance(estimator, Estimator) and runs_in_core(estimator) and (scoring is None or (isinstance(scoring, str) and scoring in SCORERS))
    if ours and not any(more):
        return None
    try:
        import sklearn.model_selection  # type: ignore[import-untyped]
    except ImportError:
        return None  # what follows raises the error
    return sklearn.model_selection


def seed(random_state: Any) -> int:
    """The seed that ``random_state`` stands for."""
    if random_state is None:
        random_state = np.random.mtrand._rand
    return int(random_state.randint(2**31)) if isinstance(random_state, np.random.RandomState) else int(random_state)


def copy(estimator: Estimator, params: Mapping[str, Any]) -> Any:
    return type(estimator)(**estimator.get_params(deep=False)).set_params(**params)


def splits(cv: Any, X: Any, y: Any, groups: Any = None) -> Any:
    """A number of folds as it is; else pairs of row numbers, for which a splitter may need the groups of the rows."""
    if cv is None:
        return 5
    if isinstance(cv, (int, np.integer)):
        return int(cv)
    pairs = cv.split(X, y, groups) if hasattr(cv, "split") else cv
    return [tuple(row_numbers(rows, len(y)) for rows in pair) for pair in pairs]


def row_numbers(rows: Any, n: int) -> list[int]:
    """Row numbers as they are counted from 0; those that count from the end, and masks of rows, are turned into them."""
    numbers = np.asarray(rows)
    if numbers.dtype == bool:
        if len(numbers) != n:
            raise ValueError(f"cv: a mask of {len(numbers)} rows, expected {n}")
        return np.flatnonzero(numbers).tolist()
    if numbers.size and not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"cv: row numbers of type {numbers.dtype}, expected whole numbers or a mask")
    if ((numbers < -n) | (numbers >= n)).any():
        raise ValueError(f"cv: rows are numbered below {n}")
    return np.where(numbers < 0, numbers + n, numbers).astype(np.int64).tolist()


def read(estimator: Estimator, X: Any, y: Any) -> tuple[Any, Any]:
    """The table and the target of the core."""
    table, _ = estimator._read(X)
    if isinstance(estimator, Classifier):
        target, _ = _target.classes(y, table.n_rows)
    else:
        target, _ = _target.values(y, table.n_rows, getattr(estimator, "_multi_output", False))
    return table, target
