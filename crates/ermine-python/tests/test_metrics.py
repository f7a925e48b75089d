"""Scores are scikit-learn's."""

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
    for a, b in zip(ours.roc_curve(y, SCORES, sample_weight=weight), theirs.roc_curve(y, SCORES, sample_weight=weight, drop_intermediate=False)):
        np.testing.assert_allclose(a, b, atol=1e-12)
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
    ],
)
def test_what_is_wrong_is_said(do, words):
    with pytest.raises(ValueError, match=words):
        do()


def test_one_class_has_no_area():
    with pytest.warns(UserWarning, match="Only one class"):
        assert np.isnan(ours.roc_auc_score([1, 1], [0.1, 0.2]))


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        ours.ndcg_score([[1, 2, 3]], [[0.1, np.nan, 0.2]])
    with pytest.raises(ValueError, match="NaN"):
        ours.kendall_tau([1, 2, np.nan], [1, 2, 3])
    for n_bins in (0, -1, 10**12):
        with pytest.raises(ValueError, match="n_bins"):
            ours.expected_calibration_error([0, 1, 1], [0.1, 0.5, 0.9], n_bins=n_bins)
