"""Linear models.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ermine._estimator import LogOddsClassifier, MarginClassifier, Regressor
from ermine._folds import LeaveOneOut, PenalisedCV
from ermine._linear import Direct, InterceptInArray, OddsIfLogistic, Penalised, PenaltyByName, Robust, Unpenalised
from ermine._path import enet_path, lasso_path
from ermine._streaming import Streaming

__all__ = ["LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "LogisticRegression", "LADRegressor", "QuantileRegressor", "HuberRegressor", "HalfspaceLP", "Perceptron", "SGDClassifier", "SGDRegressor", "GradientDescentClassifier", "GradientDescentRegressor", "enet_path", "lasso_path"]


class LinearRegression(Regressor):
    """Least squares by Cholesky, QR or SVD, with standard errors; polynomials by degree.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    copy_X : bool, default=True
        Taken as scikit-learn takes it, and without effect: X is never written to.
    tol : float or None, default=1e-6
        Taken as scikit-learn takes it, and without effect: the solution is exact, or as good as it gets.
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
    rank_ : int
        How many columns are linearly independent.
    r_squared_ : float
        The share of the variance that is explained.
    std_errors_ : ndarray of shape (n_columns,)
        The standard errors of the coefficients.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import LinearRegression
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = LinearRegression().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "linear-regression"
    _parameters = ("fit_intercept", "degree", "interaction_only")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        degree: int = 1,
        interaction_only: bool = False,
        copy_X: bool = True,
        tol: float | None = 1e-6,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.degree = degree
        self.interaction_only = interaction_only
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose


class Ridge(Direct, Regressor):
    """Least squares with an L2 penalty, in closed form for tall and wide tables.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty on squared coefficients.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    copy_X : bool, default=True
        Taken as scikit-learn takes it, and without effect: X is never written to.
    max_iter : int or None, default=None
        Taken as scikit-learn takes it, and without effect: the solution is exact.
    tol : float or None, default=1e-6
        Taken as scikit-learn takes it, and without effect: the solution is exact, or as good as it gets.
    solver : str, default="auto"
        Taken as scikit-learn takes it, and without effect: there is one way, which chooses for itself.
    random_state : int, RandomState instance or None, default=None
        Taken as scikit-learn takes it, and without effect: nothing is drawn.
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
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import Ridge
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = Ridge().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "ridge"
    _parameters = ("alpha", "fit_intercept", "standardize", "degree", "interaction_only")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        standardize: bool = False,
        degree: int = 1,
        interaction_only: bool = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float | None = 1e-6,
        solver: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class RidgeCV(LeaveOneOut, Regressor):
    """Ridge regression with the penalty that has the least leave-one-out error.

    Parameters
    ----------
    alphas : list of float, default=(0.1, 1.0, 10.0)
        The strengths to choose from.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    gcv_mode : str or None, default=None
        Taken as scikit-learn takes it, and without effect: there is one way, which chooses for itself.
    cv : None, int, splitter or iterable, default=None
        None leaves each row out once, exactly and at the cost of one fit; otherwise as in GridSearchCV over Ridge.
    scoring : str, callable or None, default=None
        The score of the folds, where ``cv`` is given. Without, the squared error of rows left out is what is judged by.
    store_cv_results : bool, default=False
        ``cv_errors_`` has the mean errors; those of single rows are not kept.
    alpha_per_target : bool, default=False
        One alpha is chosen for all targets.
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
    alpha_ : float
        The strength of the penalty that was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        The strengths that were tried.
    cv_errors_ : ndarray of shape (n_alphas,)
        The error of each strength on rows left out.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import RidgeCV
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = RidgeCV().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "ridge-cv"
    _parameters = ("alphas", "fit_intercept", "standardize", "degree", "interaction_only")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        alphas: Sequence[float] = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        standardize: bool = False,
        degree: int = 1,
        interaction_only: bool = False,
        gcv_mode: str | None = None,
        cv: Any = None,
        scoring: str | Callable[..., float] | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.gcv_mode = gcv_mode
        self.cv = cv
        self.scoring = scoring
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.n_jobs = n_jobs
        self.verbose = verbose


