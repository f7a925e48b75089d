"""Classifiers of one target that also learn several at once.

The indicators of all classes of all targets (1 for the class of a row, else 0) are learned as numbers. Their squared error is the sum of the Gini impurities of the
targets, and the mean of the indicators in a leaf, or among neighbors, are class probabilities.
"""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from ermine import _target
from ermine._estimator import Estimator, labels_of


class SeveralTargets(Estimator):
    """A classifier of one target or several."""

    classes_: Any
    #: Parameters that concern the classes of one target only.
    _one_target_only: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The class of each row (numbers, text or booleans), or its classes for several targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.__dict__.pop("_n_classes", None)
        several = None if y is None else _target.several(y)
        if several is None:
            return self._fit_one_target(X, y, sample_weight)
        table, names = self._read(X)
        _target.check_rows(table.n_rows, len(several))
        classes, marks = zip(*(_one_hot(column) for column in several.T))
        target, _ = _target.values(np.hstack(marks), table.n_rows, True)
        note = {"several": [[_target.label_text(label) for label in found.tolist()] for found in classes], "labels": classes[0].dtype.str}
        self._set_classes(list(classes))
        weights = self._with_class_weight(_target.weights(sample_weight, table.n_rows), several)
        model = self._learn(table, names, target, weights, note)
        self._adopt(model, table.n_columns, names)
        return self

    def _fit_one_target(self, X: Any, y: Any, sample_weight: Any) -> Self:
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    def _with_class_weight(self, weights: np.ndarray | None, several: np.ndarray) -> np.ndarray | None:
        """Sample weights times the class weights of all targets."""
        given = getattr(self, "class_weight", None)
        if given is None:
            return weights
        each = given if isinstance(given, (list, tuple)) else [given] * several.shape[1]
        if len(each) != several.shape[1] or not all(one is None or one == "balanced" or isinstance(one, Mapping) for one in each):
            raise ValueError(f"class_weight must be 'balanced', a dict, or a list of one per target ({several.shape[1]}). Got {given!r} instead.")
        weights = np.ones(len(several)) if weights is None else weights
        for of_target, classes, column in zip(each, self.classes_, several.T):
            weights = weights * _target.weight_of_classes(of_target, classes, column)[np.searchsorted(classes, column)]
        return weights

    @property
    def n_classes_(self) -> Any:
        """The number of classes, or a list of such for several targets."""
        self._fitted()
        return list(self._n_classes) if "_n_classes" in self.__dict__ else len(self.classes_)

    @property
    def n_outputs_(self) -> int:
        """The number of targets."""
        self._fitted()
        return len(self.__dict__.get("_n_classes", [1]))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of ``X``, as an array of shape (n_samples,); or its classes, of shape (n_samples, n_outputs)."""
        if "_n_classes" not in self.__dict__:
            return super().predict(X)  # type: ignore[misc]
        return np.column_stack([classes.take(shares.argmax(axis=1)) for classes, shares in zip(self.classes_, self.predict_proba(X))])

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for each row, in the order of ``classes_``, as an array of shape (n_samples, n_classes); a list of such arrays for several targets."""
        if "_n_classes" not in self.__dict__:
            return super().predict_proba(X)  # type: ignore[misc]
        return np.split(self._predict(X, "numbers"), np.cumsum(self._n_classes)[:-1], axis=1)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the probabilities; a list for several targets."""
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in probabilities] if isinstance(probabilities, list) else np.log(probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy; for several targets, the share of rows for which all of them are right."""
        if "_n_classes" not in self.__dict__:
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        right = (self.predict(X) == _target.several(y)).all(axis=1)
        return float(np.average(right, weights=_target.weights(sample_weight, len(right))))

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        if "_n_classes" in self.__dict__:
            defaults = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
            for name in (name for name in self._one_target_only if name in params):
                if params.pop(name) != defaults[name]:
                    raise ValueError(f"The {name!r} parameter of {type(self).__name__} is for one target. Got {getattr(self, name)!r} with {len(self._n_classes)} targets.")
        return params

    def _set_classes(self, classes: list[np.ndarray]) -> None:
        self.classes_ = classes
        self._n_classes = [len(found) for found in classes]

    def _restore(self, model: Any, header: dict[str, Any], note: dict[str, Any]) -> None:
        if "several" in note:
            self._set_classes([labels_of(texts, note["labels"]) for texts in note["several"]])
        else:
            super()._restore(model, header, note)  # type: ignore[misc]


class SeveralTargetsByGini(SeveralTargets):
    """A tree or a forest of one target or several."""

    _one_target_only = ("confidence_factor",)

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        if "_n_classes" in self.__dict__:
            params.pop("class_weight", None)
            if params.get("criterion") != "gini":
                raise ValueError(f"The 'criterion' parameter of {type(self).__name__} must be 'gini' for several targets. Got {params.get('criterion')!r} instead.")
            params["criterion"] = "squared_error"
        return params

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _one_hot(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels of a column, and an indicator column for each."""
    classes, codes = _target.coded(np.ascontiguousarray(column))
    return classes, (codes[:, None] == np.arange(len(classes))[None, :]).astype(np.float64)


def one_hot_of_known(column: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """An indicator column for each of the known labels."""
    found, codes = _target.coded(np.ascontiguousarray(column))
    known = {label: place for place, label in enumerate(classes.tolist())}
    unknown = [label for label in found.tolist() if label not in known]
    if unknown:
        raise ValueError(f"y holds the labels {unknown}, which are not among the classes {classes.tolist()}")
    places = np.array([known[label] for label in found.tolist()])[codes]
    return (places[:, None] == np.arange(len(classes))[None, :]).astype(np.float64)
