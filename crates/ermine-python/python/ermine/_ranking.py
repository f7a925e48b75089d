"""Estimators of an order of the rows within each query."""

from typing import Any, Self

import numpy as np

from ermine import _target
from ermine._ermine import Model, Target, order
from ermine._estimator import Estimator
from ermine._report import Report


def relevance(y: Any, n_rows: int) -> Target:
    """How relevant each row is."""
    values = np.require(_target.labels_like(y), np.float64, ["C", "A"])
    _target.check_rows(n_rows, len(values))
    if not np.isfinite(values).all():
        raise ValueError("Input y contains NaN or infinity.")
    return Target.relevance(values, "relevance")


def queries(group: Any, qid: Any, n_rows: int) -> np.ndarray:
    """The query of each row, from sizes or numbers."""
    if (group is None) == (qid is None):
        raise ValueError("ranking needs the queries of the rows: one of group (their sizes) and qid (their numbers)")
    if group is not None:
        sizes = np.asarray(group)
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any() or sizes.sum() != n_rows:
            raise ValueError(f"group must be whole numbers that sum to {n_rows}")
        return np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    numbers = np.asarray(qid)
    if numbers.shape != (n_rows,):
        raise ValueError(f"qid.shape == {numbers.shape}, expected {(n_rows,)}")
    if any(number is None or number != number for number in numbers.tolist()):
        raise ValueError("Input qid contains NaN: which query does such a row belong to?")
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.uint32)


def one_or_more(group: Any, qid: Any, n_rows: int) -> np.ndarray | None:
    """The query of each row; ``None`` where all rows are one query."""
    return None if group is None and qid is None else queries(group, qid, n_rows)


def mean_ndcg(scores: np.ndarray, y: Any, of_rows: np.ndarray) -> float:
    """The mean NDCG of the first 10 rows over the queries with relevant rows; grades below 0 count as 0."""
    grades = np.require(np.asarray(y), np.float64, ["C", "A"])
    _target.check_rows(len(scores), len(grades))
    of_query = (np.flatnonzero(of_rows == query) for query in np.unique(of_rows))
    found = [order(scores[rows], grades[rows], 10, True)[0] for rows in of_query if (grades[rows] > 0).any()]
    return float(np.mean(found)) if found else 1.0


class Ranker(Estimator):
    """An estimator for an order of the rows within each query."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None, qid: Any = None) -> Self:
        """Fits the ranker to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,)
            The grade of each row: the higher, the earlier it belongs.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; a pair of rows counts as the product.
        group : array-like of shape (n_queries,), default=None
            How many rows each query has; rows stand query by query.
        qid : array-like of shape (n_samples,), default=None
            The query of each row: whole numbers, in any order. Without ``group`` and ``qid`` all rows are one query.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._require_y(y)
        table, names = self._read(X)
        target = relevance(y, table.n_rows)
        if table.n_rows < 2:
            raise ValueError(f"{type(self).__name__} puts rows in order: 1 sample is too few.")
        of_rows = one_or_more(group, qid, table.n_rows)
        self._prepare(table.n_rows, of_rows)
        model = self._learn(table, names, target, sample_weight, {}, of_rows)
        self._adopt(model, table.n_columns, names)
        return self

    def _prepare(self, n_rows: int, of_rows: np.ndarray | None) -> None:
        """What depends on the queries."""

    def _truth(self, y: Any, n_rows: int) -> Target:
        return relevance(y, n_rows)

    def report(  # type: ignore[override]
        self, X: Any, y: Any, *, group: Any = None, qid: Any = None, sample_weight: Any = None, random_state: int = 0,
    ) -> Report:
        """Evaluates the fitted model on a test set, as other estimators do; ``group`` or ``qid`` give the query of each row."""
        return self._report(X, y, sample_weight, one_or_more(group, qid, len(np.asarray(y))), random_state)

    def predict(self, X: Any, *, group: Any = None, qid: Any = None) -> np.ndarray:
        """A score for each row; within a query, the higher the earlier. Where rows are compared with those of their query, ``group`` or ``qid`` give them;
        without them all rows are one query."""
        model = self._fitted()
        table = self._read_like_fitted(X)
        return model.predict_table(table, "numbers", self.n_jobs, one_or_more(group, qid, table.n_rows))[:, 0]

    def score(self, X: Any, y: Any, *, group: Any = None, qid: Any = None) -> float:
        """The mean NDCG of the first 10 rows over the queries with relevant rows."""
        scores = self.predict(X, group=group, qid=qid)
        of_rows = one_or_more(group, qid, len(scores))
        return mean_ndcg(scores, y, np.zeros(len(scores), np.uint32) if of_rows is None else of_rows)

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        pass


class CostRanker(Ranker):
    """A ranker whose costs may be a function of two places, or a matrix."""

    #: No table of costs has more places; those behind count as its last one.
    _MOST = 256

    def _prepare(self, n_rows: int, of_rows: np.ndarray | None) -> None:
        longest = n_rows if of_rows is None else int(np.bincount(of_rows).max(initial=0))
        self._n_places = min(max(longest, 2), self._MOST)

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        omega = params["omega"]
        if callable(omega):
            places = range(1, self._n_places + 1)
            omega = [float(omega(i, j)) for i in places for j in places]
        elif not isinstance(omega, str):
            costs = np.asarray(omega, dtype=np.float64)
            if costs.ndim == 2 and costs.shape[0] != costs.shape[1]:
                raise ValueError(f"omega must be a square matrix of costs, got one of shape {costs.shape}")
            omega = costs.reshape(-1).tolist()
        return {**params, "omega": omega}
