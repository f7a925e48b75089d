"""Who is near: what estimators of nearest neighbors can tell beside their predictions, and an index without a target."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np

from ermine import _target
from ermine._data import check_shape, is_sparse
from ermine._several_targets import SeveralTargets, one_hot_of_known
from ermine._base import EstimatorBase
from ermine._ermine import NeighborIndex
from ermine._fallback import SklearnFallback
from ermine._sklearn import not_fitted

#: Where each row's neighbors begin, their rows, their distances.
Found = tuple[np.ndarray, np.ndarray, np.ndarray]


#: Names that others give to metrics.
ALIASES = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}


#: Metrics that scikit-learn has and the core hasn't.
SKLEARN_METRICS = frozenset({
    "precomputed", "haversine", "jaccard", "nan_euclidean", "canberra", "braycurtis", "correlation", "seuclidean", "sqeuclidean", "dice", "matching", "rogerstanimoto",
    "russellrao", "sokalmichener", "sokalsneath", "yule", "infinity", "p", "pyfunc",
})


def _ranked(found: Found, k: int, return_distance: bool) -> Any:
    """The k neighbors of each row, as matrices."""
    starts, rows, distances = found
    shape = (len(starts) - 1, k)
    return (distances.reshape(shape), rows.reshape(shape)) if return_distance else rows.reshape(shape)


def _ragged(found: Found, return_distance: bool) -> Any:
    """Neighbors of any number for each row, as an array of arrays."""
    starts, rows, distances = found

    def cut(values: np.ndarray) -> np.ndarray:
        parts = np.empty(len(starts) - 1, dtype=object)
        for i in range(len(parts)):
            parts[i] = values[starts[i] : starts[i + 1]]
        return parts

    return (cut(distances), cut(rows)) if return_distance else cut(rows)


def _graph(starts: np.ndarray, rows: np.ndarray, distances: np.ndarray, mode: str, n_columns: int) -> Any:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    if mode not in ("connectivity", "distance"):
        raise ValueError(f"Unsupported mode, must be one of 'connectivity', or 'distance' but got {mode!r} instead")
    values = np.ones(len(rows)) if mode == "connectivity" else distances
    return csr_matrix((values, rows, starts), shape=(len(starts) - 1, n_columns))


def _parts(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Where the rows of a matrix begin, the columns of what isn't zero, its numbers, and how many columns there are."""
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    rows = csr_matrix(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    # Columns are not negative: their 32 bits mean the same without a sign.
    columns = np.require(rows.indices, np.uint32, ["C", "A"])
    return rows.indptr.astype(np.int64), columns, np.require(rows.data, np.float64, ["C", "A"]), int(rows.shape[1])


def _plain_number(value: Any) -> Any:
    """A number of numpy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} can't be written to a file")


def _ragged_graph(found: tuple[np.ndarray, np.ndarray], mode: str, n_columns: int) -> Any:
    distances, rows = found
    starts = np.cumsum([0, *map(len, rows)])
    return _graph(starts, np.concatenate([[], *rows]).astype(np.int64), np.concatenate([[], *distances]), mode, n_columns)


def _check_radius(radius: Any) -> float:
    if isinstance(radius, bool) or not isinstance(radius, (int, float, np.integer, np.floating)):
        raise TypeError(f"radius: expected a number, not {radius!r}")
    return float(radius)


def _check_k(k: Any, most: int, own: bool) -> int:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
        raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
    if k <= 0:
        raise ValueError(f"Expected n_neighbors > 0. Got {k}")
    if k > most - own:
        raise ValueError(f"Expected n_neighbors {'<' if own else '<='} n_samples_fit, but n_neighbors = {k}, n_samples_fit = {most}")
    return int(k)


def _texts(X: Any) -> list[str]:
    """A list of strings. A frame or matrix of one column is taken as that column; anything else that isn't text is refused."""
    if isinstance(X, str):
        raise TypeError("a metric of text takes a list of strings, not one string")
    values = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    texts = list(values)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"a metric of text takes a list of strings, but row {i} is {text!r}")
    return [str(text) for text in texts]


