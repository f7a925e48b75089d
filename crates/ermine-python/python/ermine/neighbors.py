"""Nearest neighbours: what is near is alike.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from ermine._estimator import ProbabilisticClassifier, Regressor
from ermine._neighbors import NearestNeighbors, NeighborClasses, Neighbors

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor", "NearestNeighbors"]


class KNeighborsClassifier(NeighborClasses, ProbabilisticClassifier):  # type: ignore[misc]
    """The k nearest training rows vote, or their mean is taken; exact search, many metrics.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours count.
    max_neighbors : int or None, default=None
        Choose the number of neighbours from 1 to this by leave-one-out error, in place of n_neighbors.
    weights : {'uniform', 'distance', 'triangular', 'epanechnikov', 'biweight', 'triweight', 'tricube', 'cosine', 'gaussian'} or callable, default="uniform"
        How much each neighbour counts. A function gives the weights of neighbours at the distances it is called with.
    kernel_width : float or None, default=None
        The width of a kernel; without one, the distance of the next neighbour after those that count.
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'mixed', 'mixed_far', 'edit', 'hamming_text'} or callable, default="minkowski"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric: 1 is manhattan, 2 is euclidean.
    covariance : array-like of shape (n_features, n_features) or None, default=None
        The covariance of the mahalanobis metric (of the columns after encoding); estimated from the training rows if
        None.
    standardize : bool, default=False
        Bring numbers to mean 0 and standard deviation 1 first.
    tie : {'first', 'next_point', 'drop_farthest', 'distance', 'other_metric'}, default="first"
        What decides between classes with equally many votes.
    tie_metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'mixed', 'mixed_far', 'edit', 'hamming_text'}, default="manhattan"
        The other metric of tie = other_metric.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute', 'hnsw'}, default="auto"
        The kind of index. All but hnsw give the same neighbours.
    search_width : int, default=100
        How many places a search with algorithm = hnsw keeps to go on from: more find more neighbours, later.
    keep : {'all', 'condensed', 'edited'}, default="all"
        Which training rows are kept (classification).
    leaf_size : int, default=30
        Taken as scikit-learn takes it, and without effect: the index chooses its own.
    metric_params : dict or None, default=None
        What the metric needs: 'p' of minkowski, or 'VI' of mahalanobis, the inverse of ``covariance``.
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
    n_neighbors_ : int
        How many neighbours count.
    n_samples_fit_ : int
        How many rows are kept.
    kept_rows_ : ndarray of shape (n_samples_fit_,)
        The numbers of the training rows that are kept, where ``keep`` drops some.
    leave_one_out_errors_ : ndarray of shape (max_neighbors,)
        The leave-one-out error of each number of neighbours from 1 up, where ``max_neighbors`` is set.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.neighbors import KNeighborsClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = KNeighborsClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "nearest-neighbors"
    _parameters = ("n_neighbors", "max_neighbors", "weights", "kernel_width", "metric", "p", "covariance", "standardize", "tie", "tie_metric", "algorithm", "search_width", "keep")
    _takes_sparse = True

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        max_neighbors: int | None = None,
        weights: Literal["uniform", "distance", "triangular", "epanechnikov", "biweight", "triweight", "tricube", "cosine", "gaussian"] | Callable[[np.ndarray], np.ndarray] = "uniform",
        kernel_width: float | None = None,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "mixed", "mixed_far", "edit", "hamming_text"] | Callable[[np.ndarray, np.ndarray], float] = "minkowski",
        p: float = 2.0,
        covariance: Any = None,
        standardize: bool = False,
        tie: Literal["first", "next_point", "drop_farthest", "distance", "other_metric"] = "first",
        tie_metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "mixed", "mixed_far", "edit", "hamming_text"] = "manhattan",
        algorithm: Literal["auto", "kd_tree", "ball_tree", "brute", "hnsw"] = "auto",
        search_width: int = 100,
        keep: Literal["all", "condensed", "edited"] = "all",
        leaf_size: int = 30,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_neighbors = max_neighbors
        self.weights = weights
        self.kernel_width = kernel_width
        self.metric = metric
        self.p = p
        self.covariance = covariance
        self.standardize = standardize
        self.tie = tie
        self.tie_metric = tie_metric
        self.algorithm = algorithm
        self.search_width = search_width
        self.keep = keep
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose


