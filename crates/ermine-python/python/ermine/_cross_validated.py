"""Estimators that choose or calibrate by cross-validation, on folds of scikit-learn or of the user's."""

from typing import Any, Self

import numpy as np

from ermine._estimator import Estimator
from ermine._fallback import AnyEstimator, SklearnOptions
from ermine._linear import CoordinateDescentMethods


def fold_of_rows(cv: Any, X: Any, y: Any, n_rows: int) -> np.ndarray:
    """The fold of each row, from a splitter or pairs of row numbers."""
    fold = np.full(n_rows, -1)
    for k, (_, test) in enumerate(cv.split(X, y) if hasattr(cv, "split") else cv):
        rows = np.asarray(test)
        if (fold[rows] >= 0).any():
            raise ValueError(f"cv = {cv!r}: a row is tested twice, but each row belongs to one fold")
        fold[rows] = k
    if (fold < 0).any():
        raise ValueError(f"cv = {cv!r}: {int((fold < 0).sum())} rows are never tested, but each row belongs to one fold")
    return fold.astype(np.uint32)


class CrossValidated(Estimator):
    """An estimator whose ``cv`` is a number of folds, a splitter of scikit-learn, or pairs of row numbers to learn from and to test on."""

    cv: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        if self._gives_folds() and y is not None:
            self._fold_of_rows = fold_of_rows(self.cv, X, y, len(y))
        try:
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        finally:
            self.__dict__.pop("_fold_of_rows", None)

    def _gives_folds(self) -> bool:
        return not isinstance(self.cv, str) and (hasattr(self.cv, "split") or hasattr(self.cv, "__iter__"))

    def _folds(self) -> dict[str, Any]:
        if "_fold_of_rows" in self.__dict__:
            return {"folds": self._fold_of_rows}
        number = 5 if self.cv is None else self.cv
        return {"folds": int(number)} if isinstance(number, (int, np.integer)) and number > 1 else {}

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        return {name: value for name, value in params.items() if name != "cv"} if self._gives_folds() else params


class RidgeCVMethods(SklearnOptions):
    """Ridge regression that leaves each row out once; or, with ``cv``, folds of rows, as a search over Ridge does. Errors of single rows come from scikit-learn's class."""

    alphas: Any
    cv: Any
    scoring: Any
    cv_errors_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.__dict__.pop("_searched", None)
        if self.cv is not None and not self._needs_sklearn():
            self._searched = self._search(X, y, sample_weight)
        return super().fit(X, y, sample_weight)  # type: ignore[misc]

    def _needs_sklearn(self) -> bool:
        state = self.__dict__
        of_rows = state.get("cv") is None and (state.get("scoring") is not None or state.get("alpha_per_target"))
        return bool(of_rows or state.get("store_cv_results"))

    def _search(self, X: Any, y: Any, sample_weight: Any) -> tuple[float, float]:
        """The best strength by cross-validation, and its score."""
        from ermine.linear_model import Ridge
        from ermine.model_selection import GridSearchCV

        same = {name: getattr(self, name) for name in ("fit_intercept", "standardize", "degree", "interaction_only", "n_jobs", "verbose")}
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64)).tolist()
        search = GridSearchCV(Ridge(**same), {"alpha": alphas}, cv=self.cv, scoring=self.scoring, n_jobs=self.n_jobs, refit=False)
        search.fit(X, y, sample_weight)
        return search.best_params_["alpha"], search.best_score_

    def _learner_params(self) -> dict[str, Any]:
        self._refuse("alpha_per_target", (False,), "with cv one alpha is chosen for all targets")
        params = super()._learner_params()
        return params | ({"alphas": [self._searched[0]]} if "_searched" in self.__dict__ else {})

    @property
    def best_score_(self) -> float:
        """The score of the best penalty strength: the negative leave-one-out error, or with ``cv`` the mean score of the folds. Higher is better."""
        self._fitted()
        return float(self._searched[1]) if "_searched" in self.__dict__ else -float(np.min(self.cv_errors_))


class CoordinateDescentCVMethods(CrossValidated, CoordinateDescentMethods):
    """A linear model whose penalty is chosen by cross-validation."""

    alphas: Any

    def _needs_sklearn(self) -> bool:
        # A path of one strength.
        return super()._needs_sklearn() or self.__dict__.get("eps") == 1

    def _learner_params(self) -> dict[str, Any]:
        params = super()._learner_params()
        if isinstance(params.get("l1_ratio"), (int, float, np.number)):
            params["l1_ratio"] = [float(params["l1_ratio"])]
        alphas = params.pop("alphas", None)
        if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
            return params | {"n_alphas": int(alphas)}
        return params | {"alphas": [] if alphas is None else np.asarray(alphas, dtype=np.float64).ravel().tolist()}


class CalibratedMethods(AnyEstimator, CrossValidated):
    """An estimator whose probabilities are calibrated on held-out rows."""

    ensemble: Any
    # As in scikit-learn.
    _default_estimator = "linear-svc"

    def _sklearn_options(self) -> bool:
        """One model for each fold."""
        return self.ensemble is True

    def _learner_params(self) -> dict[str, Any]:
        self._refuse("ensemble", ("auto", True, False), "True fits one model per fold")
        if isinstance(self.cv, str):
            raise ValueError(
                f"The 'cv' parameter of {type(self).__name__} must be a number of folds, a splitter, or pairs of row indices. Got {self.cv!r} instead. "
                "CalibratedClassifierCV(FrozenEstimator(model)) calibrates a model that is already fitted."
            )
        return super()._learner_params()
