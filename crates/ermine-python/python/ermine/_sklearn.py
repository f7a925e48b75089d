"""Joins scikit-learn when, and only when, the program uses it.

Importing scikit-learn takes far longer than all of Ermine, and many programs (a service that predicts, a script) never need it. So nothing here
imports it. Estimators start on a small base class of our own; as soon as ``sklearn.base`` has been imported, by whomever, they are put on
scikit-learn's own base classes. Nobody can hold ``BaseEstimator`` in hand without having imported it, so an estimator is one whenever
anybody can ask. The reasons, and what was measured, are in docs/decisions/005-scikit-learn-is-joined-late.md.
"""

import sys
import warnings
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

BASE = "sklearn.base"


def when_imported(join: Callable[[ModuleType], None]) -> None:
    """Calls ``join(sklearn.base)`` now if it is there, and else right after somebody imports it."""
    if BASE in sys.modules:
        import sklearn.base  # type: ignore[import-untyped]  # waits for another thread that is just importing it

        join(sklearn.base)
    else:
        sys.meta_path.insert(0, _ImportHook(join))


class _ImportHook:
    """Stands first among Python's finders until ``sklearn.base`` is imported."""

    def __init__(self, join: Callable[[ModuleType], None]) -> None:
        self.join = join

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != BASE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _LoaderThenJoin(spec.loader, self)  # type: ignore[assignment]
        return spec


class _LoaderThenJoin:
    """The loader of ``sklearn.base``, with one more thing to do at the end."""

    def __init__(self, loader: Any, hook: _ImportHook) -> None:
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        try:
            self._loader.exec_module(module)
        except BaseException:
            sys.meta_path.insert(0, self._hook)
            raise
        try:
            self._hook.join(module)
        except Exception as error:  # an import of scikit-learn must never fail because of us
            warnings.warn(f"ermine can't join this scikit-learn: {error!r}", RuntimeWarning, stacklevel=2)


def _class(name: str, plain: type) -> type:
    """The class of this name in ``sklearn.exceptions`` for who has imported it; else a plain one."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, plain)


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked to predict before it was fitted."""


def not_fitted(estimator: object) -> Exception:
    """The exception for an estimator that has not been fitted."""
    return _class("NotFittedError", NotFittedError)(
        f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )


def warn(kind: str, message: str) -> None:
    """Warns with one of scikit-learn's kinds of warning, or a plain one."""
    warnings.warn(message, _class(kind, UserWarning), stacklevel=4)
