"""What some linear models can tell beside their coefficients."""

import json
from typing import Any, Self

import numpy as np

from ermine._conditional import available_if
from ermine._ermine import Model
from ermine._estimator import Estimator, MarginClassifier
from ermine._fallback import SklearnOptions
from ermine._regularization_path import enet_path, lasso_path


class CoefficientNames(Estimator):
    """A linear model whose coefficients have names."""

    @property
    def coef_names_(self) -> np.ndarray:
        """The name of each coefficient, in the order of the last axis of ``coef_``: a feature; "x1 is missing" for its indicator; "color=red" for a category; products of features."""
        names = json.loads(self._fitted().export("json"))["sections"].get("names")
        if names is None:
            raise AttributeError(f"the coefficients of this {type(self).__name__!r} have no names")
        return np.array(names, dtype=object)


class Coefficients(Estimator):
    """A linear model whose coefficients can be shown sparse or dense; predictions don't depend on it."""

    coef_: Any

    def densify(self) -> Self:
        """Shows ``coef_`` as an array."""
        self._fitted()
        self.coef_ = self.coef_.toarray() if hasattr(self.coef_, "toarray") else self.coef_
        return self

    def sparsify(self) -> Self:
        """Shows ``coef_`` as a SciPy sparse matrix."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        self._fitted()
        self.coef_ = csr_matrix(self.coef_)
        return self

    def _learner_params(self) -> dict[str, Any]:
        if hasattr(self, "multi_class"):
            self._refuse("multi_class", ("ovr",), "one class against the rest is what there is")
        return super()._learner_params()


class LogisticPenalty(Coefficients):
    """A linear model whose penalty may also be given as in earlier versions of scikit-learn."""

    penalty: str | None
    l1_ratio: float | None
    C: float
    n_iter_: np.ndarray

    def _adopt(self, model: Model, n_features: int, names: list[str] | None) -> None:
        super()._adopt(model, n_features, names)
        self.n_iter_ = np.atleast_1d(self.n_iter_).astype(np.int32)

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        named = {"l1": 1.0, "l2": 0.0, "elasticnet": self.l1_ratio, "deprecated": self.l1_ratio, None: 0.0}
        if self.penalty not in named:
            raise ValueError(f"The 'penalty' parameter of {type(self).__name__} must be 'l1', 'l2', 'elasticnet' or None. Got {self.penalty!r} instead.")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        ratio = named[self.penalty]
        return params | {"l1_ratio": 0.0 if ratio is None else ratio} | ({"C": np.inf} if self.penalty is None else {})


class PerceptronMethods(Coefficients):
    """A perceptron."""

    def _learner_params(self) -> dict[str, Any]:
        self._refuse("penalty", (None,), "a perceptron has none; SGDClassifier has")
        self._refuse("early_stopping", (False,), "SGDClassifier can keep rows aside")
        self._refuse("warm_start", (False,), "partial_fit of SGDClassifier continues")
        return super()._learner_params()

    @property
    def t_(self) -> int:
        """Number of rows seen during training, plus one."""
        return steps(self)


def steps(estimator: Any) -> int:
    """How many rows the passes of an estimator have looked at, and one, as scikit-learn counts."""
    return int(estimator.n_iter_ * json.loads(estimator._fitted().header())["n_rows"] + 1)


class PositiveCoefficients(SklearnOptions):
    """A linear model whose coefficients may be kept from being negative, which scikit-learn's class of the same name does."""

    positive: bool

    def _needs_sklearn(self) -> bool:
        return bool(self.__dict__.get("positive"))

    def _learner_params(self) -> dict[str, Any]:
        self._refuse("positive", (False, True), "a bool")
        return super()._learner_params()


class CoordinateDescentMethods(PositiveCoefficients):
    """A linear model with an L1 penalty, solved to a duality gap."""

    coef_: np.ndarray
    path = staticmethod(enet_path)

    @property
    def dual_gap_(self) -> float:
        """The duality gap: an upper bound on the distance of the objective from its minimum."""
        certificate = self.certificate_
        bound = next(proof["lower_bound"] for proof in certificate.proofs if "lower_bound" in proof)
        return max(float(certificate.value or 0.0) - float(bound), 0.0)

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a SciPy sparse matrix."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        self._fitted()
        return csr_matrix(np.atleast_2d(self.coef_))


