"""What some linear models can tell beside their coefficients."""

from typing import Any, Self

import numpy as np

from ermine._ermine import Model
from ermine._estimator import Estimator, MarginClassifier
from ermine._reduction import only_if


class Penalised(Estimator):
    """A linear model with an L1 penalty, solved to a duality gap."""

    coef_: np.ndarray

    @property
    def dual_gap_(self) -> float:
        """How far the objective can be above its minimum at most."""
        certificate = self.certificate_
        bound = next(proof["lower_bound"] for proof in certificate.proofs if "lower_bound" in proof)
        return max(float(certificate.value or 0.0) - float(bound), 0.0)

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix of scipy."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        self._fitted()
        return csr_matrix(np.atleast_2d(self.coef_))


class InterceptInArray(Estimator):
    """A linear model of one target whose intercept is an array, as its twin's in scikit-learn."""

    intercept_: np.ndarray

    def _adopt(self, model: Model, n_features: int, names: list[str] | None) -> None:
        super()._adopt(model, n_features, names)
        self.intercept_ = np.atleast_1d(self.intercept_)


class OddsIfLogistic(MarginClassifier):
    """A linear model of classes that gives probabilities if its loss is the logistic one."""

    loss: str | None

    @only_if(lambda self: self.loss == "log_loss", "only loss='log_loss' makes probabilities")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row, in the order of ``classes_``. Of more than two classes the odds of each against the rest, made to sum to 1. Only for the logistic loss."""
        scores = self.decision_function(X)
        odds = 1 / (1 + np.exp(-scores))
        if odds.ndim == 1:
            return np.stack([1 - odds, odds], axis=1)
        total = odds.sum(axis=1, keepdims=True)
        return np.where(total > 0, odds / np.where(total > 0, total, 1), 1 / odds.shape[1])

    @only_if(lambda self: self.loss == "log_loss", "only loss='log_loss' makes probabilities")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class Direct(Estimator):
    """A linear model that is solved at once."""

    @property
    def n_iter_(self) -> int:
        """How many iterations it took: one."""
        return 1 if self._fitted() else 0


class Robust(Estimator):
    """A linear model that tells which rows are outliers."""

    outliers_: np.ndarray
    scale_: float
    epsilon: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        super().fit(X, y, sample_weight)  # type: ignore[misc]
        distance = np.abs(np.asarray(y, dtype=np.float64).ravel() - self.predict(X))  # type: ignore[attr-defined]
        self.outliers_ = distance > self.scale_ * self.epsilon
        return self
