"""The best setting of an estimator, by cross-validation; learning and validation curves.

``GridSearchCV`` and ``RandomizedSearchCV`` have scikit-learn's names and attributes, and search inside the core: where one fit gives the models of many settings (the rounds of
boosting, the strength of ridge, of the lasso or of pruning, the number of neighbours, the price of slack) it is shared among them. What the core can't do (a pipeline, a score of one's own,
distributions to draw from) is done by scikit-learn, where it is installed; so are all names of ``sklearn.model_selection`` that are not here.
"""

# Types by name only: numpy's masked arrays and random numbers are loaded when they are needed.
from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ermine import _target
from ermine._elsewhere import handed_over
from ermine._ermine import curve as _curve
from ermine._ermine import search as _search
from ermine._ermine import threads
from ermine._estimator import Classifier, Estimator
from ermine._plain import Bare
from ermine._progress import Bar
from ermine._reduction import only_if
from ermine._scoring import score_by
from ermine._sklearn import not_fitted

__all__ = ["GridSearchCV", "HalvingRandomSearchCV", "RandomizedSearchCV", "cross_val_score", "learning_curve", "validation_curve"]

#: scikit-learn's names of scores: the measure behind each, and whether its sign is turned.
SCORERS: dict[str, tuple[str, bool]] = {
    "accuracy": ("accuracy", False),
    "balanced_accuracy": ("balanced-accuracy", False),
    "f1_macro": ("macro-f1", False),
    "f1_weighted": ("weighted-f1", False),
    "precision_macro": ("macro-precision", False),
    "precision_weighted": ("weighted-precision", False),
    "recall_macro": ("macro-recall", False),
    "recall_weighted": ("weighted-recall", False),
    "matthews_corrcoef": ("mcc", False),
    "neg_log_loss": ("log-loss", True),
    "neg_brier_score": ("brier", True),
    "roc_auc": ("roc-auc", False),
    "average_precision": ("average-precision", False),
    "r2": ("r2", False),
    "neg_mean_squared_error": ("mse", True),
    "neg_root_mean_squared_error": ("rmse", True),
    "neg_mean_absolute_error": ("mae", True),
    "neg_median_absolute_error": ("median-ae", True),
    "neg_mean_poisson_deviance": ("poisson-deviance", True),
    "neg_mean_gamma_deviance": ("gamma-deviance", True),
}


def _scorer(scoring: str | None, estimator: Estimator) -> tuple[str, bool]:
    if scoring is None:
        scoring = "accuracy" if isinstance(estimator, Classifier) else "r2"
    if scoring not in SCORERS:
        raise ValueError(f"scoring={scoring!r} is not known here; there are: {', '.join(SCORERS)}")
    return SCORERS[scoring]


def _check(estimator: Any) -> None:
    if not isinstance(estimator, Estimator):
        raise TypeError(f"{estimator!r} is not an estimator of Ermine; scikit-learn's own search takes any estimator")
    if estimator._functions():
        raise ValueError("functions of one's own are not searched here; scikit-learn's own search takes them")


def _scikit_learn(estimator: Any, scoring: Any, *more: bool) -> Any:
    """``sklearn.model_selection`` where the core can't do what is asked for, or else ``None``."""
    ours = isinstance(estimator, Estimator) and not estimator._functions() and (scoring is None or (isinstance(scoring, str) and scoring in SCORERS))
    if ours and not any(more):
        return None
    try:
        import sklearn.model_selection  # type: ignore[import-untyped]
    except ImportError:
        return None  # what follows says why it can't be done
    return sklearn.model_selection


def _copy(estimator: Estimator, params: Mapping[str, Any]) -> Any:
    return type(estimator)(**estimator.get_params(deep=False)).set_params(**params)


def _splits(cv: Any, X: Any, y: Any) -> Any:
    """A number of folds as it is; else pairs of row numbers."""
    if cv is None:
        return 5
    if isinstance(cv, (int, np.integer)):
        return int(cv)
    pairs = cv.split(X, y) if hasattr(cv, "split") else cv
    return [tuple(np.asarray(rows, dtype=np.uint32).tolist() for rows in pair) for pair in pairs]


def _read(estimator: Estimator, X: Any, y: Any) -> tuple[Any, Any]:
    """The table and the target of the core."""
    table, _ = estimator._read(X)
    if isinstance(estimator, Classifier):
        target, _ = _target.classes(y, table.n_rows)
    else:
        target, _ = _target.values(y, table.n_rows, getattr(estimator, "_multi_output", False))
    return table, target


