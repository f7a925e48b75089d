"""Features from Python: arrays, lists, data frames and sparse matrices become a ``Table``.

Numbers stay where they are: arrays of float64 or float32 in any order, and columns of frames that hold such numbers, are learned from
without a copy. Categories stay categories: a pandas categorical keeps its levels and their order, text becomes nominal, truth
values boolean, and missing values stay missing. Messages are those that users of scikit-learn know.
"""

# Types by name only: numpy's masked arrays and random numbers are loaded when they are needed.
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ermine._ermine import Table
from ermine._sklearn import warn

#: A column for ``Table.from_columns``: name, kind, values, levels.
Column = tuple[str, str, np.ndarray, list[str] | None]

#: The categories of the column of this index in the data fitted on; None for numbers.
Levels = Callable[[int], list[str] | None]

#: The code of a missing category.
MISSING = np.uint32(0xFFFFFFFF)

#: The only category of a text column that is ignored, because nearly every row has a text of its own.
IGNORED = ["(ignored identifier)"]
#: A text column with more categories per row than this is ignored, unless there are fewer rows than the second number.
IDENTIFIER_SHARE, IDENTIFIER_ROWS = 0.9, 50
#: From this many different numbers on, a text column with fewer other texts is taken for numbers with mistakes.
MANY_NUMBERS = 10

#: A frame with fewer rows is read as one array where its columns are of one type: going column by column would take longer.
SMALL = 10_000


def read(X: Any, owner: str, takes_sparse: bool, fitted: Levels | None = None) -> tuple[Table, list[str] | None]:
    """The table of ``X``, and the names of its columns where it has names. Text means what it meant in the data ``fitted`` on, if any."""
    if is_sparse(X):
        if not takes_sparse:
            raise TypeError(
                f"Sparse data was passed for X, but dense data is required by {owner}. Use '.toarray()' to convert to a dense numpy array."
            )
        return _from_sparse(X, owner), None
    if hasattr(X, "collect") and hasattr(X, "lazy"):
        raise TypeError(f"X is a {type(X).__name__}, which holds no data yet: call its collect().")
    columns = _frame_columns(X, fitted)
    if columns is not None:
        return _from_frame(*columns, X, owner)
    read = _from_arrow(X, owner, fitted) if _speaks_arrow(X) else None
    return read if read is not None else (_from_array(X, owner, fitted), None)


def check_shape(shape: tuple[int, ...], owner: str) -> None:
    """Refuses what is not two-dimensional or is empty."""
    if len(shape) > 2:
        raise ValueError(f"Found array with dim {len(shape)}. {owner} expected <= 2.")
    if len(shape) < 2:
        what = "scalar array" if not shape else "1D array"
        raise ValueError(
            f"Expected 2D array, got {what} instead. Reshape your data either using array.reshape(-1, 1) if your data has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
    for n, what in zip(shape, ("sample", "feature")):
        if n < 1:
            raise ValueError(f"Found array with 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required by {owner}.")


# Arrays


def _from_array(X: Any, owner: str, fitted: Levels | None) -> Table:
    if isinstance(X, np.matrix):
        raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray.")
    array = _unmasked(X) if _is_masked(X) else np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    check_shape(array.shape, owner)
    if array.dtype.kind in "OUS":
        return Table.from_columns([_object_column(f"x{j}", array[:, j], j, fitted) for j in range(array.shape[1])])
    table = Table.from_array(array)
    if table is None:
        table = Table.from_array(_as_float(array, "X"))
    assert table is not None
    return table


def _is_masked(X: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(X, masked.MaskedArray)


def _unmasked(X: np.ma.MaskedArray) -> np.ndarray:
    """The array of a masked one, in which what is masked is missing."""
    if not np.ma.is_masked(X):
        return np.asarray(X)
    text = X.dtype.kind in "OUS"
    array = np.array(X.data, dtype=object if text else X.dtype if X.dtype.kind in "fc" else np.float64)
    array[np.ma.getmaskarray(X)] = None if text else np.nan
    return array


def _as_float(array: np.ndarray, what: str) -> np.ndarray:
    """Numbers of any other type as float64."""
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} holds {array.dtype}; expected numbers, text, truth values or categories")
    return np.array(array, dtype=np.float64)


def _object_column(name: str, values: np.ndarray, j: int, fitted: Levels | None) -> Column:
    """A column of Python objects: numbers, or categories if there is text among them."""
    if values.dtype.kind in "US" or any(isinstance(value, (str, bytes)) for value in values):
        return _text_column(name, values.tolist(), j, fitted)
    try:
        return (name, "numeric", np.array([_number(value) for value in values], dtype=np.float64), None)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values if not _is_missing(value)})
        raise TypeError(f"column {name!r} holds {', '.join(kinds)}; expected numbers, text, booleans or categories ({error})") from None


