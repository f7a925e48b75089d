"""What estimators of densities can tell."""

from typing import Any

import numpy as np

from ermine import _ermine
from ermine._ensemble import EnsembleMethods


class DensityMethods(EnsembleMethods):
    """An estimator that is a density of the features."""

    def score_samples(self, X: Any) -> np.ndarray:
        """The logarithm of the density at each row: how likely such a row is at all, whatever its class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Minus infinity outside of all boxes.
        """
        return _ermine.log_density(self._fitted(), self._table(X), self.n_jobs)
