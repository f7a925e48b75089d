"""Metrics. Names and results are scikit-learn's; the numbers come from the same functions that reports and the command line use.

>>> from ermine.metrics import accuracy_score, roc_auc_score
>>> accuracy_score(["a", "b", "b"], ["a", "b", "a"])
0.6666666666666666
>>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
0.75
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ermine import _ermine, _class_metrics, _target
from ermine._forwarding import forward_names
from ermine._ranking_metrics import Interval, confidence_interval, kendall_tau, mean_average_precision, mean_reciprocal_rank, ndcg_score, omega_loss
from ermine._sklearn import warn

__all__ = [
    "Interval", "accuracy_score", "average_precision_score", "balanced_accuracy_score", "brier_score_loss", "calibration_curve", "classification_report", "cohen_kappa_score",
    "confidence_interval", "confusion_matrix", "expected_calibration_error", "f1_score", "fbeta_score", "hamming_loss", "kendall_tau", "log_loss", "matthews_corrcoef",
    "mean_absolute_error", "mean_average_precision", "mean_gamma_deviance", "mean_pinball_loss", "mean_poisson_deviance", "mean_reciprocal_rank", "mean_squared_error",
    "mean_tweedie_deviance", "median_absolute_error", "ndcg_score", "omega_loss", "precision_recall_curve", "precision_recall_fscore_support", "precision_score", "r2_score",
    "recall_score", "roc_auc_score", "roc_curve", "root_mean_squared_error", "zero_one_loss",
]

Average = Literal["micro", "macro", "weighted", "samples"]
Averages = Literal["binary", "micro", "macro", "weighted", "samples"]

# Classes


class _Confusion(NamedTuple):
    """Which classes were taken for which, and what is read off it."""

    labels: np.ndarray
    counts: np.ndarray
    accuracy: float
    balanced: float
    matthews: float
    kappa: float


def _confusion(y_true: Any, y_pred: Any, sample_weight: Any) -> _Confusion:
    true, predicted = _target.labels_like(y_true), _target.labels_like(y_pred)
    _target.check_rows(len(true), len(predicted))
    if not len(true):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if true.dtype.kind != predicted.dtype.kind and "U" in (true.dtype.kind + predicted.dtype.kind).replace("O", "U") and "O" not in true.dtype.kind + predicted.dtype.kind:
        raise ValueError(f"Labels in y_true and y_pred should be of the same type. Got y_true={np.unique(true)} and y_pred={np.unique(predicted)}.")
    labels, codes = _target.coded(np.concatenate([true, predicted]))
    weights = _class_metrics.weights(sample_weight, len(true))
    counts, read = _ermine.confusion(codes[: len(true)].copy(), codes[len(true) :].copy(), len(labels), weights)
    return _Confusion(labels, counts, *read)


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The accuracy: the fraction of correct predictions (their weight, unless ``normalize``). For a matrix of labels, all labels of a row must be correct."""
    true = np.asarray(y_true)
    if true.ndim == 2 and true.shape[1] > 1:
        predicted = np.asarray(y_pred)
        _target.check_rows(len(true), len(predicted))
        right = (true == predicted).all(axis=1)
        weights = _class_metrics.weights(sample_weight, len(true))
        return float(np.average(right, weights=weights)) if normalize else float(right @ (np.ones(len(true)) if weights is None else weights))
    found = _confusion(y_true, y_pred, sample_weight)
    return found.accuracy if normalize else float(np.trace(found.counts))


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The zero-one loss: the fraction of wrong predictions (their weight, unless ``normalize``)."""
    right = accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
    if normalize:
        return 1.0 - right
    weights = _class_metrics.weights(sample_weight, len(np.asarray(y_true)))
    return float(len(np.asarray(y_true)) if weights is None else weights.sum()) - right


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> float:
    """The mean recall of the classes that occur; if ``adjusted``, rescaled so that chance is 0."""
    found = _confusion(y_true, y_pred, sample_weight)
    n = int((found.counts.sum(axis=1) > 0).sum())
    return (found.balanced - 1 / n) / (1 - 1 / n) if adjusted and n > 1 else found.balanced


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The Matthews correlation coefficient: 1 is perfect, 0 is chance."""
    return _confusion(y_true, y_pred, sample_weight).matthews


