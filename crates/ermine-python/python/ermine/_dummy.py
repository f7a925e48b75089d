"""What baselines take and tell."""

# Types by name only: numpy's masked arrays and random numbers are loaded when they are needed.
from __future__ import annotations

from typing import Any

import numpy as np

from ermine import _target
from ermine._ermine import Model
from ermine._estimator import ProbabilisticClassifier, Regressor


def _random(state: Any) -> np.random.RandomState:
    """numpy's generator of ``random_state``, as scikit-learn takes it."""
    if state is None:
        return np.random.mtrand._rand
    return state if isinstance(state, np.random.RandomState) else np.random.RandomState(state)


class DummyClassifierMethods(ProbabilisticClassifier):
    """A baseline of classes. Two of its strategies draw classes for every prediction, by ``random_state``."""

    strategy: str | None
    constant: Any
    random_state: Any
    sparse_output_ = False

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        constant = params.pop("constant", None)
        if constant is None and self.strategy == "constant":
            raise ValueError("Constant target value has to be specified when the constant strategy is used.")
        # A label in an array is one of Python's after tolist.
        labels = [] if constant is None else np.atleast_1d(np.asarray(constant)).ravel().tolist()
        return params | {"constant": [_target.label_text(label) for label in labels]}

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        super()._restore(model, header, note)
        named = dict(zip(header["schema"]["classes"], self.classes_.tolist()))
        self.constant = next((named[text] for text in self.constant or () if text in named), None)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        counts = (_target.labels_like(y)[:, None] == self.classes_[None, :]).astype(float)
        self._shares = np.average(counts, axis=0, weights=_target.weights(sample_weight, len(counts)))
        return self

    @property
    def class_prior_(self) -> np.ndarray:
        """The frequency of each class in the training set. Restored from a model file if its strategy predicts them."""
        self._fitted()
        shares = self.__dict__.get("_shares")
        if shares is None and self.strategy not in (None, "prior", "stratified"):
            raise AttributeError(f"a model file of strategy={self.strategy!r} doesn't tell the shares of the classes")
        return self._predict(np.full((1, self.n_features_in_), np.nan), "numbers")[0] if shares is None else shares

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row: the same for all, or, where the strategy is ``"stratified"``, 1 for a class that is drawn."""
        probabilities = super().predict_proba(X)
        if self.strategy != "stratified":
            return probabilities
        return _random(self.random_state).multinomial(1, probabilities[0], size=len(probabilities)).astype(np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: the same for all, or one that is drawn."""
        if self.strategy == "stratified":
            return self.classes_.take(self.predict_proba(X).argmax(axis=1))
        if self.strategy == "uniform":
            return self.classes_.take(_random(self.random_state).randint(len(self.classes_), size=len(super().predict_proba(X))))
        return super().predict(X)


class DummyRegressorMethods(Regressor):
    """A baseline of numbers."""

    strategy: str
    constant: Any

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        constant = params.pop("constant", None)
        if constant is None and self.strategy == "constant":
            raise TypeError("Constant target value has to be specified when the constant strategy is used.")
        numbers = [] if constant is None else np.atleast_1d(np.asarray(constant, dtype=np.float64)).ravel().tolist()
        return params | {"constant": [repr(number) for number in numbers]}

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        super()._restore(model, header, note)
        numbers = [float(text) for text in self.constant or ()]
        self.constant = numbers if len(numbers) > 1 else numbers[0] if numbers else None

    @property
    def constant_(self) -> np.ndarray:
        """What is predicted for every row, as an array of shape (1, n_outputs)."""
        return self._predict(np.full((1, self.n_features_in_), np.nan), "numbers") if self._fitted() else np.empty(0)