class KNeighborsRegressor(Neighbors, Regressor):  # type: ignore[misc]
    """The k nearest training rows vote, or their mean is taken; exact search, many metrics.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours count.
    max_neighbors : int or None, default=None
        Choose the number of neighbours from 1 to this by leave-one-out error, in place of n_neighbors.
    weights : {'uniform', 'distance', 'triangular', 'epanechnikov', 'biweight', 'triweight', 'tricube', 'cosine', 'gaussian'} or callable, default="uniform"
        How much each neighbour counts. A function gives the weights of neighbours at the distances it is called with.
    kernel_width : float or None, default=None
        The width of a kernel; without one, the distance of the next neighbour after those that count.
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'mixed', 'mixed_far', 'edit', 'hamming_text'} or callable, default="minkowski"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric: 1 is manhattan, 2 is euclidean.
    covariance : array-like of shape (n_features, n_features) or None, default=None
        The covariance of the mahalanobis metric (of the columns after encoding); estimated from the training rows if
        None.
    standardize : bool, default=False
        Bring numbers to mean 0 and standard deviation 1 first.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute', 'hnsw'}, default="auto"
        The kind of index. All but hnsw give the same neighbours.
    search_width : int, default=100
        How many places a search with algorithm = hnsw keeps to go on from: more find more neighbours, later.
    leaf_size : int, default=30
        Taken as scikit-learn takes it, and without effect: the index chooses its own.
    metric_params : dict or None, default=None
        What the metric needs: 'p' of minkowski, or 'VI' of mahalanobis, the inverse of ``covariance``.
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
    n_neighbors_ : int
        How many neighbours count.
    n_samples_fit_ : int
        How many rows are kept.
    leave_one_out_errors_ : ndarray of shape (max_neighbors,)
        The leave-one-out error of each number of neighbours from 1 up, where ``max_neighbors`` is set.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.neighbors import KNeighborsRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = KNeighborsRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "nearest-neighbors"
    _parameters = ("n_neighbors", "max_neighbors", "weights", "kernel_width", "metric", "p", "covariance", "standardize", "algorithm", "search_width")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        max_neighbors: int | None = None,
        weights: Literal["uniform", "distance", "triangular", "epanechnikov", "biweight", "triweight", "tricube", "cosine", "gaussian"] | Callable[[np.ndarray], np.ndarray] = "uniform",
        kernel_width: float | None = None,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "mixed", "mixed_far", "edit", "hamming_text"] | Callable[[np.ndarray, np.ndarray], float] = "minkowski",
        p: float = 2.0,
        covariance: Any = None,
        standardize: bool = False,
        algorithm: Literal["auto", "kd_tree", "ball_tree", "brute", "hnsw"] = "auto",
        search_width: int = 100,
        leaf_size: int = 30,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_neighbors = max_neighbors
        self.weights = weights
        self.kernel_width = kernel_width
        self.metric = metric
        self.p = p
        self.covariance = covariance
        self.standardize = standardize
        self.algorithm = algorithm
        self.search_width = search_width
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose


class RadiusNeighborsClassifier(NeighborClasses, ProbabilisticClassifier):  # type: ignore[misc]
    """The k nearest training rows vote, or their mean is taken; exact search, many metrics.

    Parameters
    ----------
    radius : float, default=1.0
        Count all training rows within this distance, in place of the nearest n_neighbors; the nearest alone where there
        are none.
    weights : {'uniform', 'distance', 'triangular', 'epanechnikov', 'biweight', 'triweight', 'tricube', 'cosine', 'gaussian'} or callable, default="uniform"
        How much each neighbour counts. A function gives the weights of neighbours at the distances it is called with.
    kernel_width : float or None, default=None
        The width of a kernel; without one, the distance of the next neighbour after those that count.
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'mixed', 'mixed_far', 'edit', 'hamming_text'} or callable, default="minkowski"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric: 1 is manhattan, 2 is euclidean.
    covariance : array-like of shape (n_features, n_features) or None, default=None
        The covariance of the mahalanobis metric (of the columns after encoding); estimated from the training rows if
        None.
    standardize : bool, default=False
        Bring numbers to mean 0 and standard deviation 1 first.
    tie : {'first', 'next_point', 'drop_farthest', 'distance', 'other_metric'}, default="first"
        What decides between classes with equally many votes.
    tie_metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'mixed', 'mixed_far', 'edit', 'hamming_text'}, default="manhattan"
        The other metric of tie = other_metric.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute', 'hnsw'}, default="auto"
        The kind of index. All but hnsw give the same neighbours.
    search_width : int, default=100
        How many places a search with algorithm = hnsw keeps to go on from: more find more neighbours, later.
    keep : {'all', 'condensed', 'edited'}, default="all"
        Which training rows are kept (classification).
    leaf_size : int, default=30
        Taken as scikit-learn takes it, and without effect: the index chooses its own.
    metric_params : dict or None, default=None
        What the metric needs: 'p' of minkowski, or 'VI' of mahalanobis, the inverse of ``covariance``.
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
    n_neighbors_ : int
        How many neighbours count.
    n_samples_fit_ : int
        How many rows are kept.
    kept_rows_ : ndarray of shape (n_samples_fit_,)
        The numbers of the training rows that are kept, where ``keep`` drops some.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.neighbors import RadiusNeighborsClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = RadiusNeighborsClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "nearest-neighbors"
    _parameters = ("radius", "weights", "kernel_width", "metric", "p", "covariance", "standardize", "tie", "tie_metric", "algorithm", "search_width", "keep")
    _takes_sparse = True

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Literal["uniform", "distance", "triangular", "epanechnikov", "biweight", "triweight", "tricube", "cosine", "gaussian"] | Callable[[np.ndarray], np.ndarray] = "uniform",
        kernel_width: float | None = None,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "mixed", "mixed_far", "edit", "hamming_text"] | Callable[[np.ndarray, np.ndarray], float] = "minkowski",
        p: float = 2.0,
        covariance: Any = None,
        standardize: bool = False,
        tie: Literal["first", "next_point", "drop_farthest", "distance", "other_metric"] = "first",
        tie_metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "mixed", "mixed_far", "edit", "hamming_text"] = "manhattan",
        algorithm: Literal["auto", "kd_tree", "ball_tree", "brute", "hnsw"] = "auto",
        search_width: int = 100,
        keep: Literal["all", "condensed", "edited"] = "all",
        leaf_size: int = 30,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.kernel_width = kernel_width
        self.metric = metric
        self.p = p
        self.covariance = covariance
        self.standardize = standardize
        self.tie = tie
        self.tie_metric = tie_metric
        self.algorithm = algorithm
        self.search_width = search_width
        self.keep = keep
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose


class RadiusNeighborsRegressor(Neighbors, Regressor):  # type: ignore[misc]
    """The k nearest training rows vote, or their mean is taken; exact search, many metrics.

    Parameters
    ----------
    radius : float, default=1.0
        Count all training rows within this distance, in place of the nearest n_neighbors; the nearest alone where there
        are none.
    weights : {'uniform', 'distance', 'triangular', 'epanechnikov', 'biweight', 'triweight', 'tricube', 'cosine', 'gaussian'} or callable, default="uniform"
        How much each neighbour counts. A function gives the weights of neighbours at the distances it is called with.
    kernel_width : float or None, default=None
        The width of a kernel; without one, the distance of the next neighbour after those that count.
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'mixed', 'mixed_far', 'edit', 'hamming_text'} or callable, default="minkowski"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric: 1 is manhattan, 2 is euclidean.
    covariance : array-like of shape (n_features, n_features) or None, default=None
        The covariance of the mahalanobis metric (of the columns after encoding); estimated from the training rows if
        None.
    standardize : bool, default=False
        Bring numbers to mean 0 and standard deviation 1 first.
    algorithm : {'auto', 'kd_tree', 'ball_tree', 'brute', 'hnsw'}, default="auto"
        The kind of index. All but hnsw give the same neighbours.
    search_width : int, default=100
        How many places a search with algorithm = hnsw keeps to go on from: more find more neighbours, later.
    leaf_size : int, default=30
        Taken as scikit-learn takes it, and without effect: the index chooses its own.
    metric_params : dict or None, default=None
        What the metric needs: 'p' of minkowski, or 'VI' of mahalanobis, the inverse of ``covariance``.
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
    n_neighbors_ : int
        How many neighbours count.
    n_samples_fit_ : int
        How many rows are kept.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.neighbors import RadiusNeighborsRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = RadiusNeighborsRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "nearest-neighbors"
    _parameters = ("radius", "weights", "kernel_width", "metric", "p", "covariance", "standardize", "algorithm", "search_width")
    _takes_sparse = True
    _multi_output = True

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Literal["uniform", "distance", "triangular", "epanechnikov", "biweight", "triweight", "tricube", "cosine", "gaussian"] | Callable[[np.ndarray], np.ndarray] = "uniform",
        kernel_width: float | None = None,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "mixed", "mixed_far", "edit", "hamming_text"] | Callable[[np.ndarray, np.ndarray], float] = "minkowski",
        p: float = 2.0,
        covariance: Any = None,
        standardize: bool = False,
        algorithm: Literal["auto", "kd_tree", "ball_tree", "brute", "hnsw"] = "auto",
        search_width: int = 100,
        leaf_size: int = 30,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.kernel_width = kernel_width
        self.metric = metric
        self.p = p
        self.covariance = covariance
        self.standardize = standardize
        self.algorithm = algorithm
        self.search_width = search_width
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.verbose = verbose