class Lasso(Penalised, Regressor):
    """Least squares with an L1 penalty, with its duality gap.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty on absolute coefficients.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    max_iter : int, default=1000
        How often the set of columns at work may be renewed.
    tol : float, default=1e-10
        The duality gap to reach, as a share of the objective without columns.
    precompute : bool or 'auto', default=False
        Taken as scikit-learn takes it, and without effect: what is worth computing first is found out.
    copy_X : bool, default=True
        Taken as scikit-learn takes it, and without effect: X is never written to.
    warm_start : bool, default=False
        Taken as scikit-learn takes it, and without effect: the solution is found to its tolerance from anywhere.
    random_state : int, RandomState instance or None, default=None
        Taken as scikit-learn takes it, and without effect: nothing is drawn.
    selection : {'cyclic', 'random'}, default="cyclic"
        Taken as scikit-learn takes it, and without effect: the order of the columns is chosen as they need it.
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
    >>> from ermine.linear_model import Lasso
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = Lasso().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "lasso"
    _parameters = ("alpha", "fit_intercept", "standardize", "degree", "interaction_only", "max_iter", "tol")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        standardize: bool = False,
        degree: int = 1,
        interaction_only: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-10,
        precompute: Any = False,
        copy_X: bool = True,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: Literal["cyclic", "random"] = "cyclic",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.max_iter = max_iter
        self.tol = tol
        self.precompute = precompute
        self.copy_X = copy_X
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.n_jobs = n_jobs
        self.verbose = verbose


class LassoCV(PenalisedCV, Regressor):
    """The lasso along a path, strength by cross-validation.

    Parameters
    ----------
    n_alphas : int, default=100
        How many strengths are tried, from the least that makes all coefficients zero downwards.
    eps : float, default=0.001
        The smallest strength tried, as a share of the largest.
    alphas : list of float, default=()
        The strengths that are tried, where they are given.
    cv : int, splitter or iterable, default=5
        How many folds the rows are dealt to, in their order as scikit-learn does it; or a splitter of scikit-learn or
        pairs of row numbers, of which each row is tested in exactly one.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    max_iter : int, default=1000
        How often the set of columns at work may be renewed.
    tol : float, default=1e-10
        The duality gap to reach, as a share of the objective without columns.
    precompute : bool or 'auto', default=False
        Taken as scikit-learn takes it, and without effect: what is worth computing first is found out.
    copy_X : bool, default=True
        Taken as scikit-learn takes it, and without effect: X is never written to.
    selection : {'cyclic', 'random'}, default="cyclic"
        Taken as scikit-learn takes it, and without effect: the order of the columns is chosen as they need it.
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
    alpha_ : float
        The strength of the penalty that was chosen.
    l1_ratio_ : float
        The share of L1 in the penalty that was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        The strengths that were tried.
    cv_errors_ : ndarray of shape (n_alphas,)
        The error of each strength on rows left out.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        The same for each fold.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import LassoCV
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = LassoCV().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "lasso-cv"
    _parameters = ("n_alphas", "eps", "alphas", "cv", "fit_intercept", "standardize", "max_iter", "tol")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        n_alphas: int = 100,
        eps: float = 0.001,
        alphas: Sequence[float] = (),
        cv: Any = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-10,
        precompute: Any = False,
        copy_X: bool = True,
        selection: Literal["cyclic", "random"] = "cyclic",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_alphas = n_alphas
        self.eps = eps
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.precompute = precompute
        self.copy_X = copy_X
        self.selection = selection
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ElasticNet(Penalised, Regressor):
    """Least squares with L1 and L2 penalties, with its duality gap.

    Parameters
    ----------
    alpha : float, default=1.0
        The strength of the penalty.
    l1_ratio : float, default=0.5
        The share of L1 in the penalty: 1 for the lasso, 0 for ridge.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    max_iter : int, default=1000
        How often the set of columns at work may be renewed.
    tol : float, default=1e-10
        The duality gap to reach, as a share of the objective without columns.
    precompute : bool or 'auto', default=False
        Taken as scikit-learn takes it, and without effect: what is worth computing first is found out.
    copy_X : bool, default=True
        Taken as scikit-learn takes it, and without effect: X is never written to.
    warm_start : bool, default=False
        Taken as scikit-learn takes it, and without effect: the solution is found to its tolerance from anywhere.
    random_state : int, RandomState instance or None, default=None
        Taken as scikit-learn takes it, and without effect: nothing is drawn.
    selection : {'cyclic', 'random'}, default="cyclic"
        Taken as scikit-learn takes it, and without effect: the order of the columns is chosen as they need it.
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
    >>> from ermine.linear_model import ElasticNet
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = ElasticNet().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "elastic-net"
    _parameters = ("alpha", "l1_ratio", "fit_intercept", "standardize", "degree", "interaction_only", "max_iter", "tol")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        standardize: bool = False,
        degree: int = 1,
        interaction_only: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-10,
        precompute: Any = False,
        copy_X: bool = True,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: Literal["cyclic", "random"] = "cyclic",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.max_iter = max_iter
        self.tol = tol
        self.precompute = precompute
        self.copy_X = copy_X
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.n_jobs = n_jobs
        self.verbose = verbose


class ElasticNetCV(PenalisedCV, Regressor):
    """The elastic net along paths, strength and share of L1 by cross-validation.

    Parameters
    ----------
    l1_ratio : list of float, default=(0.5,)
        The shares of L1 that are tried.
    n_alphas : int, default=100
        How many strengths are tried, from the least that makes all coefficients zero downwards.
    eps : float, default=0.001
        The smallest strength tried, as a share of the largest.
    alphas : list of float, default=()
        The strengths that are tried, where they are given.
    cv : int, splitter or iterable, default=5
        How many folds the rows are dealt to, in their order as scikit-learn does it; or a splitter of scikit-learn or
        pairs of row numbers, of which each row is tested in exactly one.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    max_iter : int, default=1000
        How often the set of columns at work may be renewed.
    tol : float, default=1e-10
        The duality gap to reach, as a share of the objective without columns.
    precompute : bool or 'auto', default=False
        Taken as scikit-learn takes it, and without effect: what is worth computing first is found out.
    copy_X : bool, default=True
        Taken as scikit-learn takes it, and without effect: X is never written to.
    selection : {'cyclic', 'random'}, default="cyclic"
        Taken as scikit-learn takes it, and without effect: the order of the columns is chosen as they need it.
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
    alpha_ : float
        The strength of the penalty that was chosen.
    l1_ratio_ : float
        The share of L1 in the penalty that was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        The strengths that were tried.
    cv_errors_ : ndarray of shape (n_alphas,)
        The error of each strength on rows left out.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        The same for each fold.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import ElasticNetCV
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = ElasticNetCV().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "elastic-net-cv"
    _parameters = ("l1_ratio", "n_alphas", "eps", "alphas", "cv", "fit_intercept", "standardize", "max_iter", "tol")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        l1_ratio: Sequence[float] = (0.5,),
        n_alphas: int = 100,
        eps: float = 0.001,
        alphas: Sequence[float] = (),
        cv: Any = 5,
        fit_intercept: bool = True,
        standardize: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-10,
        precompute: Any = False,
        copy_X: bool = True,
        selection: Literal["cyclic", "random"] = "cyclic",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.n_alphas = n_alphas
        self.eps = eps
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.precompute = precompute
        self.copy_X = copy_X
        self.selection = selection
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LogisticRegression(PenaltyByName, LogOddsClassifier):
    """Log odds as linear functions: two or many classes, with L1, L2 or both, or no penalty.

    Parameters
    ----------
    penalty : {'l1', 'l2', 'elasticnet', None}, default="deprecated"
        As in earlier scikit-learn: 'l1' is ``l1_ratio=1``, 'l2' is ``l1_ratio=0``, None is ``C=inf``. By default
        ``l1_ratio`` and ``C`` say it.
    C : float, default=1.0
        The inverse of the penalty's strength; inf for no penalty.
    l1_ratio : float, default=0.0
        The share of L1 in the penalty: 0 for L2, 1 for L1.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-12
        The distance from the minimum to reach, as a share of the objective.
    solver : str, default="lbfgs"
        Taken as scikit-learn takes it, and without effect: there is one way, which chooses for itself.
    dual : bool, default=False
        Taken as scikit-learn takes it, and without effect: the solution is the same.
    intercept_scaling : float, default=1.0
        Taken as scikit-learn takes it, and without effect: the intercept is never penalised.
    warm_start : bool, default=False
        Taken as scikit-learn takes it, and without effect: the solution is found to its tolerance from anywhere.
    random_state : int, RandomState instance or None, default=None
        Taken as scikit-learn takes it, and without effect: nothing is drawn.
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
    >>> from ermine.linear_model import LogisticRegression
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "logistic-regression"
    _parameters = ("C", "l1_ratio", "fit_intercept", "class_weight", "standardize", "degree", "interaction_only", "max_iter", "tol")
    _takes_sparse = True

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        standardize: bool = False,
        degree: int = 1,
        interaction_only: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-12,
        solver: str = "lbfgs",
        dual: bool = False,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LADRegressor(Regressor):
    """The linear function with the least absolute deviations, exactly, as a linear programme.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
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
    >>> from ermine.linear_model import LADRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = LADRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "least-absolute-deviations"
    _parameters = ("fit_intercept", "degree", "interaction_only")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        degree: int = 1,
        interaction_only: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.degree = degree
        self.interaction_only = interaction_only
        self.n_jobs = n_jobs
        self.verbose = verbose


