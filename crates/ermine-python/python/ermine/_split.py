"""Ways to split rows into some to learn from and some to test on.

Names, parameters and the rows that a ``random_state`` draws are scikit-learn's, which need not be installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]


def _generator(random_state: Any) -> Any:
    """The source of random numbers that a seed stands for; ``None`` for numpy's own."""
    if random_state is None:
        return np.random.mtrand._rand
    return np.random.RandomState(random_state) if isinstance(random_state, (int, np.integer)) else random_state


def _n_rows(data: Any) -> int:
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def _take(data: Any, rows: np.ndarray) -> Any:
    """Some rows, in the type they come in."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if hasattr(data, "shape") or hasattr(data, "__dataframe__"):
        return data[rows]
    return [data[row] for row in rows]


def _codes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes of the rows as numbers, and how many rows each has."""
    labels = np.asarray(y)
    if labels.ndim > 1:
        labels = np.array([" ".join(map(str, row)) for row in labels.reshape(len(labels), -1)])
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return codes.reshape(-1), counts


def _sizes(n: int, test_size: Any, train_size: Any, default: float) -> tuple[int, int]:
    """How many rows are learned from, and how many tested on."""
    if test_size is None and train_size is None:
        test_size = default

    def count(name: str, size: Any, rounded: Any) -> int | None:
        if size is None:
            return None
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        if whole and 0 < size < n:
            return int(size)
        if not whole and 0.0 < float(size) < 1.0:
            return int(rounded(float(size) * n))
        raise ValueError(f"{name}={size!r} must be a share between 0 and 1, or a number of rows from 1 to {n - 1}")

    n_test, n_train = count("test_size", test_size, np.ceil), count("train_size", train_size, np.floor)
    n_train = n - n_test if n_train is None else n_train  # type: ignore[operator]
    n_test = n - n_train if n_test is None else n_test
    if n_train + n_test > n:
        raise ValueError(f"train_size={train_size!r} and test_size={test_size!r} together are more than all {n} rows")
    if n_train < 1:
        raise ValueError(f"with n_samples={n}, test_size={test_size!r} and train_size={train_size!r} the resulting train set is empty")
    return n_train, n_test


class _Splitter:
    """What all splitters have; ``_tested(X, y, groups)`` gives the rows that are tested, one array after the other."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits."""
        return int(self.n_splits)  # type: ignore[attr-defined]


class _Folds(_Splitter):
    """Splitters whose every row is tested once."""

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        if not isinstance(n_splits, (int, np.integer)) or n_splits < 2:
            raise ValueError(f"n_splits={n_splits!r} must be a whole number of at least 2")
        if random_state is not None and not shuffle:
            raise ValueError(f"random_state={random_state!r} has no effect without shuffle=True")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Yields pairs of training and test indices."""
        n = _n_rows(X if X is not None else y)
        if self.n_splits > n:
            raise ValueError(f"Cannot have number of splits n_splits={self.n_splits} greater than the number of samples: n_samples={n}.")
        fold = self._fold(n, y, groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def _fold(self, n: int, y: Any, groups: Any) -> np.ndarray:
        raise NotImplementedError


class KFold(_Folds):
    """K-fold cross-validation: each fold is the test set once, and the others are the training set.

    >>> [test.tolist() for _, test in KFold(3).split(range(7))]
    [[0, 1, 2], [3, 4], [5, 6]]
    """

    def _fold(self, n: int, y: Any, groups: Any) -> np.ndarray:
        rows = np.arange(n)
        if self.shuffle:
            _generator(self.random_state).shuffle(rows)
        fold = np.empty(n, dtype=np.int64)
        for k, part in enumerate(np.array_split(rows, self.n_splits)):
            fold[part] = k
        return fold


class StratifiedKFold(_Folds):
    """Stratified k-fold cross-validation: each fold has about the same class proportions.

    >>> [test.tolist() for _, test in StratifiedKFold(2).split(range(6), list("aaabbb"))]
    [[0, 1, 3], [2, 4, 5]]
    """

    def _fold(self, n: int, y: Any, groups: Any) -> np.ndarray:
        codes, counts = _codes(y)
        if self.n_splits > counts.max():
            raise ValueError(f"n_splits={self.n_splits} cannot be greater than the number of members in each class.")
        # Classes count in the order in which they first occur.
        _, first = np.unique(codes, return_index=True)
        place = np.argsort(np.argsort(first))
        codes = place[codes]
        in_order = np.sort(codes)
        share = np.array([np.bincount(in_order[k :: self.n_splits], minlength=len(counts)) for k in range(self.n_splits)])
        source = _generator(self.random_state) if self.shuffle else None
        fold = np.empty(n, dtype=np.int64)
        for k in range(len(counts)):
            folds = np.arange(self.n_splits).repeat(share[:, k])
            if source is not None:
                source.shuffle(folds)
            fold[codes == k] = folds
        return fold


class GroupKFold(_Folds):
    """Folds of about the same size that keep the rows of a group together.

    >>> [test.tolist() for _, test in GroupKFold(2).split(range(5), groups=["a", "a", "a", "b", "c"])]
    [[0, 1, 2], [3, 4]]
    """

    def _fold(self, n: int, y: Any, groups: Any) -> np.ndarray:
        if groups is None:
            raise ValueError("The 'groups' parameter should not be None.")
        codes, counts = _codes(groups)
        if self.n_splits > len(counts):
            raise ValueError(f"Cannot have number of splits n_splits={self.n_splits} greater than the number of groups: {len(counts)}.")
        size, fold_of_group = np.zeros(self.n_splits), np.zeros(len(counts), dtype=np.int64)
        if self.shuffle:
            for k, part in enumerate(np.array_split(_generator(self.random_state).permutation(len(counts)), self.n_splits)):
                fold_of_group[part] = k
            return fold_of_group[codes]
        # The largest group goes to the fold that has fewest rows so far.
        for group in np.argsort(counts, kind="stable")[::-1]:
            fold_of_group[group] = np.argmin(size)
            size[fold_of_group[group]] += counts[group]
        return fold_of_group[codes]


class LeaveOneOut(_Splitter):
    """Leave-one-out cross-validation: each row is the test set once.

    >>> [test.tolist() for _, test in LeaveOneOut().split(range(3))]
    [[0], [1], [2]]
    """

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits: the number of rows."""
        if X is None:
            raise ValueError("The 'X' parameter should not be None.")
        return _n_rows(X)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Yields pairs of training and test indices."""
        rows = np.arange(_n_rows(X))
        for row in rows:
            yield rows[rows != row], rows[row : row + 1]


class ShuffleSplit(_Splitter):
    """Random splits, drawn independently.

    >>> [(len(train), len(test)) for train, test in ShuffleSplit(2, test_size=0.3, random_state=0).split(range(10))]
    [(7, 3), (7, 3)]
    """

    def __init__(self, n_splits: int = 10, *, test_size: Any = None, train_size: Any = None, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Yields pairs of training and test indices."""
        n = _n_rows(X)
        n_train, n_test = _sizes(n, self.test_size, self.train_size, 0.1)
        source = _generator(self.random_state)
        for _ in range(self.n_splits):
            yield self._drawn(source, n, n_train, n_test, y)

    def _drawn(self, source: Any, n: int, n_train: int, n_test: int, y: Any) -> Pair:
        order = source.permutation(n)
        return order[n_test : n_test + n_train], order[:n_test]


