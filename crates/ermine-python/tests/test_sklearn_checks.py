"""scikit-learn's own checks, for every estimator."""

import numpy as np
import pytest
from sklearn.utils import all_estimators
from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from catalog import ESTIMATORS, name
from ermine.calibration import CalibratedClassifierCV
from ermine.ensemble import GradientBoostingRanker
from ermine.linear_model import LogisticRegression
from ermine.multioutput import ClassifierChain, LabelPowersetClassifier, MultiOutputClassifier
from ermine.neighbors import NearestNeighbors
from ermine.ranking import OmegaRanker, PairwiseRanker, RankSVM
from ermine.svm import OneClassSVM


class OneQuery(GradientBoostingRanker):
    """A ranker that is given its queries: all rows are one."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight, qid=[0] * len(np.asarray(y)) if y is not None else [])

    def score(self, X, y):
        return super().score(X, y, qid=[0] * len(y))


#: Estimators that are not among those of classes and numbers. Of one of labels and of a ranker with its queries the defaults are lightened.
OTHERS = [
    MultiOutputClassifier("decision-tree"), ClassifierChain(), LabelPowersetClassifier(), RankSVM(), PairwiseRanker(), OmegaRanker(), OneQuery(n_estimators=5), OneClassSVM(), NearestNeighbors(),
    CalibratedClassifierCV(LogisticRegression()),
]

#: Checks that fail: {class: {check: reason}}.
DENSE, SPARSE = "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"
DRAWS = {DENSE: "draws rows by their number, and a repeated row has several numbers"}
#: The same on sparse data, for estimators that take it.
DRAWS_SPARSE = DRAWS | {SPARSE: DRAWS[DENSE]}

#: Those that scikit-learn grants its own twin.
GRANTED: dict[str, dict[str, str]] = {
    "Perceptron": DRAWS_SPARSE,
    "SGDClassifier": DRAWS_SPARSE,
    "SGDRegressor": DRAWS_SPARSE,
    "LinearSVR": {check: "visits rows in a random order until a tolerance is reached" for check in DRAWS_SPARSE},
    "RandomForestClassifier": DRAWS_SPARSE,
    "RandomForestRegressor": DRAWS_SPARSE,
    "BaggingClassifier": DRAWS_SPARSE,
    "BaggingRegressor": DRAWS_SPARSE,
}

#: Those of estimators that have no twin there.
WITHOUT_TWIN: dict[str, dict[str, str]] = {
    "HalfspaceLP": {check: "any hyperplane between the classes is an answer" for check in DRAWS_SPARSE},
    "ComparisonForestClassifier": DRAWS,
    "ComparisonForestRegressor": DRAWS,
    "BipartiteRanker": {"check_non_transformer_estimators_n_iter": "three classes are three rankings, each with a number of steps of its own"},
}

#: Checks that hand over one column of classes, to estimators of a matrix of labels. scikit-learn has all checks skipped for its own (the tag ``_skip_test``).
ONE_COLUMN = "y is a matrix of labels; scikit-learn skips all checks of its twin"
LABELS = dict.fromkeys(
    (
        "check_classifiers_one_label", "check_classifiers_one_label_sample_weights", "check_classifiers_classes", "check_classifier_multioutput", "check_classifiers_train",
        "check_classifiers_regression_target", "check_classifier_not_supporting_multiclass",
    ),
    ONE_COLUMN,
)
#: They ask for the shape of the probabilities of one column of classes.
LABELS_SPARSE = dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), ONE_COLUMN)
OF_LABELS = {
    "MultiOutputClassifier": LABELS | LABELS_SPARSE | {"check_decision_proba_consistency": ONE_COLUMN, "check_methods_sample_order_invariance": "predict_proba is a list, as the twin's is"},
    "ClassifierChain": LABELS | LABELS_SPARSE | {"check_decision_proba_consistency": ONE_COLUMN}
    | dict.fromkeys((DENSE, SPARSE), "the check sets cv, which scikit-learn's chain does, without weights"),
    "LabelPowersetClassifier": LABELS,
}

#: Where the twin is not asked, or is asked something else.
FORESTS = dict.fromkeys((DENSE, SPARSE), "its usual estimators are forests, which draw rows by their number; the twin is asked with others")
ASKED_OTHERWISE: dict[str, dict[str, str]] = {
    "StackingClassifier": FORESTS, "StackingRegressor": FORESTS, "VotingClassifier": FORESTS, "VotingRegressor": FORESTS,
    "OneVsOneClassifier": dict.fromkeys((DENSE, SPARSE), "its usual estimator draws rows for early stopping; the twin takes no weights, so it is not asked"),
    "OneQuery": {check: "a query counts as its first row does" for check in DRAWS_SPARSE},
}

EXPECTED_FAILURES = GRANTED | WITHOUT_TWIN | OF_LABELS | ASKED_OTHERWISE


def expected(estimator):
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks([cls() for cls in ESTIMATORS] + OTHERS, expected_failed_checks=expected)
def test_check(estimator, check):
    check(estimator)


def test_expected_failures_are_those_of_the_counterpart():
    granted = {cls.__name__: set(checks) for cls, checks in PER_ESTIMATOR_XFAIL_CHECKS.items()}
    theirs = {cls for cls, _ in all_estimators()}
    for of_class, checks in GRANTED.items():
        assert set(checks) <= granted[of_class]
    assert not set(WITHOUT_TWIN) & theirs
    assert set(ASKED_OTHERWISE) | set(OF_LABELS) | set(GRANTED) | set(WITHOUT_TWIN) == set(EXPECTED_FAILURES)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
def test_feature_names(cls):
    check_dataframe_column_names_consistency(cls.__name__, cls())
