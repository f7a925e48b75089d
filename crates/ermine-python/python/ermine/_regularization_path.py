"""Paths of lasso and elastic-net solutions over falling strengths."""

from typing import Any

import numpy as np

from ermine import _data, _target
from ermine._ermine import enet_path as _enet_path
from ermine._ermine import threads


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: Any = None,
    fit_intercept: bool = True,
    tol: float = 1e-10,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The elastic-net regularization path: coefficients for decreasing penalty strengths, each warm-started from the one before it.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The target values.
    l1_ratio : float, default=0.5
        The share of L1 in the penalty: 1 for the lasso.
    eps : float, default=0.001
        The smallest strength as a share of the largest.
    n_alphas : int, default=100
        How many strengths.
    alphas : array-like, default=None
        The strengths; None for ``n_alphas`` of them from the least that makes all coefficients zero downwards.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=1e-10
        The duality gap to reach, as a share of the objective without columns.
    n_jobs : int, default=None
        How many threads to use.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The strengths, falling.
    coefs : ndarray of shape (n_features, n_alphas)
        The coefficients.
    dual_gaps : ndarray of shape (n_alphas,)
        How far each objective can be above its minimum at most.
    """
    table, _ = _data.read(X, "enet_path", True)
    target, _ = _target.values(y, table.n_rows, False)
    params = {"l1_ratio": float(l1_ratio), "fit_intercept": bool(fit_intercept), "tol": float(tol)}
    given = None if alphas is None else np.asarray(alphas, dtype=np.float64).ravel().tolist()
    strengths, coefficients, gaps = _enet_path(params, table, target, given, n_alphas=n_alphas, eps=eps, threads=threads(n_jobs))
    return strengths, coefficients.T, gaps


def lasso_path(X: Any, y: Any, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lasso regularization path; same arguments and results as ``enet_path``, without ``l1_ratio``."""
    return enet_path(X, y, l1_ratio=1.0, **options)
