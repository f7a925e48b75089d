"""Precision, recall and F of classes and labels: of each, of chosen ones, and their means."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ermine import _target
from ermine._sklearn import warn


class Counts(NamedTuple):
    """How much weight of each class or label is right, true and predicted."""

    labels: np.ndarray
    hits: np.ndarray
    actual: np.ndarray
    predicted: np.ndarray


def of_marks(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> Counts:
    """The counts of a matrix of labels, each a column of 0 and 1."""
    if true.shape != predicted.shape:
        raise ValueError(f"y_true has shape {true.shape} and y_pred has shape {predicted.shape}")
    is_true, is_predicted = true == 1, predicted == 1
    rows = np.ones(len(true)) if weights is None else weights
    return Counts(np.arange(true.shape[1]), rows @ (is_true & is_predicted), rows @ is_true, rows @ is_predicted)


def of_matrix(labels: np.ndarray, counts: np.ndarray) -> Counts:
    """The counts of a confusion matrix."""
    return Counts(labels, np.diag(counts).copy(), counts.sum(axis=1), counts.sum(axis=0))


def chosen(counts: Counts, labels: Any) -> Counts:
    """The counts of these labels, in this order; those that don't occur have none."""
    known = counts.labels.tolist()
    places = [known.index(label) if label in known else None for label in np.asarray(labels).tolist()]
    of = lambda values: np.array([0.0 if place is None else values[place] for place in places])
    return Counts(np.asarray(labels), of(counts.hits), of(counts.actual), of(counts.predicted))


def _ratio(above: np.ndarray, below: np.ndarray, zero_division: Any, what: str) -> np.ndarray:
    """Quotients; ``zero_division`` where there is nothing to divide by."""
    empty = below == 0
    instead = 0.0 if zero_division == "warn" else float(zero_division)
    if zero_division == "warn" and empty.any():
        warn("UndefinedMetricWarning", f"{what} is ill-defined and being set to 0.0 where nothing is there to divide by. Use `zero_division` parameter to control this behavior.")
    return np.where(empty, instead, above / np.where(empty, 1.0, below))


def rates(counts: Counts, beta: float, zero_division: Any, only: Sequence[int] = (0, 1, 2)) -> list[np.ndarray]:
    """Precision, recall and F of each class; with warnings for those that are requested."""
    if not (zero_division == "warn" or (isinstance(zero_division, (int, float, np.number)) and (zero_division in (0, 1) or np.isnan(zero_division)))):
        raise ValueError(f"The 'zero_division' parameter must be 0, 1, nan or 'warn'. Got {zero_division!r} instead.")
    if not beta >= 0:
        raise ValueError(f"The 'beta' parameter must be a number from 0 up. Got {beta!r} instead.")
    names = ("Precision", "Recall", "F-score")
    # A weight of 0 for precision leaves recall alone.
    squared = beta * beta
    of_f = (counts.hits, counts.actual) if np.isinf(beta) else ((1 + squared) * counts.hits, squared * counts.actual + counts.predicted)
    pairs: list[tuple[np.ndarray, np.ndarray]] = [(counts.hits, counts.predicted), (counts.hits, counts.actual), of_f]
    silent = 0.0 if zero_division == "warn" else zero_division
    return [_ratio(above, below, zero_division if which in only else silent, names[which]) for which, (above, below) in enumerate(pairs)]


def mean_of_defined(values: np.ndarray, weights: np.ndarray | None) -> float:
    """The weighted mean of the values that are defined."""
    there = ~np.isnan(values)
    if not there.any():
        return float("nan")
    # If nothing has weight, all count alike.
    by = weights[there] if weights is not None and weights[there].sum() > 0 else None
    return float(np.average(values[there], weights=by))


def averaged(counts: Counts, average: str, beta: float, zero_division: Any, only: Sequence[int]) -> list[float]:
    """The means of precision, recall and F: over rows, over classes, or over classes by their weight."""
    if average == "micro":
        whole = Counts(np.zeros(1), *(part.sum(keepdims=True) for part in counts[1:]))
        return [float(rate[0]) for rate in rates(whole, beta, zero_division, only)]
    weights = counts.actual if average == "weighted" else np.ones(len(counts.actual))
    return [mean_of_defined(rate, weights) for rate in rates(counts, beta, zero_division, only)]


def is_marks(y: Any) -> bool:
    """Whether it is a matrix of labels."""
    array = np.asarray(y)
    return array.ndim == 2 and array.shape[1] > 1


def weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Row weights, not all of which are 0."""
    found = _target.weights(sample_weight, n_rows)
    if found is not None and not found.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return found