class QuantileRegressor(Regressor):
    """A quantile as a linear function of the columns, exactly, as a linear programme.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile.
    alpha : float, default=1.0
        The strength of the penalty on absolute coefficients; 0 for none.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=False
        Penalise coefficients as if every column had deviation 1; they are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    solver : str, default="highs"
        Taken as scikit-learn takes it, and without effect: there is one way, which chooses for itself.
    solver_options : dict or None, default=None
        Taken as scikit-learn takes it, and without effect: there is one way, which chooses for itself.
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
    >>> from ermine.linear_model import QuantileRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = QuantileRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "quantile-regression"
    _parameters = ("quantile", "alpha", "fit_intercept", "standardize", "degree", "interaction_only")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        standardize: bool = False,
        degree: int = 1,
        interaction_only: bool = False,
        solver: str = "highs",
        solver_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.solver = solver
        self.solver_options = solver_options
        self.n_jobs = n_jobs
        self.verbose = verbose


class HuberRegressor(Robust, Regressor):
    """Least squares that outliers pull with a bounded force.

    Parameters
    ----------
    epsilon : float, default=1.35
        How many scales away errors become absolute; smaller is more robust.
    alpha : float, default=0.0001
        The strength of the penalty on squared coefficients.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
    max_iter : int, default=500
        Most steps.
    tol : float, default=1e-10
        Stop when no optimality condition is violated by more than this (for columns of deviation 1).
    warm_start : bool, default=False
        Taken as scikit-learn takes it, and without effect: the solution is found to its tolerance from anywhere.
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
    scale_ : float
        The scale of the residuals.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import HuberRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = HuberRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "huber-regression"
    _parameters = ("epsilon", "alpha", "fit_intercept", "degree", "interaction_only", "max_iter", "tol")
    _takes_sparse = True

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        alpha: float = 0.0001,
        fit_intercept: bool = True,
        degree: int = 1,
        interaction_only: bool = False,
        max_iter: int = 500,
        tol: float = 1e-10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.degree = degree
        self.interaction_only = interaction_only
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class HalfspaceLP(MarginClassifier):
    """A hyperplane between two classes by linear programming, or a proof that there is none.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
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
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import HalfspaceLP
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = HalfspaceLP().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "halfspace"
    _parameters = ("fit_intercept", "degree", "interaction_only")
    _takes_sparse = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        degree: int = 1,
        interaction_only: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.degree = degree
        self.interaction_only = interaction_only
        self.n_jobs = n_jobs
        self.verbose = verbose


class Perceptron(Unpenalised, MarginClassifier):
    """Mistakes drive the weights: online, averaged, in batches or with a kernel; mistakes and their bound.

    Parameters
    ----------
    form : {'online', 'batch', 'averaged'}, default="online"
        Whether each mistake counts at once (online), those of a pass together (batch), or at once with averaged weights
        (averaged).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    max_iter : int, default=1000
        Most passes over the rows.
    n_iter_no_change : int or None, default=5
        Stop when so many passes made no fewer mistakes than the best before them; none for never.
    shuffle : bool, default=True
        Another order of the rows in every pass.
    kernel : {'linear', 'poly', 'rbf'}, default="linear"
        What stands for the dot product of rows: "linear", "poly" or "rbf".
    gamma : float or None, default=None
        What dot products or squared distances are multiplied by in kernels; none for one over the number of columns.
    coef0 : float, default=1.0
        What is added in the kernel "poly".
    degree : int, default=1
        The power of the kernel "poly"; for "linear" the highest degree of polynomial terms.
    standardize : bool or None, default=None
        Bring columns to mean 0 and deviation 1 first; coefficients are reported in the user's units all the same. None
        for yes, unless columns are sparse.
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class).
    eta0 : float, default=1.0
        Taken as scikit-learn takes it, and without effect: it multiplies all weights alike.
    tol : float or None, default=1e-6
        Taken as scikit-learn takes it, and without effect: the solution is exact, or as good as it gets.
    alpha : float, default=0.0001
        Taken as scikit-learn takes it, and without effect: there is no penalty.
    l1_ratio : float, default=0.15
        Taken as scikit-learn takes it, and without effect: there is no penalty.
    validation_fraction : float, default=0.1
        Taken as scikit-learn takes it, and without effect: no rows are kept aside.
    penalty : None, default=None
        There is none: SGDClassifier has penalties.
    early_stopping : bool, default=False
        No rows are kept aside: SGDClassifier can do it.
    warm_start : bool, default=False
        Every fit starts anew: SGDClassifier has ``partial_fit``.
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
    n_mistakes_ : int
        How many mistakes were made in all passes.
    loss_curve_ : ndarray of shape (n_iter_,)
        The loss, objective or number of mistakes of each pass.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import Perceptron
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = Perceptron().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "perceptron"
    _parameters = ("form", "fit_intercept", "max_iter", "n_iter_no_change", "shuffle", "kernel", "gamma", "coef0", "degree", "standardize", "class_weight")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        form: Literal["online", "batch", "averaged"] = "online",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        n_iter_no_change: int | None = 5,
        shuffle: bool = True,
        kernel: Literal["linear", "poly", "rbf"] = "linear",
        gamma: float | None = None,
        coef0: float = 1.0,
        degree: int = 1,
        standardize: bool | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        eta0: float = 1.0,
        tol: float | None = 1e-6,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        validation_fraction: float = 0.1,
        penalty: None = None,
        early_stopping: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.form = form
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.standardize = standardize
        self.class_weight = class_weight
        self.eta0 = eta0
        self.tol = tol
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.validation_fraction = validation_fraction
        self.penalty = penalty
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SGDClassifier(Streaming, OddsIfLogistic):
    """Any loss with any penalty by stochastic gradient descent; learns from streams.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'exponential', 'log_loss', 'squared_error', 'absolute_error', 'huber', 'quantile', 'epsilon_insensitive'} or None, default=None
        What is minimised; none for "hinge" (classes) or "squared_error" (numbers).
    penalty : {'l2', 'l1', 'elasticnet', 'lp'} or None, default="l2"
        What coefficients cost; none for nothing.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of L1 in the penalty "elasticnet".
    p : float, default=1.5
        The power of the penalty "lp".
    epsilon : float, default=0.1
        Where the loss "huber" becomes absolute; what "epsilon_insensitive" leaves unpunished.
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive'} or None, default=None
        How the rate changes; none for "optimal" (classes) or "invscaling" (numbers).
    eta0 : float, default=0.01
        The rate of the first step, unless it is "optimal".
    power_t : float, default=0.25
        How fast the rate "invscaling" falls.
    batch_size : int, default=1
        Rows in a step.
    average : bool, default=False
        Whether the answer is the average over all steps.
    max_iter : int, default=1000
        Most passes over the rows.
    tol : float or None, default=0.001
        Stop when the loss falls by less than this in `n_iter_no_change` passes; none for never.
    n_iter_no_change : int, default=5
        Passes without progress before stopping, or lowering the rate.
    early_stopping : bool, default=False
        Keep rows aside, and stop when their loss no longer falls.
    validation_fraction : float, default=0.1
        The share of rows kept aside for early stopping.
    shuffle : bool, default=True
        Another order of the rows in every pass.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool or None, default=None
        Bring columns to mean 0 and deviation 1 first, so that one rate fits all; coefficients are reported in the
        user's units all the same. None for yes, unless columns are sparse or come in a stream.
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class).
    warm_start : bool, default=False
        Every fit starts anew: ``partial_fit`` goes on.
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
    loss_curve_ : ndarray of shape (n_iter_,)
        The loss, objective or number of mistakes of each pass.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import SGDClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = SGDClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "sgd"
    _parameters = ("loss", "penalty", "alpha", "l1_ratio", "p", "epsilon", "learning_rate", "eta0", "power_t", "batch_size", "average", "max_iter", "tol", "n_iter_no_change", "early_stopping", "validation_fraction", "shuffle", "fit_intercept", "standardize", "class_weight")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        loss: Literal["hinge", "squared_hinge", "exponential", "log_loss", "squared_error", "absolute_error", "huber", "quantile", "epsilon_insensitive"] | None = None,
        *,
        penalty: Literal["l2", "l1", "elasticnet", "lp"] | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        p: float = 1.5,
        epsilon: float = 0.1,
        learning_rate: Literal["optimal", "constant", "invscaling", "adaptive"] | None = None,
        eta0: float = 0.01,
        power_t: float = 0.25,
        batch_size: int = 1,
        average: bool = False,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        n_iter_no_change: int = 5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        standardize: bool | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.batch_size = batch_size
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SGDRegressor(InterceptInArray, Streaming, Regressor):
    """Any loss with any penalty by stochastic gradient descent; learns from streams.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'exponential', 'log_loss', 'squared_error', 'absolute_error', 'huber', 'quantile', 'epsilon_insensitive'} or None, default=None
        What is minimised; none for "hinge" (classes) or "squared_error" (numbers).
    penalty : {'l2', 'l1', 'elasticnet', 'lp'} or None, default="l2"
        What coefficients cost; none for nothing.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of L1 in the penalty "elasticnet".
    p : float, default=1.5
        The power of the penalty "lp".
    epsilon : float, default=0.1
        Where the loss "huber" becomes absolute; what "epsilon_insensitive" leaves unpunished.
    quantile : float, default=0.5
        Which quantile the loss "quantile" is for.
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive'} or None, default=None
        How the rate changes; none for "optimal" (classes) or "invscaling" (numbers).
    eta0 : float, default=0.01
        The rate of the first step, unless it is "optimal".
    power_t : float, default=0.25
        How fast the rate "invscaling" falls.
    batch_size : int, default=1
        Rows in a step.
    average : bool, default=False
        Whether the answer is the average over all steps.
    max_iter : int, default=1000
        Most passes over the rows.
    tol : float or None, default=0.001
        Stop when the loss falls by less than this in `n_iter_no_change` passes; none for never.
    n_iter_no_change : int, default=5
        Passes without progress before stopping, or lowering the rate.
    early_stopping : bool, default=False
        Keep rows aside, and stop when their loss no longer falls.
    validation_fraction : float, default=0.1
        The share of rows kept aside for early stopping.
    shuffle : bool, default=True
        Another order of the rows in every pass.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool or None, default=None
        Bring columns to mean 0 and deviation 1 first, so that one rate fits all; coefficients are reported in the
        user's units all the same. None for yes, unless columns are sparse or come in a stream.
    warm_start : bool, default=False
        Every fit starts anew: ``partial_fit`` goes on.
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
    loss_curve_ : ndarray of shape (n_iter_,)
        The loss, objective or number of mistakes of each pass.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import SGDRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = SGDRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "sgd"
    _parameters = ("loss", "penalty", "alpha", "l1_ratio", "p", "epsilon", "quantile", "learning_rate", "eta0", "power_t", "batch_size", "average", "max_iter", "tol", "n_iter_no_change", "early_stopping", "validation_fraction", "shuffle", "fit_intercept", "standardize")
    _takes_sparse = True
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        loss: Literal["hinge", "squared_hinge", "exponential", "log_loss", "squared_error", "absolute_error", "huber", "quantile", "epsilon_insensitive"] | None = None,
        *,
        penalty: Literal["l2", "l1", "elasticnet", "lp"] | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        p: float = 1.5,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        learning_rate: Literal["optimal", "constant", "invscaling", "adaptive"] | None = None,
        eta0: float = 0.01,
        power_t: float = 0.25,
        batch_size: int = 1,
        average: bool = False,
        max_iter: int = 1000,
        tol: float | None = 0.001,
        n_iter_no_change: int = 5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        standardize: bool | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.epsilon = epsilon
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.batch_size = batch_size
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GradientDescentClassifier(MarginClassifier):
    """Any loss with any penalty by gradient descent, with its loss curve.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'exponential', 'log_loss', 'squared_error', 'absolute_error', 'huber', 'quantile', 'epsilon_insensitive'} or None, default=None
        What is minimised; none for "hinge" (classes) or "squared_error" (numbers).
    penalty : {'l2', 'l1', 'elasticnet', 'lp'} or None, default="l2"
        What coefficients cost; none for nothing.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of L1 in the penalty "elasticnet".
    p : float, default=1.5
        The power of the penalty "lp".
    epsilon : float, default=0.1
        Where the loss "huber" becomes absolute; what "epsilon_insensitive" leaves unpunished.
    learning_rate : {'line_search', 'constant', 'invscaling', 'adaptive'} or None, default=None
        How the rate changes; none for "line_search", or "invscaling" for losses with kinks.
    eta0 : float, default=1.0
        The rate of the first step, where it isn't searched.
    power_t : float, default=0.5
        How fast the rate "invscaling" falls.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-06
        Stop when no optimality condition is violated by more than this.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=True
        Bring columns to mean 0 and deviation 1 first; coefficients are reported in the user's units all the same.
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class).
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
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
    loss_curve_ : ndarray of shape (n_iter_,)
        The loss, objective or number of mistakes of each pass.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import GradientDescentClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = GradientDescentClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "gradient-descent"
    _parameters = ("loss", "penalty", "alpha", "l1_ratio", "p", "epsilon", "learning_rate", "eta0", "power_t", "max_iter", "tol", "fit_intercept", "standardize", "class_weight", "degree", "interaction_only")
    _takes_sparse = True

    def __init__(
        self,
        *,
        loss: Literal["hinge", "squared_hinge", "exponential", "log_loss", "squared_error", "absolute_error", "huber", "quantile", "epsilon_insensitive"] | None = None,
        penalty: Literal["l2", "l1", "elasticnet", "lp"] | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        p: float = 1.5,
        epsilon: float = 0.1,
        learning_rate: Literal["line_search", "constant", "invscaling", "adaptive"] | None = None,
        eta0: float = 1.0,
        power_t: float = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-06,
        fit_intercept: bool = True,
        standardize: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        degree: int = 1,
        interaction_only: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.degree = degree
        self.interaction_only = interaction_only
        self.n_jobs = n_jobs
        self.verbose = verbose


class GradientDescentRegressor(Regressor):
    """Any loss with any penalty by gradient descent, with its loss curve.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'exponential', 'log_loss', 'squared_error', 'absolute_error', 'huber', 'quantile', 'epsilon_insensitive'} or None, default=None
        What is minimised; none for "hinge" (classes) or "squared_error" (numbers).
    penalty : {'l2', 'l1', 'elasticnet', 'lp'} or None, default="l2"
        What coefficients cost; none for nothing.
    alpha : float, default=0.0001
        The strength of the penalty.
    l1_ratio : float, default=0.15
        The share of L1 in the penalty "elasticnet".
    p : float, default=1.5
        The power of the penalty "lp".
    epsilon : float, default=0.1
        Where the loss "huber" becomes absolute; what "epsilon_insensitive" leaves unpunished.
    quantile : float, default=0.5
        Which quantile the loss "quantile" is for.
    learning_rate : {'line_search', 'constant', 'invscaling', 'adaptive'} or None, default=None
        How the rate changes; none for "line_search", or "invscaling" for losses with kinks.
    eta0 : float, default=1.0
        The rate of the first step, where it isn't searched.
    power_t : float, default=0.5
        How fast the rate "invscaling" falls.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-06
        Stop when no optimality condition is violated by more than this.
    fit_intercept : bool, default=True
        Whether there is an intercept (which is never penalised).
    standardize : bool, default=True
        Bring columns to mean 0 and deviation 1 first; coefficients are reported in the user's units all the same.
    degree : int, default=1
        The highest degree of polynomial terms; 1 for the columns themselves.
    interaction_only : bool, default=False
        With a degree above 1: only products of different columns, no powers.
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
    loss_curve_ : ndarray of shape (n_iter_,)
        The loss, objective or number of mistakes of each pass.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.linear_model import GradientDescentRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = GradientDescentRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "gradient-descent"
    _parameters = ("loss", "penalty", "alpha", "l1_ratio", "p", "epsilon", "quantile", "learning_rate", "eta0", "power_t", "max_iter", "tol", "fit_intercept", "standardize", "degree", "interaction_only")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        *,
        loss: Literal["hinge", "squared_hinge", "exponential", "log_loss", "squared_error", "absolute_error", "huber", "quantile", "epsilon_insensitive"] | None = None,
        penalty: Literal["l2", "l1", "elasticnet", "lp"] | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        p: float = 1.5,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        learning_rate: Literal["line_search", "constant", "invscaling", "adaptive"] | None = None,
        eta0: float = 1.0,
        power_t: float = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-06,
        fit_intercept: bool = True,
        standardize: bool = True,
        degree: int = 1,
        interaction_only: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.epsilon = epsilon
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.degree = degree
        self.interaction_only = interaction_only
        self.n_jobs = n_jobs
        self.verbose = verbose
