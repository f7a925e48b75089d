"""An order of the rows within each query.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ermine._estimator import Estimator, MarginClassifier
from ermine._ranking import CostRanker, Ranker

__all__ = ["RankSVM", "BipartiteRanker", "PairwiseRanker", "OmegaRanker"]


class RankSVM(Ranker):
    """A linear score that orders the rows of each query, or two classes, by the squared hinge loss of all pairs.

    Parameters
    ----------
    C : float, default=1.0
        The inverse of the penalty's strength.
    pair_weight : {'equal', 'grade', 'rank'}, default="equal"
        How much a pair of rows counts.
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-08
        The distance from the minimum to reach, as a share of the objective.
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
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Coefficients, in the units of the data.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercepts.
    n_iter_ : int
        How many iterations or passes it took.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ranking import RankSVM
    >>> X = [[i] for i in range(12)]
    >>> y = [0, 0, 1, 2, 3, 4] * 2
    >>> model = RankSVM().fit(X, y, group=[6, 6])
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "rank-svm"
    _parameters = ("C", "pair_weight", "standardize", "max_iter", "tol")
    _takes_sparse = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        pair_weight: Literal["equal", "grade", "rank"] = "equal",
        standardize: bool = False,
        max_iter: int = 200,
        tol: float = 1e-08,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.pair_weight = pair_weight
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose


class BipartiteRanker(MarginClassifier):
    """A linear score that orders the rows of each query, or two classes, by the squared hinge loss of all pairs.

    Parameters
    ----------
    C : float, default=1.0
        The inverse of the penalty's strength.
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-08
        The distance from the minimum to reach, as a share of the objective.
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
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Coefficients, in the units of the data.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercepts.
    n_iter_ : int
        How many iterations or passes it took.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ranking import BipartiteRanker
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = BipartiteRanker().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "rank-svm"
    _parameters = ("C", "standardize", "max_iter", "tol")
    _takes_sparse = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        standardize: bool = False,
        max_iter: int = 200,
        tol: float = 1e-08,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose


class PairwiseRanker(Ranker):
    """An order by the votes of any classifier that says which of two rows comes first.

    Parameters
    ----------
    estimator : str or estimator, default="logistic-regression"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    features : {'difference', 'greater'}, default="difference"
        What compares two rows: the differences of their numbers, or which number is greater.
    pair_weight : {'equal', 'grade', 'rank'}, default="equal"
        How much a pair of rows counts.
    max_pairs : int, default=100000
        Most pairs to learn from; of more, so many are drawn at random.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
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
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Coefficients, in the units of the data.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ranking import PairwiseRanker
    >>> X = [[i] for i in range(12)]
    >>> y = [0, 0, 1, 2, 3, 4] * 2
    >>> model = PairwiseRanker().fit(X, y, group=[6, 6])
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "pairwise-ranking"
    _parameters = ("estimator", "features", "pair_weight", "max_pairs")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "logistic-regression",
        *,
        features: Literal["difference", "greater"] = "difference",
        pair_weight: Literal["equal", "grade", "rank"] = "equal",
        max_pairs: int = 100000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.pair_weight = pair_weight
        self.max_pairs = max_pairs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OmegaRanker(CostRanker):
    """An order by quicksort with any classifier that says which of two rows comes first, trained with costs of confusing places.

    Parameters
    ----------
    estimator : str or estimator, default="logistic-regression"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    features : {'difference', 'greater'}, default="difference"
        What compares two rows: the differences of their numbers, or which number is greater.
    omega : str, callable or array-like of shape (n_places, n_places), default="all-pairs"
        What it costs to confuse two places: 'all-pairs', 'top-K' (such as 'top-10'), 'dcg', a matrix of costs, or a
        function of two places, which count from 1. Costs must be symmetric, must not fall with the distance, and must
        keep the triangle inequality.
    sort : {'quicksort', 'probabilistic', 'votes'}, default="quicksort"
        How rows are put in order.
    max_pairs : int, default=100000
        Most pairs to learn from; of more, so many are drawn at random.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
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
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Coefficients, in the units of the data.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ranking import OmegaRanker
    >>> X = [[i] for i in range(12)]
    >>> y = [0, 0, 1, 2, 3, 4] * 2
    >>> model = OmegaRanker().fit(X, y, group=[6, 6])
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "omega-ranking"
    _parameters = ("estimator", "features", "omega", "sort", "max_pairs")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "logistic-regression",
        *,
        features: Literal["difference", "greater"] = "difference",
        omega: Any = "all-pairs",
        sort: Literal["quicksort", "probabilistic", "votes"] = "quicksort",
        max_pairs: int = 100000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.omega = omega
        self.sort = sort
        self.max_pairs = max_pairs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
