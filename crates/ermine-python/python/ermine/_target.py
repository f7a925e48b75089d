"""Targets and weights from Python: labels of any type become codes, numbers become float64. Messages are those of scikit-learn."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ermine._ermine import Target, integer_classes, text_classes
from ermine._sklearn import warn


def classes(y: Any, n_rows: int) -> tuple[Target, np.ndarray]:
    """The target of class labels, and the distinct labels in ascending order."""
    array = _array(y)
    if array.ndim == 2 and array.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {array.shape} instead. To learn several labels, a column of 0 and 1 for each, put the estimator into "
            "ermine.multioutput.MultiOutputClassifier(estimator)."
        )
    labels = _one_dimensional(array, "y")
    check_rows(n_rows, len(labels))
    distinct, codes = coded(labels)
    return Target.classes(codes, [label_text(label) for label in distinct.tolist()], _name(y)), distinct


def classes_among(y: Any, known: Any, n_rows: int) -> tuple[Target, np.ndarray]:
    """The target of class labels that are among known ones, and all known labels in ascending order."""
    if known is None:
        return classes(y, n_rows)
    labels = _one_dimensional(_array(y), "y")
    check_rows(n_rows, len(labels))
    distinct, codes = coded(labels)
    known = np.unique(np.asarray(known))
    places = np.searchsorted(known, distinct)
    strange = [label for label, place in zip(distinct.tolist(), places) if place == len(known) or known[place] != label]
    if strange:
        raise ValueError(f"y holds the labels {strange}, which are not among the classes {known.tolist()}")
    codes = places.astype(np.uint32)[codes]
    return Target.classes(codes, [label_text(label) for label in known.tolist()], _name(y)), known


def label_text(label: Any) -> str:
    """A label as it stands in a model file."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def class_weights(weights: Mapping[Any, float]) -> list[str]:
    """Weights of classes as they stand in a model file."""
    labels = (label.item() if isinstance(label, np.generic) else label for label in weights)
    return [f"{label_text(label)}={float(weight)!r}" for label, weight in zip(labels, weights.values())]


def weight_of_classes(weights: Any, classes: np.ndarray, y: Any) -> np.ndarray:
    """How much a row of each class counts, by ``class_weight``."""
    if isinstance(weights, Mapping):
        return np.array([float(weights.get(label, 1.0)) for label in classes.tolist()])
    if isinstance(weights, str):
        counts = (labels_like(y)[:, None] == classes[None, :]).sum(axis=0)
        return counts.sum() / (len(classes) * counts)
    return np.ones(len(classes))


def several(y: Any) -> np.ndarray | None:
    """The labels as a matrix, where each row has several."""
    array = _array(y.toarray() if hasattr(y, "toarray") else y)
    return array if array.ndim == 2 and array.shape[1] > 1 else None


