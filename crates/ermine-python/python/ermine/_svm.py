"""What kernel machines share beyond other estimators: support vectors, kernels that are functions, and a machine without a target."""

import json
import os
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from ermine import _target
from ermine._data import is_sparse
from ermine._estimator import Estimator, MarginClassifier, Regressor
from ermine._ermine import Model, Table
from ermine._ermine import is_psd as _is_psd
from ermine._ermine import string_kernel as _string_kernel
from ermine._base import MixinPlaceholder
from ermine._sklearn import warn

#: A user's own kernel: the values of each row of the first table with each row of the second.
OwnKernel = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _items(X: Any) -> np.ndarray:
    """What a kernel that is a function is called with: rows of numbers, or items of any type (texts, say), one after the other or in columns."""
    items = np.asarray(X)
    if items.dtype.kind in "biuf":
        if items.ndim != 2:
            raise ValueError(f"Expected 2D array, got {items.ndim}D array instead: a kernel that is a function takes rows of numbers")
        return np.ascontiguousarray(items, dtype=np.float64)
    if items.ndim not in (1, 2):
        raise ValueError(f"Expected a list of items or a 2D array, got {items.ndim}D array instead")
    return items


def _values(kernel: OwnKernel, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The values of a function for each row with each of the others, checked."""
    values = np.asarray(kernel(rows, others), dtype=np.float64)
    if values.shape != (len(rows), len(others)):
        raise ValueError(f"the kernel gave an array of shape {values.shape}, expected {(len(rows), len(others))}: its values of each row with each other")
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"the kernel gave {values[i, j]} for rows {i} and {j}")
    return values


def is_psd(kernel: Any, X: Any = None) -> tuple[bool, float]:
    """Whether a kernel matrix is positive semidefinite (Mercer's condition).

    Parameters
    ----------
    kernel : callable or array-like of shape (n_samples, n_samples)
        A function of two tables that gives the values of each row of the one with each row of the other, or the matrix of such values.
    X : array-like of shape (n_samples, n_features), default=None
        The rows to evaluate a kernel function on.

    Returns
    -------
    (bool, float)
        Whether they are, up to rounding; and the least eigenvalue: the offending one where they aren't.

    Examples
    --------
    >>> from ermine.svm import is_psd
    >>> is_psd([[1.0, 0.5], [0.5, 1.0]])
    (True, 0.5)
    >>> is_psd(lambda a, b: -(a @ b.T), [[1.0], [2.0]])
    (False, -5.0)
    """
    if callable(kernel):
        if X is None:
            raise ValueError("a kernel function needs rows: pass them as X")
        rows = _items(X)
        values = _values(kernel, rows, rows)
    else:
        values = np.asarray(kernel, dtype=np.float64)
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise ValueError(f"kernel must be a function or a square matrix of values, got an array of shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("kernel contains NaN or infinity.")
    return _is_psd(np.ascontiguousarray(values).reshape(-1), len(values))


class StringKernel:
    """A normalized string kernel: the similarity of two strings by their common substrings or subsequences, 1 for equal strings. For ``SVC(kernel=StringKernel()).fit(texts, y)``.

    Parameters
    ----------
    kind : {'subsequence', 'spectrum'}, default="subsequence"
        What a piece is: characters in order, which may have gaps between them, or characters side by side.
    length : int, default=2
        How many characters.
    decay : float, default=0.5
        What each character from the first to the last of a subsequence is multiplied by: gaps count less the nearer it is to 0.

    Examples
    --------
    >>> from ermine.svm import SVC, StringKernel
    >>> texts = ["banana", "bananas", "ananas", "kiwi", "kiwis", "wiki"]
    >>> model = SVC(kernel=StringKernel(), C=10.0).fit(texts, ["long"] * 3 + ["short"] * 3)
    >>> model.predict(["panama", "kiwiki"]).tolist()
    ['long', 'short']
    """

    def __init__(self, *, kind: Literal["subsequence", "spectrum"] = "subsequence", length: int = 2, decay: float = 0.5) -> None:
        if kind not in ("subsequence", "spectrum"):
            raise ValueError(f"kind={kind!r} is not a kind of string kernel: expected 'subsequence' or 'spectrum'")
        if length < 1 or not 0 < decay <= 1:
            raise ValueError(f"length={length!r}, decay={decay!r}: expected a length from 1 and a decay above 0, at most 1")
        self.kind, self.length, self.decay = kind, length, decay

    def __call__(self, these: Any, those: Any) -> np.ndarray:
        """The values of each text of the one list with each text of the other."""
        texts = [[str(text) for text in np.ravel(np.asarray(side, dtype=object))] for side in (these, those)]
        return _string_kernel(texts[0], texts[1], self.kind, self.length, self.decay)

    def __repr__(self) -> str:
        return f"StringKernel(kind={self.kind!r}, length={self.length}, decay={self.decay})"


class KernelMachine(Estimator):
    """A sum of kernels over support vectors. A kernel that is a function is called with two tables, as scikit-learn does it."""

    support_: np.ndarray
    n_support_: np.ndarray
    case_: np.ndarray
    intercept_: np.ndarray

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        # -1 means no limit in scikit-learn.
        params |= {"max_iter": None} if params.get("max_iter") == -1 else {}
        return params | {"kernel": "precomputed"} if callable(params.get("kernel")) else params

    def _read(self, X: Any) -> Any:
        kernel = getattr(self, "kernel", None)
        if not callable(kernel):
            return super()._read(X)
        rows = _items(X)
        fitted = self.__dict__.get("_rows") if "_model" in self.__dict__ else None
        if fitted is None:
            self._rows = fitted = rows
        elif rows.shape[1:] != fitted.shape[1:]:
            raise ValueError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {fitted.shape[1]} features as input.")
        return super()._read(_values(kernel, rows, fitted))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.__dict__.pop("_model", None)
        self.__dict__.pop("_rows", None)
        super().fit(X, y, sample_weight)  # type: ignore[misc]
        self._show_sparse(X)
        return self

    def _show_sparse(self, X: Any) -> None:
        """Shows support vectors and coefficients as sparse matrices if the rows were sparse, as in scikit-learn. Predictions don't depend on it."""
        if is_sparse(X):
            from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

            for name in ("support_vectors_", "dual_coef_", "coef_"):
                if name in self.__dict__:
                    setattr(self, name, csr_matrix(getattr(self, name)))

    def _adopt(self, model: Model, n_features: int, names: list[str] | None) -> None:
        super()._adopt(model, n_features, names)
        self.support_ = self.support_.astype(np.int32)
        self.n_support_ = self.n_support_.astype(np.int32)
        if "case_" in self.__dict__:
            self.case_ = self.case_.astype(np.int32)
        if callable(getattr(self, "kernel", None)) or getattr(self, "kernel", None) == "precomputed":
            for note in json.loads(model.header())["certificate"].get("notes", []):
                if "Mercer" in note:
                    warn("UserWarning", f"{type(self).__name__}: {note}")

    @property
    def fit_status_(self) -> int:
        """0 if the solver converged, else 1."""
        return int(self._fitted().stopped_at() is not None)

    @property
    def shape_fit_(self) -> tuple[int, int]:
        """The shape of the training data."""
        return int(json.loads(self._fitted().header())["n_rows"]), self.n_features_in_

    def _read_like_fitted(self, X: Any) -> Table:
        return self._read(X)[0] if callable(getattr(self, "kernel", None)) else super()._read_like_fitted(X)

    def _predict(self, X: Any, wanted: str) -> np.ndarray:
        if not callable(getattr(self, "kernel", None)):
            return super()._predict(X, wanted)
        return self._fitted().predict_table(self._read_like_fitted(X), wanted, self.n_jobs)

    def save(self, path: "str | os.PathLike[str]") -> None:
        if callable(getattr(self, "kernel", None)):
            raise ValueError(
                "a kernel that is a function can't be written to a model file: pickle the estimator, or fit it on the values of the kernel with kernel='precomputed'"
            )
        super().save(path)

    save.__doc__ = Estimator.save.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        return tags


class KernelClassifier(KernelMachine, MarginClassifier):
    """A kernel machine for classes."""

    class_weight: Any
    class_weight_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        super().fit(X, y, sample_weight)
        # What one row of each class counts.
        self.class_weight_ = _target.weight_of_classes(self.class_weight, self.classes_, y)
        self.__dict__.pop("_calibrated", None)
        if getattr(self, "probability", False):
            from ermine.calibration import CalibratedClassifierCV

            if callable(self.kernel) or self.kernel == "precomputed":  # type: ignore[attr-defined]
                raise ValueError("probability=True fits machines on some of the rows: it needs a kernel by name, not a function or its values")
            machine = type(self)(**(self.get_params(deep=False) | {"probability": False}))
            self._calibrated = CalibratedClassifierCV(machine, method="sigmoid", cv=5, random_state=0, n_jobs=self.n_jobs).fit(X, y, sample_weight)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision function of each row.

        For two classes one number for each row, positive for the second of them. For more classes a number for each class ("ovr": votes of pairs, and within
        equal votes the sums of their decision values) or for each pair of classes ("ovo", positive for the first of the pair).
        """
        scores = self._predict(X, "margins")
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """The probability of each class for each row, in the order of ``classes_``; with ``probability=True`` only."""
        if not getattr(self, "probability", False):
            raise AttributeError("predict_proba is not available when probability=False")
        return self._probabilities

    @property
    def predict_log_proba(self) -> Callable[[Any], np.ndarray]:
        """The logarithms of the probabilities; with ``probability=True`` only."""
        probabilities = self.predict_proba
        return lambda X: np.log(probabilities(X))

    def _probabilities(self, X: Any) -> np.ndarray:
        self._fitted()
        return self._calibrated.predict_proba(X)


class KernelRegressor(KernelMachine, Regressor):
    """A kernel machine for numbers."""


class OneClassSVM(MixinPlaceholder, KernelMachine):
    """Novelty detection: a boundary around the data, with at most a fraction ``nu`` of the training rows outside.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the fraction of training rows outside the boundary, and lower bound on the fraction of support vectors.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'} or callable, default="rbf"
        What stands for the dot product of rows.
    degree : int, default=3
        The power of the kernel "poly".
    gamma : float or {'scale', 'auto'}, default="scale"
        What dot products or distances are multiplied by in kernels.
    coef0 : float, default=0.0
        What is added in the kernels "poly" and "sigmoid".
    tol : float, default=0.001
        Stop when no pair of rows violates the optimality conditions by more than this.
    cache_size : float, default=200
        Megabytes for kernel rows that are kept.
    max_iter : int or None, default=-1
        Most steps over pairs of rows; -1 or None for no limit.
    shrinking : bool, default=True
        Accepted for compatibility with scikit-learn, without effect: shrinking is always used, and the solution is the same.
    standardize : bool, default=False
        Standardize columns to mean 0 and standard deviation 1 first.
    n_jobs : int, default=None
        How many threads to use. The model doesn't depend on it.
    verbose : int, default=0
        Shows a progress bar on long fits if not 0.

    Attributes
    ----------
    offset_ : float
        The offset: ``score_samples`` minus ``decision_function``.
    support_ : ndarray of shape (n_support,)
        The training rows that support the boundary.
    dual_coef_ : ndarray of shape (1, n_support)
        How much each counts.

    Examples
    --------
    >>> from ermine.svm import OneClassSVM
    >>> model = OneClassSVM(nu=0.2).fit([[0.0], [0.1], [0.2], [0.1], [0.0]])
    >>> model.predict([[0.1], [9.0]]).tolist()
    [1, -1]
    """

    _learner = "one-class-svm"
    _takes_sparse = True
    _parameters = ("nu", "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "standardize")

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Literal["linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"] | OwnKernel = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        cache_size: float = 200,
        max_iter: int | None = -1,
        shrinking: bool = True,
        standardize: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits a boundary around the rows of ``X``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features.
        y : ignored
            Ignored; for compatibility with pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.__dict__.pop("_model", None)
        self.__dict__.pop("_rows", None)
        table, names = self._read(X)
        target, _ = _target.values(np.zeros(table.n_rows), table.n_rows, False)
        self._adopt(self._learn(table, names, target, sample_weight, {}), table.n_columns, names)
        self._show_sparse(X)
        return self

    @property
    def offset_(self) -> float:
        """The offset: ``score_samples`` minus ``decision_function``."""
        return -float(np.ravel(self.intercept_)[0])

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        pass  # There is no target whose labels or shape would have to come back.

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each row: positive inside the boundary."""
        return self._predict(X, "numbers")[:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """The score without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for rows inside the boundary, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model and predicts the same rows: 1 inside the boundary, -1 outside."""
        return self.fit(X).predict(X)
