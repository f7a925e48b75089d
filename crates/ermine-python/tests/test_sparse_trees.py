"""Forests and boosting on sparse matrices: the models of the same values in full, in memory that follows the stored values."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from ermine.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor


def words(n: int = 300, d: int = 200) -> tuple[csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    X = csr_matrix(random_array((n, d), density=0.05, rng=rng))
    return X, np.asarray(X[:, :20].sum(axis=1)).ravel() + rng.normal(size=n) / 5


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(5, random_state=0), ExtraTreesClassifier(5, random_state=0), RandomForestRegressor(3, random_state=0),
        GradientBoostingClassifier(n_estimators=5, random_state=0), GradientBoostingRegressor(n_estimators=5, random_state=0),
    ],
)
def test_sparse_and_dense_rows_give_the_same_model(estimator):
    X, y = words()
    y = y if "Regressor" in type(estimator).__name__ else y > np.median(y)
    sparse = type(estimator)(**estimator.get_params()).fit(X, y)
    dense = type(estimator)(**estimator.get_params()).fit(X.toarray(), y)
    method = "predict_proba" if hasattr(estimator, "predict_proba") else "predict"
    expected = getattr(dense, method)(X.toarray())
    for rows in (X, X.toarray()):
        np.testing.assert_array_equal(getattr(sparse, method)(rows), expected)
    np.testing.assert_array_equal(getattr(sparse, method)(X[7:8]), expected[7:8])


@pytest.mark.parametrize("estimator", ["RandomForestClassifier(3)", "GradientBoostingClassifier(n_estimators=3, min_child_weight=0)"])
def test_memory_follows_the_stored_values(estimator):
    # In full the bins of this matrix alone take 300 MB, and sorted columns 1.2 GB.
    program = f"""
        import resource
        import numpy as np
        from scipy.sparse import csr_matrix
        from ermine.ensemble import GradientBoostingClassifier, RandomForestClassifier

        n, d = 3_000, 100_000
        rng = np.random.default_rng(0)
        X = csr_matrix((np.ones(30_000), (rng.integers(0, n, 30_000), rng.integers(0, d, 30_000))), shape=(n, d))
        y = rng.integers(0, 2, n)
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        RandomForestClassifier(1).fit(X[:50, :50], y[:50])
        before = peak()
        {estimator}.fit(X, y).predict(X)
        print(peak() - before)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 250, f"{float(run.stdout):.0f} MB"
