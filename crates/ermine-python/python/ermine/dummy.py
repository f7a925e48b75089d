"""Predictors that ignore their input: what any other must beat.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ermine._dummy import Constant, Prior
from ermine._estimator import ProbabilisticClassifier, Regressor

__all__ = ["DummyClassifier", "DummyRegressor"]


class DummyClassifier(Prior, ProbabilisticClassifier):
    """The most frequent class or the mean, for every row: what others must beat.

    Parameters
    ----------
    strategy : {'prior', 'most_frequent', 'stratified', 'uniform', 'constant'}, default="prior"
        What is said: the shares of the classes, of which the largest is predicted ('prior'); the most frequent class
        for certain; classes drawn by their shares ('stratified') or all alike ('uniform'); the ``constant``.
    constant : str, int, float, array-like, default=None
        Which constant, where the strategy is ``"constant"``: a class, or a number for each target.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    n_jobs : int, default=None
        How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one.
        The model doesn't depend on it.
    verbose : int, default=0
        Shows a progress bar on long fits if not 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The distinct labels in ascending order.
    n_features_in_ : int
        How many columns it was fitted on.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the data had names.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.dummy import DummyClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = DummyClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "baseline"
    _parameters = ("strategy", "constant")
    _takes_sparse = True
    _is_random = True
    _poor_score = True

    def __init__(
        self,
        *,
        strategy: Literal["prior", "most_frequent", "stratified", "uniform", "constant"] = "prior",
        constant: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.strategy = strategy
        self.constant = constant
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class DummyRegressor(Constant, Regressor):
    """The most frequent class or the mean, for every row: what others must beat.

    Parameters
    ----------
    strategy : {'mean', 'median', 'quantile', 'constant'}, default="mean"
        What is said for every row.
    quantile : float or None, default=None
        Which quantile.
    constant : str, int, float, array-like, default=None
        Which constant, where the strategy is ``"constant"``: a class, or a number for each target.
    n_jobs : int, default=None
        How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one.
        The model doesn't depend on it.
    verbose : int, default=0
        Shows a progress bar on long fits if not 0.

    Attributes
    ----------
    n_features_in_ : int
        How many columns it was fitted on.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the data had names.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.dummy import DummyRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = DummyRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "baseline"
    _parameters = ("strategy", "quantile", "constant")
    _takes_sparse = True
    _poor_score = True
    _multi_output = True

    def __init__(
        self,
        *,
        strategy: Literal["mean", "median", "quantile", "constant"] = "mean",
        quantile: float | None = None,
        constant: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.strategy = strategy
        self.quantile = quantile
        self.constant = constant
        self.n_jobs = n_jobs
        self.verbose = verbose