class StratifiedShuffleSplit(ShuffleSplit):
    """Stratified random splits.

    >>> y = list("aaaabb")
    >>> train, test = next(StratifiedShuffleSplit(1, test_size=3, random_state=0).split(y, y))
    >>> sorted(y[row] for row in test)
    ['a', 'a', 'b']
    """

    def _drawn(self, source: Any, n: int, n_train: int, n_test: int, y: Any) -> Pair:
        codes, counts = _codes(y)
        if counts.min() < 2:
            raise ValueError("The least populated class in y has only 1 member, which is too few. The minimum number of groups for any class cannot be less than 2.")
        for name, size in (("train_size", n_train), ("test_size", n_test)):
            if size < len(counts):
                raise ValueError(f"The {name} = {size} should be greater or equal to the number of classes = {len(counts)}")
        of_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
        to_train = _shared_out(counts, n_train, source)
        to_test = _shared_out(counts - to_train, n_test, source)
        train: list[np.ndarray] = []
        test: list[np.ndarray] = []
        for rows, a, b in zip(of_class, to_train, to_test):
            rows = rows[source.permutation(len(rows))]
            train.append(rows[:a])
            test.append(rows[a : a + b])
        return source.permutation(np.concatenate(train)), source.permutation(np.concatenate(test))


def _shared_out(counts: np.ndarray, n: int, source: Any) -> np.ndarray:
    """How many of ``n`` rows each class gets by its share; what rounding leaves goes to the largest remainders, and by lot among equal ones."""
    exact = counts / counts.sum() * n
    whole = np.floor(exact).astype(np.int64)
    left = n - int(whole.sum())
    for remainder in np.unique(exact - whole)[::-1]:
        if left == 0:
            break
        (alike,) = np.where(exact - whole == remainder)
        lucky = source.choice(alike, size=min(len(alike), left), replace=False)
        whole = whole + np.bincount(lucky, minlength=len(whole))
        exact = np.where(np.isin(np.arange(len(whole)), lucky), whole - 1.0, exact)  # These have had theirs.
        left -= len(lucky)
    return whole


def train_test_split(
    *arrays: Any, test_size: Any = None, train_size: Any = None, random_state: Any = None, shuffle: bool = True, stratify: Any = None
) -> list[Any]:
    """Splits arrays, lists or data frames into a training set and a test set.

    Parameters
    ----------
    *arrays : sequence of indexables
        All with the same number of rows.
    test_size : float or int, default=None
        The share of rows to test on, or their number; a quarter where neither size is given.
    train_size : float or int, default=None
        The share of rows to learn from, or their number; all others by default.
    random_state : int, RandomState instance or None, default=None
        Random seed.
    shuffle : bool, default=True
        Whether rows are drawn at random; else the first are learned from.
    stratify : array-like, default=None
        Classes that both parts have in about the same share.

    Returns
    -------
    list
        For each array the rows to learn from and the rows to test on.

    >>> train, test = train_test_split([1, 2, 3, 4, 5], test_size=2, shuffle=False)
    >>> train, test
    ([1, 2, 3], [4, 5])
    """
    if not arrays:
        raise ValueError("At least one array required as input")
    n = _n_rows(arrays[0])
    if any(_n_rows(array) != n for array in arrays):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[_n_rows(array) for array in arrays]}")
    n_train, n_test = _sizes(n, test_size, train_size, 0.25)
    if not shuffle:
        if stratify is not None:
            raise ValueError("Stratified train/test split is not implemented for shuffle=False")
        train, test = np.arange(n_train), np.arange(n_train, n_train + n_test)
    else:
        splitter = ShuffleSplit if stratify is None else StratifiedShuffleSplit
        train, test = next(splitter(1, test_size=n_test, train_size=n_train, random_state=random_state).split(arrays[0], stratify))
    return [_take(array, rows) for array in arrays for rows in (train, test)]
