"""Who is near: what estimators of nearest neighbours can tell beside their predictions, and an index without a target."""

import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from ermine import _target
from ermine._data import check_shape, is_sparse
from ermine._estimator import labels_of
from ermine._plain import Bare
from ermine._ermine import NeighborIndex
from ermine._sklearn import not_fitted

#: Where each row's neighbours begin, their rows, their distances.
Found = tuple[np.ndarray, np.ndarray, np.ndarray]


#: Parameters about voting among classes, which don't apply to several classes per row.
VOTES = ("tie", "tie_metric", "keep")

#: Names that others give to metrics.
ALIASES = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}


def _ranked(found: Found, k: int, return_distance: bool) -> Any:
    """The k neighbours of each row, as matrices."""
    starts, rows, distances = found
    shape = (len(starts) - 1, k)
    return (distances.reshape(shape), rows.reshape(shape)) if return_distance else rows.reshape(shape)


def _ragged(found: Found, return_distance: bool) -> Any:
    """Neighbours of any number for each row, as an array of arrays."""
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


def _metric_params(given: Any) -> dict[str, Any]:
    """What a metric needs, as scikit-learn says it, in the words of the learner."""
    params = dict(given or {})
    said: dict[str, Any] = {"p": float(params.pop("p"))} if "p" in params else {}
    if "VI" in params:
        said["covariance"] = np.linalg.inv(np.asarray(params.pop("VI"), dtype=np.float64))
    if params:
        raise ValueError(f"metric_params may hold 'p' and 'VI', not {sorted(params)}")
    return said


