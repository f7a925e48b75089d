"""What gradient boosting takes and tells beside its parameters.

Query groups, initial scores, validation sets, custom losses and metrics, checkpoints, continued training; and predictions after each round.
"""

import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ermine import _ranking, _target
from ermine._ermine import Model, Staged, Table, Target, boost, boosted_quantiles, draw_curves, threads
from ermine._ensemble import TreeExplanations
from ermine._estimator import Estimator, LogOddsClassifier, Regressor
from ermine._fallback import COMMON, SklearnOptions
from ermine._progress import Bar
from ermine._reduction import MetaEstimator
from ermine._report import Report

#: What ``fit`` takes beside the data.
EXTRAS = """
        eval_set : (X, y) or (X, y, sample_weight), or a list of such, default=None
            Validation sets for early stopping, instead of a share of the training rows; their loss after each round is in ``validation_loss_``. Of several sets the last decides;
            how the others fare is in ``evals_result_``.
        init_score : array-like of shape (n_samples,) or (n_samples, n_scores), default=None
            Where the scores of the rows start (log odds for two classes, logarithms for Poisson, Gamma and Tweedie losses); the model learns, and predicts, what is to be added.
        eval_init_score : array-like of the same form, default=None
            The same for the rows of ``eval_set``: they need it where there is an ``init_score``. A list of such for several sets.
        init_model : estimator or path, default=None
            A fitted estimator of the same kind, or a model file, to continue training from. Its rounds count toward ``n_estimators``.
        checkpoint : path, default=None
            Where the model is saved every ``checkpoint_every`` rounds; needs ``n_estimators`` or a validation set. ``init_model=path`` continues from there, to the same model.
        checkpoint_every : int, default=10
            See ``checkpoint``.
        objective : callable, default=None
            A loss of your own: ``objective(y, score)`` gives gradient and curvature in the shape of ``score``. Of classes, ``y`` are their codes. Scores start from ``base_score``, or
            from 0 if it is None: the best constant, from which built-in losses start, does not follow from gradients. With the same start the same loss gives the same model.
        eval_metric : callable, default=None
            The metric of early stopping: ``eval_metric(y, prediction)`` returns a number, lower is better. Metrics that have a name are a parameter of the estimator."""


