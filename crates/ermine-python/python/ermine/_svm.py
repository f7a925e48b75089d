"""What kernel machines share beyond other estimators: support vectors, kernels that are functions, and a machine without a target."""

import json
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from ermine import _target
from ermine._estimator import Estimator, MarginClassifier, Regressor
from ermine._ermine import Model
from ermine._plain import PlainMixin

#: A user's own kernel: the values of each row of the first table with each row of the second.
OwnKernel = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Machine(Estimator):
    """A sum of kernels over support vectors. A kernel that is a function is called with two tables, as scikit-learn does it."""

    support_: np.ndarray
    n_support_: np.ndarray
    case_: np.ndarray
    intercept_: np.ndarray

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        # -1 is how scikit-learn says that there is no limit.
        params |= {"max_iter": None} if params.get("max_iter") == -1 else {}
        return params | {"kernel": "precomputed"} if callable(params.get("kernel")) else params

    def _read(self, X: Any) -> Any:
        kernel = getattr(self, "kernel", None)
        if not callable(kernel):
            return super()._read(X)
        rows = np.ascontiguousarray(X, dtype=np.float64)
        if rows.ndim != 2:
            raise ValueError(f"Expected 2D array, got {rows.ndim}D array instead: a kernel that is a function takes rows of numbers")
        fitted = self.__dict__.get("_rows") if "_model" in self.__dict__ else None
        if fitted is None:
            self._rows = fitted = rows
        elif rows.shape[1] != fitted.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {fitted.shape[1]} features as input.")
        return super()._read(np.asarray(kernel(rows, fitted), dtype=np.float64))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.__dict__.pop("_model", None)
        self.__dict__.pop("_rows", None)
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    def _adopt(self, model: Model, n_features: int, names: list[str] | None) -> None:
        super()._adopt(model, n_features, names)
        self.support_ = self.support_.astype(np.int32)
        self.n_support_ = self.n_support_.astype(np.int32)
        if "case_" in self.__dict__:
            self.case_ = self.case_.astype(np.int32)

    @property
    def fit_status_(self) -> int:
        """0 where the tolerance was reached, else 1."""
        return int(self._fitted().stopped_at() is not None)

    @property
    def shape_fit_(self) -> tuple[int, int]:
        """How many rows and columns there were."""
        return int(json.loads(self._fitted().header())["n_rows"]), self.n_features_in_

    def _predict(self, X: Any, wanted: str) -> np.ndarray:
        if not callable(getattr(self, "kernel", None)):
            return super()._predict(X, wanted)
        model = self._fitted()
        table, _ = self._read(X)
        return model.predict_table(table, wanted, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        return tags


class KernelClassifier(Machine, MarginClassifier):
    """A kernel machine for classes."""

    class_weight: Any
    class_weight_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        super().fit(X, y, sample_weight)
        # What one row of each class counts.
        self.class_weight_ = _target.weight_of_classes(self.class_weight, self.classes_, y)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each row is from the boundary.

        For two classes one number for each row, positive for the second of them. For more classes a number for each class ("ovr": votes of pairs, and within
        equal votes the sums of their decision values) or for each pair of classes ("ovo", positive for the first of the pair).
        """
        scores = self._predict(X, "margins")
        return scores[:, 0] if scores.shape[1] == 1 else scores


class KernelRegressor(Machine, Regressor):
    """A kernel machine for numbers."""


class OneClassSVM(PlainMixin, Machine):
    """What belongs to the data: a boundary around it, with at most a share ``nu`` of the training rows outside.

    Parameters
    ----------
    nu : float, default=0.5
        The share of training rows that may be outside.
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
    cache_size : float, default=500.0
        Megabytes for kernel rows that are kept.
    max_iter : int or None, default=None
        Most steps over pairs of rows.
    standardize : bool, default=False
        Bring columns to mean 0 and deviation 1 first.
    n_jobs : int, default=None
        How many threads to use. The model doesn't depend on it.
    verbose : int, default=0
        Shows a progress bar on long fits if not 0.

    Attributes
    ----------
    offset_ : float
        What ``score_samples`` is above ``decision_function``.
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
    _parameters = ("nu", "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "standardize")

    offset_: float

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Literal["linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"] | OwnKernel = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        cache_size: float = 500.0,
        max_iter: int | None = None,
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
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns where the rows of ``X`` are; ``y`` is not looked at."""
        self.__dict__.pop("_model", None)
        self.__dict__.pop("_rows", None)
        table, names = self._read(X)
        target, _ = _target.values(np.zeros(table.n_rows), table.n_rows, False)
        self._adopt(self._learn(table, names, target, sample_weight, {}), table.n_columns, names)
        self.offset_ = -float(np.ravel(self.intercept_)[0])
        return self

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
        """Learns, and says of the same rows whether they are inside (1) or outside (-1)."""
        return self.fit(X).predict(X)
