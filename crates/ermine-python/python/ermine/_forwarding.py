"""Names that a program looks for here because it looked for them in scikit-learn: they are scikit-learn's own, where it is installed.

Swapping ``sklearn`` for ``ermine`` in an import is meant to be enough. What has nothing to do with how a model learns (ways to split rows, displays, a vote of any estimators) is not written again.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import Any


def forward_names(module: str, own: Iterable[str], names: Iterable[str] | None = None) -> Callable[[str], Any]:
    """A ``__getattr__`` for ``ermine.<module>`` that hands over public names of ``sklearn.<module>``: those listed, or all."""
    own, listed = set(own), None if names is None else set(names)

    def get(name: str) -> Any:
        if not name.startswith("_") and name not in own and (listed is None or name in listed):
            try:
                theirs = importlib.import_module(f"sklearn.{module}")
            except ImportError:
                raise AttributeError(f"ermine.{module} has no {name!r} of its own; scikit-learn, whose it would be, is not installed") from None
            if hasattr(theirs, name) and name in getattr(theirs, "__all__", ()):
                return getattr(theirs, name)
        raise AttributeError(f"module 'ermine.{module}' has no attribute {name!r}")

    return get