class Boosting(TreeExplanations):
    """What the estimators of gradient boosting share."""

    validation_loss_: np.ndarray
    n_estimators_: int

    def _learner_params(self) -> dict[str, Any]:
        """The parameters, with those of scikit-learn's gradient boosting translated."""
        params = super()._learner_params()
        if params["n_estimators"] == "auto":
            params["n_estimators"] = 0
        monotone = getattr(self, "monotone_constraints", ())
        if isinstance(monotone, Mapping):
            params["monotone_constraints"] = [f"{column}={direction}" for column, direction in monotone.items()]
        features, rounds, alpha = (getattr(self, name, None) for name in ("max_features", "n_iter_no_change", "alpha"))
        for name, value, ours, usual in (("max_features", features, "colsample_bynode", 1.0), ("n_iter_no_change", rounds, "early_stopping_rounds", None), ("alpha", alpha, "quantile_alpha", (0.5,))):
            if value is not None and params[ours] != usual:
                raise ValueError(f"{name}={value!r} and {ours}={params[ours]!r} say the same thing twice")
        if features is not None:
            params["colsample_bynode"] = self._share_of_columns(features, self._n_columns)
        if rounds is not None:
            params["early_stopping_rounds"] = rounds
        if alpha is not None and params["loss"] == "huber":
            raise ValueError("alpha is the quantile of loss='quantile'; loss='huber' has huber_slope")
        if alpha is not None and params["loss"] == "quantile":
            params["quantile_alpha"] = [alpha]
        return params

    def _share_of_columns(self, most: Any, n: int) -> float:
        """The share of ``n`` columns that ``max_features`` is."""
        count = {"sqrt": n**0.5, "log2": np.log2(n)}.get(most) if isinstance(most, str) else most * n if isinstance(most, (float, np.floating)) and 0 < most <= 1 else most
        if isinstance(most, bool) or not isinstance(count, (int, float, np.integer, np.floating)) or not 1 <= max(1, count) <= n or count <= 0:
            raise ValueError(f"The 'max_features' parameter of {type(self).__name__} must be None, 'sqrt', 'log2', a whole number from 1 to {n} or a share up to 1. Got {most!r} instead.")
        return max(1, int(count)) / n

    #: How many columns the data has that is being fitted.
    _n_columns = 1

    @property
    def estimators_(self) -> np.ndarray:
        """The trees, as an array of regressors of shape (n_estimators_, n_trees_per_iteration_), made on access.

        Their predictions, which include the learning rate, and the initial score sum to the decision function or the predicted value. If a column has so many categories that it
        is encoded by target statistics (``min_cat_to_statistic``), there are no separate trees.
        """
        trees = MetaEstimator._made_members(self)  # type: ignore[arg-type]
        if not trees:
            raise AttributeError(f"{type(self).__name__!r} has no estimators_ where a column of many categories was seen by its mean targets")
        return np.array(trees, dtype=object).reshape(self.n_estimators_, -1)

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """The metric after each round, by the number of the ``eval_set`` and the name of the metric; empty without a validation set.

        Of the set that decides on early stopping, all rounds that were tried, as ``validation_loss_`` has them; of others those that the model has.
        """
        header = json.loads(self._fitted().header())
        losses = self.validation_loss_.tolist()
        histories = [*header.get("notes", {}).get("python", {}).get("other_sets", []), losses] if losses else []
        return {f"validation_{number}": {header["params"]["eval_metric"]: history} for number, history in enumerate(histories)}

    @property
    def n_trees_per_iteration_(self) -> int:
        """Number of trees per round: one, or one for each of more than two classes, each target or each quantile."""
        return len(json.loads(self._fitted().export("json"))["sections"]["start"])

    @property
    def max_features_(self) -> int:
        """Number of features that each split considers."""
        self._fitted()
        most = getattr(self, "max_features", None)
        return self.n_features_in_ if most is None else round(self._share_of_columns(most, self.n_features_in_) * self.n_features_in_)

    def _grow(self, table: Table, names: list[str] | None, target: Target, sample_weight: Any, note: dict[str, Any], extras: dict[str, Any]) -> Model:
        progress = Bar() if self.verbose else None
        self._n_columns = table.n_columns
        if getattr(self, "warm_start", False) and extras["model"] is None:
            extras["model"] = self.__dict__.get("_model")
        try:
            params = self._learner_params()
            return self._with_sklearn_errors(boost)(
                params, table, target, _target.weights(sample_weight, table.n_rows), extras,
                seed=self._seed(), threads=threads(self.n_jobs), note=self._note(names, params, note), progress=progress, callback=self._callback(),
            )
        finally:
            self.__dict__.pop("_n_columns", None)
            if progress is not None:
                progress.close()

    def _extras(self, table: Table, init_score: Any, init_model: Any, checkpoint: Any, checkpoint_every: int, objective: Any, eval_metric: Any) -> dict[str, Any]:
        for name, function in (("objective", objective), ("eval_metric", eval_metric)):
            if function is not None and not callable(function):
                named = f"; a measure by its name is a parameter: {type(self).__name__}(eval_metric={function!r})" if isinstance(function, str) and name == "eval_metric" else ""
                raise TypeError(f"{name} must be a function, not {function!r}{named}")
        if checkpoint is not None and (not isinstance(checkpoint_every, (int, np.integer)) or checkpoint_every < 1):
            raise ValueError(f"checkpoint_every == {checkpoint_every!r}, must be a whole number from 1")
        return {
            "init_score": _init_score(init_score, table),
            "model": _model(init_model),
            "checkpoint": None if checkpoint is None else (os.fspath(checkpoint), int(checkpoint_every)),
            "objective": objective,
            "metric": eval_metric,
        }

    def _picture(self) -> str | None:
        """The loss on the validation set after each round, as an SVG picture; None without a validation set."""
        loss = self.validation_loss_ if self._fitted() else np.empty(0)
        if not len(loss):
            return None
        rounds = np.arange(1, len(loss) + 1, dtype=np.float64)
        return draw_curves("on the validation set", ("round", "loss"), [("", rounds.tolist(), loss.tolist())])

    def _sets(self, eval_set: Any, make: Callable[[Any, Table], Target], **beside: Any) -> list[tuple[Any, ...]] | None:
        """The validation sets: table, target, weight, queries, initial scores. ``make`` makes the target of a table."""
        if eval_set is None:
            for name, value in beside.items():
                if value is not None:
                    raise ValueError(f"{name} belongs to an eval_set, and there is none")
            return None
        # One set, or a list of sets, as other libraries take it.
        several = isinstance(eval_set, list) and bool(eval_set) and all(isinstance(one, (tuple, list)) and len(one) in (2, 3) for one in eval_set)
        sets = []
        for number, one in enumerate(eval_set if several else [eval_set]):
            if not isinstance(one, (tuple, list)) or len(one) not in (2, 3):
                raise ValueError("eval_set must be (X, y) or (X, y, sample_weight), or a list of such")
            of_set = {name: self._of_set(name, value, number, len(eval_set) if several else 1) for name, value in beside.items()}
            X, y, *weight = one
            rows, _ = self._read(X)
            queries = _ranking.queries(of_set["eval_group"], of_set["eval_qid"], rows.n_rows) if "eval_group" in of_set else None
            sets.append((rows, make(y, rows), _target.weights((weight or [None])[0], rows.n_rows), queries, _init_score(of_set["eval_init_score"], rows)))
        return sets

    def _of_set(self, name: str, value: Any, number: int, n_sets: int) -> Any:
        """What belongs to one of several sets: a list has one for each."""
        if value is None or n_sets == 1 and not (isinstance(value, list) and len(value) == 1 and np.ndim(value[0]) > 0):
            return value
        if not isinstance(value, list) or len(value) != n_sets:
            raise ValueError(f"{name} must be a list with one entry for each of the {n_sets} sets of eval_set")
        return value[number]

    def _rounds(self, X: Any) -> Iterator[np.ndarray]:
        return Staged(self._fitted(), self._table(X))


