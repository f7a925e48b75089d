"""Estimators of labels, of which a row has none, one or several: y is a matrix of 0 and 1 with a column for each label, as in scikit-learn."""

from typing import Any, Self

import numpy as np

from ermine import _target
from ermine._ermine import Model
from ermine._estimator import Estimator


class LabelClassifier(Estimator):
    """An estimator for labels."""

    #: The two values of each label.
    classes_: list[np.ndarray]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows with known labels.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categories, truth values and missing values may be left as they are.
        y : array-like, data frame or sparse matrix of shape (n_samples, n_labels)
            1 (or True) for each label that a row has, else 0.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._require_y(y)
        table, names = self._read(X)
        target, labels = _target.labels(y, table.n_rows)
        model = self._learn(table, names, target, sample_weight, {})
        self._name_labels(labels)
        self._adopt(model, table.n_columns, names)
        return self

    def _name_labels(self, labels: list[str]) -> None:
        self.label_names_ = np.array(labels, dtype=object)
        self.classes_ = [np.array([0, 1]) for _ in labels]

    def predict(self, X: Any) -> np.ndarray:
        """1 for each label that a row is predicted to have, else 0, as an array of shape (n_samples, n_labels)."""
        return self._predict(X, "classes")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all predicted right."""
        predicted = self.predict(X)
        true = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        _target.check_rows(len(predicted), len(true))
        return float(np.average((predicted == true).all(axis=1), weights=_target.weights(sample_weight, len(true))))

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        self._name_labels(header["schema"]["classes"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class ProbabilisticLabelClassifier(LabelClassifier):
    """An estimator for labels that tells how probable each is, or how sure it is of it."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label for each row, as an array of shape (n_samples, n_labels); an error where the learner gives none."""
        model = self._fitted()
        if not model.gives_probabilities():
            raise AttributeError(f"this {type(self).__name__} gives scores, not probabilities: see decision_function")
        return self._predict(X, "numbers")

    def decision_function(self, X: Any) -> np.ndarray:
        """How sure the estimator is of each label for each row, above 0 (of probabilities: above 1/2) where it predicts it."""
        return self._predict(X, "numbers")


class LabelByLabelClassifier(ProbabilisticLabelClassifier):
    """An estimator for labels, each by itself."""

    def predict_proba(self, X: Any) -> list[np.ndarray]:  # type: ignore[override]
        """For each label the probabilities of 0 and 1 for each row: a list of arrays of shape (n_samples, 2), as in scikit-learn."""
        of_labels = super().predict_proba(X)
        return [np.stack([1 - p, p], axis=1) for p in of_labels.T]
