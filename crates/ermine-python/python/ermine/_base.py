"""What estimators stand on without scikit-learn, and until it is imported (see ``_sklearn``)."""

from typing import Any, Self


class ParamsBase:
    """Parameters by name, for programs without scikit-learn. All of them have defaults."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        init: Any = cls.__init__
        positional = init.__defaults__ or ()
        names = init.__code__.co_varnames[1 : 1 + len(positional)]
        return dict(zip(names, positional)) | (init.__kwdefaults__ or {})

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(cls._defaults())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name]))
        return f"{type(self).__name__}({', '.join(changed)})"


class MixinPlaceholder:
    """Keeps the place of scikit-learn's mixins."""


class EstimatorBase(ParamsBase):
    """All that is a ``BaseEstimator`` as soon as scikit-learn is there."""
