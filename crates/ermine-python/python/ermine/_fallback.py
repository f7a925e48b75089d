"""What the core can't fit is fitted by scikit-learn's class of the same name: meta-estimators over any estimator, metrics that the core doesn't know.

An Ermine estimator below a meta-estimator is fitted in the core, in parallel, and can be saved. Anything else (an estimator of scikit-learn or of the user, a pipeline, a kernel
that is a function) and every option that only scikit-learn has is handed to scikit-learn's own class, with the same parameters. The fitted object then
answers with that class's attributes and methods; only saving and the like need members of Ermine.
"""

import importlib
import inspect
import sys
from typing import Any, Self

from ermine import _catalog, _target
from ermine._conditional import available_if
from ermine._estimator import Classifier, Estimator, class_of
from ermine._inspection import Inspectable
from ermine._sklearn import not_fitted

#: Methods that are always this package's own: parameters, fitting, and what needs a model of the core.
OWN = frozenset({"fit", "partial_fit", "get_params", "set_params", "set_callbacks", *(name for name in vars(Inspectable) if not name.startswith("_"))})

#: Methods that scikit-learn's class has or hasn't, depending on the estimator below.
CONDITIONAL = frozenset({"predict_proba", "predict_log_proba", "decision_function", "get_metadata_routing"})

#: Parameters that every estimator here has, and that may be ignored where scikit-learn's class has no such parameter.
COMMON = frozenset({"random_state", "n_jobs", "verbose"})


#: Stands for an attribute that is not scikit-learn's.
_OURS = object()


def sklearn_class(module: str, name: str) -> Any:
    """The class of this name in scikit-learn."""
    try:
        return getattr(importlib.import_module(f"sklearn.{module}"), name)
    except ImportError:
        raise ImportError(f"{name} over an estimator that is not of Ermine needs scikit-learn, which is not installed") from None


def runs_in_core(estimator: Any) -> bool:
    """Whether the core can fit an estimator: one of Ermine's own classes without functions among its parameters, or the name of a learner."""
    if estimator is None or isinstance(estimator, str):
        return True
    own_class = isinstance(estimator, Estimator) and type(estimator).__module__.startswith("ermine.")
    return own_class and not estimator._functions() and not (isinstance(estimator, SklearnFallback) and estimator._needs_sklearn())


def _routes_metadata() -> bool:
    """Whether the program has switched scikit-learn's metadata routing on."""
    sklearn = sys.modules.get("sklearn")
    return sklearn is not None and bool(sklearn.get_config().get("enable_metadata_routing"))


class SklearnFallback:
    """An estimator that hands what the core can't do to scikit-learn's class of the same name."""

    #: The module of scikit-learn's class, if it isn't that of this class.
    _sklearn_module = ""

    def _needs_sklearn(self) -> bool:
        """Whether the parameters are such that only scikit-learn's class can fit."""
        raise NotImplementedError

    def _make_delegate(self) -> Any:
        """scikit-learn's estimator of the same name and parameters, unfitted."""
        cls = type(self)
        named = next(base for base in cls.__mro__ if base.__module__.startswith("ermine.") and not base.__name__.endswith("Methods"))
        delegate_class = sklearn_class(self._sklearn_module or named.__module__.removeprefix("ermine."), named.__name__)
        known, defaults = inspect.signature(delegate_class).parameters, inspect.signature(named).parameters
        params = {}
        for name, value in self.get_params(deep=False).items():  # type: ignore[attr-defined]
            if name in known:
                # Some classes take a bool only.
                params[name] = bool(value) if name == "verbose" and known[name].default is False else value
            elif name not in COMMON and value is not defaults[name].default and value != defaults[name].default:
                raise ValueError(f"The {name!r} parameter of {cls.__name__} {self._why_sklearn()}. Got {value!r}.")
        return delegate_class(**self._delegate_params(params))

    def _why_sklearn(self) -> str:
        return "can't be used here, because scikit-learn fits this model"

    def _delegate_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters in scikit-learn's form."""
        return params

    def _take_delegate(self, delegate: Any) -> None:
        self.__dict__.pop("_index", None)
        model = self.__dict__.pop("_model", None)
        for name in [*(model.attributes() if model is not None else ()), "classes", "n_features_in", "feature_names_in", "label_names"]:
            self.__dict__.pop(f"{name}_", None)
        self._delegate = delegate

    def _from_sklearn(self, name: str) -> Any:
        """A public attribute that scikit-learn's class answers; an ``AttributeError`` where it has none, and ``_OURS`` where it isn't asked."""
        state = object.__getattribute__(self, "__dict__")
        delegate = state.get("_delegate")
        if delegate is not None:
            return _OURS if name in OWN or name in state else getattr(delegate, name)
        if name in CONDITIONAL and "_model" not in state and "n_jobs" in state and self._needs_sklearn():
            return getattr(self._make_delegate(), name)
        return _OURS

    def __getattribute__(self, name: str) -> Any:
        if name[0] != "_" and (found := self._from_sklearn(name)) is not _OURS:
            return found
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        # Only called after an AttributeError, which is raised again.
        if name[0] != "_" and (found := self._from_sklearn(name)) is not _OURS:
            return found
        inherited = getattr(super(), "__getattr__", None)
        if inherited is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return inherited(name)

    def _fitted(self) -> Any:
        if "_delegate" in self.__dict__:
            raise ValueError(f"this {type(self).__name__} was fitted by scikit-learn: only models of Ermine can be saved, exported or described. Pickle it instead.")
        return super()._fitted()  # type: ignore[misc]

    def _predict(self, X: Any, wanted: str) -> Any:
        if "_delegate" in self.__dict__:
            raise not_fitted(self)
        return super()._predict(X, wanted)  # type: ignore[misc]

    def __sklearn_is_fitted__(self) -> bool:
        return "_delegate" in self.__dict__ or super().__sklearn_is_fitted__()  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        return self._make_delegate().__sklearn_tags__() if self._needs_sklearn() else super().__sklearn_tags__()  # type: ignore[misc]


