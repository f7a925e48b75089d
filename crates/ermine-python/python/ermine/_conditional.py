"""Methods that an estimator has only under a condition, as scikit-learn's ``available_if`` makes them."""

from collections.abc import Callable
from types import MethodType
from typing import Any


class ConditionalMethod:
    """A method that is there only under a condition: without it there is no such attribute, which is how scikit-learn finds out what an estimator can do."""

    def __init__(self, can: Callable[[Any], bool], why_not: str, method: Callable[..., Any]) -> None:
        self.can, self.why_not, self.method = can, why_not, method
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        if owner is None:
            return self.method
        if not self.can(owner):
            raise AttributeError(f"This {type(owner).__name__!r} has no attribute {self.method.__name__!r}: {self.why_not}")
        return MethodType(self.method, owner)


def available_if(can: Callable[[Any], bool], why_not: str) -> Callable[[Callable[..., Any]], Any]:
    """Makes a method that is there only under a condition."""
    return lambda method: ConditionalMethod(can, why_not, method)
