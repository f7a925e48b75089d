"""scikit-learn's own checks, for every estimator."""

import pytest
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from catalog import ESTIMATORS, name

#: Checks that fail for reasons that scikit-learn grants its own twin too: {class: {check: reason}}.
DRAWS = {"check_sample_weight_equivalence_on_dense_data": "draws rows by their number, and a repeated row has several numbers"}
#: The same on sparse data, for estimators that take it.
DRAWS_SPARSE = DRAWS | {"check_sample_weight_equivalence_on_sparse_data": DRAWS["check_sample_weight_equivalence_on_dense_data"]}
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "HalfspaceLP": {check: "any hyperplane between the classes is an answer" for check in DRAWS_SPARSE},
    "HuberRegressor": {
        check: "its scale is zero where most rows are fitted exactly, and then several functions are minimal" for check in DRAWS_SPARSE
    },
    "Perceptron": DRAWS_SPARSE,
    "SGDClassifier": DRAWS_SPARSE,
    "SGDRegressor": DRAWS_SPARSE,
    "LinearSVR": {check: "visits rows in a random order until a tolerance is reached" for check in DRAWS_SPARSE},
    "LassoCV": DRAWS_SPARSE,
    "ElasticNetCV": DRAWS_SPARSE,
    "RandomForestClassifier": DRAWS,
    "RandomForestRegressor": DRAWS,
    "ComparisonForestClassifier": DRAWS,
    "ComparisonForestRegressor": DRAWS,
    "BaggingClassifier": DRAWS,
    "BaggingRegressor": DRAWS,
    "CalibratedClassifier": DRAWS,
    "OneVsOneClassifier": DRAWS,
    "BipartiteRanker": {"check_non_transformer_estimators_n_iter": "three classes are three rankings, each with a number of steps of its own"},
}


@parametrize_with_checks(
    [cls() for cls in ESTIMATORS], expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {})
)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=name)
def test_feature_names(cls):
    check_dataframe_column_names_consistency(cls.__name__, cls())
