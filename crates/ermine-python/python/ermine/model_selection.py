"""Ways to split rows; the best setting of an estimator, by cross-validation; learning and validation curves.

``GridSearchCV`` and ``RandomizedSearchCV`` have scikit-learn's names and attributes, and search inside the core: where one fit gives the models of many settings (the rounds of
boosting, the strength of ridge, of the lasso or of pruning, the number of neighbors, the C of an SVM) it is shared among them. What the core can't do (a pipeline, a custom score,
distributions to draw from) is done by scikit-learn, where it is installed; so are all names of ``sklearn.model_selection`` that are not here.
"""

# Types by name only: numpy's masked arrays and random numbers are loaded when they are needed.
from __future__ import annotations

import importlib
import itertools
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ermine import _selection, _target
from ermine._catalog import CATALOG, Entry
from ermine._forwarding import forward_names
from ermine._ermine import compare as _compare
from ermine._ermine import curve as _curve
from ermine._ermine import search as _search
from ermine._ermine import threads
from ermine._estimator import Estimator
from ermine._base import EstimatorBase
from ermine._progress import Bar
from ermine._reduction import available_if
from ermine._scoring import score_by
from ermine._selection import SCORERS  # noqa: F401
from ermine._sklearn import not_fitted, warn
from ermine._split import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, train_test_split

__all__ = [
    "Compared", "GridSearchCV", "GroupKFold", "HalvingRandomSearchCV", "KFold", "Leaderboard", "LeaveOneOut", "RandomizedSearchCV", "ShuffleSplit", "StratifiedKFold",
    "StratifiedShuffleSplit", "compare", "cross_val_score", "learning_curve", "train_test_split", "validation_curve",
]

def _tried(
    estimator: Estimator, X: Any, y: Any, sample_weight: Any, *, settings: list[dict[str, Any]] | None, trials: int = 0, factor: int | None = None,
    cv: Any = None, scoring: str | None = None, seed: int = 0, n_jobs: int | None = None, verbose: int = 0, groups: Any = None,
) -> list[tuple[dict[str, Any], np.ndarray, str | None, float]]:
    """The trials of a search: parameters of the learner, the score of each split, why it was refused, seconds."""
    _selection.check(estimator)
    measure, negated = _selection.scorer(scoring, estimator)
    table, target = _selection.read(estimator, X, y)
    progress = Bar() if verbose else None
    try:
        found = _search(
            estimator._learner, estimator._learner_params(), table, target, _target.weights(sample_weight, table.n_rows),
            settings=settings, trials=trials, factor=factor, splits=_selection.splits(cv, X, y, groups), measure=measure, seed=seed,
            threads=threads(n_jobs), progress=progress,
        )
    finally:
        if progress is not None:
            progress.close()
    sign = -1.0 if negated else 1.0
    return [(json.loads(setting), sign * np.array(folds), refused, seconds) for setting, folds, refused, seconds in found]


def _best_has(name: str) -> Any:
    """A method that is there where the best estimator, or before there is one the searched estimator, has it."""
    return available_if(lambda search: hasattr(search.__dict__.get("best_estimator_", search.estimator), name), f"the estimator has no {name}")


