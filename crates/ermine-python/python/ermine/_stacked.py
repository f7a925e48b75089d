"""Stacking and voting: estimators over a list of estimators with names."""

from typing import Any, Self

import numpy as np

from ermine._conditional import available_if
from ermine._cross_validated import CrossValidated
from ermine._estimator import Classifier, Estimator
from ermine._fallback import SklearnFallback, _routes_metadata, runs_in_core
from ermine._reduction import MetaClassifier, MetaEstimator, gives_probabilities


class Bunch(dict[str, Any]):
    """Estimators by name, also as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class NamedEstimators(SklearnFallback, MetaEstimator):
    """An estimator over several others, each with a name. What the core can't fit is fitted by scikit-learn's class of the same name."""

    estimators: Any
    _method: Any

    def _named(self) -> list[tuple[str, Any]]:
        """The estimators with their names; learners that are given by name alone are named after themselves."""
        given = self.__dict__.get("estimators")
        if isinstance(given, str) or not hasattr(given, "__iter__") or len(given) == 0:  # type: ignore[arg-type]
            raise ValueError(f"Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) tuples. Got {given!r}.")
        named = []
        for i, one in enumerate(given):  # type: ignore[arg-type]
            pair = (f"{one.partition('(')[0].strip()}-{i}", one) if isinstance(one, str) else tuple(one)
            if len(pair) != 2 or not isinstance(pair[0], str):
                raise ValueError(f"Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, estimator) tuples. Got {one!r}.")
            named.append((pair[0], pair[1]))
        names = [name for name, _ in named]
        if len(set(names)) != len(names):
            raise ValueError(f"Names provided are not unique: {names!r}")
        if clash := sorted(set(names) & set(self._get_param_names())):
            raise ValueError(f"Estimator names conflict with constructor arguments: {clash!r}")
        if wrong := [name for name in names if "__" in name]:
            raise ValueError(f"Estimator names must not contain __: got {wrong!r}")
        return named

    def _sklearn_options(self) -> bool:
        """Whether a parameter has a value that only scikit-learn's class knows."""
        return False

    def _needs_sklearn(self) -> bool:
        try:
            named = self._named()
        except (TypeError, ValueError):
            return False  # Fitting reports what is wrong.
        below = [estimator for _, estimator in named] + [self.__dict__.get("final_estimator")]
        return any(estimator == "drop" if isinstance(estimator, str) else not runs_in_core(estimator) for estimator in below) or self._sklearn_options()

    def _delegate_params(self, params: dict[str, Any]) -> dict[str, Any]:
        return params | {"estimators": self._named()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name; with ``deep`` also the estimators and their parameters, as ``name__parameter``."""
        params = super().get_params(deep=deep)
        if deep:
            try:
                named = self._named()
            except (TypeError, ValueError):
                return params
            for name, estimator in named:
                if hasattr(estimator, "get_params"):
                    params[name] = estimator
                    params.update({f"{name}__{inner}": value for inner, value in estimator.get_params(deep=True).items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name; an estimator by its name, and its parameters as ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in self._named()] if any(name not in self._get_param_names() for name in params) else []
        for name in [name for name in names if name in params]:
            replaced = params.pop(name)
            self.estimators = [(own, replaced if own == name else estimator) for own, estimator in self._named()]
        for name, estimator in self._named() if names else []:
            inner = {key.partition("__")[2]: params.pop(key) for key in list(params) if key.partition("__")[0] == name and "__" in key}
            if inner:
                estimator.set_params(**inner)
        super().set_params(**params)
        return self

    def _learner_params(self) -> dict[str, Any]:
        below = [estimator for _, estimator in self._named()]
        for estimator in below:
            if not isinstance(estimator, (str, Estimator)):
                raise ValueError(f"The estimator {type(estimator).__name__} should be an estimator of Ermine, or the name of a learner. Got {estimator!r}.")
            if isinstance(estimator, Estimator) and isinstance(estimator, Classifier) != isinstance(self, Classifier):
                raise ValueError(f"The estimator {type(estimator).__name__} should be a {'classifier' if isinstance(self, Classifier) else 'regressor'}.")
        return super()._learner_params() | {"estimators": below}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fits the estimators.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Estimators of Ermine take categories, booleans and missing values as they are.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.
        **fit_params
            Passed to ``fit`` of the estimators, as scikit-learn's class of the same name does.

        Returns
        -------
        self
            The fitted estimator.
        """
        if not (self._needs_sklearn() or fit_params or _routes_metadata()):
            self.__dict__.pop("_delegate", None)
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        self._take_delegate(self._make_delegate().fit(X, y, **fit_params))
        return self

    def _reads_sparse(self) -> bool:
        below = [estimator for _, estimator in self._named() if isinstance(estimator, Estimator)]
        return self._takes_sparse and all(estimator._reads_sparse() for estimator in below)

    def _made_members(self) -> list[Any]:
        members = super()._made_members()
        if isinstance(classes := self.__dict__.get("classes_"), np.ndarray):
            for member in members:
                member.classes_ = classes
        return members

    @property
    def named_estimators(self) -> Bunch:
        """The estimators by name, not fitted."""
        return Bunch(self._named())

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted estimators by name."""
        return Bunch(zip([name for name, _ in self._named()], self.estimators_))

    @property
    def le_(self) -> Any:
        """scikit-learn's encoder of the classes."""
        from sklearn.preprocessing import LabelEncoder  # type: ignore[import-untyped]

        self._fitted()
        if not isinstance(self, Classifier):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'le_'")
        return LabelEncoder().fit(self.classes_)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags  # type: ignore[import-untyped]

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    def transform(self, X: Any) -> np.ndarray:
        """What the estimators predict for each row."""
        raise NotImplementedError

    def _column_names(self) -> list[str]:
        """The names of the columns of ``transform``, without the name of this class."""
        return [name for name, _ in self._named()]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of ``transform``."""
        self._fitted()
        own = type(self).__name__.lower()
        return np.asarray([f"{own}_{name}" for name in self._column_names()], dtype=object)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fits, and returns what the estimators predict for the same rows."""
        return self.fit(X, y, **fit_params).transform(X)


class VotingMethods(NamedEstimators):
    """The weighted mean, or the majority, of estimators."""

    weights: Any

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        if params.get("weights") is not None and len(params["weights"]) != len(params["estimators"]):
            raise ValueError(f"Number of `estimators` and weights must be equal; got {len(params['weights'])} weights, {len(params['estimators'])} estimators")
        return params

    def _restore(self, model: Any, header: dict[str, Any], note: dict[str, Any]) -> None:
        super()._restore(model, header, note)  # type: ignore[misc]
        if len(self.weights or ()) == 0:
            self.weights = None

    def transform(self, X: Any) -> np.ndarray:
        """The predictions of all estimators for each row, as an array of shape (n_samples, n_estimators)."""
        return np.stack([member.predict(X) for member in self.estimators_], axis=1)


class VotingClassifierMethods(VotingMethods, MetaClassifier):
    """The mean of the probabilities, or the majority, of classifiers."""

    voting: str
    flatten_transform: bool

    def _would_give_probabilities(self) -> bool:
        return self.voting == "soft"

    def _column_names(self) -> list[str]:
        if self.voting == "hard":
            return super()._column_names()
        if not self.flatten_transform:
            raise ValueError("get_feature_names_out is not supported when `voting='soft'` and `flatten_transform=False`")
        return [f"{name}{i}" for name in super()._column_names() for i in range(len(self.classes_))]

    def transform(self, X: Any) -> np.ndarray:
        """The predictions of the classifiers for each row.

        With ``voting="soft"`` their probabilities, of shape (n_samples, n_classifiers * n_classes), or (n_classifiers, n_samples, n_classes) without
        ``flatten_transform``; with ``voting="hard"`` the index of the predicted class, of shape (n_samples, n_classifiers).
        """
        if self.voting == "soft":
            each = [member.predict_proba(X) for member in self.estimators_]
            return np.hstack(each) if self.flatten_transform else np.stack(each)
        return np.stack([np.searchsorted(self.classes_, member.predict(X)) for member in self.estimators_], axis=1)


class StackingMethods(CrossValidated, NamedEstimators):
    """Estimators, and one on top of their out-of-fold predictions."""

    final_estimator: Any
    passthrough: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        if fit_params:
            return NamedEstimators.fit(self, X, y, sample_weight, **fit_params)
        return super().fit(X, y, sample_weight)

    def _sklearn_options(self) -> bool:
        return isinstance(self.cv, str)

    def _all_members(self) -> list[Any]:
        return super().estimators_

    @property
    def estimators_(self) -> list[Any]:
        """The fitted estimators, without the final one."""
        return self._all_members()[:-1]

    @property
    def final_estimator_(self) -> Any:
        """The fitted estimator on top of the others."""
        return self._all_members()[-1]

    @property
    def stack_method_(self) -> list[str]:
        """The method of each estimator whose predictions are the input of the final one."""
        return [self._method_of(member) for member in self.estimators_]

    def _method_of(self, member: Any) -> str:
        wanted = getattr(self, "stack_method", "auto")
        if not isinstance(self, Classifier):
            return "predict"
        return next(name for name in ("predict_proba", "decision_function", "predict") if hasattr(member, name)) if wanted == "auto" else wanted

    def _n_columns(self, method: str) -> int:
        """How many columns one estimator gives to the final one."""
        n_classes = len(self.classes_) if isinstance(self, Classifier) else 1
        return 1 if method == "predict" or n_classes == 2 else n_classes

    def _column_names(self) -> list[str]:
        each = [(name, self._n_columns(method)) for name, method in zip(super()._column_names(), self.stack_method_)]
        return [name if n == 1 else f"{name}{i}" for name, n in each for i in range(n)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of ``transform``; with ``passthrough`` followed by those of the features."""
        names = super().get_feature_names_out(input_features)
        if not self.passthrough:
            return names
        seen = self.__dict__.get("feature_names_in_") if input_features is None else input_features
        return np.append(names, [f"x{i}" for i in range(self.n_features_in_)] if seen is None else np.asarray(seen, dtype=object))

    def transform(self, X: Any) -> np.ndarray:
        """The input of the final estimator: the predictions of each estimator, and the features with ``passthrough``."""
        columns = []
        for member, method in zip(self.estimators_, self.stack_method_):
            predictions = np.asarray(getattr(member, method)(X))
            if method == "predict" and isinstance(self, Classifier):
                predictions = np.searchsorted(self.classes_, predictions)
            is_binary = method == "predict_proba" and predictions.shape[1] == 2
            columns.append(predictions[:, 1:] if is_binary else predictions.reshape(len(predictions), -1))
        return np.hstack([*columns, np.asarray(X)] if self.passthrough else columns)


def _final_has_scores(self: Any) -> bool:
    if self.__dict__.get("_model") is not None:
        return hasattr(self.final_estimator_, "decision_function")
    return self.final_estimator is None or hasattr(self.final_estimator, "decision_function")


class StackingClassifierMethods(StackingMethods, MetaClassifier):
    """Classifiers, and one on top of their out-of-fold predictions."""

    stack_method: str

    @available_if(_final_has_scores, "the final estimator has none")
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the final estimator for each row."""
        return self.final_estimator_.decision_function(self.transform(X))

    def _would_give_probabilities(self) -> bool:
        return gives_probabilities("logistic-regression" if self.final_estimator is None else self.final_estimator)
