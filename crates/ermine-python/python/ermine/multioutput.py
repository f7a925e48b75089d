"""Several labels by learners of classes.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ermine._elsewhere import handed_over
from ermine._estimator import Estimator
from ermine._labels import ChainClassifier, LabelByLabelClassifier, ProbabilisticLabelClassifier

__all__ = ["MultiOutputClassifier", "ClassifierChain", "LabelPowersetClassifier"]

__getattr__ = handed_over("multioutput", __all__, ("MultiOutputRegressor", "RegressorChain"))


class MultiOutputClassifier(LabelByLabelClassifier):
    """Several labels by a learner for each of them, by itself.

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
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels.
    n_features_in_ : int
        How many columns it was fitted on.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the data had names.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.multioutput import MultiOutputClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = [[i % 2, int(i > 5)] for i in range(12)]
    >>> model = MultiOutputClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2, 2)
    """

    _learner = "binary-relevance"
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


class ClassifierChain(ChainClassifier):
    """Several labels by learners that know the labels before theirs, in one chain or the mean of several.

    Parameters
    ----------
    estimator : str or estimator, default="logistic-regression"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    order : {'given', 'random'} or list of int, default="given"
        The order of the labels: given, random, or a list of their places from 0.
    n_chains : int, default=1
        How many chains are averaged; of several all but listed orders are drawn at random.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    n_jobs : int, default=None
        How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one.
        The model doesn't depend on it.
    verbose : int, default=0
        Shows a progress bar on long fits if not 0.

    Attributes
    ----------
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels.
    n_features_in_ : int
        How many columns it was fitted on.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the data had names.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.multioutput import ClassifierChain
    >>> X = [[i] for i in range(12)]
    >>> y = [[i % 2, int(i > 5)] for i in range(12)]
    >>> model = ClassifierChain().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2, 2)
    """

    _learner = "classifier-chain"
    _parameters = ("estimator", "order", "n_chains")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "logistic-regression",
        *,
        order: Literal["given", "random"] | Sequence[int] = "given",
        n_chains: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.n_chains = n_chains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LabelPowersetClassifier(ProbabilisticLabelClassifier):
    """Several labels by one learner to which each set of labels is a class.

    Parameters
    ----------
    estimator : str or estimator, default="logistic-regression"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    decode : {'mode', 'marginal'}, default="mode"
        How probabilities of sets become labels.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    n_jobs : int, default=None
        How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one.
        The model doesn't depend on it.
    verbose : int, default=0
        Shows a progress bar on long fits if not 0.

    Attributes
    ----------
    label_names_ : ndarray of shape (n_labels,)
        The names of the labels.
    n_features_in_ : int
        How many columns it was fitted on.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the data had names.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.multioutput import LabelPowersetClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = [[i % 2, int(i > 5)] for i in range(12)]
    >>> model = LabelPowersetClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2, 2)
    """

    _learner = "label-powerset"
    _parameters = ("estimator", "decode")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "logistic-regression",
        *,
        decode: Literal["mode", "marginal"] = "mode",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.decode = decode
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
