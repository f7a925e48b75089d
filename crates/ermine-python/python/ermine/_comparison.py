"""Estimators that ask only which of two rows is nearer, by any metric."""

from typing import Any

from ermine._estimator import Estimator


class ComparisonMethods(Estimator):
    """Takes a function for ``metric``: the distance of two rows of numbers (standardized, categories as 0/1 columns). Such a model can't be saved."""

    def _function_params(self) -> dict[str, Any]:
        metric = self.__dict__.get("metric")
        return {"metric": metric} if callable(metric) else {}

    def _learner_params(self) -> dict[str, Any]:
        return {name: value for name, value in super()._learner_params().items() if name not in self._function_params()}