class SklearnOptions(SklearnFallback, Estimator):
    """An estimator with options that only scikit-learn's class of the same name has."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        if self._needs_sklearn():
            return self._fit_delegate(X, y, sample_weight)
        self.__dict__.pop("_delegate", None)
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    def _fit_delegate(self, X: Any, y: Any, sample_weight: Any, **fit_params: Any) -> Self:
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        self._take_delegate(self._make_delegate().fit(X, y, **fit_params))
        return self


class AnyEstimator(SklearnFallback, Estimator):
    """A meta-estimator that takes any estimator."""

    estimator: Any

    def _sklearn_options(self) -> bool:
        """Whether a parameter has a value that only scikit-learn's class knows."""
        return False

    def _sklearn_target(self, y: Any) -> bool:
        """Whether only scikit-learn's class learns such a target."""
        return False

    def _needs_sklearn(self) -> bool:
        return not runs_in_core(self.__dict__.get("estimator")) or self._sklearn_options()

    def _why_sklearn(self) -> str:
        return f"needs an estimator of Ermine, not {self.estimator!r}, which scikit-learn fits"

    def _delegate_params(self, params: dict[str, Any]) -> dict[str, Any]:
        if isinstance(params.get("estimator"), str):
            params["estimator"] = self._estimator_from_name(params["estimator"])
        return params

    def _estimator_from_name(self, name: str) -> Any:
        learner, _, rest = name.partition("(")
        if rest:
            raise ValueError(f"scikit-learn's {type(self).__name__} fits this, and takes an estimator, not a learner with parameters in parentheses. Got {name!r}.")
        task = "regression" if not isinstance(self, Classifier) and "Regressor" in type(self).__name__ else "classification"
        return class_of(_catalog.find(None, learner.strip(), task))()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fits the estimators.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Estimators of Ermine take categories, booleans and missing values as they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
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
        delegated = self._needs_sklearn() or bool(fit_params) or _routes_metadata() or (y is not None and self._sklearn_target(y))
        if not delegated:
            self.__dict__.pop("_delegate", None)
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight if _routes_metadata() else _target.weights(sample_weight, len(sample_weight))
        delegate = self.__dict__.get("_delegate") if getattr(self, "warm_start", False) else None
        delegate = self._make_delegate() if delegate is None else delegate.set_params(**self._make_delegate().get_params(deep=False))
        self._take_delegate(delegate.fit(X, y, **fit_params))
        return self


def _fits_in_parts(self: AnyEstimator) -> bool:
    return hasattr(self.estimator, "partial_fit")


class AnyEstimatorInParts(AnyEstimator):
    """A meta-estimator that takes any estimator, and continues training if that one can."""

    @available_if(_fits_in_parts, "its estimator has none")
    def partial_fit(self, X: Any, y: Any, classes: Any = None, **fit_params: Any) -> Self:
        """Continues training of the estimators, which need a ``partial_fit``, as scikit-learn's class of the same name does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        classes : array-like of shape (n_classes,), default=None
            All classes; needed in the first call.
        **fit_params
            Passed to ``partial_fit`` of the estimators.

        Returns
        -------
        self
            The fitted estimator.
        """
        delegate = self.__dict__.get("_delegate")
        if delegate is None:
            delegate = self._make_delegate()
        self._take_delegate(delegate.partial_fit(X, y, classes, **fit_params))
        return self
