"""The score of a fitted estimator on given rows, by scikit-learn's name of the score."""

from collections.abc import Callable
from typing import Any

from ermine import metrics

#: Scores of what is predicted, and whether their sign is turned.
OF_PREDICTIONS: dict[str, tuple[Callable[..., float], dict[str, Any], float]] = {
    "accuracy": (metrics.accuracy_score, {}, 1.0),
    "balanced_accuracy": (metrics.balanced_accuracy_score, {}, 1.0),
    "matthews_corrcoef": (metrics.matthews_corrcoef, {}, 1.0),
    "r2": (metrics.r2_score, {}, 1.0),
    "neg_mean_squared_error": (metrics.mean_squared_error, {}, -1.0),
    "neg_root_mean_squared_error": (metrics.root_mean_squared_error, {}, -1.0),
    "neg_mean_absolute_error": (metrics.mean_absolute_error, {}, -1.0),
    "neg_median_absolute_error": (metrics.median_absolute_error, {}, -1.0),
    "neg_mean_poisson_deviance": (metrics.mean_poisson_deviance, {}, -1.0),
    "neg_mean_gamma_deviance": (metrics.mean_gamma_deviance, {}, -1.0),
    **{
        f"{name}_{average}": (function, {"average": average}, 1.0)
        for name, function in (("f1", metrics.f1_score), ("precision", metrics.precision_score), ("recall", metrics.recall_score)) for average in ("macro", "weighted")
    },
}

#: Scores of probabilities, or of how rows are ordered by them.
OF_PROBABILITIES: dict[str, tuple[Callable[..., float], float]] = {
    "neg_log_loss": (metrics.log_loss, -1.0),
    "neg_brier_score": (metrics.brier_score_loss, -1.0),
    "roc_auc": (metrics.roc_auc_score, 1.0),
    "average_precision": (metrics.average_precision_score, 1.0),
}


def score_by(scoring: str, estimator: Any, X: Any, y: Any) -> float:
    """The score of this name; higher is better."""
    if scoring in OF_PREDICTIONS:
        function, options, sign = OF_PREDICTIONS[scoring]
        return sign * float(function(y, estimator.predict(X), **options))
    function, sign = OF_PROBABILITIES[scoring]
    orders = sign > 0 and not hasattr(estimator, "predict_proba")
    scores = estimator.decision_function(X) if orders else estimator.predict_proba(X)
    two = len(estimator.classes_) == 2 and scores.ndim == 2
    labels = {} if len(estimator.classes_) == 2 and sign > 0 else {"labels": estimator.classes_}
    return sign * float(function(y, scores[:, 1] if two and sign > 0 else scores, **labels))
