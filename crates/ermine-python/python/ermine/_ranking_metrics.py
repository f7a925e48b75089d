"""Scores of orders of rows within queries, and intervals of any score."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from ermine import _ermine, _ranking, _target

# Orders


def _by_query(y_true: Any, y_score: Any, group: Any, qid: Any, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Grades and scores of each query: the rows of matrices, or the rows that belong to it."""
    grades, scores = np.asarray(y_true, dtype=np.float64), np.asarray(y_score, dtype=np.float64)
    if grades.shape != scores.shape:
        raise ValueError(f"y_true has shape {grades.shape} and y_score has shape {scores.shape}")
    if not grades.size:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if (grades < 0).any():
        raise ValueError(f"{name} should not be used on negative y_true values.")
    if np.isnan(grades).any() or np.isnan(scores).any():
        raise ValueError("Input contains NaN.")
    if np.isinf(grades).any():
        raise ValueError("Input y_true contains infinity.")
    if grades.ndim == 2:
        return list(zip(grades, scores))
    of_rows = _ranking.queries(group, qid, len(grades)) if group is not None or qid is not None else np.zeros(len(grades), np.uint32)
    return [(grades[of_rows == query], scores[of_rows == query]) for query in np.unique(of_rows)]


def _mean(each: list[float], sample_weight: Any) -> float:
    from ermine._class_metrics import weights

    return float(np.average(each, weights=weights(sample_weight, len(each))))


def ndcg_score(
    y_true: Any, y_score: Any, *, k: int | None = None, sample_weight: Any = None, group: Any = None, qid: Any = None, gain: Literal["linear", "exponential"] = "linear",
) -> float:
    """The mean normalized discounted cumulative gain over queries: 1 is the best order.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_queries, n_rows), or (n_samples,) with ``group`` or ``qid``
        How relevant rows are, and their scores. Rows with equal scores share the gains of their places.
    k : int, default=None
        Only the first ``k`` places count; all if None.
    sample_weight : array-like of shape (n_queries,), default=None
        Weight of each query.
    group : array-like of shape (n_queries,), default=None
        How many rows each query has.
    qid : array-like of shape (n_samples,), default=None
        The query of each row.
    gain : {"linear", "exponential"}, default="linear"
        What a grade is worth: itself, or 2 to its power less 1.
    """
    if k is not None and not (isinstance(k, (int, np.integer)) and k >= 1):
        raise ValueError(f"The 'k' parameter of ndcg_score must be an int in the range [1, inf) or None. Got {k!r} instead.")
    if gain not in ("linear", "exponential"):
        raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}")
    most = np.iinfo(np.int64).max if k is None else int(k)
    queries = _by_query(y_true, y_score, group, qid, "ndcg_score")
    each = [_ermine.order(np.ascontiguousarray(s), np.ascontiguousarray(g), most, gain == "exponential")[0] for g, s in queries]
    return _mean(each, sample_weight)


def mean_average_precision(y_true: Any, y_score: Any, *, sample_weight: Any = None, group: Any = None, qid: Any = None) -> float:
    """The mean over queries of the precision at the relevant rows (MAP); a row of a grade above 0 is relevant, and a query without any scores 0. Arguments as of ``ndcg_score``.

    >>> mean_average_precision([[1, 0, 1]], [[3.0, 2.0, 1.0]])
    0.8333333333333333
    """
    queries = _by_query(y_true, y_score, group, qid, "mean_average_precision")
    return _mean([_ermine.order(np.ascontiguousarray(s), np.ascontiguousarray(g), 1, False)[1] for g, s in queries], sample_weight)


def mean_reciprocal_rank(y_true: Any, y_score: Any, *, sample_weight: Any = None, group: Any = None, qid: Any = None) -> float:
    """The mean over queries of 1 / rank of the first relevant row (MRR), averaged over all orders of rows with equal scores; 0 for a query without relevant rows. Arguments as of ``ndcg_score``.

    >>> mean_reciprocal_rank([[0, 1], [1, 0]], [[2.0, 1.0], [2.0, 1.0]])
    0.75
    """
    queries = _by_query(y_true, y_score, group, qid, "mean_reciprocal_rank")
    return _mean([_ermine.order(np.ascontiguousarray(s), np.ascontiguousarray(g), 1, False)[2] for g, s in queries], sample_weight)


