"""Writes crates/ermine-core/tests/golden/measures.json: every measure by its name, as scikit-learn and SciPy have it, of random predictions with ties and weights.

Among them are corner cases: rows of weight 0, classes that no row has or that have no weight, one class alone, a constant target, labels that never occur. A score that
scikit-learn has no number for, or that says nothing (areas under curves where there is nothing to be told apart), is null: it can't be told. Areas of several classes are the
means over those classes that can be told from the others.

What neither of them has (calibration error, reciprocal rank, omega losses) is counted here pair by pair or bin by bin from its definition.
"""

import warnings
from itertools import combinations

import golden_file
import numpy as np
import scipy
import sklearn
from scipy.stats import kendalltau
from sklearn import metrics as m



def calibration_error(probability, happened, weight, n_bins=10):
    # A bin's upper end belongs to it; the first bin holds 0 as well.
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    place = np.searchsorted(edges[1:-1], probability)
    total = 0.0
    for b in range(n_bins):
        rows = place == b
        w = weight[rows]
        if w.sum() > 0:
            total += abs((w * probability[rows]).sum() - (w * happened[rows]).sum())
    return total / weight.sum()


def area(score, truth, proba, weight):
    """The mean over the classes that have weight beside others that have, None if there are none."""
    weight = np.ones(len(truth)) if weight is None else weight
    k = proba.shape[1]
    told = [c for c in (range(k) if k > 2 else [1]) if weight[truth == c].sum() > 0 and weight[truth != c].sum() > 0]
    return float(np.mean([score(truth == c, proba[:, c], sample_weight=weight) for c in told])) if told else None


def classes(rng, n, k, weighted, corner=None):
    truth = rng.integers(0, k, n)
    truth[:k] = range(k)
    if corner == "one class":
        truth[:] = rng.integers(0, k)
    if corner == "missing class":
        truth[truth == k - 1] = 0
    # Rounded, so that many probabilities are tied; some are 0 or 1.
    proba = np.round(rng.dirichlet(np.ones(k), n), 1)
    proba = np.where(proba.sum(1, keepdims=True) > 0, proba, 1.0)
    proba /= proba.sum(1, keepdims=True)
    if corner == "one class":
        # All right, as well: truth and prediction are one and the same class.
        proba = np.where(rng.uniform() < 0.5, np.eye(k)[truth], proba)
    predicted = proba.argmax(1)
    weight = rng.integers(0, 9, n) / 4 + (np.arange(n) == 0) if weighted else None
    if corner == "class of no weight":
        weight[truth == k - 1] = 0
    ones = np.ones(n) if weight is None else weight
    kw = {"sample_weight": weight}
    rates = {name: m.precision_recall_fscore_support(truth, predicted, average=name, zero_division=0, **kw) for name in ("macro", "weighted")}
    auc, ap = area(m.roc_auc_score, truth, proba, weight), area(m.average_precision_score, truth, proba, weight)
    if not weighted and corner is None:
        assert auc == (m.roc_auc_score(truth, proba[:, 1]) if k == 2 else m.roc_auc_score(truth, proba, multi_class="ovr"))
    certainty, happened = (proba[:, 1], truth == 1) if k == 2 else (proba[np.arange(n), predicted], predicted == truth)
    scores = {
        "accuracy": m.accuracy_score(truth, predicted, **kw),
        "error-rate": m.zero_one_loss(truth, predicted, **kw),
        "balanced-accuracy": m.balanced_accuracy_score(truth, predicted, **kw),
        **{f"{average}-{name}": rates[average][i] for average in rates for i, name in enumerate(("precision", "recall", "f1"))},
        "mcc": m.matthews_corrcoef(truth, predicted, **kw),
        "kappa": m.cohen_kappa_score(truth, predicted, **kw),
        "log-loss": m.log_loss(truth, proba, labels=list(range(k)), **kw),
        "brier": m.brier_score_loss(truth, proba[:, 1], **kw) if k == 2 else m.brier_score_loss(truth, proba, labels=list(range(k)), **kw),
        "roc-auc": auc,
        "average-precision": ap,
        "ece": calibration_error(certainty, happened, ones),
    }
    p, r, f, support = m.precision_recall_fscore_support(truth, predicted, labels=list(range(k)), zero_division=0, **kw)
    return {"task": "classification", "width": k, "truth": truth, "predicted": proba, "weight": weight, "scores": scores, "classes": [p, r, f, support]}


def numbers(rng, n, k, weighted, corner=None):
    truth = np.round(rng.gamma(2, 2, (n, k)) + 0.1, 1)
    if corner:
        truth[:] = 2.25
    predicted = np.round(truth * rng.gamma(9, 1 / 9, (n, k)) + 0.05, 1) + 0.05
    if corner == "perfect":
        predicted = truth.copy()
    weight = rng.integers(0, 9, n) / 4 + (np.arange(n) == 0) if weighted else None
    kw = {"sample_weight": weight}
    scores = {
        "mse": m.mean_squared_error(truth, predicted, **kw),
        "rmse": m.root_mean_squared_error(truth, predicted, **kw),
        "mae": m.mean_absolute_error(truth, predicted, **kw),
        "median-ae": m.median_absolute_error(truth, predicted, **kw),
        "mape": m.mean_absolute_percentage_error(truth, predicted, **kw),
        "rmsle": m.root_mean_squared_log_error(truth, predicted, **kw) if min(truth.min(), predicted.min()) > -1 else None,
        "r2": m.r2_score(truth, predicted, **kw),
        **{f"pinball-{q}": m.mean_pinball_loss(truth, predicted, alpha=q / 100, **kw) for q in (10, 50, 90)},
    }
    if k == 1:
        powers = {"poisson-deviance": 1, "tweedie-deviance": 1.5, "gamma-deviance": 2}
        scores |= {name: m.mean_tweedie_deviance(truth[:, 0], predicted[:, 0], power=q, **kw) for name, q in powers.items()}
    return {"task": "regression", "width": k, "truth": truth, "predicted": predicted, "weight": weight, "scores": scores}