class InterceptInArray(Coefficients):
    """A linear model of one target whose intercept is an array, as its twin's in scikit-learn."""

    intercept_: np.ndarray

    def _adopt(self, model: Model, n_features: int, names: list[str] | None) -> None:
        super()._adopt(model, n_features, names)
        self.intercept_ = np.atleast_1d(self.intercept_)


class SGDMethods(SklearnOptions):
    """A linear model that is learned row by row."""

    penalty: str | None
    l1_ratio: float | None
    warm_start: bool

    def _needs_sklearn(self) -> bool:
        return bool(self.__dict__.get("warm_start"))

    def _make_delegate(self) -> Any:
        # A warm start continues with the same object.
        before = self.__dict__.get("_delegate")
        made = super()._make_delegate()
        return before.set_params(**made.get_params(deep=False)) if before is not None and self._needs_sklearn() else made

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> Self:
        """Fits the model to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.
        coef_init : array-like of shape (n_features,) or (n_classes, n_features), default=None
            Coefficients to start from. scikit-learn's class of the same name fits such models.
        intercept_init : array-like of shape (1,) or (n_classes,), default=None
            Intercepts to start from, likewise.

        Returns
        -------
        self
            The fitted estimator.
        """
        if coef_init is None and intercept_init is None:
            return super().fit(X, y, sample_weight)
        return self._fit_delegate(X, y, sample_weight, coef_init=coef_init, intercept_init=intercept_init)

    def _learner_params(self) -> dict[str, Any]:
        if self.l1_ratio is not None:
            return super()._learner_params()
        if self.penalty == "elasticnet":
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")
        params = super()._learner_params()
        return {name: value for name, value in params.items() if name != "l1_ratio"}

    def partial_fit(self, X: Any, y: Any, *args: Any, **kwargs: Any) -> Self:
        if getattr(self, "early_stopping", False):
            raise ValueError("early_stopping should be False with partial_fit")
        if isinstance(getattr(self, "class_weight", None), str):
            raise ValueError(
                f"class_weight={self.class_weight!r} is not supported for partial_fit, which doesn't know all rows: give the weight of each class, or sample_weight"  # type: ignore[attr-defined]
            )
        return super().partial_fit(X, y, *args, **kwargs)  # type: ignore[misc]


class SGDClassifierMethods(Coefficients, MarginClassifier):
    """A linear model of classes that gives probabilities if its loss is the logistic one."""

    loss: str | None

    @available_if(lambda self: self.loss == "log_loss", "only loss='log_loss' makes probabilities")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row, in the order of ``classes_``. Of more than two classes the odds of each against the rest, made to sum to 1. Only for the logistic loss."""
        scores = self.decision_function(X)
        odds = 1 / (1 + np.exp(-scores))
        if odds.ndim == 1:
            return np.stack([1 - odds, odds], axis=1)
        total = odds.sum(axis=1, keepdims=True)
        return np.where(total > 0, odds / np.where(total > 0, total, 1), 1 / odds.shape[1])

    @available_if(lambda self: self.loss == "log_loss", "only loss='log_loss' makes probabilities")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the predicted probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class ClosedFormMethods(PositiveCoefficients):
    """A linear model that is solved at once. A penalty for each target is scikit-learn's."""

    alpha: Any
    solver: str

    def _needs_sklearn(self) -> bool:
        return super()._needs_sklearn() or np.ndim(self.__dict__.get("alpha", 0.0)) > 0

    @property
    def solver_(self) -> str:
        """The solver: the `solver` parameter, although all of them give the same solution here; "cholesky" for "auto"."""
        self._fitted()
        return "cholesky" if self.solver == "auto" else self.solver

    @property
    def n_iter_(self) -> int:
        """Number of iterations: 1."""
        return 1 if self._fitted() else 0


class HuberMethods(Estimator):
    """A linear model that tells which rows are outliers."""

    outliers_: np.ndarray
    scale_: float
    epsilon: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        super().fit(X, y, sample_weight)  # type: ignore[misc]
        predicted = self.predict(X)  # type: ignore[attr-defined]
        distance = np.abs(np.asarray(y, dtype=np.float64).reshape(predicted.shape) - predicted)
        self.outliers_ = distance > self.scale_ * self.epsilon
        return self