def _tried(
    estimator: Estimator, X: Any, y: Any, sample_weight: Any, *, settings: list[dict[str, Any]] | None, trials: int = 0, halving: bool = False,
    cv: Any = None, scoring: str | None = None, seed: int = 0, n_jobs: int | None = None, verbose: int = 0,
) -> list[tuple[dict[str, Any], np.ndarray, str | None, float]]:
    """The trials of a search: parameters of the learner, the score of each split, why it was refused, seconds."""
    _check(estimator)
    measure, negated = _scorer(scoring, estimator)
    table, target = _read(estimator, X, y)
    progress = Bar() if verbose else None
    try:
        found = _search(
            estimator._learner, estimator._learner_params(), table, target, _target.weights(sample_weight, table.n_rows),
            settings=settings, trials=trials, halving=halving, splits=_splits(cv, X, y), measure=measure, seed=seed,
            threads=threads(n_jobs), progress=progress,
        )
    finally:
        if progress is not None:
            progress.close()
    sign = -1.0 if negated else 1.0
    return [(json.loads(setting), sign * np.array(folds), refused, seconds) for setting, folds, refused, seconds in found]


def _best_has(name: str) -> Any:
    """A method that is there where the best estimator, or before there is one the searched estimator, has it."""
    return only_if(lambda search: hasattr(search.__dict__.get("best_estimator_", search.estimator), name), f"the estimator has no {name}")


class _SearchCV(Bare):
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
        folds = np.array([folds if len(folds) else np.full(n_splits, np.nan) for _, folds, _, _ in trials]).reshape(len(trials), n_splits)
        means = folds.mean(axis=1) if n_splits else np.full(len(trials), np.nan)
        if not np.isfinite(means).any():
            refused = next((why for _, _, why, _ in trials if why), "there is none")
            raise ValueError(f"no setting could be used: {refused}")
        order = np.where(np.isnan(means), -np.inf, means)
        self.n_splits_ = n_splits
        self.cv_results_ = {
            "params": list(params),
            **{f"param_{name}": _column(name, params) for name in dict.fromkeys(name for one in params for name in one)},
            "mean_test_score": means,
            "std_test_score": folds.std(axis=1),
            "rank_test_score": np.array([1 + int((order > mine).sum()) for mine in order], dtype=np.int32),
            "mean_fit_time": np.array([seconds for _, _, _, seconds in trials]) / max(n_splits, 1),
            **{f"split{i}_test_score": folds[:, i] for i in range(n_splits)},
        }
        self.best_index_ = int(order.argmax())
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(means[self.best_index_])

    def _search_elsewhere(self, theirs: Any, name: str, X: Any, y: Any, sample_weight: Any, **own: Any) -> Self:
        """Searches by scikit-learn, and takes on what it found."""
        search = getattr(theirs, name)(
            self.estimator, **own, scoring=self.scoring, n_jobs=self.n_jobs, refit=self.refit, cv=self.cv, verbose=self.verbose, error_score=self.error_score,
            return_train_score=self.return_train_score, pre_dispatch=self.pre_dispatch,
        )
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        of_best = ("n_features_in_", "feature_names_in_", "classes_")
        self.__dict__.update({name: value for name, value in vars(search).items() if name.endswith("_") and name not in of_best})
        return self

    def _must_be_elsewhere(self) -> bool:
        return bool(self.return_train_score) or self.error_score == "raise" or not isinstance(self.refit, (bool, np.bool_))

    def _refit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.refit:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            start = time.perf_counter()
            self.best_estimator_ = _copy(self.estimator, self.best_params_).fit(X, y, **weights)
            self.refit_time_ = time.perf_counter() - start

    def _best(self) -> Any:
        best = self.__dict__.get("best_estimator_")
        if best is None:
            raise not_fitted(self)
        return best

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the best estimator."""
        return self._best().classes_

    def predict(self, X: Any) -> np.ndarray:
        """What the best estimator predicts."""
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
        """How many columns the best estimator was fitted on."""
        return self._best().n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Their names, where the data had names."""
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
    """Tries every combination of given values by cross-validation, and fits the best on all rows.

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
    pre_dispatch, error_score, return_train_score
        As in scikit-learn, where it searches; ``error_score="raise"`` and ``return_train_score=True`` make it search.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
    best_estimator_ : estimator
    cv_results_ : dict of arrays

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Searches."""
        self.__dict__.pop("scorer_", None)
        theirs = _scikit_learn(self.estimator, self.scoring, self._must_be_elsewhere())
        if theirs is not None:
            return self._search_elsewhere(theirs, "GridSearchCV", X, y, sample_weight, param_grid=self.param_grid)
        grids = [self.param_grid] if isinstance(self.param_grid, Mapping) else list(self.param_grid)
        # The order of scikit-learn: names in the order of the alphabet, the last one running fastest.
        axes = [{name: _listed(grid[name]) for name in sorted(grid)} for grid in grids]
        params = [dict(zip(axis, values)) for axis in axes for values in itertools.product(*axis.values())]
        if not params:
            raise ValueError("param_grid has no settings")
        _check(self.estimator)
        settings = [_copy(self.estimator, one)._learner_params() for one in params]
        trials = _tried(
            self.estimator, X, y, sample_weight, settings=settings, cv=self.cv, scoring=self.scoring, n_jobs=self.n_jobs, verbose=self.verbose
        )
        self._keep(params, trials)
        self._refit(X, y, sample_weight)
        return self