def cohen_kappa_score(y1: Any, y2: Any, *, labels: Any = None, weights: Literal["linear", "quadratic"] | None = None, sample_weight: Any = None) -> float:
    """Cohen's kappa, the agreement beyond chance: 1 is perfect, 0 is chance; NaN if there is only one class. ``labels`` selects classes; ``weights`` penalizes distant classes more."""
    if labels is None and weights is None:
        value = _confusion(y1, y2, sample_weight).kappa
    else:
        counts = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
        far = np.abs(np.subtract.outer(np.arange(len(counts)), np.arange(len(counts)))).astype(np.float64)
        if weights not in (None, "linear", "quadratic"):
            raise ValueError(f"weights must be None, 'linear' or 'quadratic', got {weights!r}")
        cost = (far > 0).astype(np.float64) if weights is None else far if weights == "linear" else far * far
        chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1e-300)
        expected = float((cost * chance).sum())
        value = 1.0 - float((cost * counts).sum()) / expected if expected > 0 else float("nan")
    if np.isnan(value):
        warn("UndefinedMetricWarning", "Cohen's kappa is not defined where truth and prediction are one and the same class.")
    return value


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The Hamming loss: the fraction of wrong labels, or of wrong rows for classes."""
    true = np.asarray(y_true)
    if true.ndim == 1:
        return zero_one_loss(y_true, y_pred, sample_weight=sample_weight)
    wrong = (true != np.asarray(y_pred)).mean(axis=1)
    return float(np.average(wrong, weights=_class_metrics.weights(sample_weight, len(wrong))))


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: Literal["true", "pred", "all"] | None = None,
) -> np.ndarray:
    """The confusion matrix: the number of rows of each true class (rows) that are predicted as each class (columns).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        The true and the predicted classes.
    labels : array-like, default=None
        The classes, in the order of the matrix; None for all that occur, ascending.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    normalize : {"true", "pred", "all"}, default=None
        Shares of each true class, of each predicted class, or of all rows, in place of counts.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        Whole numbers where rows are counted.
    """
    found = _confusion(y_true, y_pred, sample_weight)
    counts = found.counts
    if labels is not None:
        known = found.labels.tolist()
        places = [known.index(label) if label in known else None for label in np.asarray(labels).tolist()]
        if all(place is None for place in places):
            raise ValueError("At least one label specified must be in y_true")
        counts = np.array([[0.0 if i is None or j is None else counts[i, j] for j in places] for i in places])
    if normalize is None:
        return counts.astype(np.int64) if sample_weight is None else counts
    if normalize not in ("true", "pred", "all"):
        raise ValueError(f"normalize must be one of {{'true', 'pred', 'all', None}}, got {normalize!r}")
    total = counts.sum(axis={"true": 1, "pred": 0, "all": None}[normalize], keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def _counts(y_true: Any, y_pred: Any, sample_weight: Any) -> _class_metrics.Counts:
    """How much of each class, or of each label of a matrix, is right, true and predicted."""
    if _class_metrics.is_marks(y_true):
        true, predicted = np.asarray(y_true), np.asarray(y_pred)
        _target.check_rows(len(true), len(predicted))
        return _class_metrics.of_marks(true, predicted, _class_metrics.weights(sample_weight, len(true)))
    found = _confusion(y_true, y_pred, sample_weight)
    return _class_metrics.of_matrix(found.labels, found.counts)


def precision_recall_fscore_support(
    y_true: Any, y_pred: Any, *, beta: float = 1.0, labels: Any = None, pos_label: Any = 1, average: Averages | None = None, sample_weight: Any = None,
    zero_division: Any = "warn", _only: Sequence[int] = (0, 1, 2),
) -> tuple[Any, Any, Any, Any]:
    """Precision, recall, F-score and support of each class (in ascending order), or their mean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true and the predicted classes, or matrices of 0 and 1 with a column for each label.
    beta : float, default=1.0
        How much more recall counts than precision in F.
    labels : array-like, default=None
        The classes that count, in this order; None for all that occur, ascending.
    pos_label : default=1
        See ``average``.
    average : {"binary", "micro", "macro", "weighted", "samples"}, default=None
        None for each class; "binary" for ``pos_label`` alone; or a mean: over rows, over classes, over classes by their weight, or over the rows of a matrix of labels
        ("samples").
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        What a quotient of 0 by 0 is: 0 with a warning, or this; means leave out what is nan.

    Returns
    -------
    precision, recall, f, support
        Arrays of shape (n_classes,); or numbers, and None for the last.
    """
    if average not in (None, "binary", "micro", "macro", "weighted", "samples"):
        raise ValueError(f"average must be one of {{None, 'binary', 'micro', 'macro', 'weighted', 'samples'}}, got {average!r}")
    if average == "samples":
        if not _class_metrics.is_marks(y_true):
            raise ValueError("Samplewise metrics are not available outside of multilabel classification.")
        columns = slice(None) if labels is None else np.asarray(labels)
        true, predicted = np.asarray(y_true)[:, columns], np.asarray(y_pred)[:, columns]
        _target.check_rows(len(true), len(predicted))
        per_row = _class_metrics.rates(_class_metrics.of_marks(true.T, predicted.T, None), float(beta), zero_division, _only)
        weights = _class_metrics.weights(sample_weight, len(true))
        return *(_class_metrics.mean_of_defined(rate, weights) for rate in per_row), None  # type: ignore[return-value]
    counts = _counts(y_true, y_pred, sample_weight)
    if average == "binary":
        known = counts.labels.tolist()
        if len(known) > 2 or _class_metrics.is_marks(y_true):
            what = "multilabel-indicator" if _class_metrics.is_marks(y_true) else "multiclass"
            raise ValueError(f"Target is {what} but average='binary'. Please choose another average setting, one of ['micro', 'macro', 'weighted', None].")
        if pos_label not in known and len(known) == 2:
            raise ValueError(f"pos_label={pos_label} is not a valid label: It should be one of {known}")
        labels = [pos_label]
    if labels is not None:
        counts = _class_metrics.chosen(counts, labels)
    if average is None:
        support = counts.actual.astype(np.int64) if sample_weight is None else counts.actual
        return *_class_metrics.rates(counts, float(beta), zero_division, _only), support  # type: ignore[return-value]
    means = _class_metrics.averaged(counts, "macro" if average == "binary" else average, float(beta), zero_division, _only)
    return *means, None  # type: ignore[return-value]


def _one_rate(which: int, name: str, what: str) -> Callable[..., Any]:
    def score(
        y_true: Any, y_pred: Any, *, labels: Any = None, pos_label: Any = 1, average: Averages | None = "binary", sample_weight: Any = None, zero_division: Any = "warn",
    ) -> Any:
        return precision_recall_fscore_support(
            y_true, y_pred, labels=labels, pos_label=pos_label, average=average, sample_weight=sample_weight, zero_division=zero_division, _only=(which,),
        )[which]

    score.__name__ = score.__qualname__ = name
    score.__doc__ = f"{what} Of class ``pos_label``, of each class (``average=None``), or a mean: see ``precision_recall_fscore_support``."
    return score


precision_score = _one_rate(0, "precision_score", "Of what is predicted as a class, the share that is of it.")
recall_score = _one_rate(1, "recall_score", "Of what is of a class, the share that is predicted as it.")
f1_score = _one_rate(2, "f1_score", "The harmonic mean of precision and recall.")


def fbeta_score(
    y_true: Any, y_pred: Any, *, beta: float, labels: Any = None, pos_label: Any = 1, average: Averages | None = "binary", sample_weight: Any = None, zero_division: Any = "warn",
) -> Any:
    """The F-beta score: the harmonic mean of precision and recall, with recall weighted ``beta`` times as much; see ``precision_recall_fscore_support``."""
    return precision_recall_fscore_support(
        y_true, y_pred, beta=beta, labels=labels, pos_label=pos_label, average=average, sample_weight=sample_weight, zero_division=zero_division, _only=(2,),
    )[2]


def classification_report(
    y_true: Any, y_pred: Any, *, labels: Any = None, target_names: Any = None, sample_weight: Any = None, digits: int = 2, output_dict: bool = False, zero_division: Any = "warn",
) -> Any:
    """Precision, recall and F1 of each class (or of ``labels``, called ``target_names``) and their means, as text, or as a dict if ``output_dict``."""
    counts = _counts(y_true, y_pred, sample_weight)
    # Where all classes count, the micro mean is the accuracy.
    whole = not _class_metrics.is_marks(y_true) and (labels is None or set(counts.labels.tolist()) <= set(np.asarray(labels).tolist()))
    counts = counts if labels is None else _class_metrics.chosen(counts, labels)
    shown = [str(label) for label in (counts.labels.tolist() if target_names is None else target_names)]
    if len(shown) != len(counts.labels):
        raise ValueError(f"Number of classes, {len(counts.labels)}, does not match size of target_names, {len(shown)}. Try specifying the labels parameter")
    names = ("precision", "recall", "f1-score", "support")
    each = zip(*_class_metrics.rates(counts, 1.0, zero_division), counts.actual)
    rows = {name: dict(zip(names, map(float, numbers))) for name, numbers in zip(shown, each)}
    total = float(counts.actual.sum())
    silent = 0.0 if zero_division == "warn" else zero_division
    of = lambda average: dict(zip(names, (*_class_metrics.averaged(counts, average, 1.0, silent, ()), total)))
    micro, means = of("micro"), {f"{average} avg": of(average) for average in ("macro", "weighted")}
    if output_dict:
        return rows | ({"accuracy": micro["f1-score"]} if whole else {"micro avg": micro}) | means
    width = max(*map(len, rows), len("weighted avg"))
    shown_support = (lambda support: int(support)) if sample_weight is None else float
    line = lambda name, row: f"{name:>{width}} " + "".join(f" {row[key]:>9.{digits}f}" for key in names[:3]) + f" {shown_support(row['support']):>9}"
    head = " " * width + " " + "".join(f" {name:>9}" for name in names)
    all_rows = f"{'accuracy':>{width}} " + " " * 21 + f"{micro['f1-score']:>9.{digits}f} {shown_support(total):>9}" if whole else line("micro avg", micro)
    return "\n".join([head, "", *(line(*item) for item in rows.items()), "", all_rows, *(line(*item) for item in means.items()), ""])


# Probabilities


def _probabilities(y_true: Any, y_proba: Any, labels: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Probabilities row by row, the code of each row's class, and how many classes there are."""
    true = _target.labels_like(y_true)
    distinct = np.unique(true if labels is None else np.asarray(labels))
    values = np.asarray(y_proba, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1:
        values = np.stack([1 - values, values], axis=1)
    _target.check_rows(len(true), len(values))
    if len(distinct) < 2:
        raise ValueError(f"y_true contains only one label ({distinct.tolist()}). Please provide the list of all expected class labels explicitly through the labels argument.")
    if len(distinct) != values.shape[1]:
        raise ValueError(f"The number of classes in labels is different from that in y_pred. Classes found in labels: {distinct.tolist()}")
    if not np.isfinite(values).all() or (values < 0).any() or (values > 1).any():
        raise ValueError("y_proba contains values that are no probabilities: each must be from 0 to 1.")
    places = np.searchsorted(distinct, true)
    if (places == len(distinct)).any() or (distinct[np.minimum(places, len(distinct) - 1)] != true).any():
        raise ValueError("y_true contains labels that are not among labels")
    return np.require(values.reshape(-1), requirements=["C", "A"]), places.astype(np.uint32), len(distinct)


def log_loss(y_true: Any, y_proba: Any, *, normalize: bool = True, sample_weight: Any = None, labels: Any = None) -> float:
    """The mean of -ln p(true class).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true classes.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        The probabilities of the classes in ascending order; of two classes that of the second is enough. Probabilities of 0 count as the least number that
        isn't rounded away.
    normalize : bool, default=True
        The mean over the rows if true, else the sum.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    labels : array-like, default=None
        All classes, where ``y_true`` doesn't have all of them.
    """
    values, codes, n_classes = _probabilities(y_true, y_proba, labels)
    sums = values.reshape(-1, n_classes).sum(axis=1)
    if not np.allclose(sums, 1, rtol=1e-6):
        warn("UserWarning", "The y_prob values do not sum to one. Make sure to pass probabilities.")
    weights = _class_metrics.weights(sample_weight, len(codes))
    mean = _ermine.probability_losses(values, n_classes, codes, weights)[0]
    return mean if normalize else mean * (len(codes) if weights is None else float(weights.sum()))


def brier_score_loss(y_true: Any, y_proba: Any, *, sample_weight: Any = None, pos_label: Any = None, labels: Any = None) -> float:
    """The Brier score: the mean squared error of the probabilities. For two classes, of the probability of the second one (or of ``pos_label``); for more, the sum over classes.
    Probabilities of two classes may all be of rows of one of them. See ``log_loss``."""
    values = np.asarray(y_proba, dtype=np.float64)
    if labels is None and (values.ndim == 1 or values.shape[1] == 1):
        true = _target.labels_like(y_true)
        distinct = np.unique(true)
        if pos_label is None and len(distinct) == 1 and distinct.dtype.kind in "OUS":
            raise ValueError(f"y_true takes value in {distinct.tolist()} and pos_label is not specified: pass pos_label explicitly.")
        if len(distinct) < 2 or pos_label is not None:
            if len(distinct) > 2 or (len(distinct) == 2 and pos_label not in distinct.tolist()):
                raise ValueError(f"pos_label={pos_label} is not a valid label: It should be one of {distinct.tolist()}")
            y_true, labels = (true == (1 if pos_label is None else pos_label)).astype(int), [0, 1]
    flat, codes, n_classes = _probabilities(y_true, y_proba, labels)
    return _ermine.probability_losses(flat, n_classes, codes, _class_metrics.weights(sample_weight, len(codes)))[1]


def calibration_curve(y_true: Any, y_prob: Any, *, n_bins: int = 5, pos_label: Any = None, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The observed frequency (first array) and the mean predicted probability (second array) in bins of equal width that have rows."""
    bins = _bins(y_true, y_prob, n_bins, pos_label, sample_weight)
    return bins[1], bins[0]


def expected_calibration_error(y_true: Any, y_prob: Any, *, n_bins: int = 10, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The expected calibration error: the mean distance between predicted probability and observed frequency, over bins of equal width."""
    return _bins(y_true, y_prob, n_bins, pos_label, sample_weight)[3]


def _bins(y_true: Any, y_prob: Any, n_bins: int, pos_label: Any, sample_weight: Any) -> Any:
    if not 1 <= n_bins <= 1_000_000:
        raise ValueError(f"n_bins must be a whole number from 1 to 1,000,000, got {n_bins!r}")
    positive, values, weights = _found(y_true, y_prob, pos_label, sample_weight)
    if values.min() < 0 or values.max() > 1:
        raise ValueError("y_prob has values outside [0, 1].")
    return _ermine.calibration(values, positive, n_bins, weights)


# Scores and thresholds


def _found(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Which rows are positive, their scores and their weights."""
    true = _target.labels_like(y_true)
    scores = np.require(_target.labels_like(y_score), np.float64, ["C", "A"])
    _target.check_rows(len(true), len(scores))
    if not len(true):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if not np.isfinite(scores).all():
        raise ValueError("Input y_score contains NaN or infinity.")
    distinct = np.unique(true)
    if pos_label is None:
        if len(distinct) > 2 or (distinct.dtype.kind in "OUS" and len(distinct)):
            known = distinct.tolist()
            what = "multiclass format is not supported" if len(distinct) > 2 else f"y_true takes value in {known} and pos_label is not specified: either make y_true take value in {{0, 1}} or {{-1, 1}} or pass pos_label explicitly."
            raise ValueError(what)
        pos_label = 1
    return np.require(true == pos_label, np.bool_, ["C", "A"]), scores, _class_metrics.weights(sample_weight, len(true))


def _swept(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thresholds from the highest down, and the weights of the positive and negative rows from each up. Rows of weight 0 have no threshold."""
    positive, scores, weights = _found(y_true, y_score, pos_label, sample_weight)
    if weights is not None:
        there = weights > 0
        positive, scores, weights = positive[there], scores[there], weights[there]
    return _ermine.thresholds(scores, positive, weights)[2:]


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ROC curve: false positive rates, true positive rates and their thresholds, from (0, 0) to (1, 1).

    Points on a straight line between others are left out, unless ``drop_intermediate`` is False. Rates that are undefined, because all rows are of one class, are NaN.
    """
    thresholds, hits, alarms = _swept(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and len(hits) > 2:
        corner = np.concatenate([[True], (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0), [True]])
        thresholds, hits, alarms = thresholds[corner], hits[corner], alarms[corner]

    def rate(counts: np.ndarray, what: str) -> np.ndarray:
        with_start = np.concatenate([[0.0], counts])
        if counts[-1] <= 0:
            warn("UndefinedMetricWarning", f"No {what} samples in y_true, the rates of {what} samples are meaningless")
            return np.full(len(with_start), np.nan)
        return with_start / counts[-1]

    return rate(alarms, "negative"), rate(hits, "positive"), np.concatenate([[np.inf], thresholds])


def precision_recall_curve(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision and recall at each threshold, from the lowest up; at the end (1, 0), which has no threshold."""
    thresholds, hits, alarms = _swept(y_true, y_score, pos_label, sample_weight)
    precision = hits / (hits + alarms)
    if hits[-1] <= 0:
        warn("UserWarning", "No positive class found in y_true, recall is set to one for all thresholds.")
    recall = hits / hits[-1] if hits[-1] > 0 else np.ones(len(hits))
    return np.concatenate([precision[::-1], [1.0]]), np.concatenate([recall[::-1], [0.0]]), thresholds[::-1].copy()


def roc_auc_score(
    y_true: Any, y_score: Any, *, average: Average | None = "macro", sample_weight: Any = None, max_fpr: float | None = None, multi_class: Literal["ovr", "ovo"] = "ovr", labels: Any = None,
) -> Any:
    """The area under the ROC curve: the probability that a positive row is scored above a negative one.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        The true classes, or a matrix of 0 and 1 with a column for each label.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores or probabilities: of two classes those of the second; of more those of each, in ascending order.
    average : {"micro", "macro", "weighted", "samples"} or None, default="macro"
        The mean over classes, which count alike, or by their weight; None for the area of each. "micro" takes all labels of all rows together, "samples" the mean over
        the rows of a matrix of labels.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Of more than two classes, each against the rest, or each pair.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. Not for "ovo".
    max_fpr : float, default=None
        Of two classes, only the part of the curve up to this false positive rate, standardized so that 0.5 is chance and 1 is perfect (McClish correction).
    labels : array-like, default=None
        All classes, where ``y_true`` doesn't have all of them.
    """
    if max_fpr is not None and max_fpr != 1:
        return _partial_area(y_true, y_score, float(max_fpr), sample_weight)
    return _area(0, y_true, y_score, average, multi_class, sample_weight, labels)


def _partial_area(y_true: Any, y_score: Any, max_fpr: float, sample_weight: Any) -> float:
    if not 0 < max_fpr <= 1:
        raise ValueError(f"The 'max_fpr' parameter of roc_auc_score must be a number in the range (0, 1]. Got {max_fpr!r} instead.")
    true = _target.labels_like(y_true)
    distinct = np.unique(true)
    if len(distinct) != 2:
        raise ValueError(f"Partial AUC computation needs two classes, but y_true has {len(distinct)}: 'max_fpr' must be set to `None`")
    alarms, hits, _ = roc_curve(true, y_score, pos_label=distinct[1], sample_weight=sample_weight)
    inside = alarms <= max_fpr
    x, y = np.append(alarms[inside], max_fpr), np.append(hits[inside], np.interp(max_fpr, alarms, hits))
    area, least = float((np.diff(x) * (y[1:] + y[:-1])).sum()) / 2, max_fpr**2 / 2
    return 0.5 * (1 + (area - least) / (max_fpr - least))


def average_precision_score(y_true: Any, y_score: Any, *, average: Average | None = "macro", pos_label: Any = 1, sample_weight: Any = None, labels: Any = None) -> Any:
    """The average precision: the area under the precision-recall curve; 0 if no row is positive. See ``roc_auc_score``."""
    return _area(1, y_true, y_score, average, "ovr", sample_weight, labels, pos_label)


def _area(
    which: int, y_true: Any, y_score: Any, average: str | None, multi_class: str, sample_weight: Any, labels: Any, pos_label: Any = 1,
) -> Any:
    true, scores = np.asarray(y_true), np.asarray(y_score, dtype=np.float64)
    if average not in ("micro", "macro", "weighted", "samples", None):
        raise ValueError(f"average must be 'micro', 'macro', 'weighted', 'samples' or None, got {average!r}")
    if true.ndim == 2 and true.shape[1] > 1:
        if true.shape != scores.shape:
            raise ValueError(f"y_true has shape {true.shape} and y_score has shape {scores.shape}")
        if average == "micro":
            repeated = None if sample_weight is None else np.repeat(np.asarray(sample_weight, dtype=np.float64), true.shape[1])
            return _mean_area(which, [true.ravel() == 1], scores.reshape(-1, 1), "macro", repeated)
        if average == "samples":
            of_rows = _mean_area(which, list(true == 1), scores.T, None, None)
            return float(np.average(of_rows, weights=_class_metrics.weights(sample_weight, len(true))))
        marks = [true[:, k] == 1 for k in range(true.shape[1])]
        return _mean_area(which, marks, scores, average, sample_weight)
    true = _target.labels_like(true)
    distinct = np.unique(true if labels is None else np.asarray(labels))
    if scores.ndim == 2 and len(distinct) > 2:
        if scores.shape[1] != len(distinct):
            raise ValueError(f"Number of classes in y_true not equal to the number of columns in 'y_score': {len(distinct)} and {scores.shape[1]}")
        if average == "samples" or (average is None and multi_class == "ovo"):
            raise ValueError(f"average={average!r} is not defined for more than two classes with multi_class={multi_class!r}")
        if average == "micro":
            return _mean_area(which, [(true[:, None] == distinct[None, :]).ravel()], scores.reshape(-1, 1), "macro", None if sample_weight is None else np.repeat(sample_weight, len(distinct)))
        if multi_class == "ovo":
            assert average is not None
            return _pairwise_area(true, scores, distinct, average)
        return _mean_area(which, [true == label for label in distinct], scores, average, sample_weight)
    if scores.ndim == 2 and scores.shape[1] == 2:
        raise ValueError("y_score has two columns: pass those of the second class, y_score[:, 1].")
    if len(distinct) > 2:
        raise ValueError("of more than two classes, y_score needs a column for each")
    if which == 0 and len(distinct) < 2:
        warn("UndefinedMetricWarning", "Only one class is present in y_true. ROC AUC score is not defined in that case.")
        return float("nan")
    # If there is only one class, its name decides whether it is the positive one.
    positive = pos_label if which == 1 and (len(distinct) < 2 or (pos_label != 1 and pos_label in distinct.tolist())) else distinct[-1]
    return _mean_area(which, [true == positive], scores.reshape(-1, 1), "macro", sample_weight)


def _mean_area(which: int, marks: Sequence[np.ndarray], scores: np.ndarray, average: str | None, sample_weight: Any) -> Any:
    """The mean of the areas of some columns of scores; the area of each if ``average`` is None."""
    areas, sizes = [], []
    for k, positive in enumerate(marks):
        of_class, numbers, weights = _found(positive.astype(int), np.ascontiguousarray(scores[:, k]), 1, sample_weight)
        roc, precision = _ermine.thresholds(numbers, of_class, weights)[:2]
        area = (roc, precision)[which]
        if area is None and which == 0:
            warn("UndefinedMetricWarning", "Only one class is present in y_true. ROC AUC score is not defined in that case.")
        elif area is None:
            warn("UserWarning", "No positive class found in y_true, recall is set to one for all thresholds.")
        # Where nothing is to be found, nothing is found.
        areas.append((np.nan, 0.0)[which] if area is None else area)
        sizes.append(float(of_class.sum() if weights is None else weights[of_class].sum()))
    if average is None:
        return np.array(areas)
    return float(np.mean(areas) if average == "macro" else np.average(areas, weights=sizes))


def _pairwise_area(true: np.ndarray, scores: np.ndarray, distinct: np.ndarray, average: str) -> float:
    areas, sizes = [], []
    for a in range(len(distinct)):
        for b in range(a + 1, len(distinct)):
            rows = (true == distinct[a]) | (true == distinct[b])
            first = true[rows] == distinct[a]
            both = [_mean_area(0, [mark], scores[rows][:, [k]], "macro", None) for mark, k in ((first, a), (~first, b))]
            areas.append(sum(both) / 2)
            sizes.append(float(rows.mean()))
    return float(np.mean(areas) if average == "macro" else np.average(areas, weights=sizes))


# Numbers


def _outputs(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, score: Callable[[np.ndarray, np.ndarray, np.ndarray | None], float],
) -> Any:
    """The score of each output, or their mean."""
    true, predicted = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
    _target.check_rows(len(true), len(predicted))
    true, predicted = true.reshape(len(true), -1), predicted.reshape(len(predicted), -1)
    if true.shape != predicted.shape:
        raise ValueError(f"y_true and y_pred have different number of output ({true.shape[1]}!={predicted.shape[1]})")
    if not len(true):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if not (np.isfinite(true).all() and np.isfinite(predicted).all()):
        raise ValueError("Input contains NaN or infinity.")
    weights = _class_metrics.weights(sample_weight, len(true))
    each = np.array([score(np.ascontiguousarray(predicted[:, k]), np.ascontiguousarray(true[:, k]), weights) for k in range(true.shape[1])])
    if isinstance(multioutput, str):
        if multioutput not in ("raw_values", "uniform_average"):
            raise ValueError(f"multioutput must be 'raw_values', 'uniform_average' or weights, got {multioutput!r}")
        return each if multioutput == "raw_values" else float(each.mean())
    return float(np.average(each, weights=multioutput))


def _one_error(which: int, name: str, what: str) -> Callable[..., Any]:
    def score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average") -> Any:
        if name == "r2_score" and len(np.asarray(y_true)) == 1:
            warn("UndefinedMetricWarning", "R^2 score is not well-defined with less than two samples.")
        return _outputs(y_true, y_pred, sample_weight, multioutput, lambda p, t, w: _ermine.errors(p, t, w)[which])

    score.__name__ = score.__qualname__ = name
    score.__doc__ = f"{what} Of several outputs their mean, each (``multioutput=\"raw_values\"``), or the mean by weights."
    return score


mean_squared_error = _one_error(0, "mean_squared_error", "The mean of the squared errors.")
root_mean_squared_error = _one_error(1, "root_mean_squared_error", "The square root of the mean squared error.")
mean_absolute_error = _one_error(2, "mean_absolute_error", "The mean of the absolute errors.")
median_absolute_error = _one_error(3, "median_absolute_error", "The median of the absolute errors: half of the weight has a smaller one.")
r2_score = _one_error(4, "r2_score", "The share of the variance that is explained: 1 is perfect, 0 is no better than the mean.")


def mean_pinball_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None, alpha: float = 0.5, multioutput: Any = "uniform_average") -> Any:
    """The mean pinball loss, which the ``alpha`` quantile minimizes."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"The 'alpha' parameter of mean_pinball_loss must be a float in the range [0, 1]. Got {alpha!r} instead.")
    return _outputs(y_true, y_pred, sample_weight, multioutput, lambda p, t, w: _ermine.pinball_loss(p, t, float(alpha), w))


def mean_tweedie_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: float = 0) -> float:
    """The mean deviance under a Tweedie distribution of this power: 0 normal, 1 Poisson, 2 Gamma, 3 inverse Gaussian."""

    def score(predicted: np.ndarray, true: np.ndarray, weights: np.ndarray | None) -> float:
        value = _ermine.deviance(predicted, true, float(power), weights)
        if value is None:
            raise ValueError(f"Mean Tweedie deviance error with power={power} can't be used on these numbers: predictions must be above 0, and the truth possible.")
        return value

    return float(_outputs(y_true, y_pred, sample_weight, "uniform_average", score))


def mean_poisson_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The mean Poisson deviance, for counts."""
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=1)


def mean_gamma_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The mean Gamma deviance, for positive values."""
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=2)


__getattr__ = forward_names("metrics", __all__)
