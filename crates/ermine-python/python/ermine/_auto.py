"""The best model for a table, without choosing a learner."""

from typing import Any

from ermine._cross_validated import CrossValidated
from ermine._reduction import MetaEstimator


class AutoMethods(MetaEstimator):
    """What a run tried, what it chose and why."""

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
    """The same with folds of the user's: rankers have theirs by query."""

    def _folds(self) -> dict[str, Any]:
        return super()._folds() if self._gives_folds() else {}