def _listed(values: Any) -> Iterable[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"param_grid: the values of a parameter must be a list or an array, not {values!r}")
    return values


class RandomizedSearchCV(_SearchCV):
    """Tries settings at random, from the ranges that every learner declares for its parameters, and fits the best on all rows.

    Parameters
    ----------
    estimator : estimator
        What is searched. Its own setting is among those that are tried.
    param_distributions : dict, or list of dicts, default=None
        Values or distributions of each parameter to draw from, which is left to scikit-learn; None for the ranges that the learner declares.
    n_iter : int, default=10
        How many settings; along a path (rounds, strengths, neighbours) each is tried with several values.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``.
    random_state : int, default=0
        The seed of the settings.
    """

    _names = (
        "estimator", "param_distributions", "n_iter", "scoring", "n_jobs", "refit", "cv", "verbose", "pre_dispatch", "random_state", "error_score", "return_train_score",
    )
    _halving = False

    def __init__(
        self, estimator: Any, param_distributions: Any = None, *, n_iter: int = 10, scoring: Any = None, n_jobs: int | None = None, refit: Any = True, cv: Any = None,
        verbose: int = 0, pre_dispatch: Any = "2*n_jobs", random_state: Any = 0, error_score: Any = np.nan, return_train_score: bool = False,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Searches."""
        self.__dict__.pop("scorer_", None)
        if self.param_distributions is not None:
            theirs = None if self._halving else _scikit_learn(self.estimator, self.scoring, True)
            if theirs is None:
                raise ValueError(f"param_distributions of {type(self).__name__} need scikit-learn's own search; without them, the ranges that the learner declares are drawn from")
            own = {"param_distributions": self.param_distributions, "n_iter": self.n_iter, "random_state": self.random_state}
            return self._search_elsewhere(theirs, "RandomizedSearchCV", X, y, sample_weight, **own)
        trials = _tried(
            self.estimator, X, y, sample_weight, settings=None, trials=self.n_iter, halving=self._halving, cv=self.cv, scoring=self.scoring,
            seed=self.random_state, n_jobs=self.n_jobs, verbose=self.verbose,
        )
        self._keep([setting for setting, _, _, _ in trials], trials)
        self._refit(X, y, sample_weight)
        return self


class HalvingRandomSearchCV(RandomizedSearchCV):
    """As ``RandomizedSearchCV``, but many settings see few rows, and the best third of them three times as many, until one is left."""

    _halving = True


def cross_val_score(
    estimator: Any, X: Any, y: Any = None, *, scoring: Any = None, cv: Any = None, n_jobs: int | None = None, sample_weight: Any = None, **others: Any,
) -> np.ndarray:
    """The score of each split of a cross-validation, as scikit-learn's function of this name gives it. Other estimators, scores and arguments are left to it.

    >>> from ermine.dummy import DummyRegressor
    >>> [float(s) for s in cross_val_score(DummyRegressor(), [[0.0]] * 4, [1.0, 2.0, 1.0, 2.0], cv=[([0, 1], [2, 3])])]
    [0.0]
    """
    theirs = _scikit_learn(estimator, scoring, bool(others))
    if theirs is not None:
        weights = {} if sample_weight is None else {"params": {"sample_weight": sample_weight} | (others.pop("params", None) or {})}
        return theirs.cross_val_score(estimator, X, y, scoring=scoring, cv=cv, n_jobs=n_jobs, **weights, **others)
    _check(estimator)
    trials = _tried(estimator, X, y, sample_weight, settings=[estimator._learner_params()], cv=cv, scoring=scoring, n_jobs=n_jobs)
    (_, folds, refused, _), = trials
    if refused is not None:
        raise ValueError(refused)
    return folds


def _scored(
    estimator: Estimator, X: Any, y: Any, sample_weight: Any, *, settings: list[dict[str, Any]], shares: list[float] | None, scoring: str | None, cv: Any,
    random_state: int, n_jobs: int | None,
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """For each setting or share: how many rows were learned from, and the scores of each split on learned and on tested rows."""
    measure, negated = _scorer(scoring, estimator)
    table, target = _read(estimator, X, y)
    found = _curve(
        estimator._learner, settings, table, target, _target.weights(sample_weight, table.n_rows), shares=shares, splits=_splits(cv, X, y),
        measure=measure, seed=random_state, threads=threads(n_jobs),
    )
    sign = -1.0 if negated else 1.0
    return [(n, sign * np.array(learned), sign * np.array(tested)) for n, learned, tested in found]


def learning_curve(
    estimator: Any, X: Any, y: Any, *, train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0), cv: Any = None, scoring: Any = None,
    n_jobs: int | None = None, random_state: Any = 0, sample_weight: Any = None, **others: Any,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores by the number of rows learned from: numbers of rows, scores on the rows learned from, scores on the tested rows (a line for each number, a column for each split).

    ``train_sizes`` are shares of the training rows, or numbers of rows. The rows of each size are drawn at random by ``random_state``, smaller ones within larger ones.

    >>> from ermine.dummy import DummyRegressor
    >>> sizes, learned, tested = learning_curve(DummyRegressor(), [[0.0]] * 20, [1.0, 2.0] * 10, train_sizes=[0.5, 1.0], cv=4)
    >>> sizes.tolist(), learned.shape
    ([8, 15], (2, 4))
    """
    theirs = _scikit_learn(estimator, scoring, bool(others))
    if theirs is not None:
        weights = {} if sample_weight is None else {"params": {"sample_weight": sample_weight}}
        return theirs.learning_curve(estimator, X, y, train_sizes=train_sizes, cv=cv, scoring=scoring, n_jobs=n_jobs, random_state=random_state, **weights, **others)
    _check(estimator)
    sizes = np.asarray(train_sizes, dtype=float).ravel()
    if sizes.size == 0 or not np.isfinite(sizes).all():
        raise ValueError("train_sizes must be shares of the rows, or numbers of rows")
    if sizes.max() > 1.0:
        n_folds = _splits(cv, X, y)
        n = len(y)
        # The least number of rows that a split learns from.
        most = n - -(-n // n_folds) if isinstance(n_folds, int) else min(len(train) for train, _ in n_folds)
        if sizes.min() < 1.0 or sizes.max() > most:
            raise ValueError(f"train_sizes must be shares of the rows, or numbers of rows from 1 to {most}")
        sizes = sizes / most
    found = _scored(
        estimator, X, y, sample_weight, settings=[estimator._learner_params()], shares=sizes.tolist(), scoring=scoring, cv=cv,
        random_state=random_state, n_jobs=n_jobs,
    )
    return np.array([n for n, _, _ in found]), np.array([learned for _, learned, _ in found]), np.array([tested for _, _, tested in found])


def validation_curve(
    estimator: Any, X: Any, y: Any, *, param_name: str, param_range: Any, cv: Any = None, scoring: Any = None,
    n_jobs: int | None = None, sample_weight: Any = None, **others: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores by the values of one parameter: on the rows learned from, and on the tested rows (a line for each value, a column for each split).

    >>> from ermine.tree import DecisionTreeRegressor
    >>> x = [[float(i)] for i in range(20)]
    >>> learned, tested = validation_curve(DecisionTreeRegressor(), x, [r[0] ** 2 for r in x], param_name="max_depth", param_range=[1, 8], cv=4)
    >>> learned.shape, bool(learned[1].min() > learned[0].max())
    ((2, 4), True)
    """
    theirs = _scikit_learn(estimator, scoring, bool(others))
    if theirs is not None:
        weights = {} if sample_weight is None else {"params": {"sample_weight": sample_weight}}
        return theirs.validation_curve(estimator, X, y, param_name=param_name, param_range=param_range, cv=cv, scoring=scoring, n_jobs=n_jobs, **weights, **others)
    _check(estimator)
    settings = [_copy(estimator, {param_name: value})._learner_params() for value in param_range]
    if not settings:
        raise ValueError("param_range has no values")
    found = _scored(estimator, X, y, sample_weight, settings=settings, shares=None, scoring=scoring, cv=cv, random_state=0, n_jobs=n_jobs)
    return np.array([learned for _, learned, _ in found]), np.array([tested for _, _, tested in found])


__getattr__ = handed_over("model_selection", __all__)
