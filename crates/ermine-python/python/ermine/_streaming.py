"""Estimators with ``partial_fit``."""

from typing import Any, Self

import numpy as np

from ermine import _target
from ermine._ermine import partial_fit, threads
from ermine._estimator import Classifier, Estimator
from ermine._linear import steps


class PartialFitMethods(Estimator):
    """Estimators that continue training on rows that arrive in batches."""

    classes_: np.ndarray

    def _learner_params(self) -> dict[str, Any]:
        self._refuse("warm_start", (False,), "partial_fit continues")
        return super()._learner_params()

    @property
    def t_(self) -> int:
        """Number of rows seen during training, plus one."""
        return steps(self)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continues training on a batch of rows, with one pass over it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The answers.
        classes : array-like of shape (n_classes,), default=None
            For classifiers: all classes that will ever come. Needed in the first call, unless ``y`` holds all of them.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            The estimator, which has learned more.
        """
        self._require_y(y)
        before = self.__dict__.get("_model")
        if before is None:
            table, names = self._read(X)
        else:
            table = self._read_like_fitted(X)
            names = list(self.feature_names_in_) if "feature_names_in_" in self.__dict__ else None
        if isinstance(self, Classifier):
            if before is not None and classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
                raise ValueError(f"classes={list(classes)} are not those of the first call to partial_fit, {self.classes_.tolist()}")
            known = self.classes_ if before is not None else classes
            target, labels = _target.classes_among(y, known, table.n_rows)
            note: dict[str, Any] = {"labels": labels.dtype.str}
        else:
            target, n_dimensions = _target.values(y, table.n_rows, self._multi_output)  # type: ignore[attr-defined]
            note = {"y_dimensions": n_dimensions}
        params = self._learner_params()
        model = self._with_sklearn_errors(partial_fit)(
            params,
            table,
            target,
            _target.weights(sample_weight, table.n_rows),
            before,
            seed=self._seed(),
            threads=threads(self.n_jobs),
            note=self._note(names, params, note),
        )
        if isinstance(self, Classifier):
            self.classes_ = labels
        else:
            self._flat = n_dimensions == 1
        self._adopt(model, table.n_columns, names)
        return self