def omega_loss(scores, grades, cost):
    # The place of a row: how many have a higher grade.
    places = [(grades > g).sum() for g in grades]
    total, pairs = 0.0, 0
    for u, a in enumerate(places):
        for v, b in enumerate(places):
            if a < b:
                pairs += 1
                total += cost(a, b) * (1.0 if scores[u] < scores[v] else 0.5 if scores[u] == scores[v] else 0.0)
    return total / pairs if pairs else 0.0


def reciprocal_rank(scores, grades):
    """The mean of 1 / rank of the first relevant row over all orders of the rows tied with it: `r` of `t` tied rows are relevant, C(t, r) placements are equally likely."""
    if not (grades > 0).any():
        return 0.0
    first = scores[grades > 0].max()
    above, tied, relevant = (scores > first).sum(), (scores == first).sum(), ((scores == first) & (grades > 0)).sum()
    return np.mean([1 / (above + 1 + min(places)) for places in combinations(range(tied), relevant)])


def queries(rng, n_queries, n, weighted):
    grades = rng.integers(0, 4, (n_queries, n)).astype(float)
    grades[:, 0], grades[:, 1] = 0.0, 2.0
    scores = np.round(grades / 3 + rng.normal(0, 0.7, grades.shape), 1)
    weight = rng.integers(1, 9, n_queries) / 4 if weighted else None
    mean = lambda f: np.average([f(s, g) for s, g in zip(scores, grades)], weights=weight)
    discount = lambda place: 1 / np.log2(place + 2)
    named = {
        **{name: m.ndcg_score(2**grades - 1, scores, k=k, sample_weight=weight) for name, k in {"ndcg-1": 1, "ndcg-3": 3, "ndcg-5": 5, "ndcg": 10, "ndcg-20": 20, "ndcg-all": None}.items()},
        "map": mean(lambda s, g: m.average_precision_score(g > 0, s)),
        "mrr": mean(reciprocal_rank),
        "roc-auc": mean(lambda s, g: m.roc_auc_score(g > 0, s)),
        "kendall-tau": mean(lambda s, g: kendalltau(s, g).statistic),
        "omega-loss": mean(lambda s, g: omega_loss(s, g, lambda a, b: 1.0)),
        "omega-loss-top-10": mean(lambda s, g: omega_loss(s, g, lambda a, b: float(min(a, b) < 10))),
        "omega-loss-dcg": mean(lambda s, g: omega_loss(s, g, lambda a, b: abs(discount(a) - discount(b)))),
    }
    return {
        "task": "ranking", "width": 1, "truth": grades, "predicted": scores, "weight": None if weight is None else np.repeat(weight, n),
        "group": np.repeat(range(n_queries), n), "scores": named,
    }


def labels(rng, n, k, weighted, corner=None):
    truth = rng.integers(0, 2, (n, k))
    truth[0] = 1
    if corner:
        truth[:, 0], truth[:, 1] = 0, 1
    proba = np.round(np.clip(0.3 * truth + rng.uniform(0, 0.7, (n, k)), 0, 1), 1)
    if corner:
        proba[:, 0] = 0.2
    said = proba > 0.5
    weight = rng.integers(0, 9, n) / 4 + (np.arange(n) == 0) if weighted else None
    kw = {"sample_weight": weight}
    rates = {name: m.precision_recall_fscore_support(truth, said, average=name, zero_division=0, **kw) for name in ("micro", "macro")}
    scores = {
        "subset-accuracy": m.accuracy_score(truth, said, **kw),
        "hamming-loss": m.hamming_loss(truth, said, **kw),
        **{f"{average}-{name}": rates[average][i] for average in rates for i, name in enumerate(("precision", "recall", "f1"))},
    }
    p, r, f, support = m.precision_recall_fscore_support(truth, said, zero_division=0, **kw)
    return {"task": "multilabel", "width": k, "truth": truth, "predicted": proba, "weight": weight, "scores": scores, "classes": [p, r, f, support]}


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    x = x.tolist() if hasattr(x, "tolist") else x
    return None if isinstance(x, float) and np.isnan(x) else x


warnings.simplefilter("ignore")
rng = np.random.default_rng(11)
cases = [classes(rng, int(rng.integers(12, 60)), k, w) for k in (2, 2, 3, 5) for w in (False, True)]
cases += [numbers(rng, int(rng.integers(5, 40)), k, w) for k in (1, 1, 3) for w in (False, True)]
cases += [queries(rng, int(rng.integers(2, 6)), int(rng.integers(3, 25)), w) for _ in range(3) for w in (False, True)]
cases += [labels(rng, int(rng.integers(8, 40)), k, w) for k in (2, 4) for w in (False, True)]
corners = [("one class", False), ("one class", True), ("missing class", False), ("missing class", True), ("class of no weight", True)]
cases += [classes(rng, int(rng.integers(4, 14)), k, w, corner) for k in (2, 3, 4) for corner, w in corners for _ in range(3)]
cases += [numbers(rng, n, k, w, corner) for corner in ("constant", "perfect") for n in (1, 7) for k in (1, 2) for w in (False, True)]
cases += [labels(rng, int(rng.integers(3, 12)), 3, w, "never") for w in (False, True)]
golden_file.write("measures.json", __file__, {"cases": plain(cases)}, sklearn, scipy, np)
