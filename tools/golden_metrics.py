"""Writes crates/ermine/tests/golden/metrics.json: what scikit-learn and SciPy say about random predictions with ties and weights."""

import golden_file
import numpy as np
import scipy
import sklearn
from scipy.stats import kendalltau
from sklearn import metrics as m
from sklearn.calibration import calibration_curve



def classes(rng, n, k, weighted):
    truth = rng.integers(0, k, n)
    truth[:k] = range(k)
    # Rounded, so that many probabilities are tied; some are 0 or 1.
    raw = rng.dirichlet(np.ones(k), n)
    proba = np.round(raw, 1)
    proba = np.where(proba.sum(1, keepdims=True) > 0, proba, 1.0)
    proba /= proba.sum(1, keepdims=True)
    predicted = proba.argmax(1)
    # Some rows count nothing, but every class has one that does.
    weight = rng.integers(0, 9, n) / 4 if weighted else None
    if weighted:
        weight[:k] += 0.25
    labels = list(range(k))
    kw = {"sample_weight": weight}
    p, r, f, _ = m.precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=0, **kw)
    averages = {
        name: m.precision_recall_fscore_support(truth, predicted, average=name, zero_division=0, **kw)[:3]
        for name in ("micro", "macro", "weighted")
    }
    onehot = np.eye(k)[truth]
    if k == 2:
        auc = m.roc_auc_score(truth, proba[:, 1], **kw)
        ap = m.average_precision_score(truth, proba[:, 1], **kw)
    else:
        auc = m.roc_auc_score(truth, proba, multi_class="ovr", average="macro", **kw)
        ap = m.average_precision_score(onehot, proba, average="macro", **kw)
    fpr, tpr, _ = m.roc_curve(truth == 1, proba[:, 1], drop_intermediate=False, **kw)
    precision, recall, _ = m.precision_recall_curve(truth == 1, proba[:, 1], **kw)
    observed, mean = calibration_curve(truth == 1, proba[:, 1], n_bins=10)
    return {
        "truth": truth, "probabilities": proba, "predicted": predicted, "weight": weight,
        "confusion": m.confusion_matrix(truth, predicted, labels=labels, **kw),
        "precision": p, "recall": r, "f1": f, "averages": averages,
        "accuracy": m.accuracy_score(truth, predicted, **kw),
        "balanced-accuracy": m.balanced_accuracy_score(truth, predicted, **kw),
        "mcc": m.matthews_corrcoef(truth, predicted, **kw),
        "kappa": m.cohen_kappa_score(truth, predicted, **kw),
        "log-loss": m.log_loss(truth, proba, labels=labels, **kw),
        "brier": m.brier_score_loss(truth, proba[:, 1], **kw) if k == 2 else m.brier_score_loss(truth, proba, labels=labels, **kw),
        "roc-auc": auc, "average-precision": ap,
        "roc": [fpr, tpr], "precision-recall": [precision[::-1], recall[::-1]],
        "calibration": [observed, mean],
    }


def numbers(rng, n, k, weighted):
    truth = np.round(rng.gamma(2, 2, (n, k)) + 0.1, 1)
    predicted = np.round(truth * rng.gamma(9, 1 / 9, (n, k)) + 0.05, 1) + 0.05
    weight = rng.integers(0, 9, n) / 4 if weighted else None
    kw = {"sample_weight": weight}
    t, p = truth[:, 0], predicted[:, 0]
    return {
        "truth": truth, "predicted": predicted, "weight": weight,
        "mse": m.mean_squared_error(truth, predicted, **kw),
        "rmse": m.root_mean_squared_error(truth, predicted, **kw),
        "mae": m.mean_absolute_error(truth, predicted, **kw),
        "median-ae": m.median_absolute_error(truth, predicted, **kw),
        "r2": m.r2_score(truth, predicted, **kw),
        "pinball": m.mean_pinball_loss(t, p, alpha=0.3, **kw),
        "deviances": {str(q): m.mean_tweedie_deviance(t, p, power=q, **kw) for q in (0, 1, 1.5, 2, 3)},
    }


def query(rng, n):
    grades = rng.integers(0, 4, n).astype(float)
    scores = np.round(grades / 3 + rng.normal(0, 0.7, n), 1)
    return {
        "grades": grades, "scores": scores,
        "ndcg": m.ndcg_score([grades], [scores]) if n > 1 else None,
        "ndcg@5": m.ndcg_score([grades], [scores], k=5) if n > 1 else None,
        "ndcg-exponential": m.ndcg_score([2**grades - 1], [scores]) if n > 1 else None,
        "average-precision": m.average_precision_score(grades > 0, scores) if (grades > 0).any() else 0.0,
        "kendall-tau": float(np.nan_to_num(kendalltau(scores, grades).statistic)),
    }


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x.tolist() if hasattr(x, "tolist") else x


rng = np.random.default_rng(7)
golden = {
    "classes": [classes(rng, int(rng.integers(12, 60)), k, w) for k in (2, 2, 2, 3, 5) for w in (False, True)],
    "numbers": [numbers(rng, int(rng.integers(5, 40)), k, w) for k in (1, 1, 3) for w in (False, True)],
    "queries": [query(rng, int(n)) for n in rng.integers(2, 30, 12)],
}
golden_file.write("metrics.json", __file__, plain(golden), sklearn, scipy, np)
