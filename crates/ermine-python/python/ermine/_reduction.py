"""Estimators over other estimators: their parts, and answers that depend on what the parts can say."""

import json
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from ermine import _catalog, _ermine
from ermine._estimator import Estimator, ProbabilisticClassifier, class_of, from_model


class OnlyIf:
    """A method that is there only under a condition: without it there is no such attribute, which is how scikit-learn finds out what an estimator can do."""

    def __init__(self, can: Callable[[Any], bool], why_not: str, method: Callable[..., Any]) -> None:
        self.can, self.why_not, self.method = can, why_not, method
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        if owner is None:
            return self.method
        if not self.can(owner):
            raise AttributeError(f"this {type(owner).__name__!r} has no {self.method.__name__!r}: {self.why_not}")
        return MethodType(self.method, owner)


def only_if(can: Callable[[Any], bool], why_not: str) -> Callable[[Callable[..., Any]], Any]:
    """Makes a method that is there only under a condition."""
    return lambda method: OnlyIf(can, why_not, method)


def gives_probabilities(estimator: Any, task: str = "classification") -> bool:
    """Whether an estimator, or the learner of this name, gives probabilities."""
    if isinstance(estimator, str):
        name = estimator.split("(")[0].strip()
        try:
            estimator = class_of(_catalog.find(None, name, task))
        except ValueError:
            return False
    return hasattr(estimator, "predict_proba")


class Parts(Estimator):
    """An estimator that is made of others."""

    @property
    def estimators_(self) -> list[Any]:
        """The fitted estimators that it is made of, each made when it is asked for."""
        parts = [from_model(model) for model in _ermine.members(self._fitted())]
        for part in parts:
            if "feature_names_in_" not in self.__dict__:
                part.__dict__.pop("feature_names_in_", None)
        return parts

    @property
    def estimator_(self) -> Any:
        """An unfitted estimator like those that it is made of."""
        return type(part := self.estimators_[0])(**part.get_params())

    def _sections(self) -> dict[str, Any]:
        """What the model file holds beside its header."""
        return json.loads(self._fitted().export("json"))["sections"]


def _can_say_probabilities(self: Any) -> bool:
    model = self.__dict__.get("_model")
    return self._would_give_probabilities() if model is None else model.gives_probabilities()


class OverClassifier(ProbabilisticClassifier):
    """A classifier that gives probabilities if what it is made of does, and else scores."""

    def _would_give_probabilities(self) -> bool:
        return gives_probabilities(self.estimator) and getattr(self, "vote", "coupling") == "coupling" and not hasattr(self, "code_size")

    @only_if(_can_say_probabilities, "what it is made of gives no probabilities")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row, in the order of ``classes_``, as an array of shape (n_samples, n_classes). Only where the parts give probabilities."""
        return self._predict(X, "numbers")

    @only_if(_can_say_probabilities, "what it is made of gives no probabilities")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @only_if(lambda self: not _can_say_probabilities(self), "it gives probabilities, see predict_proba")
    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class for each row; for two classes one score, which is positive for the second of them. Only where there are no probabilities."""
        scores = self._predict(X, "numbers")
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class CodedClassifier(Parts, OverClassifier):
    """Many classes by parts for two."""

    @property
    def multilabel_(self) -> bool:
        """Whether rows have sets of labels: they have one class each."""
        return not self._fitted()

    @property
    def pairwise_indices_(self) -> None:
        """Of which rows each part saw the kernel values: kernels that are given are not cut."""
        self._fitted()

    def decision_function(self, X: Any) -> np.ndarray:
        """How sure the estimator is of each class for each row, in the order of ``classes_``; for two classes one number, which is positive for the second of them."""
        scores = self._predict(X, "margins")
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