class Neighbors:
    """What estimators of nearest neighbours share."""

    n_samples_fit_: int
    n_neighbors_: int
    kept_rows_: np.ndarray

    def fit(self, X: Any, y: Any) -> Self:
        """Keeps rows with known answers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features. Categories, truth values and missing values may be left as they are.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for numbers
            The answers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return super().fit(X, y)  # type: ignore[misc]

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training rows of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_queries, n_features), default=None
            The rows. None for the training rows, none of which is then its own neighbour.
        n_neighbors : int, default=None
            How many; as many as predictions use if None.
        return_distance : bool, default=True
            Whether distances are given too.

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
            The rows. None for the training rows, none of which is then its own neighbour.
        radius : float, default=None
            The largest distance; the estimator's own if None.
        return_distance : bool, default=True
            Whether distances are given too.
        sort_results : bool, default=True
            Taken as scikit-learn takes it, and without effect: neighbours are always sorted.

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
        """The nearest training rows of each row as a sparse matrix of scipy of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        distances, rows = self.kneighbors(X, k)
        starts = np.arange(0, rows.size + 1, k)
        return _graph(starts, rows.ravel(), distances.ravel(), mode, self.n_samples_fit_)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: Literal["connectivity", "distance"] = "connectivity", sort_results: bool = True
    ) -> Any:
        """All training rows within a distance of each row as a sparse matrix of scipy of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        return _ragged_graph(self.radius_neighbors(X, radius), mode, self.n_samples_fit_)

    @property
    def effective_metric_(self) -> Any:
        """The metric, by the name of the one that it is: minkowski with p = 2 is euclidean."""
        self._fitted()  # type: ignore[attr-defined]
        params = self._learner_params()
        metric, p = self.metric if callable(self.metric) else params["metric"], params.get("p")  # type: ignore[attr-defined]
        return {1.0: "manhattan", 2.0: "euclidean"}.get(float(p or 2), metric) if metric == "minkowski" else metric

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The power of a minkowski metric that has no other name."""
        return {"p": self.p} if self.effective_metric_ == "minkowski" else {}  # type: ignore[attr-defined]

    def add(self, X: Any, y: Any) -> Self:
        """Adds rows with known answers, without building the index anew. How rows are encoded and how many neighbours count stays as it was fitted;
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
        table, names = self._read(X)  # type: ignore[attr-defined]
        self._check_features(table.n_columns, names)  # type: ignore[attr-defined]
        return table

    def _own(self) -> dict[str, Any]:
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
        return {name: value for name, value in params.items() if name not in self._own()}


class NeighborClasses(Neighbors):
    """What classifiers by nearest neighbours share: several classes for each row at once.

    The marks of all classes of all targets (1 for a row's class, else 0) are numbers, and the weighted mean of the neighbours' marks are the shares of their votes.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keeps rows with known classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features. Categories, truth values and missing values may be left as they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The class, or classes, of each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.__dict__.pop("_n_classes", None)
        several = None if y is None else _target.several(y)
        if several is None:
            return super().fit(X, y)
        table, names = self._read(X)  # type: ignore[attr-defined]
        _target.check_rows(table.n_rows, len(several))
        classes, marks = zip(*(_marks(column) for column in several.T))
        target, _ = _target.values(np.hstack(marks), table.n_rows, True)
        note = {"several": [[_target.label_text(label) for label in found.tolist()] for found in classes], "labels": classes[0].dtype.str}
        self._classes_of(list(classes))
        model = self._learn(table, names, target, None, note)  # type: ignore[attr-defined]
        self._adopt(model, table.n_columns, names)
        return self

    @property
    def outputs_2d_(self) -> bool:
        """Whether each row has several classes."""
        self._fitted()  # type: ignore[attr-defined]
        return "_n_classes" in self.__dict__

    @property
    def n_outputs_(self) -> int:
        """How many classes each row has."""
        self._fitted()  # type: ignore[attr-defined]
        return len(self.__dict__.get("_n_classes", [1]))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of ``X``, as an array of shape (n_samples,); or its classes, of shape (n_samples, n_outputs)."""
        if not self.outputs_2d_:
            return super().predict(X)  # type: ignore[misc]
        said = [classes.take(shares.argmax(axis=1)) for classes, shares in zip(self.classes_, self.predict_proba(X))]
        return np.column_stack(said)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for each row, in the order of ``classes_``, as an array of shape (n_samples, n_classes); a list of such arrays where each row has
        several classes."""
        if not self.outputs_2d_:
            return super().predict_proba(X)  # type: ignore[misc]
        return np.split(self._predict(X, "numbers"), np.cumsum(self._n_classes)[:-1], axis=1)  # type: ignore[attr-defined]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right; where each row has several, all of them."""
        if not self.outputs_2d_:
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        right = (self.predict(X) == np.asarray(y)).all(axis=1)
        return float(np.average(right, weights=_target.weights(sample_weight, len(right))))

    def _more(self, y: Any, n_rows: int) -> Any:
        if not self.outputs_2d_:
            return super()._more(y, n_rows)
        several = _target.several(y)
        if several is None or several.shape[1] != len(self.classes_):
            raise ValueError(f"y: expected {len(self.classes_)} classes for each row, as in fit")
        _target.check_rows(n_rows, len(several))
        marks = [_known_marks(column, classes) for column, classes in zip(several.T, self.classes_)]
        return _target.values(np.hstack(marks), n_rows, True)[0]

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        if self.__dict__.get("_n_classes"):
            usual = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
            for name in (name for name in VOTES if name in params):
                if params.pop(name) != usual[name]:
                    raise ValueError(f"{name} is for one class of each row, not for several")
        return params

    def _classes_of(self, classes: list[np.ndarray]) -> None:
        self.classes_: Any = classes
        self._n_classes = [len(found) for found in classes]

    def _restore(self, model: Any, header: dict[str, Any], note: dict[str, Any]) -> None:
        if "several" in note:
            self._classes_of([labels_of(texts, note["labels"]) for texts in note["several"]])
        else:
            super()._restore(model, header, note)  # type: ignore[misc]


def _marks(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels of a column, and a column of 0 and 1 for each."""
    classes, codes = _target.coded(np.ascontiguousarray(column))
    return classes, (codes[:, None] == np.arange(len(classes))[None, :]).astype(np.float64)


def _known_marks(column: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """A column of 0 and 1 for each of the known labels."""
    found, codes = _target.coded(np.ascontiguousarray(column))
    known = {label: place for place, label in enumerate(classes.tolist())}
    strange = [label for label in found.tolist() if label not in known]
    if strange:
        raise ValueError(f"y holds the labels {strange}, which are not among the classes {classes.tolist()}")
    places = np.array([known[label] for label in found.tolist()])[codes]
    return (places[:, None] == np.arange(len(classes))[None, :]).astype(np.float64)


class NearestNeighbors(Bare):
    """Finds the nearest of given rows, without a target. Exact, unless algorithm is 'hnsw'. Rows may be a sparse matrix of scipy, which is searched by brute force without making it dense.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours to find, where ``kneighbors`` isn't told.
    radius : float, default=1.0
        How far to look, where ``radius_neighbors`` isn't told.
    metric : str or callable, default='euclidean'
        How far apart two rows are: 'euclidean' (or 'l2'), 'manhattan' (or 'l1'), 'chebyshev', 'minkowski', 'cosine', 'mahalanobis' or 'hamming' (the share
        of columns that differ) for rows of numbers; 'bits' (the number of bits that differ) for rows of bytes (uint8); 'edit' or 'hamming_text' for
        a list of strings; or a function of two rows of numbers, which must be symmetric and not negative. A function with an attribute
        ``triangle_inequality`` that is true is taken to obey that inequality, and is searched with a tree.
    p : float, default=2
        The power of the minkowski metric, from 1 up; infinity is chebyshev.
    covariance : array-like of shape (n_features, n_features), default=None
        The covariance of the mahalanobis metric; estimated from the rows if None.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute', 'hnsw'}, default='auto'
        The kind of index. All but 'hnsw', which is approximate, give the same neighbours.
    search_width : int, default=100
        How many places a search with 'hnsw' keeps to go on from: more find more neighbours, later.
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
        How many rows there are.
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

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        metric: str | Callable[[np.ndarray, np.ndarray], float] = "euclidean",
        p: float = 2.0,
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
        self.covariance = covariance
        self.algorithm = algorithm
        self.search_width = search_width
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Indexes rows. ``y`` is not looked at."""
        k = _check_k(self.n_neighbors, sys.maxsize, False)
        width = self.search_width
        if not isinstance(width, (int, np.integer)) or isinstance(width, bool) or not 1 <= width <= 1_000_000:
            raise ValueError(f"search_width = {width!r}: expected a whole number from 1 to 1000000")
        if not (callable(self.metric) or isinstance(self.metric, str)):
            raise TypeError(f"metric: expected a name or a function, not {self.metric!r}")
        metric = self.metric if callable(self.metric) else ALIASES.get(self.metric, self.metric)
        covariance = None if self.covariance is None else np.asarray(self.covariance, dtype=np.float64).ravel().tolist()
        options: dict[str, Any] = {"p": float(self.p), "covariance": covariance, "algorithm": self.algorithm, "search_width": int(width), "n_neighbors": k}
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
        """The nearest rows of each row as a sparse matrix of scipy of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        distances, rows = self.kneighbors(X, n_neighbors)
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return _graph(starts, rows.ravel(), distances.ravel(), mode, self.n_samples_fit_)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: Literal["connectivity", "distance"] = "connectivity", sort_results: bool = True
    ) -> Any:
        """All rows within a distance of each row as a sparse matrix of scipy of shape (n_queries, n_samples_fit): 1 for each, or its distance."""
        return _ragged_graph(self.radius_neighbors(X, radius), mode, self.n_samples_fit_)

    def add(self, X: Any) -> Self:
        """Adds rows, without building the index anew."""
        self._fitted().add(self._rows(X))
        return self

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the index with its rows to a file, which ``ermine.load`` reads. A metric that is a function can't be written."""
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
    def index_(self) -> tuple[str, str, float | None]:
        """The kind of index, why it was chosen, and for 'hnsw' its recall."""
        return self._fitted().choice()

    @property
    def n_samples_fit_(self) -> int:
        """How many rows there are."""
        return len(self._fitted())

    @property
    def nbytes_(self) -> int:
        """How many bytes the index holds, the rows included."""
        return self._fitted().bytes()

    def __sklearn_is_fitted__(self) -> bool:
        return "_index" in self.__dict__

    def _fitted(self) -> NeighborIndex:
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
