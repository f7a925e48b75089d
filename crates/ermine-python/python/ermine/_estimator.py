"""What all estimators share: fit, predict, score, save, and the interface of scikit-learn.

``Estimator`` stands on ``ParamsBase`` (see ``_base``) until scikit-learn is imported, and then on its ``BaseEstimator`` (see ``_sklearn``). The classes that users see
are written into ``ermine.tree`` and so on by ``tools/python_estimators.py``; they add a signature, documentation and a few facts.
"""

import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import FunctionType, ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from ermine import _catalog, _data, _ignored_params, _target
from ermine._ermine import Model, Table, Target, fit, learners, threads
from ermine._base import EstimatorBase, ParamsBase, MixinPlaceholder
from ermine._progress import Bar, Step, each
from ermine._inspection import Inspectable
from ermine._sklearn import not_fitted, warn, when_imported


#: scikit-learn's names of values that a learner calls otherwise: Friedman's improvement is the decrease of the squared error, and SAMME is discrete boosting of many classes.
VALUE_ALIASES = {("criterion", "friedman_mse"): "squared_error", ("algorithm", "SAMME"): "discrete"}


def _plain_value(value: Any) -> Any:
    """A parameter as the learner takes it: weights of classes as words, an array (``alphas=np.logspace(-3, 3)``) as a list."""
    if isinstance(value, Mapping):
        return _target.class_weights(value)
    return value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else value


#: Functions of the user, and what is made from the model on first access.
NOT_PICKLED = ("_callbacks", "_cache")


