"""Probabilities that mean what they say.

Written by tools/python_estimators.py from the parameters that the learners declare: change them there.
"""

# Types by name only: numpy.random is loaded when it is needed.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ermine._estimator import Estimator, ProbabilisticClassifier
from ermine._folds import Calibrated

__all__ = ["CalibratedClassifierCV"]


class CalibratedClassifierCV(Calibrated, ProbabilisticClassifier):
    """Probabilities that mean what they say, and the class of least cost, over any learner of classes.

    Parameters
    ----------
    estimator : str or estimator, default="gradient-boosting"
        The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as
        'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole.
    method : {'sigmoid', 'isotonic', 'temperature'}, default="sigmoid"
        How scores become probabilities.
    cv : int, splitter or iterable, default=5
        How many folds the rows are dealt to, in their order as scikit-learn does it; or a splitter of scikit-learn or
        pairs of row numbers, of which each row is tested in exactly one.
    costs : list of float, default=()
        The cost of missing each class, in the order of the classes; all the same if not given. The class of least
        expected cost is predicted.
    ensemble : bool or 'auto', default="auto"
        One model of all rows is calibrated, by what it says about rows left out: what False means in scikit-learn.
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
    >>> from ermine.calibration import CalibratedClassifierCV
    >>> X = [[i] for i in range(12)]
    >>> y = ["low"] * 6 + ["high"] * 6
    >>> model = CalibratedClassifierCV().fit(X, y)
    >>> model.predict([[1], [10]]).shape
    (2,)
    >>> model.classes_.tolist()
    ['high', 'low']
    """

    _learner = "calibrated"
    _parameters = ("estimator", "method", "cv", "costs")
    _takes_sparse = True
    _is_random = True

    def __init__(
        self,
        estimator: str | Estimator = "gradient-boosting",
        *,
        method: Literal["sigmoid", "isotonic", "temperature"] = "sigmoid",
        cv: Any = 5,
        costs: Sequence[float] = (),
        ensemble: bool | Literal["auto"] = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.costs = costs
        self.ensemble = ensemble
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