class _SearchCV(EstimatorBase):
    """What searches share: results, the best estimator, and predicting with it."""

    estimator: Any
    scoring: Any
    n_jobs: int | None
    refit: Any
    cv: Any
    verbose: int
    pre_dispatch: Any
    error_score: Any
    return_train_score: bool
    _names: tuple[str, ...]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name; with ``deep`` those of the estimator too."""
        params = {name: getattr(self, name) for name in self._names}
        if deep:
            params |= {f"estimator__{name}": value for name, value in self.estimator.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name."""
        for name, value in params.items():
            if name.startswith("estimator__"):
                self.estimator.set_params(**{name.removeprefix("estimator__"): value})
            elif name in self._names:
                setattr(self, name, value)
            else:
                raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}.")
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.estimator!r})"

    def _keep(self, params: Sequence[dict[str, Any]], trials: list[tuple[dict[str, Any], np.ndarray, str | None, float]]) -> None:
        n_splits = max((len(folds) for _, folds, _, _ in trials), default=0)
        refused = [why for _, _, why, _ in trials if why]
        if not n_splits:
            raise ValueError(f"no setting could be used: {refused[0] if refused else 'there is none'}")
        if refused:
            warn("FitFailedWarning", f"{len(refused)} of {len(trials)} settings could not be used; their scores are set to {self.error_score}. The first: {refused[0]}")
        folds = np.array([folds if len(folds) else np.full(n_splits, float(self.error_score)) for _, folds, _, _ in trials]).reshape(len(trials), n_splits)
        means = folds.mean(axis=1)
        order = np.where(np.isnan(means), -np.inf, means)
        self.n_splits_ = n_splits
        self.cv_results_ = {
            "params": list(params),
            **{f"param_{name}": _column(name, params) for name in dict.fromkeys(name for one in params for name in one)},
            "mean_test_score": means,
            "std_test_score": folds.std(axis=1),
            "rank_test_score": np.array([1 + int((order > mine).sum()) for mine in order], dtype=np.int32),
            # Splits are learned side by side, and settings from one fit: what is known is the time of each setting, fits and scores together.
            "mean_fit_time": np.array([seconds for _, _, _, seconds in trials]) / max(n_splits, 1),
            **{name: np.full(len(trials), np.nan) for name in ("std_fit_time", "mean_score_time", "std_score_time")},
            **{f"split{i}_test_score": folds[:, i] for i in range(n_splits)},
        }
        self.best_index_ = int(order.argmax())
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(means[self.best_index_])

    def _search_with_sklearn(self, theirs: Any, name: str, X: Any, y: Any, sample_weight: Any, groups: Any, **own: Any) -> Self:
        """Searches by scikit-learn, and takes on what it found."""
        search = getattr(theirs, name)(
            self.estimator, **own, scoring=self.scoring, n_jobs=self.n_jobs, refit=self.refit, cv=self.cv, verbose=self.verbose, error_score=self.error_score,
            return_train_score=self.return_train_score,
        )
        given = {"sample_weight": sample_weight, "groups": groups}
        search.fit(X, y, **{name: value for name, value in given.items() if value is not None})
        of_best = ("n_features_in_", "feature_names_in_", "classes_")
        self.__dict__.update({name: value for name, value in vars(search).items() if name.endswith("_") and name not in of_best})
        return self

    def _needs_sklearn(self) -> bool:
        raises = isinstance(self.error_score, str)
        if raises and self.error_score != "raise":
            raise ValueError(f"error_score must be 'raise' or a number, got {self.error_score!r}")
        return bool(self.return_train_score) or raises or not isinstance(self.refit, (bool, np.bool_))

    def _refit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.refit:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            start = time.perf_counter()
            self.best_estimator_ = _selection.copy(self.estimator, self.best_params_).fit(X, y, **weights)
            self.refit_time_ = time.perf_counter() - start

    def _best(self) -> Any:
        best = self.__dict__.get("best_estimator_")
        if best is None and "cv_results_" in self.__dict__:
            raise AttributeError(
                f"This {type(self).__name__} instance was initialized with `refit=False`: no estimator was fitted to predict with. Fit one with the parameters in `best_params_`, "
                "or search with `refit=True`."
            )
        if best is None:
            raise not_fitted(self)
        return best

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the best estimator."""
        return self._best().classes_

    def predict(self, X: Any) -> np.ndarray:
        """The predictions of the best estimator."""
        return self._best().predict(X)

    @_best_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities that the best estimator predicts."""
        return self._best().predict_proba(X)

    @_best_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities that the best estimator predicts."""
        return self._best().predict_log_proba(X)

    @_best_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """The decision function of the best estimator."""
        return self._best().decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """The score of the best estimator, by ``scoring``."""
        best, scorer = self._best(), self.__dict__.get("scorer_")
        if scorer is not None:  # scikit-learn's, as it searched; of several scores, the one that the best was chosen by
            return float((scorer[self.refit] if isinstance(scorer, dict) else scorer)(best, X, y))
        return best.score(X, y) if self.scoring is None else score_by(self.scoring, best, X, y)

    @property
    def n_features_in_(self) -> int:
        """Number of features of the best estimator."""
        return self._best().n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, if the training data had names."""
        return self._best().feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return "cv_results_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = self.estimator.__sklearn_tags__()
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags

    def _repr_html_(self) -> str:
        import html

        best = self.__dict__.get("best_estimator_")
        head = repr(self) if best is None else f"{self!r}\nbest of {len(self.cv_results_['params'])}: {self.best_params_}, {self.best_score_:.6g}"
        return f"<pre>{html.escape(head)}</pre>" + ("" if best is None else best._repr_html_())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _column(name: str, params: Sequence[dict[str, Any]]) -> np.ma.MaskedArray:
    """The values of a parameter, as scikit-learn shows them: hidden where a setting doesn't have it."""
    values = np.ma.masked_all(len(params), dtype=object)
    for i, one in enumerate(params):
        if name in one:
            values[i] = one[name]
    return values


