"""Many classes by learners of two.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from typing import Literal

import numpy as np

from ermine._estimator import Estimator
from ermine._reduction import CodedClassifier

__all__ = ["OneVsRestClassifier", "OneVsOneClassifier", "OutputCodeClassifier"]


class OneVsRestClassifier(CodedClassifier):
    """Many classes by a binary learner for each class against all others.

    Parameters
    ----------
    estimator : str or estimator, default="gradient-boosting"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
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
    >>> from ermine.multiclass import OneVsRestClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = OneVsRestClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "one-vs-rest"
    _parameters = ("estimator",)
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "gradient-boosting",
        *,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OneVsOneClassifier(CodedClassifier):
    """Many classes by a binary learner for each pair of classes.

    Parameters
    ----------
    estimator : str or estimator, default="gradient-boosting"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    vote : {'majority', 'confidence', 'coupling'}, default="majority"
        How the duels make one answer.
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
    >>> from ermine.multiclass import OneVsOneClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = OneVsOneClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "one-vs-one"
    _parameters = ("estimator", "vote")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "gradient-boosting",
        *,
        vote: Literal["majority", "confidence", "coupling"] = "majority",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.vote = vote
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class OutputCodeClassifier(CodedClassifier):
    """Many classes by a binary learner for each bit of an error-correcting code.

    Parameters
    ----------
    estimator : str or estimator, default="gradient-boosting"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    code_size : float, default=1.5
        Bits for each class.
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
    >>> from ermine.multiclass import OutputCodeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = OutputCodeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "output-code"
    _parameters = ("estimator", "code_size")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "gradient-boosting",
        *,
        code_size: float = 1.5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.code_size = code_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
