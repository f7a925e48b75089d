"""The best model for a table, without choosing a learner."""

from typing import Any

from ermine._cross_validated import CrossValidated
from ermine._reduction import MetaEstimator


class AutoMethods(MetaEstimator):
    """The leaderboard of a run, and the reason for its choice."""

    def _summary(self) -> dict[str, Any]:
        return self._cached("summary", lambda: self._sections()["summary"])

    @property
    def leaderboard_(self) -> list[dict[str, Any]]:
        """The candidates, the best first: estimator, out-of-fold score, weight in the ensemble, and a note if it has no score."""
        return self._summary()["leaderboard"]

    @property
    def choice_(self) -> str:
        """What was chosen, and why."""
        return self._summary()["choice"]


class AutoWithFolds(CrossValidated, AutoMethods):
    """Also accepts a scikit-learn splitter or pairs of row numbers as ``cv``; rankers are split by query instead."""

    def _folds(self) -> dict[str, Any]:
        return super()._folds() if self._gives_folds() else {}