def _number(value: Any) -> float:
    return np.nan if _is_missing(value) else float(value)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _text_column(name: str, values: Iterable[Any], j: int, fitted: Levels | None) -> Column:
    """A column of text: numbers if all texts are numbers, as in scikit-learn; else categories."""
    values = list(values)
    texts = [None if _is_missing(value) else _text(value) for value in values]
    distinct = {text for text in texts if text is not None}
    known = None if fitted is None else fitted(j)
    if known is None and distinct:
        numbers: dict[str | None, float] = {text: number for text in distinct if (number := _parsed(text)) is not None}
        others = sorted(distinct - numbers.keys())
        mixed = any(not isinstance(value, (str, bytes)) for value in values if not _is_missing(value))
        if not others:
            numbers[None] = np.nan
            return (name, "numeric", np.fromiter((numbers[text] for text in texts), np.float64, len(texts)), None)
        if fitted is not None or (numbers and mixed) or len(others) < len(numbers) >= MANY_NUMBERS:
            raise ValueError(
                f"could not convert string to float: {others[0]!r} (row {texts.index(others[0])} of column {name!r}, whose other values are numbers). Replace it by None or NaN "
                "if the value is missing; convert the column to a categorical type if these are categories."
            )
    levels = sorted(distinct)
    if known == IGNORED or (fitted is None and _is_identifier(name, len(levels), len(texts))):
        return (name, "nominal", np.array([MISSING if text is None else 0 for text in texts], np.uint32), list(IGNORED))
    place: dict[str | None, Any] = {text: code for code, text in enumerate(levels)}
    place[None] = MISSING
    return (name, "nominal", np.fromiter((place[text] for text in texts), np.uint32, len(texts)), levels)


def _parsed(text: str) -> float | None:
    """The number that a text is, as numpy reads it."""
    try:
        return float(text)
    except ValueError:
        return None


def _is_identifier(name: str, n_levels: int, n_rows: int) -> bool:
    """Whether a text column identifies rows instead of describing them; warns if so."""
    if n_rows < IDENTIFIER_ROWS or n_levels <= IDENTIFIER_SHARE * n_rows:
        return False
    warn(
        "UserWarning",
        f"column {name!r} is text with {n_levels} different values in {n_rows} rows: it looks like an identifier and is ignored. Drop it; or convert it to numbers, dates or a "
        "categorical type to learn from it.",
    )
    return True


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


# Data frames: those of pandas column by column, which needs nothing else; all others by Arrow's capsules.


def _frame_columns(X: Any, fitted: Levels | None) -> tuple[list[Any], Iterator[Column] | np.ndarray] | None:
    """The names of a frame of pandas, and its columns (or all of them as one array); ``None`` if ``X`` is something else."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        dtypes = set(X.dtypes)
        if len(X) < SMALL and len(dtypes) == 1 and dtypes <= {np.dtype(np.float64), np.dtype(np.float32)}:
            return list(X.columns), X.to_numpy()
        return list(X.columns), (_pandas_column(str(name), X.iloc[:, j], j, fitted) for j, name in enumerate(X.columns))
    return None


def _speaks_arrow(X: Any) -> bool:
    """Whether it is a frame with Arrow's capsule interface; a single column, which may have it too, is no frame."""
    speaks = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    return speaks and len(getattr(X, "shape", (0, 0))) == 2 and not hasattr(X, "type")


