"""Decision trees and stumps.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ermine._comparison import Comparisons
from ermine._density import Densities
from ermine._ensemble import Explained
from ermine._estimator import ProbabilisticClassifier, Regressor
from ermine._export import export_graphviz, export_text, plot_tree
from ermine._tree import Tree

__all__ = ["DecisionStumpClassifier", "DecisionStumpRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor", "Id3Classifier", "C45Classifier", "OptimalTreeClassifier", "ObliqueTreeClassifier", "ObliqueTreeRegressor", "DensityTreeClassifier", "QuadTreeClassifier", "QuadTreeRegressor", "ComparisonTreeClassifier", "ComparisonTreeRegressor", "export_graphviz", "export_text", "plot_tree"]


class DecisionStumpClassifier(Explained, ProbabilisticClassifier):
    """The single question about one column that gets the most rows right, found exactly.

    Parameters
    ----------
    criterion : {'error', 'gini', 'entropy'}, default="error"
        What the question minimises: the weighted 0-1 risk ("error"), or the Gini impurity or entropy of the answers.
        Regression always minimises the squared error.
    polarity : {'both', 'positive', 'negative'}, default="both"
        Which side of a threshold is which class, where there are two classes and the criterion is "error".
    max_categories : int, default=64
        Nominal columns with more categories than this are passed over: a column of names would win on the training data
        and say nothing about new rows.
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
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import DecisionStumpClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = DecisionStumpClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "decision-stump"
    _parameters = ("criterion", "polarity", "max_categories")
    _takes_sparse = True
    _poor_score = True

    def __init__(
        self,
        *,
        criterion: Literal["error", "gini", "entropy"] = "error",
        polarity: Literal["both", "positive", "negative"] = "both",
        max_categories: int = 64,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.polarity = polarity
        self.max_categories = max_categories
        self.n_jobs = n_jobs
        self.verbose = verbose


class DecisionStumpRegressor(Explained, Regressor):
    """The single question about one column that gets the most rows right, found exactly.

    Parameters
    ----------
    max_categories : int, default=64
        Nominal columns with more categories than this are passed over: a column of names would win on the training data
        and say nothing about new rows.
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
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import DecisionStumpRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = DecisionStumpRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "decision-stump"
    _parameters = ("max_categories",)
    _takes_sparse = True
    _poor_score = True

    def __init__(
        self,
        *,
        max_categories: int = 64,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_categories = max_categories
        self.n_jobs = n_jobs
        self.verbose = verbose


class DecisionTreeClassifier(Tree, Explained, ProbabilisticClassifier):
    """CART: a tree of binary splits, by Gini, entropy, error rate, squared or absolute error, Poisson deviance.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'error', 'squared_error', 'absolute_error', 'poisson'} or None, default=None
        What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
    splitter : {'best', 'random'}, default="best"
        Take the best threshold of a column, or one drawn at random.
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_split : int or float, default=2
        A node with fewer rows (a whole number) or a smaller share of the rows (a fraction) is not split.
    min_samples_leaf : int or float, default=1
        Every leaf has at least this many rows (10), or this share of them (0.1).
    min_weight_fraction_leaf : float, default=0.0
        Every leaf has at least this share of the weight.
    max_features : int or float or {'sqrt', 'log2'} or None, default=None
        How many columns each node looks at, drawn at random: a number (all if there are no more), a share, "sqrt" or
        "log2"; none for all.
    max_leaf_nodes : int or None, default=None
        At most this many leaves, the best splits first; none for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity by at least this much, as a share of all rows.
    min_impurity : float, default=0.0
        A node whose impurity is no more than this is pure enough, and not split.
    class_weight : dict, 'balanced' or None, default=None
        How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples /
        (n_classes * rows of the class). Rows count by their own weights.
    monotonic_cst : list of int, default=()
        For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no
        constraints.
    ccp_alpha : float, default=0.0
        Splits that lower the impurity by less than this for each leaf they add are pruned (cost-complexity pruning).
    pruning : {'cross_validation', 'reduced_error', 'greedy', 'pessimistic'} or None, default=None
        Prune the grown tree: "cross_validation" chooses ccp_alpha, "reduced_error" and "greedy" use validation rows,
        "pessimistic" is C4.5's way; none for no more than ccp_alpha says.
    validation_fraction : float, default=0.2
        The share of the rows that "reduced_error" and "greedy" pruning keep for validation.
    pruning_folds : int, default=5
        How many folds the cross-validation of ccp_alpha has.
    confidence_factor : float, default=0.25
        The confidence of "pessimistic" pruning: lower prunes more.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    ccp_alpha_ : float
        The alpha of cost-complexity pruning that cross-validation chose, where ``pruning`` is ``"cross_validation"``.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import DecisionTreeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "decision-tree"
    _parameters = ("criterion", "splitter", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease", "min_impurity", "class_weight", "monotonic_cst", "ccp_alpha", "pruning", "validation_fraction", "pruning_folds", "confidence_factor")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "error", "squared_error", "absolute_error", "poisson"] | None = None,
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_impurity: float = 0.0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        monotonic_cst: Sequence[int] = (),
        ccp_alpha: float = 0.0,
        pruning: Literal["cross_validation", "reduced_error", "greedy", "pessimistic"] | None = None,
        validation_fraction: float = 0.2,
        pruning_folds: int = 5,
        confidence_factor: float = 0.25,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity = min_impurity
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.pruning_folds = pruning_folds
        self.confidence_factor = confidence_factor
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class DecisionTreeRegressor(Tree, Explained, Regressor):
    """CART: a tree of binary splits, by Gini, entropy, error rate, squared or absolute error, Poisson deviance.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss', 'error', 'squared_error', 'absolute_error', 'poisson'} or None, default=None
        What a split lowers; none for "gini" (classes) or "squared_error" (numbers).
    splitter : {'best', 'random'}, default="best"
        Take the best threshold of a column, or one drawn at random.
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_split : int or float, default=2
        A node with fewer rows (a whole number) or a smaller share of the rows (a fraction) is not split.
    min_samples_leaf : int or float, default=1
        Every leaf has at least this many rows (10), or this share of them (0.1).
    min_weight_fraction_leaf : float, default=0.0
        Every leaf has at least this share of the weight.
    max_features : int or float or {'sqrt', 'log2'} or None, default=None
        How many columns each node looks at, drawn at random: a number (all if there are no more), a share, "sqrt" or
        "log2"; none for all.
    max_leaf_nodes : int or None, default=None
        At most this many leaves, the best splits first; none for no limit.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity by at least this much, as a share of all rows.
    min_impurity : float, default=0.0
        A node whose impurity is no more than this is pure enough, and not split.
    monotonic_cst : list of int, default=()
        For each column 1 (the prediction may not fall as it grows), -1 (it may not rise) or 0; empty for no
        constraints.
    ccp_alpha : float, default=0.0
        Splits that lower the impurity by less than this for each leaf they add are pruned (cost-complexity pruning).
    pruning : {'cross_validation', 'reduced_error', 'greedy', 'pessimistic'} or None, default=None
        Prune the grown tree: "cross_validation" chooses ccp_alpha, "reduced_error" and "greedy" use validation rows,
        "pessimistic" is C4.5's way; none for no more than ccp_alpha says.
    validation_fraction : float, default=0.2
        The share of the rows that "reduced_error" and "greedy" pruning keep for validation.
    pruning_folds : int, default=5
        How many folds the cross-validation of ccp_alpha has.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    ccp_alpha_ : float
        The alpha of cost-complexity pruning that cross-validation chose, where ``pruning`` is ``"cross_validation"``.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import DecisionTreeRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = DecisionTreeRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "decision-tree"
    _parameters = ("criterion", "splitter", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease", "min_impurity", "monotonic_cst", "ccp_alpha", "pruning", "validation_fraction", "pruning_folds")
    _takes_sparse = True
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        *,
        criterion: Literal["gini", "entropy", "log_loss", "error", "squared_error", "absolute_error", "poisson"] | None = None,
        splitter: Literal["best", "random"] = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_impurity: float = 0.0,
        monotonic_cst: Sequence[int] = (),
        ccp_alpha: float = 0.0,
        pruning: Literal["cross_validation", "reduced_error", "greedy", "pessimistic"] | None = None,
        validation_fraction: float = 0.2,
        pruning_folds: int = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity = min_impurity
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.pruning_folds = pruning_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Id3Classifier(Tree, Explained, ProbabilisticClassifier):
    """ID3: a tree with a branch for each category, by information gain.

    Parameters
    ----------
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_leaf : int, default=1
        At least two branches of a split have this many rows.
    min_gain : float, default=0.0
        A split gains at least this many bits for each row.
    max_categories : int, default=256
        Nominal columns with more categories than this are passed over.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import Id3Classifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = Id3Classifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "id3"
    _parameters = ("max_depth", "min_samples_leaf", "min_gain", "max_categories")

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_categories: int = 256,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_categories = max_categories
        self.n_jobs = n_jobs
        self.verbose = verbose


class C45Classifier(Tree, ProbabilisticClassifier):
    """C4.5: a tree with a branch for each category, by gain ratio; missing values as fractions; pruned.

    Parameters
    ----------
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_leaf : int, default=2
        At least two branches of a split have this many rows.
    binary_splits : bool, default=False
        Part the categories of a nominal column in two, instead of a branch for each.
    prune : bool, default=True
        Prune the tree by upper limits of its errors.
    confidence_factor : float, default=0.25
        The confidence of these limits: lower prunes more.
    max_categories : int, default=256
        Nominal columns with more categories than this are passed over.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import C45Classifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = C45Classifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "c45"
    _parameters = ("max_depth", "min_samples_leaf", "binary_splits", "prune", "confidence_factor", "max_categories")

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 2,
        binary_splits: bool = False,
        prune: bool = True,
        confidence_factor: float = 0.25,
        max_categories: int = 256,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.binary_splits = binary_splits
        self.prune = prune
        self.confidence_factor = confidence_factor
        self.max_categories = max_categories
        self.n_jobs = n_jobs
        self.verbose = verbose


class OptimalTreeClassifier(Tree, Explained, ProbabilisticClassifier):
    """The tree with the least training error of all trees of a given depth, proven optimal or with the gap left.

    Parameters
    ----------
    max_depth : int, default=3
        No leaf is deeper than this. Each level multiplies the work.
    leaf_penalty : float, default=0.0
        What each leaf beyond the first costs, as a share of the rows: higher gives smaller trees.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
    time_limit : float or None, default=60.0
        After this many seconds the best tree so far is given, with the gap that is left; none for no limit. A model
        that was cut short may differ from run to run.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import OptimalTreeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = OptimalTreeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "optimal-tree"
    _parameters = ("max_depth", "leaf_penalty", "min_samples_leaf", "time_limit")

    def __init__(
        self,
        *,
        max_depth: int = 3,
        leaf_penalty: float = 0.0,
        min_samples_leaf: int = 1,
        time_limit: float | None = 60.0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.leaf_penalty = leaf_penalty
        self.min_samples_leaf = min_samples_leaf
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose


class ObliqueTreeClassifier(Tree, ProbabilisticClassifier):
    """A tree whose nodes ask about weighted sums of the columns: far fewer leaves on slanted data.

    Parameters
    ----------
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_split : int, default=2
        A node with fewer rows is not split.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
    n_turns : int, default=20
        How many random turns of the best direction each node tries.
    preference : float, default=1.05
        A slanted split must gain this many times what the best threshold of one column gains.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import ObliqueTreeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = ObliqueTreeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "oblique-tree"
    _parameters = ("max_depth", "min_samples_split", "min_samples_leaf", "n_turns", "preference")
    _is_random = True

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        n_turns: int = 20,
        preference: float = 1.05,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.n_turns = n_turns
        self.preference = preference
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ObliqueTreeRegressor(Tree, Regressor):
    """A tree whose nodes ask about weighted sums of the columns: far fewer leaves on slanted data.

    Parameters
    ----------
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_split : int, default=2
        A node with fewer rows is not split.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
    n_turns : int, default=20
        How many random turns of the best direction each node tries.
    preference : float, default=1.05
        A slanted split must gain this many times what the best threshold of one column gains.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import ObliqueTreeRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = ObliqueTreeRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "oblique-tree"
    _parameters = ("max_depth", "min_samples_split", "min_samples_leaf", "n_turns", "preference")
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        n_turns: int = 20,
        preference: float = 1.05,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.n_turns = n_turns
        self.preference = preference
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class DensityTreeClassifier(Densities, ProbabilisticClassifier):
    """A density of the features for each class, constant on boxes and integrating to 1; the class by Bayes' rule.

    Parameters
    ----------
    min_samples_leaf : float, default=5.0
        Every box has at least this many rows of its class, by weight.
    max_depth : int, default=50
        No box is cut out by more cuts than this.
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
    >>> from ermine.tree import DensityTreeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = DensityTreeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "density-tree"
    _parameters = ("min_samples_leaf", "max_depth")
    _poor_score = True

    def __init__(
        self,
        *,
        min_samples_leaf: float = 5.0,
        max_depth: int = 50,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.verbose = verbose


class QuadTreeClassifier(Tree, ProbabilisticClassifier):
    """A partition of space into cells, each cut at a point into 2^d; the mean or class shares of each.

    Parameters
    ----------
    cut_at : {'middle', 'median'}, default="median"
        Where a cell is cut: its middle, or the medians of its rows.
    max_depth : int, default=8
        No cell is cut more often than this.
    min_samples_split : int, default=10
        A cell with fewer rows, by weight, is not cut.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import QuadTreeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = QuadTreeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "quad-tree"
    _parameters = ("cut_at", "max_depth", "min_samples_split")

    def __init__(
        self,
        *,
        cut_at: Literal["middle", "median"] = "median",
        max_depth: int = 8,
        min_samples_split: int = 10,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.cut_at = cut_at
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.n_jobs = n_jobs
        self.verbose = verbose


class QuadTreeRegressor(Tree, Regressor):
    """A partition of space into cells, each cut at a point into 2^d; the mean or class shares of each.

    Parameters
    ----------
    cut_at : {'middle', 'median'}, default="median"
        Where a cell is cut: its middle, or the medians of its rows.
    max_depth : int, default=8
        No cell is cut more often than this.
    min_samples_split : int, default=10
        A cell with fewer rows, by weight, is not cut.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import QuadTreeRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = QuadTreeRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "quad-tree"
    _parameters = ("cut_at", "max_depth", "min_samples_split")
    _multi_output = True

    def __init__(
        self,
        *,
        cut_at: Literal["middle", "median"] = "median",
        max_depth: int = 8,
        min_samples_split: int = 10,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.cut_at = cut_at
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.n_jobs = n_jobs
        self.verbose = verbose


class ComparisonTreeClassifier(Comparisons, Tree, ProbabilisticClassifier):
    """A tree that asks only which of two rows is nearer, for any metric, strings too.

    Parameters
    ----------
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'edit', 'string_hamming'} or callable, default="euclidean"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric.
    n_pairs : int, default=20
        How many pairs of rows each node tries.
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import ComparisonTreeClassifier
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = ComparisonTreeClassifier().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "comparison-tree"
    _parameters = ("metric", "p", "n_pairs", "max_depth", "min_samples_leaf")
    _is_random = True

    def __init__(
        self,
        *,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "edit", "string_hamming"] | Callable[[np.ndarray, np.ndarray], float] = "euclidean",
        p: float = 2.0,
        n_pairs: int = 20,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.p = p
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ComparisonTreeRegressor(Comparisons, Tree, Regressor):
    """A tree that asks only which of two rows is nearer, for any metric, strings too.

    Parameters
    ----------
    metric : {'euclidean', 'manhattan', 'chebyshev', 'minkowski', 'cosine', 'mahalanobis', 'hamming', 'edit', 'string_hamming'} or callable, default="euclidean"
        How far apart two rows are. A function gives the distance between two rows of numbers: symmetric, and not
        negative.
    p : float, default=2.0
        The power of the minkowski metric.
    n_pairs : int, default=20
        How many pairs of rows each node tries.
    max_depth : int or None, default=None
        No leaf is deeper than this; none for no limit.
    min_samples_leaf : int, default=1
        Every leaf has at least this many rows.
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
    n_leaves_ : int
        How many leaves the tree has.
    depth_ : int
        How many questions lie on the longest way to a leaf.
    certificate_ : Certificate
        What was minimised, and what is proven about it.

    Examples
    --------
    >>> from ermine.tree import ComparisonTreeRegressor
    >>> X = [[i] for i in range(12)]
    >>> y = [1.0] * 6 + [2.0] * 6
    >>> model = ComparisonTreeRegressor().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    """

    _learner = "comparison-tree"
    _parameters = ("metric", "p", "n_pairs", "max_depth", "min_samples_leaf")
    _is_random = True
    _multi_output = True

    def __init__(
        self,
        *,
        metric: Literal["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming", "edit", "string_hamming"] | Callable[[np.ndarray, np.ndarray], float] = "euclidean",
        p: float = 2.0,
        n_pairs: int = 20,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.p = p
        self.n_pairs = n_pairs
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