class GridSearchCV(_SearchCV):
    """Exhaustive search over a grid of parameter values by cross-validation; the best setting is refitted on all rows.

    Parameters
    ----------
    estimator : estimator
        What is searched. Estimators of Ermine are searched inside the core, others by scikit-learn.
    param_grid : dict, or list of dicts
        The values of each parameter that are tried.
    scoring : str, callable, list or dict, default=None
        The name of the score, as in scikit-learn; None for accuracy or R squared. Scores that the core doesn't know, functions and several scores are left to scikit-learn.
    n_jobs : int, default=None
        How many threads to use.
    refit : bool, str or callable, default=True
        Whether the best setting is fitted on all rows.
    cv : int, splitter or iterable, default=None
        The number of folds (None for 5), which are those of scikit-learn: rows in their order, classes spread evenly; something with ``split``, or pairs of row numbers.
    verbose : int, default=0
        Whether a bar shows the progress.
    error_score : number or "raise", default=nan
        The score of settings that can't be used, of which a warning tells. "raise" is left to scikit-learn.
    pre_dispatch, return_train_score
        As in scikit-learn; ``return_train_score=True`` makes it search.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
    best_estimator_ : estimator
    cv_results_ : dict of arrays
        As scikit-learn's. ``mean_fit_time`` holds fits and scores together, the other times are NaN: splits are learned side by side, and many settings from one fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ermine.linear_model import Ridge
    >>> from ermine.model_selection import GridSearchCV
    >>> x = np.linspace(0, 1, 60)[:, None]
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.01, 100.0]}).fit(x, 3 * x[:, 0])
    >>> search.best_params_
    {'alpha': 0.01}
    """

    _names = ("estimator", "param_grid", "scoring", "n_jobs", "refit", "cv", "verbose", "pre_dispatch", "error_score", "return_train_score")

    def __init__(
        self, estimator: Any, param_grid: Any, *, scoring: Any = None, n_jobs: int | None = None, refit: Any = True, cv: Any = None, verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs", error_score: Any = np.nan, return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.error_score = error_score
        self.return_train_score = return_train_score

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Runs the search; ``groups`` are the groups of rows for group-aware splitters."""
        self.__dict__.pop("scorer_", None)
        self.__dict__.pop("best_estimator_", None)
        theirs = _selection.scikit_learn(self.estimator, self.scoring, self._needs_sklearn())
        if theirs is not None:
            return self._search_with_sklearn(theirs, "GridSearchCV", X, y, sample_weight, groups, param_grid=self.param_grid, pre_dispatch=self.pre_dispatch)
        grids = [self.param_grid] if isinstance(self.param_grid, Mapping) else list(self.param_grid)
        # The order of scikit-learn: names in the order of the alphabet, the last one running fastest.
        axes = [{name: _listed(grid[name]) for name in sorted(grid)} for grid in grids]
        params = [dict(zip(axis, values)) for axis in axes for values in itertools.product(*axis.values())]
        if not params:
            raise ValueError("param_grid has no settings")
        _selection.check(self.estimator)
        settings = [_selection.copy(self.estimator, one)._learner_params() for one in params]
        trials = _tried(
            self.estimator, X, y, sample_weight, settings=settings, cv=self.cv, scoring=self.scoring, n_jobs=self.n_jobs, verbose=self.verbose,
            groups=groups,
        )
        self._keep(params, trials)
        self._refit(X, y, sample_weight)
        return self


def _listed(values: Any) -> Iterable[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"param_grid: the values of a parameter must be a list or an array, not {values!r}")
    return values


class RandomizedSearchCV(_SearchCV):
    """Random search over parameter settings by cross-validation, by default from the tuning ranges of the learner; the best setting is refitted on all rows.

    Parameters
    ----------
    estimator : estimator
        What is searched. Its own setting is among those that are tried.
    param_distributions : dict, or list of dicts, default=None
        Values or distributions of each parameter to draw from, which is left to scikit-learn; None for the ranges that the learner declares.
    n_iter : int, default=10
        How many settings; along a path (rounds, strengths, neighbors) each is tried with several values.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``.
    random_state : int, RandomState instance or None, default=None
        The seed of the settings.
    """

    _names: tuple[str, ...] = (
        "estimator", "param_distributions", "n_iter", "scoring", "n_jobs", "refit", "cv", "verbose", "pre_dispatch", "random_state", "error_score", "return_train_score",
    )

    def __init__(
        self, estimator: Any, param_distributions: Any = None, *, n_iter: int = 10, scoring: Any = None, n_jobs: int | None = None, refit: Any = True, cv: Any = None,
        verbose: int = 0, pre_dispatch: Any = "2*n_jobs", random_state: Any = None, error_score: Any = np.nan, return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Runs the search; ``groups`` are the groups of rows for group-aware splitters."""
        self.__dict__.pop("scorer_", None)
        self.__dict__.pop("best_estimator_", None)
        if self.param_distributions is not None or _selection.scikit_learn(self.estimator, self.scoring, self._needs_sklearn()) is not None:
            return self._draw_with_sklearn(X, y, sample_weight, groups)
        trials = _tried(
            self.estimator, X, y, sample_weight, settings=None, trials=self._n_settings(), factor=self._factor(), cv=self.cv, scoring=self.scoring,
            seed=_selection.seed(self.random_state), n_jobs=self.n_jobs, verbose=self.verbose, groups=groups,
        )
        self._keep([setting for setting, _, _, _ in trials], trials)
        self._refit(X, y, sample_weight)
        return self

    def _draw_with_sklearn(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        theirs = _selection.scikit_learn(self.estimator, self.scoring, True)
        if theirs is None or self.param_distributions is None:
            what = "needs scikit-learn's own search, which isn't installed" if theirs is None else "is left to scikit-learn's own search, which needs param_distributions"
            raise ValueError(f"{type(self).__name__}: this {what}; the core draws from the ranges that learners of Ermine declare")
        name, own = self._theirs(theirs)
        return self._search_with_sklearn(theirs, name, X, y, sample_weight, groups, param_distributions=self.param_distributions, random_state=self.random_state, **own)

    def _n_settings(self) -> int:
        return self.n_iter

    def _factor(self) -> int | None:
        return None

    def _theirs(self, theirs: Any) -> tuple[str, dict[str, Any]]:
        """The name of scikit-learn's search of this kind, and the arguments that only this kind has."""
        return "RandomizedSearchCV", {"n_iter": self.n_iter, "pre_dispatch": self.pre_dispatch}


class HalvingRandomSearchCV(RandomizedSearchCV):
    """Random search by successive halving: many settings are evaluated on few rows, and the best of them on ``factor`` times as many, until one is left.

    Parameters
    ----------
    estimator, param_distributions, scoring, n_jobs, refit, cv, verbose, random_state, error_score, return_train_score
        As in ``RandomizedSearchCV``.
    n_candidates : int or "exhaust", default="exhaust"
        How many settings to begin with; "exhaust" for 10 where the ranges of the learner are drawn from.
    factor : int, default=3
        By how much the settings become fewer and the rows more in each round.
    resource, max_resources, min_resources, aggressive_elimination
        As in scikit-learn, where it searches: with ``param_distributions``. In the core the resource is rows.
    """

    _names = (
        "estimator", "param_distributions", "n_candidates", "factor", "resource", "max_resources", "min_resources", "aggressive_elimination", "cv", "scoring", "refit",
        "error_score", "return_train_score", "random_state", "n_jobs", "verbose",
    )

    def __init__(
        self, estimator: Any, param_distributions: Any = None, *, n_candidates: Any = "exhaust", factor: Any = 3, resource: str = "n_samples", max_resources: Any = "auto",
        min_resources: Any = "smallest", aggressive_elimination: bool = False, cv: Any = 5, scoring: Any = None, refit: Any = True, error_score: Any = np.nan,
        return_train_score: bool = False, random_state: Any = None, n_jobs: int | None = None, verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator, param_distributions, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose, random_state=random_state, error_score=error_score,
            return_train_score=return_train_score,
        )
        self.n_candidates = n_candidates
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources
        self.aggressive_elimination = aggressive_elimination

    def _n_settings(self) -> int:
        given = (self.resource, self.max_resources, self.min_resources, self.aggressive_elimination)
        if given != ("n_samples", "auto", "smallest", False):
            raise ValueError("resource, max_resources, min_resources and aggressive_elimination are for scikit-learn's own search, with param_distributions; in the core the resource is rows")
        return 10 if self.n_candidates == "exhaust" else self.n_candidates

    def _factor(self) -> int | None:
        if not (isinstance(self.factor, (int, np.integer)) and self.factor >= 2):
            raise ValueError(f"factor must be a whole number from 2 up, got {self.factor!r}")
        return int(self.factor)

    def _theirs(self, theirs: Any) -> tuple[str, dict[str, Any]]:
        from sklearn.experimental import enable_halving_search_cv  # type: ignore[import-untyped]  # noqa: F401

        names = ("n_candidates", "factor", "resource", "max_resources", "min_resources", "aggressive_elimination")
        return "HalvingRandomSearchCV", {name: getattr(self, name) for name in names}


def cross_val_score(
    estimator: Any, X: Any, y: Any = None, *, groups: Any = None, scoring: Any = None, cv: Any = None, n_jobs: int | None = None, sample_weight: Any = None, **others: Any,
) -> np.ndarray:
    """The score of each split of a cross-validation, as scikit-learn's function of this name gives it. Other estimators, scores and arguments are left to it.

    >>> from ermine.dummy import DummyRegressor
    >>> [float(s) for s in cross_val_score(DummyRegressor(), [[0.0]] * 4, [1.0, 2.0, 1.0, 2.0], cv=[([0, 1], [2, 3])])]
    [0.0]
    """
    theirs = _selection.scikit_learn(estimator, scoring, bool(others))
    if theirs is not None:
        weights = {} if sample_weight is None else {"params": {"sample_weight": sample_weight} | (others.pop("params", None) or {})}
        return theirs.cross_val_score(estimator, X, y, groups=groups, scoring=scoring, cv=cv, n_jobs=n_jobs, **weights, **others)
    _selection.check(estimator)
    trials = _tried(estimator, X, y, sample_weight, settings=[estimator._learner_params()], cv=cv, scoring=scoring, n_jobs=n_jobs, groups=groups)
    (_, folds, refused, _), = trials
    if refused is not None:
        raise ValueError(refused)
    return folds


class Compared(NamedTuple):
    """An estimator on a leaderboard."""

    #: The estimator with the parameters that were compared, not fitted.
    estimator: Any
    #: The mean of its scores.
    mean_score: float
    #: The score of each split.
    scores: np.ndarray
    #: How long its cross-validation, or the search for its parameters, took.
    seconds: float
    #: Whether it converged in every split.
    converged: bool


class Leaderboard(list[Compared]):
    """The result of :func:`compare`: estimators, the best first; ``skipped`` lists the learners that were skipped, with the reason."""

    def __init__(self, compared: Iterable[Compared], skipped: dict[str, str]) -> None:
        super().__init__(compared)
        self.skipped = skipped

    def __repr__(self) -> str:
        lines = [f"{row.mean_score:10.4f} {row.scores.std():8.4f}  {row.estimator!r}{'' if row.converged else ' (did not converge)'}" for row in self]
        return "\n".join(["mean score      std  estimator", *lines, *(f"skipped {name}: {why}" for name, why in self.skipped.items())])


def compare(
    X: Any, y: Any, *, task: str = "auto", learners: Sequence[str] | None = None, scoring: str | None = None, cv: Any = None, n_iter: int = 10,
    budget: float | None = None, sample_weight: Any = None, groups: Any = None, random_state: int = 0, n_jobs: int | None = None, verbose: int = 0,
) -> Leaderboard:
    """Compares estimators: each is cross-validated with its defaults (and ``standardize=True`` if it has that parameter and the columns are dense), then ``n_iter`` settings of each of the best three are tried.

    ``learners`` are names as ``ermine learners`` lists them; without it, all that make sense for the task are compared. ``task`` is ``"classification"``, ``"regression"`` or ``"auto"``,
    which takes text, truth values and up to 20 different whole numbers for classes. ``budget`` is in seconds. Scores are such that higher is better.

    >>> board = compare([[0.0], [1.0], [2.0], [3.0]] * 5, ["a", "a", "b", "b"] * 5, learners=["baseline", "decision-stump"], n_iter=0)
    >>> board[0].estimator, board[0].mean_score
    (DecisionStumpClassifier(), 1.0)
    """
    kind = _task(y) if task == "auto" else task
    classes: dict[str, Entry] = {}
    for entry in CATALOG:
        if entry.task == kind:
            classes.setdefault(entry.learner, entry)  # the first class of a learner is the one with its usual defaults
    if not classes or kind not in ("classification", "regression"):
        raise ValueError(f"task={task!r}, expected 'auto', 'classification' or 'regression'")
    unknown = [name for name in learners or () if name not in classes]
    if unknown:
        raise ValueError(f"learners={unknown!r} are not known for {kind}; there are: {', '.join(classes)}")
    named = [(name, _instance(classes[name])._learner_params()) for name in learners or classes]
    first = _instance(classes["baseline"])
    measure, negated = _selection.scorer(scoring, first)
    table, target = _selection.read(first, X, y)
    progress = Bar() if verbose else None
    try:
        entries, skipped = _compare(
            table, target, _target.weights(sample_weight, table.n_rows), learners=named, only_suitable=learners is None, splits=_selection.splits(cv, X, y, groups), measure=measure,
            trials=n_iter, budget=budget, seed=random_state, threads=threads(n_jobs), progress=progress,
        )
    finally:
        if progress is not None:
            progress.close()
    sign = -1.0 if negated else 1.0
    compared = []
    for learner, setting, folds, seconds, converged in entries:
        scores = sign * np.array(folds)
        compared.append(Compared(_instance(classes[learner], **json.loads(setting)), float(scores.mean()), scores, seconds, converged))
    return Leaderboard(compared, dict(skipped))


def _instance(entry: Entry, **params: Any) -> Any:
    return getattr(importlib.import_module(f"ermine.{entry.module}"), entry.name)(**params)


def _task(y: Any) -> str:
    """What a target looks like."""
    values = np.asarray(y)
    if values.dtype.kind not in "iuf":
        return "classification"
    distinct = np.unique(values)
    return "classification" if len(distinct) <= 20 and (distinct == np.round(distinct)).all() else "regression"


def _scored(
    estimator: Estimator, X: Any, y: Any, sample_weight: Any, *, settings: list[dict[str, Any]], sizes: list[int] | None, scoring: str | None, cv: Any,
    n_jobs: int | None, groups: Any = None,
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """For each setting or size: how many rows were learned from, and the scores of each split on learned and on tested rows."""
    measure, negated = _selection.scorer(scoring, estimator)
    table, target = _selection.read(estimator, X, y)
    found = _curve(
        estimator._learner, settings, table, target, _target.weights(sample_weight, table.n_rows), sizes=sizes, splits=_selection.splits(cv, X, y, groups),
        measure=measure, seed=0, threads=threads(n_jobs),
    )
    sign = -1.0 if negated else 1.0
    return [(n, sign * np.array(learned), sign * np.array(tested)) for n, learned, tested in found]


def learning_curve(
    estimator: Any, X: Any, y: Any, *, groups: Any = None, train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0), cv: Any = None, scoring: Any = None,
    n_jobs: int | None = None, shuffle: bool = False, random_state: Any = None, sample_weight: Any = None, **others: Any,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Learning curve: training set sizes, training scores and test scores (one row per size, one column per split).

    ``train_sizes`` are shares of the training rows, or numbers of rows. As in scikit-learn, the first rows of each split are learned from; ``shuffle`` draws them, which is left to it.

    >>> from ermine.dummy import DummyRegressor
    >>> sizes, learned, tested = learning_curve(DummyRegressor(), [[0.0]] * 20, [1.0, 2.0] * 10, train_sizes=[0.5, 1.0], cv=4)
    >>> sizes.tolist(), learned.shape
    ([7, 15], (2, 4))
    """
    theirs = _selection.scikit_learn(estimator, scoring, bool(others), shuffle)
    if theirs is not None:
        weights = {} if sample_weight is None else {"params": {"sample_weight": sample_weight}}
        return theirs.learning_curve(
            estimator, X, y, groups=groups, train_sizes=train_sizes, cv=cv, scoring=scoring, n_jobs=n_jobs, shuffle=shuffle, random_state=random_state, **weights, **others,
        )
    _selection.check(estimator)
    if shuffle or others:
        raise ValueError(f"{', '.join(['shuffle'] * shuffle + sorted(others))}: for scikit-learn's own learning_curve, which isn't installed")
    splits = _selection.splits(cv, X, y, groups)
    found = _scored(
        estimator, X, y, sample_weight, settings=[estimator._learner_params()], sizes=_sizes(train_sizes, splits, y), scoring=scoring, cv=splits, n_jobs=n_jobs,
    )
    return np.array([n for n, _, _ in found]), np.array([learned for _, learned, _ in found]), np.array([tested for _, _, tested in found])


def _sizes(train_sizes: Any, splits: Any, y: Any) -> list[int]:
    """Numbers of rows to learn from, as scikit-learn counts them: of shares, of the rows of the first split."""
    sizes = np.asarray(train_sizes).ravel()
    if sizes.size == 0 or sizes.dtype.kind not in "iuf" or not np.isfinite(sizes).all():
        raise ValueError("train_sizes must be shares of the rows, or numbers of rows")
    # Of folds that can't be even, the first is the largest.
    n = len(np.asarray(y))
    most = n - -(-n // splits) if isinstance(splits, int) else len(splits[0][0])
    if sizes.dtype.kind == "f":
        if sizes.min() <= 0 or sizes.max() > 1:
            raise ValueError(f"train_sizes has been interpreted as fractions of the maximum number of training samples and must be within (0, 1], but is within [{sizes.min()}, {sizes.max()}].")
        numbers = np.clip((sizes * most).astype(int), 1, most)
    else:
        numbers = sizes.astype(int)
        if numbers.min() <= 0 or numbers.max() > most:
            raise ValueError(f"train_sizes has been interpreted as absolute numbers of training samples and must be within (0, {most}], but is within [{numbers.min()}, {numbers.max()}].")
    return np.unique(numbers).tolist()


def validation_curve(
    estimator: Any, X: Any, y: Any, *, param_name: str, param_range: Any, groups: Any = None, cv: Any = None, scoring: Any = None,
    n_jobs: int | None = None, sample_weight: Any = None, **others: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Validation curve: training scores and test scores for the values of one parameter (one row per value, one column per split).

    >>> from ermine.tree import DecisionTreeRegressor
    >>> x = [[float(i)] for i in range(20)]
    >>> learned, tested = validation_curve(DecisionTreeRegressor(), x, [r[0] ** 2 for r in x], param_name="max_depth", param_range=[1, 8], cv=4)
    >>> learned.shape, bool(learned[1].min() > learned[0].max())
    ((2, 4), True)
    """
    theirs = _selection.scikit_learn(estimator, scoring, bool(others))
    if theirs is not None:
        weights = {} if sample_weight is None else {"params": {"sample_weight": sample_weight}}
        return theirs.validation_curve(estimator, X, y, param_name=param_name, param_range=param_range, groups=groups, cv=cv, scoring=scoring, n_jobs=n_jobs, **weights, **others)
    _selection.check(estimator)
    settings = [_selection.copy(estimator, {param_name: value})._learner_params() for value in param_range]
    if not settings:
        raise ValueError("param_range has no values")
    found = _scored(estimator, X, y, sample_weight, settings=settings, sizes=None, scoring=scoring, cv=cv, n_jobs=n_jobs, groups=groups)
    return np.array([learned for _, learned, _ in found]), np.array([tested for _, _, tested in found])


__getattr__ = forward_names("model_selection", __all__)
