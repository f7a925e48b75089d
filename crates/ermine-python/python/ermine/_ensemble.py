"""What estimators made of many parts can tell: their parts, what the first of them say, leaves, quantiles, SHAP values."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from ermine import _ermine, _target
from ermine._ermine import Table
from ermine._estimator import Classifier, Estimator, Regressor
from ermine._fallback import AnyEstimator, SklearnOptions
from ermine._reduction import MetaEstimator
from ermine._sklearn import warn
from ermine._tree import paths, tree_arrays


class EnsembleMethods(Estimator):
    """Reads data for what the parts tell."""

    def _table(self, X: Any) -> Table:
        self._fitted()
        table = self._read_like_fitted(X)
        return table

    def _stages(self, X: Any, wanted: str) -> Iterator[np.ndarray]:
        return iter(_ermine.stages(self._fitted(), self._table(X), wanted))


class TreeExplanations(EnsembleMethods):
    """An estimator that is a sum of trees."""

    def shap_values(self, X: Any) -> np.ndarray:
        """Exact SHAP values: the contribution of each feature to the prediction of each row.

        They sum to the difference between the prediction for a row and ``expected_value_``. They explain the probabilities of a forest, the votes of boosted stumps, and numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows to explain.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_features, n_outputs) where several numbers are predicted
            The SHAP values.
        """
        values, _ = _ermine.shap(self._fitted(), self._table(X), self.n_jobs)
        return values[:, :, 0] if values.shape[2] == 1 else values

    def shap_interaction_values(self, X: Any) -> np.ndarray:
        """Exact SHAP interaction values: the contribution of each pair of features to the prediction of each row.

        The values of a feature sum to its SHAP value; the diagonal contains its main effect.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows to explain.

        Returns
        -------
        ndarray of shape (n_samples, n_features, n_features), or (n_samples, n_features, n_features, n_outputs) where several numbers are predicted
            The SHAP interaction values.
        """
        values = _ermine.shap_interactions(self._fitted(), self._table(X), self.n_jobs)
        return values[..., 0] if values.shape[3] == 1 else values

    def tree_importances(self, kind: str = "gain") -> np.ndarray:
        """Feature importances from the splits: total ``"gain"`` (as fractions), training weight (``"cover"``) or number of splits (``"count"``)."""
        return self._fitted().tree_importances(kind)

    def shap_importances(self, X: Any) -> np.ndarray:
        """The mean absolute SHAP value of each column, summed over the outputs, as an array of shape (n_features,)."""
        values, _ = _ermine.shap(self._fitted(), self._table(X), self.n_jobs)
        return np.abs(values).mean(axis=0).sum(axis=1)

    @property
    def expected_value_(self) -> np.ndarray:
        """The expected value of the prediction, from which SHAP values start."""
        unknown = np.full((1, self.n_features_in_), np.nan)
        _, expected = _ermine.shap(self._fitted(), self._read(unknown)[0], 1)
        return expected

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf of each row in each tree, as an array of shape (n_samples, n_trees)."""
        return _ermine.leaves(self._fitted(), self._table(X), self.n_jobs)


class MemberEnsemble(EnsembleMethods, MetaEstimator):
    """An estimator whose members all learn the same."""

    def _learner_params(self) -> dict[str, Any]:
        member = self.__dict__.get("estimator")
        for ours, other, what in ((Classifier, Regressor, "classes"), (Regressor, Classifier, "numbers")):
            if isinstance(self, ours) and isinstance(member, other):
                raise ValueError(f"{type(self).__name__} is for {what}: its estimator can't be {type(member).__name__}")
        if getattr(self, "warm_start", False) and "_model" in self.__dict__ and len(self.estimators_) == self.n_estimators:  # type: ignore[attr-defined]
            warn("UserWarning", "Warm-start fitting without increasing n_estimators does not fit new trees.")
        return super()._learner_params()

    def _made_members(self) -> list[Any]:
        members = super()._made_members()
        if isinstance(classes := self.__dict__.get("classes_"), np.ndarray):
            for member in members:
                member.classes_ = classes
        return members

    def __len__(self) -> int:
        """The number of members."""
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        """The fitted member of this index."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """The fitted members, one after the other."""
        return iter(self.estimators_)


class BaggingMethods(AnyEstimator, MemberEnsemble):
    """Members on rows and columns drawn at random."""

    _default_estimator = "decision-tree"

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The column indices that each member was trained on."""
        model = self._fitted()
        place = {name: j for j, name in enumerate(_column_names(model))}
        return [np.array([place[name] for name in _column_names(part)]) for part in _ermine.members(model)]


def _column_names(model: _ermine.Model) -> list[str]:
    return [feature["name"] for feature in json.loads(model.header())["schema"]["features"]]


