"""Means over rows and labels, and the values of single classes, are those of scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics as theirs

import ermine.metrics as ours

RNG = np.random.default_rng(3)
TRUE, PREDICTED = RNG.integers(0, 2, (40, 3)), RNG.integers(0, 2, (40, 3))
# Both values in every row, so that the area of each row is defined.
TRUE[:, 0], TRUE[:, 1] = 0, 1
PREDICTED[:2] = 0
TRUE[:3, 2] = 1
SCORES = RNG.random((40, 3)).round(1)
WEIGHT = RNG.integers(1, 4, 40).astype(float)
CLASSES = np.arange(40) % 3
SHARES = SCORES + 0.1
SHARES /= SHARES.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("labels", [None, [0, 2]])
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
def test_means_over_rows(name, labels, weight):
    arguments = {"average": "samples", "labels": labels, "sample_weight": weight, "zero_division": 1}
    assert getattr(ours, name)(TRUE, PREDICTED, **arguments) == pytest.approx(getattr(theirs, name)(TRUE, PREDICTED, **arguments))
    with pytest.raises(ValueError, match="multilabel"):
        getattr(ours, name)([0, 1], [1, 1], average="samples")


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted", "samples"])
@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score"])
def test_areas_of_labels(name, average, weight):
    columns = [1, 2] if name == "average_precision_score" else [2, 0]
    true = TRUE if average == "samples" else np.stack([TRUE[:, 2], PREDICTED[:, 0]], axis=1)
    scores = SCORES if average == "samples" else SCORES[:, columns]
    want = getattr(theirs, name)(true, scores, average=average, sample_weight=weight)
    np.testing.assert_allclose(getattr(ours, name)(true, scores, average=average, sample_weight=weight), want)


@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted"])
def test_areas_of_classes(average):
    want = theirs.roc_auc_score(CLASSES, SHARES, average=average, multi_class="ovr")
    np.testing.assert_allclose(ours.roc_auc_score(CLASSES, SHARES, average=average), want)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_sum_of_log_losses(weight):
    want = theirs.log_loss(CLASSES, SHARES, normalize=False, sample_weight=weight)
    assert ours.log_loss(CLASSES, SHARES, normalize=False, sample_weight=weight) == pytest.approx(want)