def coded(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels in ascending order, and the code of each."""
    kind = labels.dtype.kind
    if kind == "f":
        _refuse_continuous(labels)
    if kind in "biuf" and not (labels.dtype == np.uint64 and labels.size and labels.max() > np.iinfo(np.int64).max):
        whole, codes = integer_classes(np.require(labels, np.int64, ["C", "A"]))
        return np.array(whole, dtype=np.int64).astype(labels.dtype), codes
    if kind in "OUT":
        texts = text_classes(labels.tolist())
        if texts is not None:
            return np.array(texts[0], dtype=object if kind == "O" else labels.dtype), texts[1]
    if kind == "O":
        _refuse_missing(labels)
    try:
        distinct, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"Labels of y must be of one type, uniformly strings or numbers: {error}") from None
    if distinct.dtype.kind == "O" and all(isinstance(label, (float, np.floating)) for label in distinct):
        _refuse_continuous(distinct.astype(np.float64))
    return distinct, codes.reshape(-1).astype(np.uint32)


def _refuse_continuous(labels: np.ndarray) -> None:
    _refuse_not_finite(labels, "y")
    if (labels != np.trunc(labels)).any() or (labels.size and np.abs(labels).max() >= 2.0**63):
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes on a regression "
            "target with continuous values."
        )


def _refuse_missing(labels: np.ndarray) -> None:
    if any(label is None or label != label for label in labels.tolist()):
        raise ValueError("Input y contains NaN.")


def values(y: Any, n_rows: int, multi_output: bool) -> tuple[Target, int]:
    """The target of numbers, and the number of its dimensions."""
    array = _array(y)
    if not (multi_output and array.ndim == 2):
        array = _one_dimensional(array, "y")
    check_rows(n_rows, len(array))
    try:
        numbers = np.require(array.reshape(len(array), -1), np.float64, ["C", "A"])
    except ValueError as error:
        raise ValueError(f"{error}. Regression needs a numeric target; use a classifier for class labels.") from None
    _refuse_not_finite(numbers, "y")
    if not numbers.shape[1]:
        raise ValueError("y has no columns")
    names = [_name(y)] if numbers.shape[1] == 1 else [f"y{j}" for j in range(numbers.shape[1])]
    return Target.values(numbers, names), array.ndim


def labels(y: Any, n_rows: int, known: list[np.ndarray] | None = None) -> tuple[Target, list[str], list[np.ndarray]]:
    """The target of labels, from a matrix with a column of two values for each (0 and 1, unless there are others), their names and their values.

    Where the values are ``known``, others are refused.
    """
    dense = y.toarray() if hasattr(y, "toarray") else y
    array = _array(dense)
    if array.ndim != 2:
        raise ValueError(f"y should be a matrix of 0 and 1 with a column for each label, got an array of shape {array.shape} instead.")
    check_rows(n_rows, len(array))
    if not array.shape[1]:
        raise ValueError("y has no columns")
    if known is not None and len(known) != array.shape[1]:
        raise ValueError(f"y has {array.shape[1]} columns, but there are {len(known)} labels")
    values = known or [_two_values(array[:, k]) for k in range(array.shape[1])]
    marks = np.empty(array.shape)
    for k, of_label in enumerate(values):
        marks[:, k] = array[:, k] == of_label[-1]
        if not (marks[:, k].astype(bool) | (array[:, k] == of_label[0])).all():
            raise ValueError(f"column {k} of y holds other values than {of_label.tolist()}")
    columns = getattr(y, "columns", None)
    names = [str(name) for name in columns] if columns is not None else [f"y{j}" for j in range(len(values))]
    return Target.labels(marks, names), names, values


def _two_values(column: np.ndarray) -> np.ndarray:
    """The two values of a label, of which the greater one means that a row has it: 0 and 1 where there are no others."""
    if column.dtype.kind == "O":
        _refuse_missing(column)
    _refuse_not_finite(column, "y")
    if column.dtype.kind == "f" and (column != np.trunc(column)).any():
        raise ValueError("Unknown label type: continuous-multioutput. A label has two values, such as 0 and 1.")
    values = np.unique(column)
    if len(values) > 2:
        raise ValueError("Only binary classification is supported. The type of the target is multiclass-multioutput: a column of y has two values, such as 0 and 1.")
    usual = np.array([0, 1])
    return usual if column.dtype.kind in "biuf" and np.isin(values, usual).all() else values


def weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Row weights; ``None`` where all rows count the same."""
    if sample_weight is None:
        return None
    array = np.require(np.asarray(sample_weight), np.float64, ["C", "A"])
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    if array.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(array) != n_rows:
        raise ValueError(f"sample_weight.shape == {array.shape}, expected {(n_rows,)}!")
    _refuse_not_finite(array, "sample_weight")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise ValueError(f"Negative values in data passed to `sample_weight`: {array[row]} in row {row}.")
    return array


def labels_like(y: Any) -> np.ndarray:
    """True labels to compare predictions with."""
    return _one_dimensional(_array(y), "y", quiet=True)


def check_rows(n_rows: int, n_answers: int) -> None:
    """Refuses features and answers of different lengths."""
    if n_rows != n_answers:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {n_answers}]")


def _array(y: Any) -> np.ndarray:
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    return array


def _one_dimensional(array: np.ndarray, what: str, quiet: bool = False) -> np.ndarray:
    if array.ndim == 2 and array.shape[1] == 1:
        if not quiet:
            warn(
                "DataConversionWarning",
                f"A column-vector {what} was passed when a 1d array was expected. Please change the shape of {what} to (n_samples,), for "
                "example using ravel().",
            )
        return array.reshape(-1)
    if array.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got an array of shape {array.shape} instead.")
    return array


def _refuse_not_finite(array: np.ndarray, what: str) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        kind = "NaN" if np.isnan(array).any() else f"infinity or a value too large for {array.dtype!r}"
        raise ValueError(f"Input {what} contains {kind}.")


def _name(y: Any) -> str:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"
