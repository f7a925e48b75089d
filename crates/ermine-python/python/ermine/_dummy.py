"""What baselines can tell."""

import numpy as np

from ermine._estimator import Estimator


class Prior(Estimator):
    """A baseline of classes."""

    @property
    def class_prior_(self) -> np.ndarray:
        """The share of each class in the training rows."""
        return self._predict(np.full((1, self.n_features_in_), np.nan), "numbers")[0] if self._fitted() else np.empty(0)


class Constant(Estimator):
    """A baseline of numbers."""

    @property
    def constant_(self) -> np.ndarray:
        """What is predicted for every row, as an array of shape (1, n_outputs)."""
        return self._predict(np.full((1, self.n_features_in_), np.nan), "numbers") if self._fitted() else np.empty(0)