def _from_arrow(X: Any, owner: str, fitted: Levels | None) -> tuple[Table, list[str] | None] | None:
    """The table of a frame of any library that speaks Arrow, which need not be installed; ``None`` where it turns out to be no frame."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.DataFrame):
        # Columns without a value and of wide integers are types of its own in Arrow.
        X = X.cast({polars.Null: polars.Float64, polars.Int128: polars.Float64})
        text = [name for name, dtype in X.schema.items() if dtype == polars.String]
        if text:
            return _from_polars_text(X, text, owner, fitted)
    table = Table.from_arrow(X)
    if table is None:
        return None
    check_shape((table.n_rows, table.n_columns), owner)
    return table, table.names


def _from_polars_text(X: Any, text: list[str], owner: str, fitted: Levels | None) -> tuple[Table, list[str] | None]:
    """The table of a polars frame with text columns, of which those that hold numbers become numbers."""
    import polars  # type: ignore[import-not-found]

    for name in text:
        column = _text_column(name, X[name].to_list(), X.columns.index(name), fitted)
        if column[1] == "numeric":
            X = X.with_columns(polars.Series(name, column[2]))
        elif column[3] == IGNORED:
            X = X.with_columns(polars.Series(name, [None if code == MISSING else IGNORED[0] for code in column[2]]))
    table = Table.from_arrow(X)
    assert table is not None
    check_shape((table.n_rows, table.n_columns), owner)
    return table, table.names


def _from_frame(names: list[Any], columns: Iterator[Column] | np.ndarray, X: Any, owner: str) -> tuple[Table, list[str] | None]:
    check_shape((len(X), len(names)) if hasattr(X, "__len__") else X.shape, owner)
    if isinstance(columns, np.ndarray):
        texts = [str(name) for name in names]
        table = Table.from_array(columns, texts)
        if table is None:
            table = Table.from_array(columns.astype(np.float64), texts)
        assert table is not None
    else:
        table = Table.from_columns(list(columns))
    return table, _text_names(names)


def _text_names(names: list[Any]) -> list[str] | None:
    kinds = sorted({type(name).__name__ for name in names})
    if kinds == ["str"]:
        return names
    if "str" in kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, you must convert them all "
            "to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return None


def _pandas_column(name: str, series: Any, j: int, fitted: Levels | None) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        codes = series.cat.codes.to_numpy()
        kind = "ordinal" if dtype.ordered else "nominal"
        # A missing value has the code -1, which is the greatest unsigned number.
        return (name, kind, codes.astype(np.int32).view(np.uint32), [str(level) for level in dtype.categories])
    if dtype.kind == "b":
        return _boolean(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind in "fiu":
        values = series.to_numpy()
        if values.dtype.kind == "O":
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return _numeric(name, values)
    if dtype.kind == "O" or str(dtype).startswith(("str", "large_str")):
        if str(dtype).startswith("string_view"):  # which pandas can't turn into objects
            return _text_column(name, series.tolist(), j, fitted)
        values = np.asarray(series.astype(object))
        if series.isna().all() or {type(v) for v in values[:100] if not _is_missing(v)} == {bool}:
            return _boolean(name, np.array([_number(value) for value in values]))
        return _object_column(name, values, j, fitted)
    raise TypeError(f"column {name!r} holds {dtype}; expected numbers, text, truth values or categories")


def _numeric(name: str, values: np.ndarray) -> Column:
    native = values.dtype in (np.float64, np.float32) and values.dtype.isnative
    return (name, "numeric", values if native else _as_float(values, f"column {name!r}"), None)


def _boolean(name: str, values: np.ndarray) -> Column:
    """Truth values from 0, 1 and NaN."""
    codes = np.where(np.isnan(values), MISSING, np.nan_to_num(values)).astype(np.uint32)
    return (name, "boolean", codes, ["false", "true"])


# Sparse matrices


def is_sparse(X: Any) -> bool:
    """Whether ``X`` is a SciPy sparse matrix."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def _from_sparse(X: Any, owner: str) -> Table:
    check_shape(X.shape, owner)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    columns = X.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    # Rows are not negative: their 32 bits mean the same without a sign.
    rows = columns.indices.view(np.uint32) if columns.indices.dtype == np.int32 else columns.indices.astype(np.uint32)
    return Table.from_sparse(X.shape[0], columns.indptr.astype(np.int64), rows, columns.data.astype(np.float64, copy=False))
