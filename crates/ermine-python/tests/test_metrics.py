"""Scores are scikit-learn's."""

import itertools
import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics as theirs

import ermine.metrics as ours

rng = np.random.default_rng(0)
N = 300
WEIGHTS = [None, rng.random(N)]
TWO = rng.integers(0, 2, N), rng.integers(0, 2, N)
FOUR = np.array(list("abcd"))[rng.integers(0, 4, N)], np.array(list("abcd"))[rng.integers(0, 4, N)]
SCORES = np.round(rng.normal(size=N) + TWO[0], 1)
NUMBERS = rng.gamma(2.0, size=N) + 0.1, rng.gamma(2.0, size=N) + 0.1
PROBABILITIES = rng.dirichlet(np.ones(4), size=N)

weighted = pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])


@weighted
@pytest.mark.parametrize("data", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize("name", ["accuracy_score", "balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score", "zero_one_loss", "hamming_loss"])
def test_classes(name, data, weight):
    want = getattr(theirs, name)(*data, sample_weight=weight)
    assert getattr(ours, name)(*data, sample_weight=weight) == pytest.approx(want, abs=1e-12)


@weighted
@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted"])
def test_rates(average, weight):
    want = theirs.precision_recall_fscore_support(*FOUR, average=average, sample_weight=weight)
    got = ours.precision_recall_fscore_support(*FOUR, average=average, sample_weight=weight)
    for a, b in zip(got[:3], want[:3]):
        np.testing.assert_allclose(a, b, atol=1e-12)
    if average is None:
        np.testing.assert_allclose(got[3], want[3])
    for name in ("precision_score", "recall_score", "f1_score"):
        want = getattr(theirs, name)(*FOUR, average=average, sample_weight=weight)
        np.testing.assert_allclose(getattr(ours, name)(*FOUR, average=average, sample_weight=weight), want, atol=1e-12)
        assert getattr(ours, name)(*TWO) == pytest.approx(getattr(theirs, name)(*TWO))


@weighted
@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
def test_confusion(normalize, weight):
    for labels in (None, ["d", "a"]):
        want = theirs.confusion_matrix(*FOUR, labels=labels, sample_weight=weight, normalize=normalize)
        got = ours.confusion_matrix(*FOUR, labels=labels, sample_weight=weight, normalize=normalize)
        np.testing.assert_allclose(got, want, atol=1e-12)
        assert got.dtype.kind == want.dtype.kind


def test_report_of_classes():
    assert ours.classification_report(*FOUR).split() == theirs.classification_report(*FOUR).split()
    weight = [0.4, 0.3, 0.2, 0.7]
    few = [0, 1, 1, 0], [0, 1, 0, 0]
    assert ours.classification_report(*few, sample_weight=weight).split() == theirs.classification_report(*few, sample_weight=weight).split()
    got, want = ours.classification_report(*FOUR, output_dict=True), theirs.classification_report(*FOUR, output_dict=True)
    assert got.keys() == want.keys()
    assert all(got[key] == pytest.approx(want[key]) for key in got)


@weighted
def test_probabilities(weight):
    y = FOUR[0]
    assert ours.log_loss(y, PROBABILITIES, sample_weight=weight) == pytest.approx(theirs.log_loss(y, PROBABILITIES, sample_weight=weight))
    p = 1 / (1 + np.exp(-SCORES))
    for name in ("log_loss", "brier_score_loss"):
        want = getattr(theirs, name)(TWO[0], p, sample_weight=weight)
        assert getattr(ours, name)(TWO[0], p, sample_weight=weight) == pytest.approx(want, abs=1e-12)
    # Of more than two classes scikit-learn sums over classes too.
    want = theirs.brier_score_loss(y, PROBABILITIES, sample_weight=weight, scale_by_half=False)
    assert ours.brier_score_loss(y, PROBABILITIES, sample_weight=weight) == pytest.approx(want)


def test_calibration():
    p = 1 / (1 + np.exp(-SCORES))
    for a, b in zip(ours.calibration_curve(TWO[0], p, n_bins=7), sklearn.calibration.calibration_curve(TWO[0], p, n_bins=7)):
        np.testing.assert_allclose(a, b)
    assert ours.expected_calibration_error([0, 1, 0, 1], [0.05, 0.95, 0.05, 0.95]) == pytest.approx(0.05)


@weighted
def test_thresholds(weight):
    y = TWO[0]
    for name in ("roc_auc_score", "average_precision_score"):
        want = getattr(theirs, name)(y, SCORES, sample_weight=weight)
        assert getattr(ours, name)(y, SCORES, sample_weight=weight) == pytest.approx(want, abs=1e-12)
        for average in ("macro", "weighted"):
            want = getattr(theirs, name)(FOUR[0], PROBABILITIES, average=average, sample_weight=weight, **({"multi_class": "ovr"} if "roc" in name else {}))
            assert getattr(ours, name)(FOUR[0], PROBABILITIES, average=average, sample_weight=weight) == pytest.approx(want, abs=1e-12)
    for drop in (False, True):
        for a, b in zip(*(of.roc_curve(y, SCORES, sample_weight=weight, drop_intermediate=drop) for of in (ours, theirs))):
            np.testing.assert_allclose(a, b, atol=1e-12)
    for most in (0.05, 0.3, 0.999, 1):
        want = theirs.roc_auc_score(y, SCORES, sample_weight=weight, max_fpr=most)
        assert ours.roc_auc_score(y, SCORES, sample_weight=weight, max_fpr=most) == pytest.approx(want, abs=1e-12)
    for a, b in zip(ours.precision_recall_curve(y, SCORES, sample_weight=weight), theirs.precision_recall_curve(y, SCORES, sample_weight=weight)):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_areas_of_pairs_and_labels():
    for average in ("macro", "weighted"):
        want = theirs.roc_auc_score(FOUR[0], PROBABILITIES, multi_class="ovo", average=average)
        assert ours.roc_auc_score(FOUR[0], PROBABILITIES, multi_class="ovo", average=average) == pytest.approx(want)
    marks = rng.integers(0, 2, (N, 3))
    assert ours.roc_auc_score(marks, PROBABILITIES[:, :3]) == pytest.approx(theirs.roc_auc_score(marks, PROBABILITIES[:, :3]))
    assert ours.accuracy_score(marks, marks[::-1]) == pytest.approx(theirs.accuracy_score(marks, marks[::-1]))
    assert ours.hamming_loss(marks, marks[::-1]) == pytest.approx(theirs.hamming_loss(marks, marks[::-1]))


@weighted
@pytest.mark.parametrize("name", ["mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "r2_score", "mean_pinball_loss", "median_absolute_error"])
def test_numbers(name, weight):
    pairs = [NUMBERS, (np.stack(NUMBERS, axis=1), np.stack(NUMBERS[::-1], axis=1))]
    for y, p in pairs:
        for multioutput in ("uniform_average", "raw_values", *([[0.3, 0.7]] if y.ndim == 2 else [])):
            want = getattr(theirs, name)(y, p, sample_weight=weight, multioutput=multioutput)
            np.testing.assert_allclose(getattr(ours, name)(y, p, sample_weight=weight, multioutput=multioutput), want, atol=1e-12)


@weighted
def test_deviances(weight):
    for power in (-1, 0, 1, 1.5, 2, 3):
        want = theirs.mean_tweedie_deviance(*NUMBERS, power=power, sample_weight=weight)
        assert ours.mean_tweedie_deviance(*NUMBERS, power=power, sample_weight=weight) == pytest.approx(want)
    assert ours.mean_poisson_deviance(*NUMBERS) == pytest.approx(theirs.mean_poisson_deviance(*NUMBERS))
    assert ours.mean_gamma_deviance(*NUMBERS) == pytest.approx(theirs.mean_gamma_deviance(*NUMBERS))
    assert ours.mean_pinball_loss(*NUMBERS, alpha=0.2) == pytest.approx(theirs.mean_pinball_loss(*NUMBERS, alpha=0.2))


def test_orders():
    from scipy.stats import kendalltau

    grades, scores = rng.integers(0, 4, (5, 12)), rng.integers(0, 8, (5, 12)).astype(float)
    for k in (None, 4):
        assert ours.ndcg_score(grades, scores, k=k) == pytest.approx(theirs.ndcg_score(grades, scores, k=k))
        assert ours.ndcg_score(grades.ravel(), scores.ravel(), k=k, group=[12] * 5) == pytest.approx(ours.ndcg_score(grades, scores, k=k))
    assert ours.kendall_tau(grades[0], scores[0]) == pytest.approx(kendalltau(grades[0], scores[0]).statistic)


@pytest.mark.parametrize(
    "do, words",
    [
        (lambda: ours.accuracy_score([0, 1], [0]), "inconsistent numbers of samples"),
        (lambda: ours.accuracy_score([], []), "0 sample"),
        (lambda: ours.accuracy_score(["a"], [1]), "same type"),
        (lambda: ours.f1_score(*FOUR), "average='binary'"),
        (lambda: ours.f1_score([0, 1], [0, 1], pos_label=7), "pos_label"),
        (lambda: ours.roc_auc_score(TWO[0], PROBABILITIES[:, :2]), "second class"),
        (lambda: ours.roc_auc_score(FOUR[0], PROBABILITIES[:, :3]), "Number of classes"),
        (lambda: ours.roc_curve(["a", "b"], [0.1, 0.2]), "pos_label"),
        (lambda: ours.log_loss([0, 1], [[0.2, 0.7, 0.1], [1, 0, 0]]), "number of classes"),
        (lambda: ours.log_loss([0, 1], [0.5, 1.5]), "from 0 to 1"),
        (lambda: ours.mean_squared_error([1.0, np.nan], [1, 2]), "NaN"),
        (lambda: ours.mean_poisson_deviance([1.0], [-1.0]), "above 0"),
        (lambda: ours.confusion_matrix([0, 1], [0, 1], labels=[7]), "At least one label"),
        (lambda: ours.accuracy_score([0, 1], [0, 1], sample_weight=[1.0]), "sample_weight"),
        (lambda: ours.mean_pinball_loss([1.0], [2.0], alpha=1.5), "alpha"),
        (lambda: ours.mean_pinball_loss([1.0], [2.0], alpha=np.nan), "alpha"),
        (lambda: ours.ndcg_score([[1, 0]], [[1, 0]], k=0), "'k'"),
        (lambda: ours.ndcg_score([[np.inf, 0]], [[1, 0]]), "infinity"),
        (lambda: ours.omega_loss([[1, 0]], [[1, 0]], omega="some"), "omega"),
        (lambda: ours.roc_auc_score([0, 1], [0, 1], max_fpr=0), "max_fpr"),
        (lambda: ours.roc_auc_score(FOUR[0], PROBABILITIES, max_fpr=0.5), "max_fpr"),
        (lambda: ours.f1_score([0, 1], [0, 1], zero_division=2), "zero_division"),
        (lambda: ours.fbeta_score([0, 1], [0, 1], beta=-1), "beta"),
        (lambda: ours.confidence_interval(ours.accuracy_score, [0], [0], level=1.0), "level"),
    ],
)
def test_mistakes_are_errors(do, words):
    with pytest.raises(ValueError, match=words):
        do()


def test_one_class_has_no_area():
    with pytest.warns(UserWarning, match="Only one class"):
        assert np.isnan(ours.roc_auc_score([1, 1], [0.1, 0.2]))


def test_non_finite_numbers_are_errors():
    with pytest.raises(ValueError, match="NaN"):
        ours.ndcg_score([[1, 2, 3]], [[0.1, np.nan, 0.2]])
    with pytest.raises(ValueError, match="NaN"):
        ours.kendall_tau([1, 2, np.nan], [1, 2, 3])
    for n_bins in (0, -1, 10**12):
        with pytest.raises(ValueError, match="n_bins"):
            ours.expected_calibration_error([0, 1, 1], [0.1, 0.5, 0.9], n_bins=n_bins)


LENGTHS = range(1, 12)


def _said(do):
    """What a call gives: numbers, or that it raises."""
    try:
        found = do()
    except ValueError:
        return "refused"
    return [np.asarray(part, dtype=float) for part in (found if isinstance(found, tuple) else (found,)) if part is not None]


def _assert_same(name, *given, **options):
    got, want = (_said(lambda: getattr(of, name)(*given, **options)) for of in (ours, theirs))
    assert isinstance(got, str) == isinstance(want, str), (name, given, options, got, want)
    if not isinstance(want, str):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=f"{name} {given} {options}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(40))
def test_corner_cases_equal_those_of_scikit_learn(seed):
    """Few rows, one class, classes that are missing or have no weight, rows of weight 0, constant numbers, ties: the same number, NaN or refusal."""
    draw = np.random.default_rng(seed)
    n = int(draw.choice(LENGTHS))
    weights = [None, draw.integers(0, 3, n).astype(float), np.zeros(n)]
    k = int(draw.integers(1, 4))
    true, said = draw.integers(0, k, n), draw.integers(0, k + 1, n)
    said = true.copy() if seed % 7 == 0 else said
    # A number whose mean is not rounded: else a constant has a variance of 1e-31 in scikit-learn.
    number = np.full(n, 3.25) if seed % 4 == 0 else np.round(draw.normal(size=n))
    guess = number.copy() if seed % 8 == 0 else np.round(number + draw.normal(size=n))
    two = np.full(n, seed % 2) if seed % 3 == 0 else draw.integers(0, 2, n)
    scores = np.round(draw.random(n), 1)
    for weight in weights:
        kw = {"sample_weight": weight}
        for name in ("accuracy_score", "balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score", "zero_one_loss", "hamming_loss", "confusion_matrix"):
            _assert_same(name, true, said, **kw)
        for average in (None, "micro", "macro", "weighted"):
            for zero in (0, 1, np.nan, "warn"):
                _assert_same("precision_recall_fscore_support", true, said, average=average, zero_division=zero, beta=float(1 + seed % 3), **kw)
                _assert_same("precision_score", true, said, average=average, zero_division=zero, labels=[2, 0, 7], **kw)
        for name in ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "median_absolute_error", "r2_score"):
            _assert_same(name, number, guess, **kw)
        for alpha in (-0.1, 0.0, 0.3, 1.0, 1.5):
            _assert_same("mean_pinball_loss", number, guess, alpha=alpha, **kw)
        for name in ("roc_auc_score", "average_precision_score", "brier_score_loss", "log_loss", "roc_curve", "precision_recall_curve"):
            _assert_same(name, two, scores, **kw)
        for name in ("brier_score_loss", "log_loss"):
            _assert_same(name, two, scores, labels=[0, 1], **kw)
        for power in (-1, 0, 0.5, 1, 1.5, 2, 3):
            _assert_same("mean_tweedie_deviance", np.abs(number) + seed % 2, np.abs(guess) + seed % 3 / 2, power=power, **kw)
        for average in ("micro", "macro", "weighted", None):
            marks = np.stack([two, np.zeros(n, int), said > 0], axis=1), np.stack([scores > 0.5, np.zeros(n, int), true > 0], axis=1).astype(int)
            _assert_same("f1_score", *marks, average=average, **kw)
    if n > 1:
        grades = draw.integers(0, 4, n).astype(float) * (seed % 5 > 0)
        for places in (0, 1, 3, None):
            _assert_same("ndcg_score", [grades], [scores], k=places)


@weighted
def test_chosen_classes_and_other_means(weight):
    for labels in (["d", "a"], ["b"], ["a", "b", "c", "d", "e"]):
        for average in (None, "micro", "macro", "weighted"):
            for beta in (0.5, 2.0, 0.0, np.inf):
                want = theirs.fbeta_score(*FOUR, beta=beta, labels=labels, average=average, sample_weight=weight, zero_division=0)
                got = ours.fbeta_score(*FOUR, beta=beta, labels=labels, average=average, sample_weight=weight, zero_division=0)
                np.testing.assert_allclose(got, want, atol=1e-12)
        for out in (ours, theirs):
            out.report = out.classification_report(*FOUR, labels=labels, sample_weight=weight, zero_division=0, output_dict=True)
        assert ours.report.keys() == theirs.report.keys()
        assert all(ours.report[key] == pytest.approx(theirs.report[key]) for key in ours.report)
    codes = [np.unique(part, return_inverse=True)[1] for part in FOUR]
    for how in (None, "linear", "quadratic"):
        want = theirs.cohen_kappa_score(*codes, weights=how, sample_weight=weight)
        assert ours.cohen_kappa_score(*codes, weights=how, sample_weight=weight) == pytest.approx(want, abs=1e-12)
    for options in ({"labels": [0, 2, 3]}, {"labels": [3, 1], "weights": "linear"}):
        want = theirs.cohen_kappa_score(*codes, sample_weight=weight, **options)
        assert ours.cohen_kappa_score(*codes, sample_weight=weight, **options) == pytest.approx(want, abs=1e-12)
    want = theirs.balanced_accuracy_score(*FOUR, adjusted=True, sample_weight=weight)
    assert ours.balanced_accuracy_score(*FOUR, adjusted=True, sample_weight=weight) == pytest.approx(want, abs=1e-12)
    want = theirs.zero_one_loss(*FOUR, normalize=False, sample_weight=weight)
    assert ours.zero_one_loss(*FOUR, normalize=False, sample_weight=weight) == pytest.approx(want, abs=1e-12)


def test_orders_of_queries():
    grades, scores = rng.integers(0, 4, (6, 12)), rng.integers(0, 8, (6, 12)).astype(float)
    grades[0] = 0
    of_query = [theirs.average_precision_score(g > 0, s) if g.any() else 0.0 for g, s in zip(grades, scores)]
    assert ours.mean_average_precision(grades, scores) == pytest.approx(np.mean(of_query))
    weight = rng.random(6)
    assert ours.mean_average_precision(grades, scores, sample_weight=weight) == pytest.approx(np.average(of_query, weights=weight))

    def first_relevant(g, s):
        # The mean over all placements of the relevant rows among those tied with the first one.
        if not g.any():
            return 0.0
        top = s[g > 0].max()
        above, tied, relevant = (s > top).sum(), (s == top).sum(), ((s == top) & (g > 0)).sum()
        return np.mean([1 / (above + 1 + min(places)) for places in itertools.combinations(range(tied), relevant)])

    first = [first_relevant(g, s) for g, s in zip(grades, scores)]
    flat = {"qid": np.repeat(range(6), 12)}
    assert ours.mean_reciprocal_rank(grades.ravel(), scores.ravel(), **flat) == pytest.approx(np.mean(first))

    def wrong(g, s):
        pairs = [(a, b) for a in range(12) for b in range(12) if g[a] > g[b]]
        return np.mean([1.0 if s[a] < s[b] else 0.5 if s[a] == s[b] else 0.0 for a, b in pairs]) if pairs else 0.0

    assert ours.omega_loss(grades, scores) == pytest.approx(np.mean([wrong(g, s) for g, s in zip(grades, scores)]))
    assert ours.omega_loss(grades, scores, omega="top-100") == pytest.approx(ours.omega_loss(grades, scores))
    assert 0 < ours.omega_loss(grades, scores, omega="dcg") < ours.omega_loss(grades, scores)


def test_intervals_contain_the_score_and_match_theory():
    hits = np.arange(400) < 300
    value, low, high = ours.confidence_interval(ours.accuracy_score, np.ones(400), hits.astype(float))
    wide = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert value == 0.75 and low == pytest.approx(0.75 - wide, abs=0.01) and high == pytest.approx(0.75 + wide, abs=0.01)
    narrow = ours.confidence_interval(ours.accuracy_score, np.ones(400), hits.astype(float), level=0.5)
    assert low < narrow.low < narrow.high < high
    area = ours.confidence_interval(ours.roc_auc_score, TWO[0], SCORES, sample_weight=WEIGHTS[1], n_resamples=200)
    assert area.value == pytest.approx(theirs.roc_auc_score(TWO[0], SCORES, sample_weight=WEIGHTS[1]))
    assert area.low < area.value < area.high and area == ours.confidence_interval(ours.roc_auc_score, TWO[0], SCORES, sample_weight=WEIGHTS[1], n_resamples=200)
    grades, scores = rng.integers(0, 4, 120), rng.normal(size=120)
    found = ours.confidence_interval(ours.ndcg_score, grades, scores, group=[12] * 10, k=5, n_resamples=100)
    assert found.value == pytest.approx(ours.ndcg_score(grades, scores, group=[12] * 10, k=5)) and found.low < found.value < found.high


def test_nothing_relevant_has_no_precision():
    with pytest.warns(UserWarning, match="No positive class"):
        assert ours.average_precision_score([0, 0, 0], [0.1, 0.5, 0.9]) == 0.0
    assert ours.average_precision_score([1, 1], [0.1, 0.2]) == 1.0