def _effective_metric(metric: Any, p: float) -> Any:
    """The metric by its own name: minkowski with p = 2 is euclidean."""
    if callable(metric):
        return metric
    return {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(p, metric) if metric == "minkowski" else ALIASES.get(metric, metric)


def _metric_params(given: Any) -> dict[str, Any]:
    """The parameters of a metric in scikit-learn's form, as the learner takes them."""
    params = dict(given or {})
    translated: dict[str, Any] = {"p": float(params.pop("p"))} if "p" in params else {}
    if "VI" in params:
        translated["covariance"] = np.linalg.inv(np.asarray(params.pop("VI"), dtype=np.float64))
    if params:
        raise ValueError(f"metric_params may hold 'p' and 'VI', not {sorted(params)}")
    return translated


class OtherMetrics(SklearnFallback):
    """Estimators of nearest neighbors whose other metrics are scikit-learn's."""

    metric: Any
    metric_params: Any
    p: Any

    def _needs_sklearn(self) -> bool:
        # Also scikit-learn's objects that measure distances.
        other = self.metric in SKLEARN_METRICS if isinstance(self.metric, str) else hasattr(self.metric, "pairwise")
        below_one = isinstance(self.metric, str) and self.metric == "minkowski" and isinstance(self.p, (int, float)) and 0 < self.p < 1
        return other or below_one or getattr(self, "outlier_label", None) is not None or bool(set(self.metric_params or {}) - {"p", "VI"})

    def _fit_by_sklearn(self, X: Any, *y: Any) -> bool:
        """Fits scikit-learn's class if only it can, and returns whether it did."""
        self.__dict__.pop("_delegate", None)
        if not (self._needs_sklearn() or self._sklearn_rows(X)):
            return False
        self._take_delegate(self._make_delegate().fit(X, *y))
        return True

    def _sklearn_rows(self, X: Any) -> bool:
        """Whether only scikit-learn's class takes such rows."""
        return False


class NeighborMethods(OtherMetrics):
    """Methods of estimators by nearest neighbors."""

    n_samples_fit_: int
    n_neighbors_: int
    kept_rows_: np.ndarray

    def fit(self, X: Any, y: Any) -> Self:
        """Stores the training rows and their targets.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for numbers
            The answers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self if self._fit_by_sklearn(X, y) else super().fit(X, y)  # type: ignore[misc]

    def _sklearn_rows(self, X: Any) -> bool:
        return is_sparse(X) and not self._reads_sparse()  # type: ignore[attr-defined]

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training rows of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_queries, n_features), default=None
            The rows. None for the training rows, none of which is then its own neighbor.
        n_neighbors : int, default=None
            Number of neighbors; None for the number that predictions use.
        return_distance : bool, default=True
            Whether to return the distances too.

        Returns
        -------
        distances, rows : ndarray of shape (n_queries, n_neighbors)
            Nearest first; of equally near rows the one with the smaller number.
        """
        model = self._fitted()  # type: ignore[attr-defined]
        k = _check_k(self.n_neighbors_ if n_neighbors is None else n_neighbors, self.n_samples_fit_, X is None)
        return _ranked(model.kneighbors(self._queries(X), k, self.n_jobs), k, return_distance)  # type: ignore[attr-defined]

    def radius_neighbors(self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = True) -> Any:
        """All training rows within a distance of each row, nearest first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_queries, n_features), default=None
            The rows. None for the training rows, none of which is then its own neighbor.
        radius : float, default=None
            The radius; None for that of the estimator.
        return_distance : bool, default=True
            Whether to return the distances too.
        sort_results : bool, default=True
            Taken as scikit-learn takes it, and without effect: neighbors are always sorted.

        Returns
        -------
        distances, rows : ndarray of shape (n_queries,) of arrays
            Nearest first.
        """
        model = self._fitted()  # type: ignore[attr-defined]
        radius = getattr(self, "radius", None) if radius is None else radius
        if radius is None:
            raise ValueError("radius_neighbors needs a radius")
        return _ragged(model.radius_neighbors(self._queries(X), _check_radius(radius), self.n_jobs), return_distance)  # type: ignore[attr-defined]

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: Literal["connectivity", "distance"] = "connectivity") -> Any:
        """The nearest training rows of each row as a SciPy sparse matrix of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        distances, rows = self.kneighbors(X, k)
        starts = np.arange(0, rows.size + 1, k)
        return _graph(starts, rows.ravel(), distances.ravel(), mode, self.n_samples_fit_)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: Literal["connectivity", "distance"] = "connectivity", sort_results: bool = True
    ) -> Any:
        """All training rows within a distance of each row as a SciPy sparse matrix of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        return _ragged_graph(self.radius_neighbors(X, radius), mode, self.n_samples_fit_)

    @property
    def effective_metric_(self) -> Any:
        """The metric, by the name of the one that it is: minkowski with p = 2 is euclidean."""
        self._fitted()  # type: ignore[attr-defined]
        return _effective_metric(self.metric, float(_metric_params(getattr(self, "metric_params", None)).get("p", self.p)))  # type: ignore[attr-defined]

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The power of a minkowski metric that has no other name."""
        return {"p": self.p} if self.effective_metric_ == "minkowski" else {}  # type: ignore[attr-defined]

    def add(self, X: Any, y: Any) -> Self:
        """Adds rows with known answers, without rebuilding the index. How rows are encoded and how many neighbors count stays as it was fitted;
        classes must be among those fitted on. What was measured before (``recall_``) is dropped."""
        model = self._fitted()  # type: ignore[attr-defined]
        table = self._queries(X)
        target = self._more(y, table.n_rows)
        shown = list(model.attributes())
        model.add(table, target)
        for name in shown:
            self.__dict__.pop(f"{name}_", None)
        names = self.__dict__.get("feature_names_in_")
        self._adopt(model, self.n_features_in_, None if names is None else list(names))  # type: ignore[attr-defined]
        return self

    def _more(self, y: Any, n_rows: int) -> Any:
        """The target of more rows."""
        if hasattr(self, "classes_"):
            return _target.classes(y, n_rows)[0]
        return _target.values(y, n_rows, self._multi_output)[0]  # type: ignore[attr-defined]

    def _adopt(self, model: Any, n_features: int, names: list[str] | None) -> None:
        super()._adopt(model, n_features, names)  # type: ignore[misc]
        if "kept_rows_" in self.__dict__:
            self.kept_rows_ = self.kept_rows_.astype(np.int64)

    def _queries(self, X: Any) -> Any:
        if X is None:
            return None
        table = self._read_like_fitted(X)  # type: ignore[attr-defined]
        return table

    def _function_params(self) -> dict[str, Any]:
        return {name: value for name in ("metric", "weights") if callable(value := self.__dict__.get(name))}

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()  # type: ignore[misc]
        params |= _metric_params(getattr(self, "metric_params", None))
        if params.get("covariance") is not None:
            params["covariance"] = np.asarray(params["covariance"], dtype=np.float64).ravel().tolist()
        if "weights" in params and params["weights"] is None:
            params["weights"] = "uniform"
        for name in ("metric", "tie_metric"):
            if isinstance(params.get(name), str):
                params[name] = ALIASES.get(params[name], params[name])
        if params.get("p") == np.inf and params.get("metric") == "minkowski":
            params |= {"p": 2.0, "metric": "chebyshev"}
        return {name: value for name, value in params.items() if name not in self._function_params()}


class NeighborClassifierMethods(NeighborMethods, SeveralTargets):  # type: ignore[misc]
    """Methods of classifiers by nearest neighbors: one class for each row, or several."""

    #: Parameters about voting among the classes of one target.
    _one_target_only = ("tie", "tie_metric", "keep")

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Stores the training rows and their classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The class, or classes, of each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self if self._fit_by_sklearn(X, y) else SeveralTargets.fit(self, X, y)

    @property
    def outputs_2d_(self) -> bool:
        """Whether each row has several classes."""
        self._fitted()
        return "_n_classes" in self.__dict__

    def _more(self, y: Any, n_rows: int) -> Any:
        if not self.outputs_2d_:
            return super()._more(y, n_rows)
        several = _target.several(y)
        if several is None or several.shape[1] != len(self.classes_):
            raise ValueError(f"y: expected {len(self.classes_)} classes for each row, as in fit")
        _target.check_rows(n_rows, len(several))
        marks = [one_hot_of_known(column, classes) for column, classes in zip(several.T, self.classes_)]
        return _target.values(np.hstack(marks), n_rows, True)[0]


class NearestNeighbors(OtherMetrics, EstimatorBase):
    """Finds the nearest of given rows, without a target. Exact, unless algorithm is 'hnsw'. Rows may be a SciPy sparse matrix, which is searched by brute force without making it dense.

    Parameters
    ----------
    n_neighbors : int, default=5
        Default number of neighbors for ``kneighbors``.
    radius : float, default=1.0
        Default radius for ``radius_neighbors``.
    metric : str or callable, default='minkowski'
        How far apart two rows are: 'minkowski' (euclidean for p = 2), 'euclidean' (or 'l2'), 'manhattan' (or 'l1'), 'chebyshev', 'cosine', 'mahalanobis' or 'hamming' (the share
        of columns that differ) for rows of numbers; 'bits' (the number of bits that differ) for rows of bytes (uint8); 'edit' or 'hamming_text' for
        a list of strings; or a function of two rows of numbers, which must be symmetric and not negative. A function with an attribute
        ``triangle_inequality`` that is true is taken to obey that inequality, and is searched with a tree.
    p : float, default=2
        The power of the minkowski metric, from 1 up; infinity is chebyshev.
    metric_params : dict, default=None
        Parameters of the metric: 'p' for minkowski, or 'VI' for mahalanobis, the inverse of ``covariance``.
    covariance : array-like of shape (n_features, n_features), default=None
        The covariance of the mahalanobis metric; estimated from the rows if None.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute', 'hnsw'}, default='auto'
        The kind of index. All but 'hnsw', which is approximate, give the same neighbors.
    search_width : int, default=100
        How many candidates a search with 'hnsw' keeps: more find more neighbors, but take longer.
    leaf_size : int, default=30
        Taken as scikit-learn takes it, and without effect: the index chooses its own.
    n_jobs : int, default=None
        How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one.

    Attributes
    ----------
    index_ : tuple
        The kind of index, why it was chosen, and for 'hnsw' the share of the nearest ``n_neighbors`` that it found for a sample of its rows when it was
        built (None after rows were added).
    n_samples_fit_ : int
        Number of indexed rows.
    nbytes_ : int
        How many bytes the index holds, the rows included: at most 1.3 times the rows, but for 'hnsw', whose links take some 140 bytes a row.

    Examples
    --------
    >>> from ermine.neighbors import NearestNeighbors
    >>> index = NearestNeighbors(n_neighbors=2).fit([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    >>> distances, rows = index.kneighbors([[0.0, 0.0]])
    >>> rows.tolist(), distances.tolist()
    ([[0, 2]], [[0.0, 1.0]])
    """

    #: Whether the rows are sparse.
    _sparse: bool = False
    _sklearn_module = "neighbors"

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "minkowski",
        p: float = 2.0,
        metric_params: Mapping[str, Any] | None = None,
        covariance: Any = None,
        algorithm: Literal["auto", "kd_tree", "ball_tree", "brute", "hnsw"] = "auto",
        search_width: int = 100,
        leaf_size: int = 30,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.covariance = covariance
        self.algorithm = algorithm
        self.search_width = search_width
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Builds the index.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of strings
            The rows.
        y : ignored
            Ignored; for compatibility with pipelines.

        Returns
        -------
        self
            The fitted estimator.
        """
        if self._fit_by_sklearn(X):
            return self
        k = _check_k(self.n_neighbors, sys.maxsize, False)
        width = self.search_width
        if not isinstance(width, (int, np.integer)) or isinstance(width, bool) or not 1 <= width <= 1_000_000:
            raise ValueError(f"search_width = {width!r}: expected a whole number from 1 to 1000000")
        if not (callable(self.metric) or isinstance(self.metric, str)):
            raise TypeError(f"metric: expected a name or a function, not {self.metric!r}")
        more = _metric_params(self.metric_params)
        covariance = more.get("covariance", self.covariance)
        covariance = None if covariance is None else np.asarray(covariance, dtype=np.float64).ravel().tolist()
        metric, p = self.effective_metric_, float(more.get("p", self.p))
        # Ignored by other metrics, and finite for them.
        options: dict[str, Any] = {"p": p if metric == "minkowski" else 2.0, "covariance": covariance, "algorithm": self.algorithm, "search_width": int(width), "n_neighbors": k}
        self.__dict__.pop("n_features_in_", None)
        self._sparse = is_sparse(X)
        rows = self._rows(X)
        self._index = NeighborIndex(rows, metric, **options, n_jobs=self.n_jobs)
        if isinstance(rows, np.ndarray):
            self.n_features_in_ = rows.shape[1]
        elif self._sparse:
            self.n_features_in_ = rows[3]
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Distances and numbers of the nearest rows of each row of ``X``, as arrays of shape (n_queries, n_neighbors), nearest first; of the indexed rows
        (each without itself) if ``X`` is None."""
        index = self._fitted()
        k = _check_k(self.n_neighbors if n_neighbors is None else n_neighbors, len(index), X is None)
        return _ranked(index.kneighbors(None if X is None else self._rows(X), k, self.n_jobs), k, return_distance)

    def radius_neighbors(self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = True) -> Any:
        """Distances and numbers of all rows within a distance of each row of ``X``, as arrays of arrays, nearest first; of the indexed rows (each without itself)
        if ``X`` is None. ``sort_results`` is taken as scikit-learn takes it, and without effect."""
        index, radius = self._fitted(), _check_radius(self.radius if radius is None else radius)
        return _ragged(index.radius_neighbors(None if X is None else self._rows(X), radius, self.n_jobs), return_distance)

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: Literal["connectivity", "distance"] = "connectivity") -> Any:
        """The nearest rows of each row as a SciPy sparse matrix of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        distances, rows = self.kneighbors(X, n_neighbors)
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return _graph(starts, rows.ravel(), distances.ravel(), mode, self.n_samples_fit_)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: Literal["connectivity", "distance"] = "connectivity", sort_results: bool = True
    ) -> Any:
        """All rows within a distance of each row as a SciPy sparse matrix of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        return _ragged_graph(self.radius_neighbors(X, radius), mode, self.n_samples_fit_)

    def add(self, X: Any) -> Self:
        """Adds rows, without rebuilding the index."""
        self._fitted().add(self._rows(X))
        return self

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the index with its rows to a file, which ``ermine.load`` reads. A custom metric function can't be saved."""
        index = self._fitted()
        params = {name: value for name, value in self.get_params().items() if name != "covariance"}
        note = {"params": params, "columns": self.__dict__.get("n_features_in_"), "sparse": self._sparse}
        note["covariance"] = None if self.covariance is None else np.asarray(self.covariance, dtype=np.float64).tolist()
        index.save(os.fspath(path), "" if callable(self.metric) else json.dumps(note, default=_plain_number))

    @classmethod
    def _from_file(cls, path: str) -> Self:
        index, text = NeighborIndex.load(path)
        note = json.loads(text)
        self = cls(**note["params"], covariance=note["covariance"])
        self._index, self._sparse = index, note["sparse"]
        if note["columns"] is not None:
            self.n_features_in_ = note["columns"]
        return self

    @property
    def effective_metric_(self) -> Any:
        """The metric by its own name: minkowski with p = 2 is euclidean."""
        return _effective_metric(self.metric, float(_metric_params(self.metric_params).get("p", self.p)))

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The power of a minkowski metric that has no name of its own."""
        return {"p": self.p} if self.effective_metric_ == "minkowski" else {}

    @property
    def index_(self) -> tuple[str, str, float | None]:
        """The kind of index, why it was chosen, and for 'hnsw' its recall."""
        return self._fitted().choice()

    @property
    def n_samples_fit_(self) -> int:
        """Number of indexed rows."""
        return len(self._fitted())

    @property
    def nbytes_(self) -> int:
        """Size of the index in bytes, including the rows."""
        return self._fitted().bytes()

    def __sklearn_is_fitted__(self) -> bool:
        return "_index" in self.__dict__ or "_delegate" in self.__dict__

    def _fitted(self) -> NeighborIndex:
        if "_delegate" in self.__dict__:
            return super()._fitted()
        index = self.__dict__.get("_index")
        if index is None:
            raise not_fitted(self)
        return index

    def _rows(self, X: Any) -> Any:
        """Rows as the index takes them."""
        if self.metric in ("edit", "hamming_text"):
            return _texts(X)
        if is_sparse(X) and (not self._sparse or self.metric == "bits"):
            raise TypeError(
                f"Sparse data was passed for X, but dense data is required by {type(self).__name__} here. Use '.toarray()' to convert to a dense numpy array."
            )
        array = X if is_sparse(X) else np.asarray(X)
        check_shape(array.shape, type(self).__name__)
        if self.__dict__.get("n_features_in_", array.shape[1]) != array.shape[1]:
            raise ValueError(f"X has {array.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
        if array.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {type(self).__name__} takes real numbers, not {array.dtype}")
        if self._sparse:
            return _parts(array)
        if self.metric == "bits":
            if array.dtype != np.uint8:
                raise TypeError(f"metric='bits' takes rows of uint8 (see numpy.packbits), not of {array.dtype}")
            return np.require(array, requirements=["C", "A"])
        return np.require(array, np.float32 if array.dtype == np.float32 else np.float64, ["C", "A"])
