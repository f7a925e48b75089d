"""Estimators over other estimators: their parts, and answers that depend on what the parts can say."""

import json
from typing import Any

import numpy as np

from ermine import _catalog, _ermine, _target
from ermine._conditional import available_if
from ermine._estimator import Estimator, ProbabilisticClassifier, Regressor, class_of, from_model
from ermine._fallback import AnyEstimatorInParts


def gives_probabilities(estimator: Any, task: str = "classification") -> bool:
    """Whether an estimator, or the learner of this name, gives probabilities."""
    if isinstance(estimator, str):
        name = estimator.split("(")[0].strip()
        try:
            estimator = class_of(_catalog.find(None, name, task))
        except ValueError:
            return False
    return hasattr(estimator, "predict_proba")


class MetaEstimator(Estimator):
    """An estimator that is made of others."""

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members, made on first access."""
        self._fitted()
        return self._cached("members", self._made_members)

    def _made_members(self) -> list[Any]:
        members = [from_model(model) for model in _ermine.members(self._fitted())]
        for member in members:
            if "feature_names_in_" not in self.__dict__:
                member.__dict__.pop("feature_names_in_", None)
        return members

    @property
    def estimator_(self) -> Any:
        """An unfitted estimator like those that it is made of."""
        return type(part := self.estimators_[0])(**part.get_params())

    def _sections(self) -> dict[str, Any]:
        """What the model file holds beside its header."""
        return json.loads(self._fitted().export("json"))["sections"]


def _has_probabilities(self: Any) -> bool:
    model = self.__dict__.get("_model")
    return self._would_give_probabilities() if model is None else model.gives_probabilities()


class MetaClassifier(ProbabilisticClassifier):
    """A classifier that gives probabilities if what it is made of does, and else scores."""

    def _would_give_probabilities(self) -> bool:
        return gives_probabilities(self._estimator_below()) and getattr(self, "vote", "coupling") == "coupling" and not hasattr(self, "code_size")

    @available_if(_has_probabilities, "the base estimator does not predict probabilities")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row, in the order of ``classes_``, as an array of shape (n_samples, n_classes). Only if the base estimator predicts probabilities."""
        return self._predict(X, "numbers")

    @available_if(_has_probabilities, "the base estimator does not predict probabilities")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the predicted probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(lambda self: not _has_probabilities(self), "it gives probabilities, see predict_proba")
    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class for each row; for two classes one score, which is positive for the second of them. Only if the base estimator does not predict probabilities."""
        scores = self._predict(X, "numbers")
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class MulticlassReduction(AnyEstimatorInParts, MetaEstimator, MetaClassifier):
    """Many classes by estimators for two."""

    def _sklearn_target(self, y: Any) -> bool:
        """Rows with several labels, by one against the rest; and one class only."""
        several = _target.several(y)
        return self._learner == "one-vs-rest" if several is not None else len(set(_target.labels_like(y).tolist())) < 2

    def _sklearn_options(self) -> bool:
        """Regressors, whose sign decides between two classes."""
        return isinstance(self.estimator, Regressor)

    @property
    def multilabel_(self) -> bool:
        """Whether rows have sets of labels: they have one class each."""
        return not self._fitted()

    @property
    def pairwise_indices_(self) -> None:
        """Of which rows each part saw the kernel values: kernels that are given are not cut."""
        self._fitted()

    @property
    def label_binarizer_(self) -> Any:
        """scikit-learn's encoder of the classes, as its one-against-rest classifier has it."""
        self._fitted()
        if self._learner != "one-vs-rest":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'label_binarizer_'")
        from sklearn.preprocessing import LabelBinarizer  # type: ignore[import-untyped]

        return LabelBinarizer(sparse_output=True).fit(self.classes_)

    def _votes(self, X: Any) -> np.ndarray:
        """The votes of all pairs of classes, and their confidences squeezed to less than half a vote, as in scikit-learn."""
        n = len(self.classes_)
        votes, confidence = np.zeros((2, len(self._predict(X, "classes")), n))
        pairs = ((first, second) for first in range(n) for second in range(first + 1, n))
        for (first, second), member in zip(pairs, self.estimators_, strict=True):
            score = member.decision_function(X) if hasattr(member, "decision_function") else member.predict_proba(X)[:, 1]
            wins = member.predict(X) == member.classes_[1]
            votes[:, first] += ~wins
            votes[:, second] += wins
            confidence[:, first] -= score
            confidence[:, second] += score
        return votes + confidence / (3 * (np.abs(confidence) + 1))

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class for each row, in the order of ``classes_``; for two classes one score, which is positive for the second of them."""
        if self._learner == "one-vs-one" and len(self.classes_) > 2 and self.vote == "majority":  # type: ignore[attr-defined]
            return self._votes(X)
        scores = self._predict(X, "margins")
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