def omega_loss(y_true: Any, y_score: Any, *, omega: str = "all-pairs", sample_weight: Any = None, group: Any = None, qid: Any = None) -> float:
    """The mean over queries of the mean cost of pairs in the wrong order, ties counting half. Other arguments as of ``ndcg_score``.

    ``omega`` is what it costs to confuse two places: "all-pairs" (1 for every pair), "top-10" (or another number: 1 where one of both belongs among the first ten) or "dcg"
    (the difference of the discounts of both places).

    >>> omega_loss([[2, 1, 0]], [[1.0, 3.0, 2.0]])
    0.6666666666666666
    """
    queries = _by_query(y_true, y_score, group, qid, "omega_loss")
    return _mean([_ermine.omega_loss(np.ascontiguousarray(s), np.ascontiguousarray(g), omega) for g, s in queries], sample_weight)


def kendall_tau(x: Any, y: Any) -> float:
    """Kendall's tau-b of two orders: 1 for the same, -1 for the opposite."""
    a, b = (np.require(_target.labels_like(values), np.float64, ["C", "A"]) for values in (x, y))
    _target.check_rows(len(a), len(b))
    if np.isnan(a).any() or np.isnan(b).any():
        raise ValueError("Input contains NaN.")
    return _ermine.order(a, b, 1, False)[3]


# Intervals


class Interval(NamedTuple):
    """A score and the interval that so many of all repetitions would contain."""

    value: float
    low: float
    high: float


def confidence_interval(
    metric: Callable[..., Any], y_true: Any, y_score: Any, *, level: float = 0.95, n_resamples: int = 1000, random_state: int = 0, sample_weight: Any = None,
    group: Any = None, qid: Any = None, **options: Any,
) -> Interval:
    """A confidence interval of a score: the middle of its values on rows (or, of rankings, queries) drawn again with replacement (the bootstrap of Efron, 1979).

    Parameters
    ----------
    metric : callable
        A score of this module, or any function of truth and prediction that gives a number.
    y_true, y_score : array-like
        What the metric takes.
    level : float, default=0.95
        How much of the values the interval holds.
    n_resamples : int, default=1000
        How often rows are drawn. Draws that have no score (of one class, say) are left out.
    random_state : int, default=0
        The seed of the draws.
    sample_weight : array-like, default=None
        How much each row counts, handed on to the metric.
    group, qid : array-like, default=None
        The queries of the rows, for the scores of orders: queries are drawn.
    **options
        Handed on to the metric.

    >>> from ermine.metrics import accuracy_score
    >>> value, low, high = confidence_interval(accuracy_score, [0, 1] * 50, [0, 1] * 40 + [1, 0] * 10)
    >>> value, 0.7 < low < 0.8, 0.8 < high < 0.9
    (0.8, True, True)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if not (isinstance(n_resamples, (int, np.integer)) and n_resamples >= 1):
        raise ValueError(f"n_resamples must be a whole number from 1 up, got {n_resamples!r}")
    true, scores = np.asarray(y_true), np.asarray(y_score)
    _target.check_rows(len(true), len(scores))
    weights = None if sample_weight is None else np.asarray(sample_weight)
    of_rows = None if group is None and qid is None else _ranking.queries(group, qid, len(true))
    units = [np.array([row]) for row in range(len(true))] if of_rows is None else [np.flatnonzero(of_rows == query) for query in np.unique(of_rows)]

    def score(drawn: np.ndarray) -> float:
        rows = drawn if of_rows is None else np.concatenate([units[unit] for unit in drawn])
        more = dict(options)
        if of_rows is not None:
            more["group"] = [len(units[unit]) for unit in drawn]
        if weights is not None:
            # Of orders it is queries that have weights.
            more["sample_weight"] = weights[drawn]
        return float(metric(true[rows], scores[rows], **more))

    value = score(np.arange(len(units)))
    random = np.random.default_rng(random_state)
    found = []
    for _ in range(n_resamples):
        try:
            found.append(score(random.integers(0, len(units), len(units))))
        except ValueError:  # what was drawn has no score
            continue
    defined = [x for x in found if np.isfinite(x)]
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]) if defined else (np.nan, np.nan)
    return Interval(value, float(min(low, value)), float(max(high, value)))
