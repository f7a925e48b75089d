"""Many models that answer as one.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ermine._boosting import BoostingClassifier, BoostingRanker, BoostingRegressor
from ermine._comparison import Comparisons
from ermine._elsewhere import handed_over
from ermine._ensemble import Bag, BoostedClasses, BoostedNumbers, Forest, QuantileForest
from ermine._estimator import Estimator, ProbabilisticClassifier, Regressor
from ermine._reduction import OverClassifier

__all__ = ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor", "ComparisonForestClassifier", "ComparisonForestRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor", "GradientBoostingRanker", "AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor"]

__getattr__ = handed_over("ensemble", __all__, ("StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor"))


class RandomForestClassifier(Forest, ProbabilisticClassifier):
    """The mean of many trees, each grown on rows drawn with replacement and on columns drawn at every node.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {'gini', 'entropy', 'log_loss', 'error', 'squared_error', 'absolute_error', 'poisson'} or None, default=None
        What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
    max_depth : int or None, default=None
        Depth of a tree, at most; none for no limit.
    min_samples_split : int or float, default=2
        A node with fewer rows, or a smaller share of them, is not split.
    min_samples_leaf : int or float, default=1
        Each side of a split has at least this many rows, or this share of them.
    min_weight_fraction_leaf : float, default=0.0
        Each side of a split has at least this share of the weight.
    max_features : {'auto'} or int or float or {'sqrt', 'log2'} or None, default="auto"
        Columns tried at each node: a number (all if there are no more), a share, sqrt, log2, or none for all; auto is
        sqrt for classes and all for numbers.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree, at most; the best splits are made first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split lowers the impurity, weighted by its share of the rows, by at least this much.
    bootstrap : bool, default=True
        Whether each tree sees rows drawn with replacement, or all rows.
    max_samples : int or float or None, default=None
        How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
    class_weight : dict, 'balanced', 'balanced_subsample' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class). Rows count by their own weights. 'balanced_subsample' balances the rows that
        were drawn for each tree.
    monotonic_cst : list of int, default=()
        For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no
        constraints. Needs exact trees.
    ccp_alpha : float, default=0.0
        Splits that lower the impurity by less than this for each leaf they add are pruned. Needs exact trees.
    oob_score : bool, default=False
        Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
    permutation_importances : bool, default=False
        Whether to find out how much worse each tree gets on the rows that it didn't see when the values of a column are
        shuffled. Only with bootstrap.
    tree_method : {'auto', 'hist', 'exact'}, default="auto"
        Which thresholds are tried: bounds of bins (hist), all (exact), or bins unless another parameter needs exact
        trees (auto).
    max_bins : int, default=255
        Bins of a column, at most.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    warm_start : bool, default=False
        Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``;
        random_state then stays what it was.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    permutation_importances_ : ndarray of shape (n_features_in_,)
        How much worse trees get on rows that they didn't see when a column is shuffled (accuracy lost, or squared error gained), where ``permutation_importances`` is set.
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import RandomForestClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = RandomForestClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "random-forest"
    _parameters = ("n_estimators", "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease", "bootstrap", "max_samples", "class_weight", "monotonic_cst", "ccp_alpha", "oob_score", "permutation_importances", "tree_method", "max_bins")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "error", "squared_error", "absolute_error", "poisson"] | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Literal["auto"] | int | float | Literal["sqrt", "log2"] | None = "auto",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced", "balanced_subsample"] | None = None,
        monotonic_cst: Sequence[int] = (),
        ccp_alpha: float = 0.0,
        oob_score: bool = False,
        permutation_importances: bool = False,
        tree_method: Literal["auto", "hist", "exact"] = "auto",
        max_bins: int = 255,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.oob_score = oob_score
        self.permutation_importances = permutation_importances
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class RandomForestRegressor(QuantileForest, Regressor):
    """The mean of many trees, each grown on rows drawn with replacement and on columns drawn at every node.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {'gini', 'entropy', 'log_loss', 'error', 'squared_error', 'absolute_error', 'poisson'} or None, default=None
        What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
    max_depth : int or None, default=None
        Depth of a tree, at most; none for no limit.
    min_samples_split : int or float, default=2
        A node with fewer rows, or a smaller share of them, is not split.
    min_samples_leaf : int or float, default=1
        Each side of a split has at least this many rows, or this share of them.
    min_weight_fraction_leaf : float, default=0.0
        Each side of a split has at least this share of the weight.
    max_features : {'auto'} or int or float or {'sqrt', 'log2'} or None, default="auto"
        Columns tried at each node: a number (all if there are no more), a share, sqrt, log2, or none for all; auto is
        sqrt for classes and all for numbers.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree, at most; the best splits are made first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split lowers the impurity, weighted by its share of the rows, by at least this much.
    bootstrap : bool, default=True
        Whether each tree sees rows drawn with replacement, or all rows.
    max_samples : int or float or None, default=None
        How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
    monotonic_cst : list of int, default=()
        For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no
        constraints. Needs exact trees.
    ccp_alpha : float, default=0.0
        Splits that lower the impurity by less than this for each leaf they add are pruned. Needs exact trees.
    oob_score : bool, default=False
        Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
    permutation_importances : bool, default=False
        Whether to find out how much worse each tree gets on the rows that it didn't see when the values of a column are
        shuffled. Only with bootstrap.
    quantiles : bool, default=False
        Whether to keep the training targets of all leaves, from which quantiles are predicted. For one number.
    tree_method : {'auto', 'hist', 'exact'}, default="auto"
        Which thresholds are tried: bounds of bins (hist), all (exact), or bins unless another parameter needs exact
        trees (auto).
    max_bins : int, default=255
        Bins of a column, at most.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    warm_start : bool, default=False
        Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``;
        random_state then stays what it was.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    permutation_importances_ : ndarray of shape (n_features_in_,)
        How much worse trees get on rows that they didn't see when a column is shuffled (accuracy lost, or squared error gained), where ``permutation_importances`` is set.
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import RandomForestRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = RandomForestRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "random-forest"
    _parameters = ("n_estimators", "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease", "bootstrap", "max_samples", "monotonic_cst", "ccp_alpha", "oob_score", "permutation_importances", "quantiles", "tree_method", "max_bins")
    _takes_sparse = True
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "error", "squared_error", "absolute_error", "poisson"] | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Literal["auto"] | int | float | Literal["sqrt", "log2"] | None = "auto",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        monotonic_cst: Sequence[int] = (),
        ccp_alpha: float = 0.0,
        oob_score: bool = False,
        permutation_importances: bool = False,
        quantiles: bool = False,
        tree_method: Literal["auto", "hist", "exact"] = "auto",
        max_bins: int = 255,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.oob_score = oob_score
        self.permutation_importances = permutation_importances
        self.quantiles = quantiles
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class ExtraTreesClassifier(Forest, ProbabilisticClassifier):
    """The mean of many trees whose thresholds are drawn at random.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {'gini', 'entropy', 'log_loss', 'error', 'squared_error', 'absolute_error', 'poisson'} or None, default=None
        What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
    max_depth : int or None, default=None
        Depth of a tree, at most; none for no limit.
    min_samples_split : int or float, default=2
        A node with fewer rows, or a smaller share of them, is not split.
    min_samples_leaf : int or float, default=1
        Each side of a split has at least this many rows, or this share of them.
    min_weight_fraction_leaf : float, default=0.0
        Each side of a split has at least this share of the weight.
    max_features : {'auto'} or int or float or {'sqrt', 'log2'} or None, default="auto"
        Columns tried at each node: a number (all if there are no more), a share, sqrt, log2, or none for all; auto is
        sqrt for classes and all for numbers.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree, at most; the best splits are made first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split lowers the impurity, weighted by its share of the rows, by at least this much.
    bootstrap : bool, default=False
        Whether each tree sees rows drawn with replacement, or all rows.
    max_samples : int or float or None, default=None
        How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
    class_weight : dict, 'balanced', 'balanced_subsample' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class). Rows count by their own weights. 'balanced_subsample' balances the rows that
        were drawn for each tree.
    monotonic_cst : list of int, default=()
        For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no
        constraints. Needs exact trees.
    ccp_alpha : float, default=0.0
        Splits that lower the impurity by less than this for each leaf they add are pruned. Needs exact trees.
    oob_score : bool, default=False
        Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
    permutation_importances : bool, default=False
        Whether to find out how much worse each tree gets on the rows that it didn't see when the values of a column are
        shuffled. Only with bootstrap.
    tree_method : {'auto', 'hist', 'exact'}, default="auto"
        Which thresholds are tried: bounds of bins (hist), all (exact), or bins unless another parameter needs exact
        trees (auto).
    max_bins : int, default=255
        Bins of a column, at most.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    warm_start : bool, default=False
        Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``;
        random_state then stays what it was.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    permutation_importances_ : ndarray of shape (n_features_in_,)
        How much worse trees get on rows that they didn't see when a column is shuffled (accuracy lost, or squared error gained), where ``permutation_importances`` is set.
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import ExtraTreesClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = ExtraTreesClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "extra-trees"
    _parameters = ("n_estimators", "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease", "bootstrap", "max_samples", "class_weight", "monotonic_cst", "ccp_alpha", "oob_score", "permutation_importances", "tree_method", "max_bins")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "error", "squared_error", "absolute_error", "poisson"] | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Literal["auto"] | int | float | Literal["sqrt", "log2"] | None = "auto",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: int | float | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced", "balanced_subsample"] | None = None,
        monotonic_cst: Sequence[int] = (),
        ccp_alpha: float = 0.0,
        oob_score: bool = False,
        permutation_importances: bool = False,
        tree_method: Literal["auto", "hist", "exact"] = "auto",
        max_bins: int = 255,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.oob_score = oob_score
        self.permutation_importances = permutation_importances
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class ExtraTreesRegressor(QuantileForest, Regressor):
    """The mean of many trees whose thresholds are drawn at random.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {'gini', 'entropy', 'log_loss', 'error', 'squared_error', 'absolute_error', 'poisson'} or None, default=None
        What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
    max_depth : int or None, default=None
        Depth of a tree, at most; none for no limit.
    min_samples_split : int or float, default=2
        A node with fewer rows, or a smaller share of them, is not split.
    min_samples_leaf : int or float, default=1
        Each side of a split has at least this many rows, or this share of them.
    min_weight_fraction_leaf : float, default=0.0
        Each side of a split has at least this share of the weight.
    max_features : {'auto'} or int or float or {'sqrt', 'log2'} or None, default="auto"
        Columns tried at each node: a number (all if there are no more), a share, sqrt, log2, or none for all; auto is
        sqrt for classes and all for numbers.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree, at most; the best splits are made first. None for no limit.
    min_impurity_decrease : float, default=0.0
        A split lowers the impurity, weighted by its share of the rows, by at least this much.
    bootstrap : bool, default=False
        Whether each tree sees rows drawn with replacement, or all rows.
    max_samples : int or float or None, default=None
        How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
    monotonic_cst : list of int, default=()
        For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no
        constraints. Needs exact trees.
    ccp_alpha : float, default=0.0
        Splits that lower the impurity by less than this for each leaf they add are pruned. Needs exact trees.
    oob_score : bool, default=False
        Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
    permutation_importances : bool, default=False
        Whether to find out how much worse each tree gets on the rows that it didn't see when the values of a column are
        shuffled. Only with bootstrap.
    quantiles : bool, default=False
        Whether to keep the training targets of all leaves, from which quantiles are predicted. For one number.
    tree_method : {'auto', 'hist', 'exact'}, default="auto"
        Which thresholds are tried: bounds of bins (hist), all (exact), or bins unless another parameter needs exact
        trees (auto).
    max_bins : int, default=255
        Bins of a column, at most.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    warm_start : bool, default=False
        Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``;
        random_state then stays what it was.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    permutation_importances_ : ndarray of shape (n_features_in_,)
        How much worse trees get on rows that they didn't see when a column is shuffled (accuracy lost, or squared error gained), where ``permutation_importances`` is set.
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import ExtraTreesRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = ExtraTreesRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "extra-trees"
    _parameters = ("n_estimators", "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease", "bootstrap", "max_samples", "monotonic_cst", "ccp_alpha", "oob_score", "permutation_importances", "quantiles", "tree_method", "max_bins")
    _takes_sparse = True
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "error", "squared_error", "absolute_error", "poisson"] | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Literal["auto"] | int | float | Literal["sqrt", "log2"] | None = "auto",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: int | float | None = None,
        monotonic_cst: Sequence[int] = (),
        ccp_alpha: float = 0.0,
        oob_score: bool = False,
        permutation_importances: bool = False,
        quantiles: bool = False,
        tree_method: Literal["auto", "hist", "exact"] = "auto",
        max_bins: int = 255,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.oob_score = oob_score
        self.permutation_importances = permutation_importances
        self.quantiles = quantiles
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class ComparisonForestClassifier(Comparisons, ProbabilisticClassifier):
    """The mean of many trees that ask only which of two rows is nearer, for any metric, strings too.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'edit', 'string_hamming'} or callable, default="euclidean"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric.
    n_pairs : int, default=5
        How many pairs of rows each node tries; 1 for pairs that are drawn without looking at what they gain.
    max_depth : int or None, default=None
        Depth of a tree, at most; none for no limit.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
    bootstrap : bool, default=True
        Whether each tree sees rows drawn with replacement, or all rows.
    max_samples : int or float or None, default=None
        How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
    oob_score : bool, default=False
        Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
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
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import ComparisonForestClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = ComparisonForestClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "comparison-forest"
    _parameters = ("n_estimators", "metric", "p", "n_pairs", "max_depth", "min_samples_leaf", "bootstrap", "max_samples", "oob_score")
    _is_random = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "edit", "string_hamming"] | Callable[[np.ndarray, np.ndarray], float] = "euclidean",
        p: float = 2.0,
        n_pairs: int = 5,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.metric = metric
        self.p = p
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ComparisonForestRegressor(Comparisons, Regressor):
    """The mean of many trees that ask only which of two rows is nearer, for any metric, strings too.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'edit', 'string_hamming'} or callable, default="euclidean"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric.
    n_pairs : int, default=5
        How many pairs of rows each node tries; 1 for pairs that are drawn without looking at what they gain.
    max_depth : int or None, default=None
        Depth of a tree, at most; none for no limit.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
    bootstrap : bool, default=True
        Whether each tree sees rows drawn with replacement, or all rows.
    max_samples : int or float or None, default=None
        How many rows are drawn for each tree, or which share; none for as many as there are. Only with bootstrap.
    oob_score : bool, default=False
        Whether to judge the forest on the rows that each tree didn't see. Only with bootstrap.
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
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import ComparisonForestRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = ComparisonForestRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "comparison-forest"
    _parameters = ("n_estimators", "metric", "p", "n_pairs", "max_depth", "min_samples_leaf", "bootstrap", "max_samples", "oob_score")
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "edit", "string_hamming"] | Callable[[np.ndarray, np.ndarray], float] = "euclidean",
        p: float = 2.0,
        n_pairs: int = 5,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.metric = metric
        self.p = p
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GradientBoostingClassifier(BoostingClassifier):
    """A sum of trees, each grown on the gradients of the loss at the sum so far.

    Parameters
    ----------
    loss : {'auto', 'log_loss'}, default="auto"
        What is minimised; auto: the log loss for classes, the squared error for numbers, LambdaMART for ranking.
    n_estimators : int, default=0
        How many rounds; in each, one tree is grown for each output (one for each class where there are more than two).
        0 for as many, up to 1500, as do best on rows kept aside: on small data the mean of five models that each keep a
        fold aside, on large data one model of all rows. With few rows or `rate_drop`: 100.
    learning_rate : float, default=0.1
        What the weights of each tree's leaves are multiplied by.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; none for no limit.
    max_depth : int or None, default=None
        Longest way from the root of a tree to a leaf; none for no limit.
    grow_policy : {'auto', 'lossguide', 'depthwise', 'symmetric'}, default="auto"
        Which leaf is split next: the one that gains most (lossguide), those of a level one after the other (depthwise),
        or all of a level by the same question (symmetric). auto: lossguide; but where the number of rounds is found on
        small data, every other model is of symmetric trees of up to six levels, and all learn at half the learning
        rate, with a tenth of `min_child_weight`, each tree on at most 0.8 of the rows (of all rows, where there are
        classes and more than 2,000 of them).
    tree_method : {'hist', 'exact'}, default="hist"
        Which thresholds are tried: bounds of bins (hist), or all (exact, for columns of at most 65,535 distinct
        values).
    max_bins : int, default=255
        Into how many bins the values of a column are cut.
    reg_lambda : float, default=1.0
        L2 penalty on leaf weights. (Splits of the absolute and quantile loss know it; their leaves are medians and
        quantiles, which have none.)
    reg_alpha : float, default=0.0
        L1 penalty on leaf weights.
    gamma : float, default=0.0
        The least that a split must lower the objective by (XGBoost's program compares its `gamma` with twice that).
    min_child_weight : float, default=1.0
        The least sum of curvatures in a leaf.
    max_delta_step : float, default=0.0
        Largest weight of a leaf, without its sign; 0 for no limit.
    subsample : float, default=1.0
        The share of the rows that each round sees, drawn at random.
    sampling_method : {'uniform', 'goss'}, default="uniform"
        How rows are drawn: each equally likely (uniform, the share `subsample`), or by their gradients (goss: the
        shares `top_rate` and `other_rate`).
    top_rate : float, default=0.2
        Under goss, the share of rows, those with the largest gradients, that each round sees.
    other_rate : float, default=0.1
        Under goss, the share of rows that is drawn from the others.
    rate_drop : float, default=0.0
        Leave out each earlier round with this probability while a tree is grown (DART).
    colsample_bytree : float, default=1.0
        The share of the columns that each tree sees, drawn at random.
    colsample_bylevel : float, default=1.0
        The share of the tree's columns that each level of it sees.
    colsample_bynode : float, default=1.0
        The share of the level's columns that each node sees.
    monotone_constraints : dict or list of int, default=()
        Columns that the prediction must not fall with (1) or must not rise with (-1): {column: direction}, where
        columns that are not named are free; or a direction (1, 0 or -1) for each column in turn. Empty for no
        constraints.
    interaction_constraints : list of lists of int or str, default=()
        Groups of columns (by number or by name) that may meet on a way from the root of a tree to a leaf; a column that
        no group names meets none. Empty for no constraints.
    max_cat_to_onehot : int, default=4
        Nominal columns with at most this many categories are split one category against the rest.
    min_cat_to_statistic : int or None, default=64
        Nominal columns with at least this many categories are seen as the mean target of each category (ordered target
        statistics); none for never.
    max_cat_threshold : int, default=32
        Most categories on the smaller side of a split.
    cat_smooth : float, default=10.0
        Shrinks the average gradient of categories with little curvature before they are put in order.
    cat_l2 : float, default=10.0
        Added to `reg_lambda` where categories are split by their order.
    early_stopping_rounds : int or None, default=None
        Stop when the loss on rows kept aside has not improved for this many rounds, and keep the rounds up to the best;
        none for never.
    eval_metric : {'loss', 'accuracy', 'error-rate', 'balanced-accuracy', 'macro-precision', 'macro-recall', 'macro-f1', 'weighted-precision', 'weighted-recall', 'weighted-f1', 'mcc', 'kappa', 'log-loss', 'brier', 'roc-auc', 'average-precision', 'ece'}, default="loss"
        What early stopping watches on the rows kept aside: the loss, or a measure of the task; of one that is better
        the higher it is, what it lacks of 1.
    validation_fraction : float, default=0.1
        The share of the rows that is kept aside for early stopping.
    base_score : float or None, default=None
        The score that all rows start from; none for the best constant.
    criterion : str, default="friedman_mse"
        Taken as scikit-learn takes it, and without effect: splits are judged by gradients and curvatures.
    max_features : int, float, 'sqrt', 'log2' or None, default=None
        How many columns each split chooses among, as ``colsample_bynode`` says it by their share.
    n_iter_no_change : int or None, default=None
        As ``early_stopping_rounds`` says it.
    warm_start : bool, default=False
        Whether fitting again keeps the rounds that are there and adds others, until there are ``n_estimators``.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    validation_loss_ : ndarray of shape (n_rounds,)
        The loss, or metric, on the rows kept aside, after each round; empty where none are.
    n_estimators_ : int
        How many rounds there are.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import GradientBoostingClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = GradientBoostingClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "gradient-boosting"
    _parameters = ("loss", "n_estimators", "learning_rate", "max_leaf_nodes", "max_depth", "grow_policy", "tree_method", "max_bins", "reg_lambda", "reg_alpha", "gamma", "min_child_weight", "max_delta_step", "subsample", "sampling_method", "top_rate", "other_rate", "rate_drop", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "monotone_constraints", "interaction_constraints", "max_cat_to_onehot", "min_cat_to_statistic", "max_cat_threshold", "cat_smooth", "cat_l2", "early_stopping_rounds", "eval_metric", "validation_fraction", "base_score")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        loss: Literal["auto", "log_loss"] = "auto",
        n_estimators: int = 0,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        grow_policy: Literal["auto", "lossguide", "depthwise", "symmetric"] = "auto",
        tree_method: Literal["hist", "exact"] = "hist",
        max_bins: int = 255,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling_method: Literal["uniform", "goss"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        rate_drop: float = 0.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        monotone_constraints: Mapping[str, int] | Sequence[int] = (),
        interaction_constraints: Sequence[Sequence[int | str]] = (),
        max_cat_to_onehot: int = 4,
        min_cat_to_statistic: int | None = 64,
        max_cat_threshold: int = 32,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        early_stopping_rounds: int | None = None,
        eval_metric: Literal["loss", "accuracy", "error-rate", "balanced-accuracy", "macro-precision", "macro-recall", "macro-f1", "weighted-precision", "weighted-recall", "weighted-f1", "mcc", "kappa", "log-loss", "brier", "roc-auc", "average-precision", "ece"] = "loss",
        validation_fraction: float = 0.1,
        base_score: float | None = None,
        criterion: str = "friedman_mse",
        max_features: int | float | str | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.grow_policy = grow_policy
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling_method = sampling_method
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.rate_drop = rate_drop
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.max_cat_to_onehot = max_cat_to_onehot
        self.min_cat_to_statistic = min_cat_to_statistic
        self.max_cat_threshold = max_cat_threshold
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.base_score = base_score
        self.criterion = criterion
        self.max_features = max_features
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GradientBoostingRegressor(BoostingRegressor):
    """A sum of trees, each grown on the gradients of the loss at the sum so far.

    Parameters
    ----------
    loss : {'auto', 'squared_error', 'absolute_error', 'huber', 'quantile', 'poisson', 'gamma', 'tweedie'}, default="auto"
        What is minimised; auto: the log loss for classes, the squared error for numbers, LambdaMART for ranking.
    n_estimators : int, default=0
        How many rounds; in each, one tree is grown for each output (one for each class where there are more than two).
        0 for as many, up to 1500, as do best on rows kept aside: on small data the mean of five models that each keep a
        fold aside, on large data one model of all rows. With few rows or `rate_drop`: 100.
    learning_rate : float, default=0.1
        What the weights of each tree's leaves are multiplied by.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; none for no limit.
    max_depth : int or None, default=None
        Longest way from the root of a tree to a leaf; none for no limit.
    grow_policy : {'auto', 'lossguide', 'depthwise', 'symmetric'}, default="auto"
        Which leaf is split next: the one that gains most (lossguide), those of a level one after the other (depthwise),
        or all of a level by the same question (symmetric). auto: lossguide; but where the number of rounds is found on
        small data, every other model is of symmetric trees of up to six levels, and all learn at half the learning
        rate, with a tenth of `min_child_weight`, each tree on at most 0.8 of the rows (of all rows, where there are
        classes and more than 2,000 of them).
    tree_method : {'hist', 'exact'}, default="hist"
        Which thresholds are tried: bounds of bins (hist), or all (exact, for columns of at most 65,535 distinct
        values).
    max_bins : int, default=255
        Into how many bins the values of a column are cut.
    reg_lambda : float, default=1.0
        L2 penalty on leaf weights. (Splits of the absolute and quantile loss know it; their leaves are medians and
        quantiles, which have none.)
    reg_alpha : float, default=0.0
        L1 penalty on leaf weights.
    gamma : float, default=0.0
        The least that a split must lower the objective by (XGBoost's program compares its `gamma` with twice that).
    min_child_weight : float, default=1.0
        The least sum of curvatures in a leaf.
    max_delta_step : float, default=0.0
        Largest weight of a leaf, without its sign; 0 for no limit.
    subsample : float, default=1.0
        The share of the rows that each round sees, drawn at random.
    sampling_method : {'uniform', 'goss'}, default="uniform"
        How rows are drawn: each equally likely (uniform, the share `subsample`), or by their gradients (goss: the
        shares `top_rate` and `other_rate`).
    top_rate : float, default=0.2
        Under goss, the share of rows, those with the largest gradients, that each round sees.
    other_rate : float, default=0.1
        Under goss, the share of rows that is drawn from the others.
    rate_drop : float, default=0.0
        Leave out each earlier round with this probability while a tree is grown (DART).
    colsample_bytree : float, default=1.0
        The share of the columns that each tree sees, drawn at random.
    colsample_bylevel : float, default=1.0
        The share of the tree's columns that each level of it sees.
    colsample_bynode : float, default=1.0
        The share of the level's columns that each node sees.
    monotone_constraints : dict or list of int, default=()
        Columns that the prediction must not fall with (1) or must not rise with (-1): {column: direction}, where
        columns that are not named are free; or a direction (1, 0 or -1) for each column in turn. Empty for no
        constraints.
    interaction_constraints : list of lists of int or str, default=()
        Groups of columns (by number or by name) that may meet on a way from the root of a tree to a leaf; a column that
        no group names meets none. Empty for no constraints.
    max_cat_to_onehot : int, default=4
        Nominal columns with at most this many categories are split one category against the rest.
    min_cat_to_statistic : int or None, default=64
        Nominal columns with at least this many categories are seen as the mean target of each category (ordered target
        statistics); none for never.
    max_cat_threshold : int, default=32
        Most categories on the smaller side of a split.
    cat_smooth : float, default=10.0
        Shrinks the average gradient of categories with little curvature before they are put in order.
    cat_l2 : float, default=10.0
        Added to `reg_lambda` where categories are split by their order.
    early_stopping_rounds : int or None, default=None
        Stop when the loss on rows kept aside has not improved for this many rounds, and keep the rounds up to the best;
        none for never.
    eval_metric : {'loss', 'mse', 'rmse', 'mae', 'median-ae', 'r2', 'pinball-10', 'pinball-50', 'pinball-90', 'poisson-deviance', 'gamma-deviance', 'tweedie-deviance'}, default="loss"
        What early stopping watches on the rows kept aside: the loss, or a measure of the task; of one that is better
        the higher it is, what it lacks of 1.
    validation_fraction : float, default=0.1
        The share of the rows that is kept aside for early stopping.
    base_score : float or None, default=None
        The score that all rows start from; none for the best constant.
    quantile_alpha : list of float, default=(0.5,)
        Which quantiles the quantile loss predicts.
    huber_slope : float, default=1.0
        The residual from which the Huber loss is linear.
    tweedie_variance_power : float, default=1.5
        The power of the mean that the variance follows in the Tweedie loss.
    criterion : str, default="friedman_mse"
        Taken as scikit-learn takes it, and without effect: splits are judged by gradients and curvatures.
    alpha : float or None, default=None
        The quantile of ``loss="quantile"``, as ``quantile_alpha`` says it; other losses don't look at it.
    max_features : int, float, 'sqrt', 'log2' or None, default=None
        How many columns each split chooses among, as ``colsample_bynode`` says it by their share.
    n_iter_no_change : int or None, default=None
        As ``early_stopping_rounds`` says it.
    warm_start : bool, default=False
        Whether fitting again keeps the rounds that are there and adds others, until there are ``n_estimators``.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    validation_loss_ : ndarray of shape (n_rounds,)
        The loss, or metric, on the rows kept aside, after each round; empty where none are.
    n_estimators_ : int
        How many rounds there are.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import GradientBoostingRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = GradientBoostingRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "gradient-boosting"
    _parameters = ("loss", "n_estimators", "learning_rate", "max_leaf_nodes", "max_depth", "grow_policy", "tree_method", "max_bins", "reg_lambda", "reg_alpha", "gamma", "min_child_weight", "max_delta_step", "subsample", "sampling_method", "top_rate", "other_rate", "rate_drop", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "monotone_constraints", "interaction_constraints", "max_cat_to_onehot", "min_cat_to_statistic", "max_cat_threshold", "cat_smooth", "cat_l2", "early_stopping_rounds", "eval_metric", "validation_fraction", "base_score", "quantile_alpha", "huber_slope", "tweedie_variance_power")
    _takes_sparse = True
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        *,
        loss: Literal["auto", "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"] = "auto",
        n_estimators: int = 0,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        grow_policy: Literal["auto", "lossguide", "depthwise", "symmetric"] = "auto",
        tree_method: Literal["hist", "exact"] = "hist",
        max_bins: int = 255,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling_method: Literal["uniform", "goss"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        rate_drop: float = 0.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        monotone_constraints: Mapping[str, int] | Sequence[int] = (),
        interaction_constraints: Sequence[Sequence[int | str]] = (),
        max_cat_to_onehot: int = 4,
        min_cat_to_statistic: int | None = 64,
        max_cat_threshold: int = 32,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        early_stopping_rounds: int | None = None,
        eval_metric: Literal["loss", "mse", "rmse", "mae", "median-ae", "r2", "pinball-10", "pinball-50", "pinball-90", "poisson-deviance", "gamma-deviance", "tweedie-deviance"] = "loss",
        validation_fraction: float = 0.1,
        base_score: float | None = None,
        quantile_alpha: Sequence[float] = (0.5,),
        huber_slope: float = 1.0,
        tweedie_variance_power: float = 1.5,
        criterion: str = "friedman_mse",
        alpha: float | None = None,
        max_features: int | float | str | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.grow_policy = grow_policy
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling_method = sampling_method
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.rate_drop = rate_drop
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.max_cat_to_onehot = max_cat_to_onehot
        self.min_cat_to_statistic = min_cat_to_statistic
        self.max_cat_threshold = max_cat_threshold
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.base_score = base_score
        self.quantile_alpha = quantile_alpha
        self.huber_slope = huber_slope
        self.tweedie_variance_power = tweedie_variance_power
        self.criterion = criterion
        self.alpha = alpha
        self.max_features = max_features
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GradientBoostingRanker(BoostingRanker):
    """A sum of trees, each grown on the gradients of the loss at the sum so far.

    Parameters
    ----------
    loss : {'auto', 'lambdarank', 'pairwise'}, default="auto"
        What is minimised; auto: the log loss for classes, the squared error for numbers, LambdaMART for ranking.
    n_estimators : int, default=0
        How many rounds; in each, one tree is grown for each output (one for each class where there are more than two).
        0 for as many, up to 1500, as do best on rows kept aside: on small data the mean of five models that each keep a
        fold aside, on large data one model of all rows. With few rows or `rate_drop`: 100.
    learning_rate : float, default=0.1
        What the weights of each tree's leaves are multiplied by.
    max_leaf_nodes : int or None, default=31
        Most leaves of a tree; none for no limit.
    max_depth : int or None, default=None
        Longest way from the root of a tree to a leaf; none for no limit.
    grow_policy : {'auto', 'lossguide', 'depthwise', 'symmetric'}, default="auto"
        Which leaf is split next: the one that gains most (lossguide), those of a level one after the other (depthwise),
        or all of a level by the same question (symmetric). auto: lossguide; but where the number of rounds is found on
        small data, every other model is of symmetric trees of up to six levels, and all learn at half the learning
        rate, with a tenth of `min_child_weight`, each tree on at most 0.8 of the rows (of all rows, where there are
        classes and more than 2,000 of them).
    tree_method : {'hist', 'exact'}, default="hist"
        Which thresholds are tried: bounds of bins (hist), or all (exact, for columns of at most 65,535 distinct
        values).
    max_bins : int, default=255
        Into how many bins the values of a column are cut.
    reg_lambda : float, default=1.0
        L2 penalty on leaf weights. (Splits of the absolute and quantile loss know it; their leaves are medians and
        quantiles, which have none.)
    reg_alpha : float, default=0.0
        L1 penalty on leaf weights.
    gamma : float, default=0.0
        The least that a split must lower the objective by (XGBoost's program compares its `gamma` with twice that).
    min_child_weight : float, default=1.0
        The least sum of curvatures in a leaf.
    max_delta_step : float, default=0.0
        Largest weight of a leaf, without its sign; 0 for no limit.
    subsample : float, default=1.0
        The share of the rows that each round sees, drawn at random.
    sampling_method : {'uniform', 'goss'}, default="uniform"
        How rows are drawn: each equally likely (uniform, the share `subsample`), or by their gradients (goss: the
        shares `top_rate` and `other_rate`).
    top_rate : float, default=0.2
        Under goss, the share of rows, those with the largest gradients, that each round sees.
    other_rate : float, default=0.1
        Under goss, the share of rows that is drawn from the others.
    rate_drop : float, default=0.0
        Leave out each earlier round with this probability while a tree is grown (DART).
    colsample_bytree : float, default=1.0
        The share of the columns that each tree sees, drawn at random.
    colsample_bylevel : float, default=1.0
        The share of the tree's columns that each level of it sees.
    colsample_bynode : float, default=1.0
        The share of the level's columns that each node sees.
    monotone_constraints : dict or list of int, default=()
        Columns that the prediction must not fall with (1) or must not rise with (-1): {column: direction}, where
        columns that are not named are free; or a direction (1, 0 or -1) for each column in turn. Empty for no
        constraints.
    interaction_constraints : list of lists of int or str, default=()
        Groups of columns (by number or by name) that may meet on a way from the root of a tree to a leaf; a column that
        no group names meets none. Empty for no constraints.
    max_cat_to_onehot : int, default=4
        Nominal columns with at most this many categories are split one category against the rest.
    min_cat_to_statistic : int or None, default=64
        Nominal columns with at least this many categories are seen as the mean target of each category (ordered target
        statistics); none for never.
    max_cat_threshold : int, default=32
        Most categories on the smaller side of a split.
    cat_smooth : float, default=10.0
        Shrinks the average gradient of categories with little curvature before they are put in order.
    cat_l2 : float, default=10.0
        Added to `reg_lambda` where categories are split by their order.
    early_stopping_rounds : int or None, default=None
        Stop when the loss on rows kept aside has not improved for this many rounds, and keep the rounds up to the best;
        none for never.
    eval_metric : {'loss', 'roc-auc', 'ndcg', 'ndcg-5', 'ndcg-all', 'map', 'mrr', 'kendall-tau', 'omega-loss', 'omega-loss-top-10', 'omega-loss-dcg'}, default="loss"
        What early stopping watches on the rows kept aside: the loss, or a measure of the task; of one that is better
        the higher it is, what it lacks of 1.
    validation_fraction : float, default=0.1
        The share of the rows that is kept aside for early stopping.
    base_score : float or None, default=None
        The score that all rows start from; none for the best constant.
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
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    validation_loss_ : ndarray of shape (n_rounds,)
        The loss, or metric, on the rows kept aside, after each round; empty where none are.
    n_estimators_ : int
        How many rounds there are.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import GradientBoostingRanker
    >>> X = [[i] for i in range(12)]
    >>> y = [0, 0, 1, 2, 3, 4] * 2
    >>> model = GradientBoostingRanker().fit(X, y, group=[6, 6])
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "gradient-boosting"
    _parameters = ("loss", "n_estimators", "learning_rate", "max_leaf_nodes", "max_depth", "grow_policy", "tree_method", "max_bins", "reg_lambda", "reg_alpha", "gamma", "min_child_weight", "max_delta_step", "subsample", "sampling_method", "top_rate", "other_rate", "rate_drop", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "monotone_constraints", "interaction_constraints", "max_cat_to_onehot", "min_cat_to_statistic", "max_cat_threshold", "cat_smooth", "cat_l2", "early_stopping_rounds", "eval_metric", "validation_fraction", "base_score")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        loss: Literal["auto", "lambdarank", "pairwise"] = "auto",
        n_estimators: int = 0,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        grow_policy: Literal["auto", "lossguide", "depthwise", "symmetric"] = "auto",
        tree_method: Literal["hist", "exact"] = "hist",
        max_bins: int = 255,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling_method: Literal["uniform", "goss"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        rate_drop: float = 0.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        monotone_constraints: Mapping[str, int] | Sequence[int] = (),
        interaction_constraints: Sequence[Sequence[int | str]] = (),
        max_cat_to_onehot: int = 4,
        min_cat_to_statistic: int | None = 64,
        max_cat_threshold: int = 32,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        early_stopping_rounds: int | None = None,
        eval_metric: Literal["loss", "roc-auc", "ndcg", "ndcg-5", "ndcg-all", "map", "mrr", "kendall-tau", "omega-loss", "omega-loss-top-10", "omega-loss-dcg"] = "loss",
        validation_fraction: float = 0.1,
        base_score: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.grow_policy = grow_policy
        self.tree_method = tree_method
        self.max_bins = max_bins
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling_method = sampling_method
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.rate_drop = rate_drop
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.max_cat_to_onehot = max_cat_to_onehot
        self.min_cat_to_statistic = min_cat_to_statistic
        self.max_cat_threshold = max_cat_threshold
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.base_score = base_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AdaBoostClassifier(BoostedClasses, ProbabilisticClassifier):
    """A weighted vote of weak learners, each trained on what the ones before it get wrong.

    Parameters
    ----------
    estimator : str or estimator, default="decision-stump"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    algorithm : {'discrete', 'gentle', 'logit'}, default="discrete"
        How a round changes weights and vote.
    n_estimators : int, default=50
        Rounds, at most. A learner without errors, or one no better than chance, ends the work sooner.
    learning_rate : float, default=1.0
        Shrinks every vote.
    criterion : {'error', 'gini', 'entropy'}, default="error"
        What a stump minimises: the weighted error, as the theory of AdaBoost asks, or the Gini impurity or entropy of
        its answers.
    max_categories : int, default=64
        Nominal columns with more categories than this are passed over.
    n_iter_no_change : int or None, default=None
        Stop after this many rounds without a lower error on the rows kept for validation, and keep the rounds up to the
        lowest; none to run all rounds on all rows.
    validation_fraction : float, default=0.1
        The share of the rows kept for validation, where n_iter_no_change is set.
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
    estimator_weights_ : ndarray of shape (n_rounds,)
        The vote of each round.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted error of each round; for numbers, its mean loss.
    train_errors_ : ndarray of shape (n_rounds,)
        The training error after each round; for numbers, the mean absolute error.
    normalizers_ : ndarray of shape (n_rounds,)
        What the weights of each round are divided by (Z).
    train_error_bounds_ : ndarray of shape (n_rounds,)
        What the training error is at most: the product of the normalizers so far.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in what all splits gain.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import AdaBoostClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = AdaBoostClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "adaboost"
    _parameters = ("estimator", "algorithm", "n_estimators", "learning_rate", "criterion", "max_categories", "n_iter_no_change", "validation_fraction")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "decision-stump",
        *,
        algorithm: Literal["discrete", "gentle", "logit"] = "discrete",
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        criterion: Literal["error", "gini", "entropy"] = "error",
        max_categories: int = 64,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.criterion = criterion
        self.max_categories = max_categories
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AdaBoostRegressor(BoostedNumbers, Regressor):
    """A weighted vote of weak learners, each trained on what the ones before it get wrong.

    Parameters
    ----------
    estimator : str or estimator, default="decision-stump"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    n_estimators : int, default=50
        Rounds, at most. A learner without errors, or one no better than chance, ends the work sooner.
    learning_rate : float, default=1.0
        Shrinks every vote.
    loss : {'linear', 'square', 'exponential'}, default="linear"
        For numbers: how the error of a row counts.
    n_iter_no_change : int or None, default=None
        Stop after this many rounds without a lower error on the rows kept for validation, and keep the rounds up to the
        lowest; none to run all rounds on all rows.
    validation_fraction : float, default=0.1
        The share of the rows kept for validation, where n_iter_no_change is set.
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
    estimator_weights_ : ndarray of shape (n_rounds,)
        The vote of each round.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted error of each round; for numbers, its mean loss.
    train_errors_ : ndarray of shape (n_rounds,)
        The training error after each round; for numbers, the mean absolute error.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import AdaBoostRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = AdaBoostRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "adaboost"
    _parameters = ("estimator", "n_estimators", "learning_rate", "loss", "n_iter_no_change", "validation_fraction")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "decision-stump",
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: Literal["linear", "square", "exponential"] = "linear",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class BaggingClassifier(Bag, OverClassifier):
    """The mean or the vote of any learner trained on many draws of the rows.

    Parameters
    ----------
    estimator : str or estimator, default="decision-tree"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    n_estimators : int, default=10
        How many are trained.
    max_samples : int or float, default=1.0
        How many rows each sees (10), or which share of them (0.5; 1.0 is all of them, and 1 is one row).
    max_features : int or float, default=1.0
        How many columns each sees (10), or which share of them (0.5; 1.0 is all of them, and 1 is one column).
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement (a column drawn twice is there once).
    oob_score : bool, default=False
        Whether to judge the whole on the rows that each member didn't see.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    warm_start : bool, default=False
        Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``;
        random_state then stays what it was.
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
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import BaggingClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = BaggingClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "bagging"
    _parameters = ("estimator", "n_estimators", "max_samples", "max_features", "bootstrap", "bootstrap_features", "oob_score")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "decision-tree",
        n_estimators: int = 10,
        *,
        max_samples: int | float = 1.0,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


class BaggingRegressor(Bag, Regressor):
    """The mean or the vote of any learner trained on many draws of the rows.

    Parameters
    ----------
    estimator : str or estimator, default="decision-tree"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    n_estimators : int, default=10
        How many are trained.
    max_samples : int or float, default=1.0
        How many rows each sees (10), or which share of them (0.5; 1.0 is all of them, and 1 is one row).
    max_features : int or float, default=1.0
        How many columns each sees (10), or which share of them (0.5; 1.0 is all of them, and 1 is one column).
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement (a column drawn twice is there once).
    oob_score : bool, default=False
        Whether to judge the whole on the rows that each member didn't see.
    random_state : int, RandomState instance or None, default=None
        Every random choice follows from it; the same number gives the same model.
    warm_start : bool, default=False
        Whether fitting again keeps the members that are there and adds others, until there are ``n_estimators``;
        random_state then stays what it was.
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
    oob_score_ : float
        The score on rows that members didn't see in training, where ``oob_score`` is set.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.ensemble import BaggingRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = BaggingRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "bagging"
    _parameters = ("estimator", "n_estimators", "max_samples", "max_features", "bootstrap", "bootstrap_features", "oob_score")
    _takes_sparse = True
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        estimator: str | Estimator = "decision-tree",
        n_estimators: int = 10,
        *,
        max_samples: int | float = 1.0,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