class ForestMethods(TreeExplanations, MemberEnsemble):
    """A forest."""

    oob_score: Any
    oob_score_: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        super().fit(X, y, sample_weight)  # type: ignore[misc]
        if callable(self.oob_score):
            self.oob_score_ = float(self.oob_score(_target.labels_like(y) if np.ndim(y) == 1 else np.asarray(y), self._out_of_bag()))
        return self

    def _out_of_bag(self) -> np.ndarray:
        """The prediction for each training row by the trees that were not trained on it."""
        if "oob_prediction_" in self.__dict__ and "_n_classes" not in self.__dict__:
            return self.oob_prediction_  # type: ignore[attr-defined]
        if "oob_decision_function_" in self.__dict__:
            return self.classes_.take(np.nan_to_num(self.oob_decision_function_).argmax(axis=1))  # type: ignore[attr-defined]
        parts = np.split(np.nan_to_num(self.oob_prediction_), np.cumsum(self._n_classes)[:-1], axis=1)  # type: ignore[attr-defined]
        return np.column_stack([classes.take(part.argmax(axis=1)) for classes, part in zip(self.classes_, parts)])  # type: ignore[attr-defined]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The training rows of each tree, as often as they were drawn. They are drawn again from the random seed, and not stored."""
        header = json.loads(self._fitted().header())
        n_rows, params = header["n_rows"], header["params"]
        if not params["bootstrap"]:
            return [np.arange(n_rows, dtype=np.int32) for _ in range(len(self))]  # type: ignore[arg-type]
        share = params.get("max_samples")
        n_draws = n_rows if share is None else share if isinstance(share, int) else min(max(math.ceil(n_rows * share), 1), n_rows)
        return [_ermine.bootstrap_rows(header["seed"], tree, n_rows, n_draws) for tree in range(len(self))]  # type: ignore[arg-type]

    def _functions(self) -> list[str]:
        return [name for name in super()._functions() if name != "oob_score"]

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        return params | ({"oob_score": True} if callable(params["oob_score"]) else {})

    def decision_path(self, X: Any) -> tuple[Any, np.ndarray]:
        """The decision path of each row in all trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        indicator : sparse matrix of shape (n_samples, n_nodes)
            1 for each node on the path of a row; the nodes of the trees are concatenated.
        n_nodes_ptr : ndarray of shape (n_trees + 1,)
            The first node of each tree.
        """
        from scipy.sparse import hstack  # type: ignore[import-untyped]

        leaves = self.apply(X)
        trees = [tree_arrays(model) for model in _ermine.members(self._fitted())]
        ways = hstack([paths(tree, leaves[:, t]) for t, tree in enumerate(trees)]).tocsr()
        return ways, np.cumsum([0, *(tree.node_count for tree in trees)])

    def _picture(self) -> str | None:
        """What the columns are worth to all splits, as an SVG picture; of as many as fit on a page."""
        self._fitted()
        names = self.__dict__.get("feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        order = np.argsort(-self.feature_importances_, kind="stable")[:20]  # type: ignore[attr-defined]
        return _ermine.draw_bars("share in what all splits gain", [(str(names[j]), float(self.feature_importances_[j]), 0.0) for j in order])  # type: ignore[attr-defined]

    def proximity(self, X: Any) -> np.ndarray:
        """The proximity of rows: the fraction of trees in which two rows end in the same leaf, as an array of shape (n_samples, n_samples)."""
        return _ermine.proximity(self._fitted(), self._table(X), self.n_jobs)


class RegressionTreeOptions(SklearnOptions):
    """Trees of numbers. Monotonic constraints of the absolute error are scikit-learn's."""

    criterion: Any
    monotonic_cst: Any

    def _needs_sklearn(self) -> bool:
        state = self.__dict__
        return state.get("criterion") == "absolute_error" and state.get("monotonic_cst") is not None and bool(np.any(state["monotonic_cst"]))


class RegressionForestMethods(RegressionTreeOptions, ForestMethods):
    """A forest of numbers, which can predict quantiles."""

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target, from the training rows in the leaves of each row. Needs ``quantiles=True`` in training.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows to predict for.
        quantiles : sequence of floats from 0 to 1, default=(0.05, 0.5, 0.95)
            Their levels.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles)
            The least number that has at least that share of the weight up to it.
        """
        levels = [float(level) for level in np.atleast_1d(np.asarray(quantiles, dtype=np.float64))]
        return _ermine.quantiles(self._fitted(), self._table(X), levels, self.n_jobs)


class AdaBoostRegressorMethods(AnyEstimator, MemberEnsemble):
    """Boosted regressors, round by round."""

    # As in scikit-learn.
    _default_estimator = "decision-tree(max_depth=3)"

    @property
    def feature_importances_(self) -> np.ndarray:
        """The normalized total gain of each feature, weighted by the votes of the rounds, if the base estimator has feature importances."""
        votes = self._fitted().attributes()["estimator_weights"]
        return np.average([part.feature_importances_ for part in self.estimators_], axis=0, weights=votes)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predictions after each round."""
        return (numbers[:, 0] for numbers in self._stages(X, "numbers"))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yields R squared after each round."""
        true = np.asarray(y, dtype=np.float64)
        weights = _target.weights(sample_weight, len(true))
        spread = np.average((true - np.average(true, weights=weights)) ** 2, weights=weights)
        for predicted in self.staged_predict(X):
            yield float(1 - np.average((true - predicted) ** 2, weights=weights) / spread)


class AdaBoostClassifierMethods(AnyEstimator, TreeExplanations, MemberEnsemble):
    """Boosted classifiers, round by round."""

    _default_estimator = "decision-stump"

    def decision_function(self, X: Any) -> np.ndarray:
        """Half the log odds of the second of two classes; of more classes, half the logarithm of each probability."""
        return self._decision(self.predict_proba(X))  # type: ignore[attr-defined]

    @staticmethod
    def _decision(probabilities: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            halves = 0.5 * np.log(probabilities)
        return halves[:, 1] - halves[:, 0] if halves.shape[1] == 2 else halves

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predicted classes after each round."""
        return (self.classes_.take(codes) for codes in self._stages(X, "classes"))  # type: ignore[attr-defined]

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the predicted probabilities after each round."""
        return self._stages(X, "numbers")

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yields the decision function after each round."""
        return (self._decision(probabilities) for probabilities in self._stages(X, "numbers"))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yields the accuracy after each round."""
        true = _target.labels_like(y)
        weights = _target.weights(sample_weight, len(true))
        for predicted in self.staged_predict(X):
            _target.check_rows(len(predicted), len(true))
            yield float(np.average(predicted == true, weights=weights))