class Estimator(Inspectable):
    """An estimator for a learner of the registry."""

    # What the generated classes say about their learner.
    _learner: ClassVar[str]
    _parameters: ClassVar[tuple[str, ...]]
    _takes_sparse: ClassVar[bool] = False
    _is_random: ClassVar[bool] = False
    _poor_score: ClassVar[bool] = False
    #: The learner that ``estimator=None`` stands for.
    _default_estimator: ClassVar[str | None] = None

    n_jobs: int | None
    verbose: int
    n_features_in_: int

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("ermine._"):
            _name_methods_after(cls)

    # Fitting

    def _learn(
        self, table: Table, names: list[str] | None, target: Target, sample_weight: Any, note: dict[str, Any], group: np.ndarray | None = None,
    ) -> Model:
        params = self._learner_params()
        progress = Bar() if self.verbose else None
        try:
            model = self._with_sklearn_errors(fit)(
                self._learner,
                params,
                table,
                target,
                _target.weights(sample_weight, table.n_rows),
                seed=self._seed(),
                threads=threads(self.n_jobs),
                note=self._note(names, params, note),
                progress=progress,
                callback=self._callback(),
                own=self._function_params(),
                previous=self.__dict__.get("_model") if getattr(self, "warm_start", False) and not _ignored_params.is_ignored(self, "warm_start") else None,
                group=group,
                **self._folds(),
            )
        finally:
            if progress is not None:
                progress.close()
        stopped_at = model.stopped_at()
        if stopped_at is not None:
            warn("ConvergenceWarning", f"{type(self).__name__} did not converge: stopped at {stopped_at}. See certificate_.")
        return model

    def _note(self, names: list[str] | None, params: dict[str, Any], more: dict[str, Any]) -> str:
        """What the model file keeps for Python: the class, types of labels, and which parameters had a default that the learner has in another form."""
        defaults = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
        translated = [name for name in self._parameters if name in defaults and getattr(self, name) is defaults[name] and (name not in params or params[name] != defaults[name])]
        return json.dumps({"class": type(self).__name__, "names": names is not None, **({"defaults": translated} if translated else {}), **more})

    def set_callbacks(self, *callbacks: Callable[[Step], Any]) -> Self:
        """Sets functions that are called in every step of a fit: a round of boosting, a tree of a forest, a pass over the rows.

        Parameters
        ----------
        *callbacks : callables
            Each is called with a :class:`~ermine.Step`: what is being done, how many steps are done, how many there are, and a score where there is one. What it
            returns is not looked at; what it raises ends the fit and comes out of it. Without any, none are called any more.

        Returns
        -------
        self
            The estimator. Copies of it have no callbacks, as in scikit-learn.
        """
        for callback in callbacks:
            if not callable(callback):
                raise TypeError(f"a callback is a function of one argument, not {callback!r}")
        self.__dict__.pop("_callbacks", None)
        if callbacks:
            self._callbacks = callbacks
        return self

    def _callback(self) -> Callable[..., None] | None:
        callbacks = self.__dict__.get("_callbacks")
        return None if callbacks is None else each(callbacks)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in NOT_PICKLED} if isinstance(state, dict) else state

    def _learner_params(self) -> dict[str, Any]:
        """The parameters as the learner takes them. It takes other estimators as they are."""
        _ignored_params.check(self)
        params = {name: getattr(self, name) for name in self._parameters}
        estimator = params.get("estimator")
        if not (estimator is None or isinstance(estimator, (str, Estimator))):
            raise ValueError(f"The 'estimator' parameter of {type(self).__name__} must be an estimator of Ermine or the name of a learner. Got {estimator!r} instead.")
        if estimator is None and self._default_estimator is not None:
            params["estimator"] = self._default_estimator
        # None stands for the default in scikit-learn.
        given = {name: value for name, value in params.items() if not (value is None and name in ("cv", "estimator", "max_samples", "monotonic_cst"))}
        given = {name: VALUE_ALIASES.get((name, value), value) if isinstance(value, str) else value for name, value in given.items()}
        return {name: _plain_value(value) for name, value in given.items()}

    def _refuse(self, name: str, allowed: tuple[Any, ...], instead: str) -> None:
        """Refuses a value of a parameter that is taken from scikit-learn's twin, but has one meaning only."""
        value = getattr(self, name)
        if not any(value is one or (isinstance(value, (str, bool, np.bool_)) and value == one) for one in allowed):
            raise ValueError(f"The {name!r} parameter of {type(self).__name__} must be {' or '.join(map(repr, allowed))}: {instead}. Got {value!r} instead.")

    def _with_sklearn_errors(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, whose complaints about parameters are those that users of scikit-learn know."""

        def named(*args: Any, **options: Any) -> Any:
            try:
                return work(*args, **options)
            except ValueError as error:
                found = re.fullmatch(r"([\w-]+): (\w+) must be (.*) \(got .*\)", str(error), re.DOTALL)
                if found is None or found[1] != self._learner or found[2] not in self._parameters:
                    raise
                allowed = re.sub(r"\bnone\b", "None", found[3])
                raise ValueError(f"The {found[2]!r} parameter of {type(self).__name__} must be {allowed}. Got {getattr(self, found[2])!r} instead.") from None

        return named

    def _functions(self) -> list[str]:
        """The parameters that are functions."""
        return [name for name in self._parameters if callable(getattr(self, name))]

    def _part_params(self) -> dict[str, Any]:
        """The parameters for another learner, to which this one is a word with parameters in brackets."""
        functions = self._functions()
        if functions:
            raise ValueError(
                f"{type(self).__name__}({functions[0]}=...) can't be a part of another estimator, because {functions[0]} is a function: "
                "scikit-learn's own meta-estimators take it"
            )
        return self._learner_params()

    def _function_params(self) -> dict[str, Any]:
        """Functions that are passed as parameters."""
        return {}

    def _folds(self) -> dict[str, Any]:
        """The folds that the user gives."""
        return {}

    def _seed(self) -> int:
        """The seed that ``random_state`` stands for; an unseeded one is drawn from numpy's."""
        state = getattr(self, "random_state", 0) if self._is_random else 0
        if state is None:
            state = np.random.mtrand._rand
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31))
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**63))
        if isinstance(state, (int, np.integer)) and state >= 0:
            return int(state)
        raise ValueError(f"{state!r} cannot be used to seed: random_state must be None, a whole number from 0, a RandomState or a Generator")

    def _read(self, X: Any) -> tuple[Table, list[str] | None]:
        """The table of training data, and its feature names if it has any."""
        return _data.read(X, type(self).__name__, self._reads_sparse())

    def _read_like_fitted(self, X: Any) -> Table:
        """The table of data to predict for: its columns are those fitted on, and text means what it meant there."""
        table, names = _data.read(X, type(self).__name__, self._reads_sparse(), self._fitted_levels)
        self._check_features(table.n_columns, names)
        return table

    def _fitted_levels(self, column: int) -> list[str] | None:
        """The categories of a column that was fitted on; None for numbers."""
        levels = self._cached("levels", self._read_levels)
        return levels[column] if column < len(levels) else None

    def _read_levels(self) -> list[list[str] | None]:
        features = json.loads(self._model.header())["schema"]["features"]
        return [None if feature["kind"] == "numeric" else feature.get("levels", []) for feature in features]

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        """What is made from the model on first access."""
        cache = self.__dict__.setdefault("_cache", {})
        if name not in cache:
            cache[name] = make()
        return cache[name]

    def _estimator_below(self) -> Any:
        """The base estimator of a meta-estimator."""
        given = getattr(self, "estimator", None)
        return self._default_estimator if given is None else given

    def _reads_sparse(self) -> bool:
        """Whether it takes sparse matrices; one over another estimator does if that one does."""
        below = self._estimator_below()
        if isinstance(below, Estimator):
            return self._takes_sparse and below._reads_sparse()
        if isinstance(below, str):
            return self._takes_sparse and below.partition("(")[0].strip() in _sparse_learners()
        return self._takes_sparse

    def _require_y(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")

    def _adopt(self, model: Model, n_features: int, names: list[str] | None) -> None:
        """Takes a fitted model on, and forgets what the one before it showed."""
        before = self.__dict__.get("_model")
        for name in before.attributes() if before is not None else ():
            self.__dict__.pop(f"{name}_", None)
        for name, value in model.attributes().items():
            setattr(self, f"{name}_", value)
        out_of_bag = self.__dict__.get("oob_decision_function_", self.__dict__.get("oob_prediction_"))
        if out_of_bag is not None and (lost := int(np.isnan(out_of_bag).reshape(len(out_of_bag), -1)[:, 0].sum())):
            warn("UserWarning", f"Some inputs do not have OOB scores. This probably means too few estimators were used to compute any reliable oob estimates. ({lost} rows were drawn for every member.)")
        self.n_features_in_ = n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._model = model
        self._cache: dict[str, Any] = {}

    # Predicting

    def _predict(self, X: Any, wanted: str) -> np.ndarray:
        state = self.__dict__
        model = state.get("_model")
        if model is None:
            raise not_fitted(self)
        if type(X) is np.ndarray and "feature_names_in_" not in state:
            answer = model.predict_array(X, wanted, self.n_jobs)
            if answer is not None:
                return answer
        table = self._read_like_fitted(X)
        return model.predict_table(table, wanted, self.n_jobs)

    def _check_features(self, n_features: int, names: list[str] | None) -> None:
        """Refuses other columns than those that were fitted on."""
        name = type(self).__name__
        fitted = self.__dict__.get("feature_names_in_")
        if fitted is None and names is not None:
            warn("UserWarning", f"X has feature names, but {name} was fitted without feature names")
        elif fitted is not None and names is None:
            warn("UserWarning", f"X does not have valid feature names, but {name} was fitted with feature names")
        elif fitted is not None and names is not None and list(fitted) != names:
            raise ValueError(_different_names(list(fitted), names))
        if n_features != self.n_features_in_:
            raise ValueError(f"X has {n_features} features, but {name} is expecting {self.n_features_in_} features as input.")

    def _fitted(self) -> Model:
        model = self.__dict__.get("_model")
        if model is None:
            raise not_fitted(self)
        return model

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there. A property that is not available raises its own error.
        for cls in type(self).__mro__:
            found = cls.__dict__.get(name)
            if hasattr(type(found), "__get__"):
                return found.__get__(self, type(self))  # type: ignore[union-attr]
        if name.endswith("_") and not name.startswith("_") and "_model" not in self.__dict__:
            raise not_fitted(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._reads_sparse()
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


#: Methods that users call with arguments.
NAMED_METHODS = ("fit", "partial_fit", "predict", "predict_proba", "decision_function", "score", "kneighbors", "radius_neighbors", "apply")


def _name_methods_after(cls: type) -> None:
    """Gives a public class its own copies of inherited methods, so that Python's messages about arguments name it and not an internal base class."""
    for name in NAMED_METHODS:
        method = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        if isinstance(method, FunctionType) and method.__module__.startswith("ermine._"):
            copy = FunctionType(method.__code__, method.__globals__, name, method.__defaults__, method.__closure__)
            update_wrapper(copy, method)
            del copy.__wrapped__  # type: ignore[attr-defined]
            copy.__kwdefaults__ = method.__kwdefaults__
            copy.__qualname__ = f"{cls.__name__}.{name}"
            copy.__doc__ = next((doc for base in cls.__mro__ if name in vars(base) and (doc := vars(base)[name].__doc__)), None)
            setattr(cls, name, copy)


class Classifier(MixinPlaceholder, Estimator):
    """An estimator for classification."""

    classes_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the classifier to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,)
            The class labels: numbers, strings or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._require_y(y)
        table, names = self._read(X)
        target, classes = _target.classes(y, table.n_rows)
        model = self._learn(table, names, target, sample_weight, {"labels": classes.dtype.str})
        self.classes_ = classes
        self._adopt(model, table.n_columns, names)
        return self

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    @property
    def n_outputs_(self) -> int:
        """Number of targets: 1."""
        return 1 if self._fitted() else 0

    def _truth(self, y: Any, n_rows: int) -> Target:
        return _target.classes(y, n_rows)[0]

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of ``X``, as an array of shape (n_samples,)."""
        return self.classes_.take(self._predict(X, "classes"))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the fraction of correct predictions."""
        predicted, true = self.predict(X), _target.labels_like(y)
        _target.check_rows(len(predicted), len(true))
        return float(np.average(predicted == true, weights=_target.weights(sample_weight, len(true))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        texts = header["schema"]["classes"]
        self.classes_ = labels_of(texts, note.get("labels"))
        pairs = self.__dict__.get("class_weight")
        if isinstance(pairs, tuple):
            weights = dict(pair.rsplit("=", 1) for pair in pairs)
            named = zip(texts, self.classes_.tolist())
            self.class_weight: Any = {label: float(weights[text]) for text, label in named if text in weights}


class ProbabilisticClassifier(Classifier):
    """A classifier that predicts probabilities."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row, in the order of ``classes_``, as an array of shape (n_samples, n_classes)."""
        return self._predict(X, "numbers")

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the predicted probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class LogOddsClassifier(ProbabilisticClassifier):
    """A classifier whose probabilities are made of log odds."""

    def decision_function(self, X: Any) -> np.ndarray:
        """The log odds of the second of two classes for each row; for more classes a score for each, of which softmax makes probabilities."""
        scores = self._predict(X, "margins")
        return scores[:, 0] if scores.shape[1] == 1 else scores


class MarginClassifier(Classifier):
    """A classifier that predicts scores."""

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each class for each row; for two classes one score, which is positive for the second of them."""
        scores = self._predict(X, "numbers")
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class Regressor(MixinPlaceholder, Estimator):
    """An estimator for regression."""

    _multi_output: ClassVar[bool] = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the regressor to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._require_y(y)
        table, names = self._read(X)
        target, n_dimensions = _target.values(y, table.n_rows, self._multi_output)
        model = self._learn(table, names, target, sample_weight, {"y_dimensions": n_dimensions})
        self._flat = n_dimensions == 1
        self._adopt(model, table.n_columns, names)
        return self

    @property
    def n_outputs_(self) -> int:
        """Number of targets."""
        return int(json.loads(self._fitted().header())["schema"]["n_outputs"])

    def _truth(self, y: Any, n_rows: int) -> Target:
        return _target.values(y, n_rows, self._multi_output)[0]

    def predict(self, X: Any) -> np.ndarray:
        """The predicted values for each row of ``X``."""
        numbers = self._predict(X, "numbers")
        return numbers[:, 0] if self._flat else numbers

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R squared: 1 is perfect, 0 is no better than the mean."""
        predicted = self.predict(X)
        true = np.asarray(y, dtype=np.float64)
        _target.check_rows(len(predicted), len(true))
        predicted, true = predicted.reshape(len(predicted), -1), true.reshape(len(true), -1)
        weights = _target.weights(sample_weight, len(true))
        error = np.average((true - predicted) ** 2, axis=0, weights=weights)
        spread = np.average((true - np.average(true, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
        # Of a constant target there is nothing to explain: right is 1 and wrong is 0, as in scikit-learn.
        share = np.where(spread > 0, 1 - error / np.where(spread > 0, spread, 1), (error == 0).astype(float))
        return float(share.mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_output
        tags.regressor_tags.poor_score = self._poor_score
        return tags

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        self._flat = note.get("y_dimensions", 1) == 1 and header["schema"]["n_outputs"] == 1


def _sparse_learners() -> set[str]:
    """The names of learners that take sparse columns; for meta-estimators, the base estimator decides."""
    return {entry["info"]["name"] for entry in json.loads(learners()) if entry["info"]["capabilities"]["sparse"]}


def from_file(path: str) -> Any:
    """The fitted estimator of a model file, or the neighbors of a file of an index."""
    if _starts_as_index(path):
        from ermine._neighbors import NearestNeighbors

        return NearestNeighbors._from_file(path)
    return from_model(Model.load(path))


def _starts_as_index(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(6) == b"ERMINX"
    except OSError:
        return False  # Reading all of it reports what is wrong with the file.


def from_foreign(path: str) -> Estimator:
    """The fitted estimator of a model of XGBoost or LightGBM."""
    estimator = from_model(Model.import_file(path))
    # Names that the other program made up are none.
    names = list(getattr(estimator, "feature_names_in_", []))
    if any(names == [f"{start}{j}" for j in range(len(names))] for start in ("f", "Column_")):
        estimator.__dict__.pop("feature_names_in_", None)
    return estimator


def class_of(entry: _catalog.Entry) -> Any:
    """The class of an estimator of the catalog."""
    return getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name)


#: The classes of learners that are written by hand, and so not in the catalog: module and name.
BY_HAND = {"one-class-svm": ("svm", "OneClassSVM")}


def class_for(header: dict[str, Any], note: dict[str, Any]) -> Any:
    """The class that stands for the model of a file."""
    if header["learner"] in BY_HAND:
        module, name = BY_HAND[header["learner"]]
        return getattr(importlib.import_module(f"ermine.{module}"), name)
    return class_of(_catalog.find(note.get("class"), header["learner"], header["schema"]["task"]))


def from_model(model: Model) -> Estimator:
    """The fitted estimator of a model."""
    header = json.loads(model.header())
    try:
        return _from_header(model, header)
    # The core has checked what it uses. What only Python reads (class, types of labels) is checked by being used.
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        learner = header["learner"]
        raise ValueError(f"the model of {learner} can't be used from Python: {error}; its header is damaged or was written by another program") from error


def _from_header(model: Model, header: dict[str, Any]) -> Estimator:
    note = header.get("notes", {}).get("python", {})
    cls = class_for(header, note)
    params = {name: value for name, value in header["params"].items() if name in cls._parameters and name not in note.get("defaults", ())}
    params = {name: tuple(value) if isinstance(value, list) else value for name, value in params.items()}
    if cls._is_random:
        params["random_state"] = header["seed"]
    estimator = cls(**params)
    names = [feature["name"] for feature in header["schema"]["features"]]
    estimator._restore(model, header, note)
    # A file of the command line comes from a table whose columns have names.
    estimator._adopt(model, len(names), names if note.get("names", True) else None)
    return estimator


def labels_of(texts: list[str], dtype: str | None) -> np.ndarray:
    """Class labels from their texts in a model file, in the type they had; integers if the type is unknown."""
    if dtype is None:
        whole = all(text.lstrip("-").isdecimal() and str(int(text)) == text for text in texts)
        return np.array([int(text) for text in texts]) if whole else np.array(texts)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([text == "true" for text in texts])
    if kind in "iuf":
        return np.array([float(text) if kind == "f" else int(text) for text in texts]).astype(dtype)
    return np.array(texts, dtype=object if kind == "O" else None)


def _different_names(fitted: list[str], names: list[str]) -> str:
    """What differs between the columns fitted on and these."""
    most = 5
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))

    def listed(names: list[str]) -> str:
        return "".join(f"- {name}\n" for name in names[:most]) + ("- ...\n" if len(names) > most else "")

    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


#: Classes that stand on one of scikit-learn's mixins as soon as it is there, and on which.
_JOINED: list[tuple[type, str]] = [(Classifier, "ClassifierMixin"), (Regressor, "RegressorMixin")]


def join_as(cls: type, mixin: str) -> None:
    """Puts a class that stands on ``MixinPlaceholder`` and another on scikit-learn's mixin of this name, now or when it comes."""
    _JOINED.append((cls, mixin))
    base = sys.modules.get("sklearn.base")
    if base is not None and EstimatorBase.__bases__ != (ParamsBase,):
        cls.__bases__ = (getattr(base, mixin), *cls.__bases__[1:])
        _request_metadata(cls)


def _join(sklearn_base: ModuleType) -> None:
    """Puts all estimators on scikit-learn's base classes."""
    EstimatorBase.__bases__ = (sklearn_base.BaseEstimator,)
    for cls, mixin in _JOINED:
        cls.__bases__ = (getattr(sklearn_base, mixin), *cls.__bases__[1:])
    _request_metadata(EstimatorBase)


def _request_metadata(first: type) -> None:
    """What scikit-learn does when a class is made on its base, for a class and all below it."""
    waiting: list[type] = [first]
    for cls in waiting:
        waiting += cls.__subclasses__()
        super(cls, cls).__init_subclass__()  # type: ignore[arg-type]


when_imported(_join)
