"""Estimators of labels, of which a row has none, one or several: y is a matrix of 0 and 1 with a column for each label, as in scikit-learn."""

from typing import Any, Self

import numpy as np

from ermine import _target
from ermine._base import MixinPlaceholder
from ermine._conditional import available_if
from ermine._ermine import Model, Target
from ermine._estimator import Estimator, join_as
from ermine._fallback import AnyEstimator, AnyEstimatorInParts
from ermine._reduction import MetaEstimator, gives_probabilities


class LabelClassifier(MixinPlaceholder, Estimator):
    """An estimator for labels."""

    #: The two values of each label.
    classes_: list[np.ndarray]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the classifier to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like, data frame or sparse matrix of shape (n_samples, n_labels)
            1 (or True) for each label that a row has, else 0; or any two values, of which the greater one means that a row has it.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._require_y(y)
        table, names = self._read(X)
        target, labels, values = _target.labels(y, table.n_rows)
        model = self._learn(table, names, target, sample_weight, {"values": [of_label.tolist() for of_label in values]})
        self._name_labels(labels, values)
        self._adopt(model, table.n_columns, names)
        return self

    def _truth(self, y: Any, n_rows: int) -> Target:
        return _target.labels(y, n_rows, self.classes_)[0]

    def _name_labels(self, labels: list[str], values: list[np.ndarray]) -> None:
        self.label_names_ = np.array(labels, dtype=object)
        self.classes_ = values

    def predict(self, X: Any) -> np.ndarray:
        """1 for each label that a row is predicted to have, else 0 (or the other two values that it has), as an array of shape (n_samples, n_labels)."""
        marks = self._predict(X, "classes")
        if all(len(values) == 2 and values[0] == 0 and values[1] == 1 for values in self.classes_):
            return marks
        return np.stack([values[np.minimum(marks[:, k], len(values) - 1)] for k, values in enumerate(self.classes_)], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The subset accuracy: the fraction of rows whose labels are all correct."""
        predicted = self.predict(X)
        true = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        _target.check_rows(len(predicted), len(true))
        return float(np.average((predicted == true).all(axis=1), weights=_target.weights(sample_weight, len(true))))

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        names = header["schema"]["classes"]
        self._name_labels(names, [np.array(values) for values in note.get("values", [[0, 1]] * len(names))])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        return tags


join_as(LabelClassifier, "ClassifierMixin")


def _has_probabilities(self: Any) -> bool:
    model = self.__dict__.get("_model")
    if model is not None:
        return model.gives_probabilities()
    return gives_probabilities(self._estimator_below()) and getattr(self, "decode", "marginal") == "marginal"


class ProbabilisticLabelClassifier(LabelClassifier):
    """An estimator for labels that tells how probable each is, or how sure it is of it."""

    @available_if(_has_probabilities, "the base estimator does not predict probabilities, see decision_function")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label for each row, as an array of shape (n_samples, n_labels). Only if the base estimator predicts probabilities."""
        return self._predict(X, "numbers")

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision function of each label for each row, positive if the label is predicted: log odds if the base estimator predicts probabilities."""
        numbers = self._predict(X, "numbers")
        if not self._fitted().gives_probabilities():
            return numbers
        with np.errstate(divide="ignore"):
            return np.log(numbers) - np.log1p(-numbers)


def _has_several_classes(y: Any) -> bool:
    """Whether a column of the target has more than two classes, which the core doesn't learn."""
    columns = _target.several(y)
    return columns is not None and columns.dtype.kind in "biuUSO" and any(len(set(column.tolist())) > 2 for column in columns.T)


class ChainClassifier(AnyEstimator, MetaEstimator, ProbabilisticLabelClassifier):
    """Labels one after the other."""

    chain_method: Any
    cv: Any

    def _sklearn_options(self) -> bool:
        return self.chain_method != "predict" or self.cv is not None

    def _sklearn_target(self, y: Any) -> bool:
        return _has_several_classes(y)

    def _delegate_params(self, params: dict[str, Any]) -> dict[str, Any]:
        params = super()._delegate_params(params)
        return params | {"order": None if isinstance(params["order"], str) and params["order"] == "given" else params["order"]}

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        return params | ({"order": "given"} if params["order"] is None else {})

    @property
    def order_(self) -> np.ndarray:
        """The indices of the labels in the order of the (first) chain."""
        return np.array(self._sections()["plan"]["orders"][0])

    @available_if(_has_probabilities, "the base estimator does not predict probabilities")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the predicted probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class BinaryRelevance(AnyEstimatorInParts, MetaEstimator, ProbabilisticLabelClassifier):
    """An estimator for labels, each by itself."""

    def _sklearn_target(self, y: Any) -> bool:
        return _has_several_classes(y)

    @available_if(_has_probabilities, "the base estimator does not predict probabilities, see decision_function")
    def predict_proba(self, X: Any) -> list[np.ndarray]:
        """For each label the probabilities of 0 and 1 for each row: a list of arrays of shape (n_samples, 2), as in scikit-learn."""
        return [np.stack([1 - p, p], axis=1) for p in self._predict(X, "numbers").T]