def _init_score(scores: Any, table: Table) -> np.ndarray | None:
    """The scores that rows start from, row by row."""
    if scores is None:
        return None
    scores = np.require(np.asarray(scores), np.float64, ["C", "A"])
    _target.check_rows(table.n_rows, len(scores) if scores.ndim else 1)
    return scores.reshape(-1)


def _model(source: Any) -> Model | None:
    """The model behind an estimator or a path."""
    if source is None:
        return None
    return source._fitted() if isinstance(source, Estimator) else Model.load(os.fspath(source))


class BoostingOptions(SklearnOptions):
    """Gradient boosting with options that only scikit-learn's class of the same name has."""

    def _needs_sklearn(self) -> bool:
        state, usual = self.__dict__, inspect.signature(type(self).__init__).parameters
        return state.get("loss") == "exponential" or any(name in state and state[name] is not usual[name].default and state[name] != usual[name].default for name in SKLEARN_OPTIONS)

    def _fit_by_sklearn(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> bool:
        """Fits scikit-learn's class if only it can, and returns whether it did."""
        self.__dict__.pop("_delegate", None)
        if not self._needs_sklearn():
            return False
        if given := [name for name, value in extras.items() if value is not None]:
            raise ValueError(f"{', '.join(given)} can't be used here, because scikit-learn fits this model")
        self._fit_delegate(X, y, sample_weight)
        return True

    def _delegate_params(self, params: dict[str, Any]) -> dict[str, Any]:
        # Defaults differ: what was not given stays as it is in scikit-learn.
        usual = inspect.signature(type(self).__init__).parameters
        return {name: value for name, value in params.items() if name in COMMON or value is not usual[name].default and value != usual[name].default}


#: Parameters of scikit-learn's gradient boosting that are not translated.
SKLEARN_OPTIONS = ("init", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease", "ccp_alpha", "tol")


class BoostingClassifier(BoostingOptions, Boosting, LogOddsClassifier):
    """Gradient boosting for classification."""

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, init_score: Any = None, eval_init_score: Any = None, init_model: Any = None,
        checkpoint: "str | os.PathLike[str] | None" = None, checkpoint_every: int = 10, objective: Callable[..., Any] | None = None,
        eval_metric: Callable[..., float] | None = None,
    ) -> Self:
        """Fits the classifier to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,)
            The class labels: numbers, strings or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights."""
        if self._fit_by_sklearn(X, y, sample_weight, eval_set=eval_set, init_score=init_score, init_model=init_model, checkpoint=checkpoint, objective=objective, eval_metric=eval_metric):
            return self
        self._require_y(y)
        table, names = self._read(X)
        target, classes = _target.classes(y, table.n_rows)
        extras = self._extras(table, init_score, init_model, checkpoint, checkpoint_every, objective, eval_metric)
        extras["validation"] = self._sets(eval_set, lambda y, rows: _known_classes(y, classes, rows.n_rows), eval_init_score=eval_init_score)
        model = self._grow(table, names, target, sample_weight, {"labels": classes.dtype.str}, extras)
        self.classes_ = classes
        self._adopt(model, table.n_columns, names)
        return self

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf of each row in each tree, as an array of shape (n_samples, n_estimators_, n_trees_per_iteration_)."""
        leaves = super().apply(X)
        return leaves.reshape(len(leaves), self.n_estimators_, -1)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predicted probabilities after each round."""
        return self._rounds(X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predicted classes after each round."""
        return (self.classes_.take(stage.argmax(axis=1)) for stage in self._rounds(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the decision function after each round: the log odds of the second of two classes, or the log probabilities of more."""
        for stage in self._rounds(X):
            with np.errstate(divide="ignore"):
                logs = np.log(stage)
            yield logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs


def _known_classes(y: Any, classes: np.ndarray, n_rows: int) -> Target:
    """Labels as codes into the classes of the training rows."""
    labels = _target.labels_like(y)
    _target.check_rows(n_rows, len(labels))
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    if (classes[codes] != labels).any():
        raise ValueError("eval_set has classes that y doesn't have")
    return Target.classes(codes.astype(np.uint32), [_target.label_text(label) for label in classes.tolist()], "y")


class BoostingRegressor(BoostingOptions, Boosting, Regressor):
    """Gradient boosting for regression."""

    loss: str
    quantile_alpha: Sequence[float]

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, init_score: Any = None, eval_init_score: Any = None, init_model: Any = None,
        checkpoint: "str | os.PathLike[str] | None" = None, checkpoint_every: int = 10, objective: Callable[..., Any] | None = None,
        eval_metric: Callable[..., float] | None = None,
    ) -> Self:
        """Fits the regressor to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights."""
        if self._fit_by_sklearn(X, y, sample_weight, eval_set=eval_set, init_score=init_score, init_model=init_model, checkpoint=checkpoint, objective=objective, eval_metric=eval_metric):
            return self
        self._require_y(y)
        table, names = self._read(X)
        target, n_dimensions = _target.values(y, table.n_rows, self._multi_output)
        extras = self._extras(table, init_score, init_model, checkpoint, checkpoint_every, objective, eval_metric)
        extras["validation"] = self._sets(eval_set, lambda y, rows: _target.values(y, rows.n_rows, self._multi_output)[0], eval_init_score=eval_init_score)
        model = self._grow(table, names, target, sample_weight, {"y_dimensions": n_dimensions}, extras)
        self._flat = n_dimensions == 1
        self._adopt(model, table.n_columns, names)
        return self

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predictions after each round."""
        return (stage[:, 0] if self._flat else stage for stage in self._rounds(X))

    def predict_quantiles(self, X: Any) -> np.ndarray:
        """All quantiles of ``quantile_alpha`` for each row, in their order, as an array of shape (n_samples, n_quantiles). They never cross."""
        model = self._fitted()
        table = self._read_like_fitted(X)
        shares = json.loads(model.header())["params"]["quantile_alpha"]
        ascending = boosted_quantiles(model, table)
        if self.loss != "quantile" or ascending.shape[1] != len(shares):
            raise ValueError("predict_quantiles needs loss='quantile'")
        return ascending[:, np.argsort(np.argsort(shares, kind="stable"), kind="stable")]


class BoostingRanker(Boosting):
    """Gradient boosting for ranking within queries."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None, qid: Any = None, eval_set: Any = None, eval_group: Any = None,
        eval_qid: Any = None, init_score: Any = None, eval_init_score: Any = None, init_model: Any = None, checkpoint: "str | os.PathLike[str] | None" = None,
        checkpoint_every: int = 10, eval_metric: Callable[..., float] | None = None, objective: Callable[..., Any] | None = None,
    ) -> Self:
        """Fits the ranker to the training data.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The features. Categorical, boolean and missing values need no encoding.
        y : array-like of shape (n_samples,)
            The relevance of each row to its query: 0 for irrelevant, higher for more relevant.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each query: that of its first row.
        group : array-like of shape (n_queries,), default=None
            How many rows each query has; rows stand query by query.
        qid : array-like of shape (n_samples,), default=None
            The query of each row: whole numbers, in any order. One of ``group`` and ``qid`` is needed.
        eval_group, eval_qid : default=None
            The same for the rows of ``eval_set``; a list of such for several sets."""
        self._require_y(y)
        table, names = self._read(X)
        target = _ranking.relevance(y, table.n_rows)
        extras = self._extras(table, init_score, init_model, checkpoint, checkpoint_every, objective, eval_metric)
        extras["group"] = _ranking.queries(group, qid, table.n_rows)
        extras["validation"] = self._sets(
            eval_set, lambda y, rows: _ranking.relevance(y, rows.n_rows), eval_init_score=eval_init_score, eval_group=eval_group, eval_qid=eval_qid,
        )
        model = self._grow(table, names, target, sample_weight, {}, extras)
        self._adopt(model, table.n_columns, names)
        return self

    def _truth(self, y: Any, n_rows: int) -> Target:
        return _ranking.relevance(y, n_rows)

    def report(  # type: ignore[override]
        self, X: Any, y: Any, *, group: Any = None, qid: Any = None, sample_weight: Any = None, random_state: int = 0,
    ) -> Report:
        """Evaluates the fitted model on a test set, as other estimators do; ``group`` or ``qid`` give the query of each row."""
        return self._report(X, y, sample_weight, _ranking.queries(group, qid, len(np.asarray(y))), random_state)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted score of each row; within a query, higher is more relevant."""
        return self._predict(X, "numbers")[:, 0]

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predicted scores after each round."""
        return (stage[:, 0] for stage in self._rounds(X))

    def score(self, X: Any, y: Any, *, group: Any = None, qid: Any = None) -> float:
        """The mean NDCG of the first 10 rows over the queries with relevant rows."""
        scores = self.predict(X)
        return _ranking.mean_ndcg(scores, y, _ranking.queries(group, qid, len(scores)))

    def _restore(self, model: Model, header: dict[str, Any], note: dict[str, Any]) -> None:
        pass


for _cls in (BoostingClassifier, BoostingRegressor, BoostingRanker):
    _cls.fit.__doc__ = f"{_cls.fit.__doc__ or ''}{EXTRAS}\n\n        Returns\n        -------\n        self\n            The fitted estimator.\n        "
