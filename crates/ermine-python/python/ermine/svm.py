"""Support vector machines.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from ermine._estimator import MarginClassifier, Regressor
from ermine._linear import Coefficients, InterceptInArray
from ermine._svm import KernelClassifier, KernelRegressor, OneClassSVM, StringKernel, is_psd

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "OneClassSVM", "StringKernel", "is_psd"]


class SVC(KernelClassifier):
    """Support vector classification: the widest margin, hard or soft, with kernels.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of slack costs; infinity for a hard margin, which no row may be within.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'} or callable, default="rbf"
        What stands for the dot product of rows; "precomputed" where the columns are its values with every training row.
        A function gives the kernel values of each row of one table with each row of another.
    degree : int, default=3
        The power of the kernel "poly".
    gamma : float or {'scale', 'auto'}, default="scale"
        What dot products or distances are multiplied by in kernels: a number, "scale" for 1 / (columns * variance) or
        "auto" for 1 / columns.
    coef0 : float, default=0.0
        What is added in the kernels "poly" and "sigmoid".
    tol : float, default=0.001
        Stop when no pair of rows violates the optimality conditions by more than this.
    cache_size : float, default=500.0
        Megabytes for kernel rows that are kept.
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class).
    max_iter : int or None, default=None
        Most steps over pairs of rows, for each pair of classes; none for as many as it takes, up to a hundred million.
    break_ties : bool, default=False
        Decide equal votes of pairs of classes by their decision values, instead of for the first class.
    decision_function_shape : {'ovr', 'ovo'}, default="ovr"
        What decision values of more than two classes are told: "ovr", one for each class, or "ovo", one for each pair.
        Predictions don't depend on it.
    standardize : bool, default=False
        Bring columns to mean 0 and deviation 1 first.
    shrinking : bool, default=True
        Taken as scikit-learn takes it, and without effect: it is always done, and the solution is the same.
    random_state : int, RandomState instance or None, default=None
        Taken as scikit-learn takes it, and without effect: nothing is drawn.
    probability : bool, default=False
        Whether ``predict_proba`` is asked for: five more machines are then fitted, each on four fifths of the rows, and
        a sigmoid of the decision values on the rows that they left out becomes the probability (Platt).
        CalibratedClassifierCV has more choices.
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
    support_ : ndarray of shape (n_support,)
        The training rows that support the boundary; those of a class together.
    n_support_ : ndarray of shape (n_classes,)
        How many of them each class has.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        How much each counts, in each pair of its class.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercepts.
    n_iter_ : int
        How many iterations or passes it took.
    support_vectors_ : ndarray of shape (n_support, n_columns)
        These rows, encoded and scaled.
    slack_ : ndarray of shape (n_samples,)
        How far each training row is within the margin or beyond; of two classes, or numbers.
    case_ : ndarray of shape (n_samples,)
        Where each training row lies: 0 outside the margin, 1 within it, 2 misclassified; of two classes.
    margin_ : ndarray of shape (n_pairs,)
        The width of the margin, 1 / |w|, for each pair of classes.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.svm import SVC
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = SVC().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "svc"
    _parameters = ("C", "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "class_weight", "max_iter", "break_ties", "decision_function_shape", "standardize")
    _takes_sparse = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Literal["linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"] | Callable[[np.ndarray, np.ndarray], np.ndarray] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        cache_size: float = 500.0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        max_iter: int | None = None,
        break_ties: bool = False,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        standardize: bool = False,
        shrinking: bool = True,
        random_state: int | np.random.RandomState | None = None,
        probability: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.break_ties = break_ties
        self.decision_function_shape = decision_function_shape
        self.standardize = standardize
        self.shrinking = shrinking
        self.random_state = random_state
        self.probability = probability
        self.n_jobs = n_jobs
        self.verbose = verbose


class SVR(KernelRegressor):
    """Support vector regression: a tube around the target, with kernels.

    Parameters
    ----------
    C : float, default=1.0
        What a unit outside the tube costs.
    epsilon : float, default=0.1
        Half the width of the tube: errors up to this cost nothing.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'precomputed'} or callable, default="rbf"
        What stands for the dot product of rows; "precomputed" where the columns are its values with every training row.
        A function gives the kernel values of each row of one table with each row of another.
    degree : int, default=3
        The power of the kernel "poly".
    gamma : float or {'scale', 'auto'}, default="scale"
        What dot products or distances are multiplied by in kernels: a number, "scale" for 1 / (columns * variance) or
        "auto" for 1 / columns.
    coef0 : float, default=0.0
        What is added in the kernels "poly" and "sigmoid".
    tol : float, default=0.001
        Stop when no pair of rows violates the optimality conditions by more than this.
    cache_size : float, default=500.0
        Megabytes for kernel rows that are kept.
    max_iter : int or None, default=None
        Most steps over pairs of rows; none for as many as it takes, up to a hundred million.
    standardize : bool, default=False
        Bring columns to mean 0 and deviation 1 first.
    shrinking : bool, default=True
        Taken as scikit-learn takes it, and without effect: it is always done, and the solution is the same.
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
    support_ : ndarray of shape (n_support,)
        The training rows that support the boundary; those of a class together.
    n_support_ : ndarray of shape (n_classes,)
        How many of them each class has.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        How much each counts, in each pair of its class.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercepts.
    n_iter_ : int
        How many iterations or passes it took.
    support_vectors_ : ndarray of shape (n_support, n_columns)
        These rows, encoded and scaled.
    slack_ : ndarray of shape (n_samples,)
        How far each training row is within the margin or beyond; of two classes, or numbers.
    margin_ : ndarray of shape (n_pairs,)
        The width of the margin, 1 / |w|, for each pair of classes.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.svm import SVR
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = SVR().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "svr"
    _parameters = ("C", "epsilon", "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "standardize")
    _takes_sparse = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        kernel: Literal["linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"] | Callable[[np.ndarray, np.ndarray], np.ndarray] = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float = 0.001,
        cache_size: float = 500.0,
        max_iter: int | None = None,
        standardize: bool = False,
        shrinking: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.standardize = standardize
        self.shrinking = shrinking
        self.n_jobs = n_jobs
        self.verbose = verbose


class LinearSVC(Coefficients, MarginClassifier):
    """Linear support vector classification for many rows, dense or sparse, with L1 or L2 loss and penalty.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default="l2"
        What coefficients cost: "l2", or "l1" for few of them (with the loss "squared_hinge").
    loss : {'hinge', 'squared_hinge'}, default="squared_hinge"
        What slack costs: "hinge" or "squared_hinge".
    dual : bool or {'auto'}, default="auto"
        Whether to solve the dual (one variable for each row) or the primal (one for each column); "auto" for whichever
        suits loss and table.
    C : float, default=1.0
        What a unit of slack costs.
    tol : float, default=0.0001
        Stop when the optimality conditions are violated by no more than this (in proportion to the objective, for
        smooth losses).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        The constant column that carries the intercept, whose coefficient is penalised like the others ("l2").
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class).
    max_iter : int, default=1000
        Most passes or Newton steps.
    standardize : bool, default=False
        Bring columns to mean 0 and deviation 1 first; coefficients are reported in the user's units all the same.
    multi_class : {'ovr'}, default="ovr"
        Of more than two classes, one against the rest.
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
    >>> from ermine.svm import LinearSVC
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = LinearSVC().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "linear-svc"
    _parameters = ("penalty", "loss", "dual", "C", "tol", "fit_intercept", "intercept_scaling", "class_weight", "max_iter", "standardize")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        penalty: Literal["l1", "l2"] = "l2",
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        *,
        dual: bool | Literal["auto"] = "auto",
        C: float = 1.0,
        tol: float = 0.0001,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        max_iter: int = 1000,
        standardize: bool = False,
        multi_class: Literal["ovr"] = "ovr",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.standardize = standardize
        self.multi_class = multi_class
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LinearSVR(InterceptInArray, Regressor):
    """Linear support vector regression for many rows, dense or sparse.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube: errors up to this cost nothing.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default="epsilon_insensitive"
        What errors beyond the tube cost: "epsilon_insensitive" or "squared_epsilon_insensitive".
    dual : bool or {'auto'}, default="auto"
        Whether to solve the dual (one variable for each row) or the primal (one for each column); "auto" for whichever
        suits loss and table.
    C : float, default=1.0
        What a unit outside the tube costs.
    tol : float, default=0.0001
        Stop when the optimality conditions are violated by no more than this (in proportion to the objective, for
        smooth losses).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        The constant column that carries the intercept, whose coefficient is penalised like the others.
    max_iter : int, default=1000
        Most passes or Newton steps.
    standardize : bool, default=False
        Bring columns to mean 0 and deviation 1 first; coefficients are reported in the user's units all the same.
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
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercepts.
    n_iter_ : int
        How many iterations or passes it took.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.svm import LinearSVR
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = LinearSVR().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "linear-svr"
    _parameters = ("epsilon", "loss", "dual", "C", "tol", "fit_intercept", "intercept_scaling", "max_iter", "standardize")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        dual: bool | Literal["auto"] = "auto",
        C: float = 1.0,
        tol: float = 0.0001,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = 1000,
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.loss = loss
        self.dual = dual
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
