"""Estimators that ask only which of two rows is nearer, by any metric."""

from typing import Any

from ermine._estimator import Estimator


class Comparisons(Estimator):
    """Takes a function for ``metric``: the distance of two rows of numbers (standardised, categories as 0/1 columns). Such a model can't be saved."""

    def _own(self) -> dict[str, Any]:
        metric = self.__dict__.get("metric")
        return {"metric": metric} if callable(metric) else {}

    def _learner_params(self) -> dict[str, Any]:
        return {name: value for name, value in super()._learner_params().items() if name not in self._own()}
