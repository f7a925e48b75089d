"""Decision trees and stumps.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

from typing import Literal

from ermine._estimator import ProbabilisticClassifier, Regressor

__all__ = ["DecisionStumpClassifier", "DecisionStumpRegressor"]


class DecisionStumpClassifier(ProbabilisticClassifier):
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


class DecisionStumpRegressor(Regressor):
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
