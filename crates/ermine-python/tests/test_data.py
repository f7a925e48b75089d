"""Features in every form give the same model as the plain array."""

import json
import subprocess
import sys
import zlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import ermine
from ermine._ermine import Table
from ermine.dummy import DummyClassifier
from ermine.ensemble import AdaBoostClassifier, RandomForestClassifier
from ermine.neighbors import KNeighborsClassifier
from ermine.tree import DecisionStumpClassifier, DecisionTreeClassifier, QuadTreeClassifier

rng = np.random.default_rng(0)
X = rng.integers(-4, 5, size=(80, 5)).astype(np.float64)
Y = (X[:, 3] + rng.normal(size=80) > 0).astype(int)
PLAIN = DecisionStumpClassifier().fit(X, Y)


class OnlyArray:
    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype=dtype)


def strided(a):
    wide = np.full((2 * a.shape[0], 3 * a.shape[1]), 99.0)
    wide[::2, ::3] = a
    return wide[::2, ::3]


def misaligned(a):
    raw = np.empty(a.nbytes + 1, np.uint8)
    view = raw[1:].view(a.dtype).reshape(a.shape)
    view[:] = a
    return view


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


FORMS = {
    "C": np.ascontiguousarray, "F": np.asfortranarray, "strided": strided, "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "f32": lambda a: a.astype(np.float32), "f32 F": lambda a: np.asfortranarray(a, dtype=np.float32), "f16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble), "i8": lambda a: a.astype(np.int8), "i64": lambda a: a.astype(np.int64),
    "big endian": lambda a: a.astype(">f8"), "objects": lambda a: a.astype(object), "list": lambda a: a.tolist(), "array-like": OnlyArray,
    "misaligned": misaligned, "read-only": read_only, "tuple": lambda a: tuple(map(tuple, a)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_array_gives_the_same_model(form):
    model = DecisionStumpClassifier().fit(form(X), Y)
    assert model._model.to_bytes() == PLAIN._model.to_bytes()
    np.testing.assert_array_equal(PLAIN.predict(form(X)), PLAIN.predict(X))
    np.testing.assert_array_equal(PLAIN.predict_proba(form(X)), PLAIN.predict_proba(X))


def test_truth_values_are_numbers_in_an_array():
    model = DecisionStumpClassifier().fit(X > 0, Y)
    np.testing.assert_array_equal(model.predict(X > 0), DecisionStumpClassifier().fit((X > 0).astype(float), Y).predict(X > 0))


def test_arrays_are_not_copied():
    """Peak memory while a table is made and predicted on, in a process of its own."""
    code = """
import re, numpy as np
from ermine.tree import DecisionStumpClassifier
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
X = np.ones((400_000, 50), dtype={dtype!r}, order={order!r})
model = DecisionStumpClassifier().fit(X[:100], np.arange(100) % 2)
model.predict(X[:200_000])
before = peak()
model.predict(X)
assert peak() - before < 0.2 * X.nbytes, (peak() - before, X.nbytes)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    for dtype, order in [("float64", "C"), ("float64", "F"), ("float32", "C")]:
        subprocess.run([sys.executable, "-c", code.format(dtype=dtype, order=order)], check=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_file_in_memory_is_not_copied(tmp_path):
    """A read-only memmap of more than all else is learned from where it lies: what the process holds of its own stays small."""
    code = f"""
import re, numpy as np
from ermine.ensemble import GradientBoostingClassifier
from ermine.tree import DecisionStumpClassifier
def own():
    return sum(int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) for field in ("RssAnon",)) * 1024
X = np.lib.format.open_memmap({str(tmp_path / "x.npy")!r}, mode="w+", dtype="float64", shape=(200_000, 50))
for start in range(0, 200_000, 20_000):
    X[start : start + 20_000] = np.random.default_rng(start).normal(size=(20_000, 50))
del X
X = np.load({str(tmp_path / "x.npy")!r}, mmap_mode="r")
y = (X[:, 3] > 0).astype(int)
DecisionStumpClassifier().fit(X[:1000], y[:1000])
before = own()
model = DecisionStumpClassifier(n_jobs=1).fit(X, y)
assert model.score(X, y) == 1.0
assert own() - before < 0.5 * X.nbytes, (own() - before, X.nbytes)
frozen = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
assert frozen.score(X, y) > 0.99 and not X.flags.writeable
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_array_lives_as_long_as_its_table():
    table = Table.from_array(rng.normal(size=(10, 3)))
    assert (table.n_rows, table.n_columns) == (10, 3)


# Frames: numbers, categories, text, truth values, each with something missing.


def frame_columns():
    number = [1.0, 2.0, np.nan, 4.0, 5.0, 6.0] * 10
    whole = [1, 2, 3, 4, 5, 6] * 10
    text = ["red", "green", None, "red", "blue", "blue"] * 10
    truth = [True, False, None, False, True, True] * 10
    return number, whole, text, truth


def pandas_frame():
    import pandas as pd

    number, whole, text, truth = frame_columns()
    size = pd.Categorical(["low", "high", None] * 20, categories=["low", "mid", "high"], ordered=True)
    return pd.DataFrame({"number": number, "whole": whole, "text": text, "truth": pd.array(truth, dtype="boolean"), "size": size})


def pandas_numpy_frame():
    frame = pandas_frame()
    frame["text"] = frame["text"].astype(object)
    frame["truth"] = frame["truth"].astype(object)
    frame["whole"] = frame["whole"].astype("Int64")
    return frame


def pandas_arrow_frame():
    import pandas as pd

    pd.ArrowDtype  # only where pandas knows Arrow
    frame = pandas_frame()
    return frame.assign(number=frame["number"].astype("double[pyarrow]"), truth=frame["truth"].astype("bool[pyarrow]"))


def polars_frame():
    import polars as pl

    number, whole, text, truth = frame_columns()
    number = [None if x != x else x for x in number]
    return pl.DataFrame({"number": number, "whole": whole, "text": text, "truth": truth, "size": ["low", "high", None] * 20})


def arrow_frame():
    import pyarrow as pa

    number, whole, text, truth = frame_columns()
    number = [None if x != x else x for x in number]
    size = pa.array(["low", "high", None] * 20).dictionary_encode()
    return pa.table({"number": number, "whole": whole, "text": text, "truth": truth, "size": size})


class OnlyCapsule:
    """A frame of a library that nobody knows."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArrayCapsule(OnlyCapsule):
    """One that hands itself over in one piece."""

    __arrow_c_stream__ = property()  # type: ignore[assignment]

    def __arrow_c_array__(self, requested_schema=None):
        (batch,) = self.table.combine_chunks().to_batches()
        return batch.__arrow_c_array__(requested_schema)


def capsule_frame():
    return OnlyCapsule(arrow_frame())


def chunked_capsule_frame():
    """In pieces, each of which has a dictionary of its own."""
    import pyarrow as pa

    whole = arrow_frame()
    pieces = [whole.slice(at, 7).to_pylist() for at in range(0, 60, 7)]
    return OnlyCapsule(pa.concat_tables([pa.Table.from_pylist(rows, schema=whole.schema) for rows in pieces]))


def array_capsule_frame():
    return OnlyArrayCapsule(arrow_frame())


FRAMES = [pandas_frame, pandas_numpy_frame, pandas_arrow_frame, polars_frame, arrow_frame, capsule_frame, chunked_capsule_frame, array_capsule_frame]


#: For each column: which rows belong to the second class, and the kind of column.
KEYS = {
    "number": ([0, 0, 0, 1, 1, 1], "numeric"),
    "whole": ([0, 0, 0, 1, 1, 1], "numeric"),
    "text": ([1, 0, 0, 1, 0, 0], "nominal"),
    "truth": ([1, 0, 0, 0, 1, 1], "boolean"),
    "size": ([0, 1, 0, 0, 1, 0], "nominal"),
}


def pick(frame, columns):
    if isinstance(frame, OnlyCapsule):
        return type(frame)(frame.table.select(columns))
    return frame.select(columns) if hasattr(frame, "select") else frame[columns]


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("column", KEYS)
def test_each_kind_of_column_is_understood(make, column):
    frame = pick(make(), [column])
    key, kind = KEYS[column]
    model = DecisionStumpClassifier().fit(frame, key * 10)
    assert model.score(frame, key * 10) == 1.0, model.describe()
    assert model.feature_names_in_.tolist() == [column]
    feature = json.loads(model._model.header())["schema"]["features"][0]
    assert feature["kind"] == ("ordinal" if column == "size" and "pandas" in make.__name__ else kind)
    if column == "text":
        assert feature["levels"] == ["blue", "green", "red"]


@pytest.mark.parametrize("make", FRAMES)
def test_models_read_any_frame(make):
    first = pandas_frame()[["number", "whole", "text", "truth"]]
    key = np.arange(60) % 3 == 1
    model = DecisionStumpClassifier().fit(first, key)
    four = pick(make(), ["number", "whole", "text", "truth"])
    np.testing.assert_array_equal(model.predict_proba(four), model.predict_proba(first))


def test_capsules_need_no_other_library(tmp_path):
    """A frame of polars, in a program that can't import pyarrow or pandas; and one of pyarrow (which looks for pandas), in one that can't import polars."""
    code = """
import sys
for hidden in {hidden}:
    sys.modules[hidden] = None
import {shown} as library
from ermine.ensemble import RandomForestClassifier
data = {{"a": [1.0, 2.0, None, 4.0] * 10, "b": ["u", "v", "u", None] * 10, "c": [True, None, False, True] * 10}}
frame = library.{make}(data)
class Frame:
    def __arrow_c_stream__(self, requested_schema=None):
        return frame.__arrow_c_stream__(requested_schema)
y = [0, 1, 0, 1] * 10
model = RandomForestClassifier(5, random_state=0).fit(Frame(), y)
assert model.feature_names_in_.tolist() == ["a", "b", "c"] and model.score(Frame(), y) == 1.0
print(model.predict(frame).tolist() == y)
"""
    for shown, hidden, make in (("polars", ["pyarrow", "pandas", "sklearn", "scipy"], "DataFrame"), ("pyarrow", ["polars", "sklearn", "scipy"], "table")):
        pytest.importorskip(shown)
        said = subprocess.run([sys.executable, "-c", code.format(shown=shown, hidden=hidden, make=make)], check=True, text=True, capture_output=True).stdout
        assert said == "True\n"


def test_columns_of_arrow_are_not_copied():
    pa = pytest.importorskip("pyarrow")
    values = np.arange(1000.0)
    table = Table.from_arrow(OnlyCapsule(pa.table({"a": values, "b": values.astype(np.float32)})))
    assert (table.n_rows, table.names) == (1000, ["a", "b"])
    del values
    assert DecisionStumpClassifier().fit(OnlyCapsule(pa.table({"a": np.arange(9.0)})), [0] * 4 + [1] * 5).predict([[3.0], [4.0]]).tolist() == [0, 1]


def test_arrow_that_cannot_be_learned_from():
    pa = pytest.importorskip("pyarrow")
    fit = lambda table: DecisionStumpClassifier().fit(OnlyCapsule(table), [0, 1])
    with pytest.raises(TypeError, match="column 'when' holds Date32"):
        fit(pa.table({"x": [1.0, 2.0], "when": pa.array([1, 2], pa.date32())}))
    with pytest.raises(TypeError, match="column 'tags' holds List"):
        fit(pa.table({"tags": [[1], [2]]}))
    with pytest.raises(ValueError, match="two columns are named 'x'"):
        fit(pa.table([pa.array([1.0, 2.0])] * 2, names=["x", "x"]))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        DecisionStumpClassifier().fit(pa.table({"x": pa.array([], pa.float64())}), [])
    with pytest.raises(ValueError, match="Expected 2D array"):
        DecisionStumpClassifier().fit(pa.chunked_array([[1.0, 2.0]]), [0, 1])
    with pytest.raises(ValueError, match="Expected 2D array"):
        DecisionStumpClassifier().fit(OnlyCapsule(pa.chunked_array([[1.0, 2.0]])), [0, 1])

    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            return 3

    with pytest.raises(TypeError):
        DecisionStumpClassifier().fit(Broken(), [0, 1])

    def fails():
        yield pa.record_batch({"x": [1.0]})
        raise RuntimeError("the disk is gone")

    with pytest.raises(ValueError, match="the disk is gone"):
        DecisionStumpClassifier().fit(pa.RecordBatchReader.from_batches(pa.schema({"x": pa.float64()}), fails()), [0, 1])


def test_a_null_among_the_values_of_a_dictionary_is_missing():
    pa = pytest.importorskip("pyarrow")
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array(["x", None]))
    model = DecisionStumpClassifier().fit(pa.table({"c": column}), [0, 1, 0, 1])
    assert json.loads(model._model.header())["schema"]["features"][0]["levels"] == ["x"] and model.predict(pa.table({"c": [None, "x"]})).tolist() == [1, 0]


def test_ordered_dictionaries_are_ordinal():
    pa = pytest.importorskip("pyarrow")
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1, None]), pa.array(["low", "mid", "high"]), ordered=True)
    feature = json.loads(DecisionStumpClassifier().fit(pa.table({"c": column}), [0, 1, 0, 1])._model.header())["schema"]["features"][0]
    assert (feature["kind"], feature["levels"]) == ("ordinal", ["low", "mid", "high"])


def test_masked_values_are_missing():
    for numbers in (X, X.astype(np.int32), X.astype(np.float32)):
        masked = np.ma.masked_array(numbers, mask=X > 2)
        want = np.where(X > 2, np.nan, X)
        model = DecisionTreeClassifier().fit(masked, Y)
        np.testing.assert_array_equal(model.predict_proba(masked), DecisionTreeClassifier().fit(want, Y).predict_proba(want))
    texts = np.ma.masked_array(np.array([["a"], ["b"], ["b"], ["a"]], dtype=object), mask=[[0], [0], [1], [0]])
    assert json.loads(DecisionStumpClassifier().fit(texts, [0, 1, 1, 0])._model.header())["schema"]["features"][0]["levels"] == ["a", "b"]


def test_an_unseen_category_is_missing():
    pd = pytest.importorskip("pandas")
    model = DecisionStumpClassifier().fit(pd.DataFrame({"c": ["a", "a", "b", "b", None, None]}), [0, 0, 1, 1, 1, 1])
    assert model.predict(pd.DataFrame({"c": ["zebra", None, "b", "a"]})).tolist() == [1, 1, 1, 0]


def test_frames_of_one_type_of_any_size(tmp_path):
    pd = pytest.importorskip("pandas")
    for n in (100, 20_000):
        frame = pd.DataFrame(np.arange(3.0 * n).reshape(n, 3), columns=["a", "b", "c"])
        key = (frame["b"] > n).to_numpy()
        model = DecisionStumpClassifier().fit(frame, key)
        assert model.score(frame, key) == 1.0 and "a <= " in model.describe()
        model.save(tmp_path / "model.ermine")
        loaded = ermine.load(tmp_path / "model.ermine")
        assert loaded.feature_names_in_.tolist() == ["a", "b", "c"] and loaded.score(frame, key) == 1.0


def test_types_of_polars_and_pandas_that_are_their_own():
    """Columns without a value and wide integers of polars; its enums, which have an order; views of text in pandas."""
    pl, pd, pa = (pytest.importorskip(name) for name in ("polars", "pandas", "pyarrow"))
    key = [0, 0, 1, 1]
    frame = pl.DataFrame({"none": [None] * 4, "wide": pl.Series([1, 2, 3, None], dtype=pl.Int128), "size": pl.Series(["low", "mid", "high", None], dtype=pl.Enum(["low", "mid", "high"]))})
    model = DecisionStumpClassifier().fit(frame, key)
    features = json.loads(model._model.header())["schema"]["features"]
    assert [feature["kind"] for feature in features] == ["numeric", "numeric", "ordinal"] and features[2]["levels"] == ["low", "mid", "high"]
    assert model.predict(frame[:3]).tolist() == key[:3]
    view = pd.DataFrame({"text": pd.Series(["u", "u", None, "v"], dtype=pd.ArrowDtype(pa.string_view()))})
    assert DecisionStumpClassifier().fit(view, key).predict(view).tolist() == key


def test_pieces_of_arrow_frames():
    """Rows from the middle of a frame, by either capsule, and numbers that are not aligned."""
    pa = pytest.importorskip("pyarrow")
    columns = {"n": [9.0, 1, 2, 3, 4, 9], "s": ["z", "a", "b", "a", None, "q"], "b": [True, False, True, None, True, False]}
    whole = pa.StructArray.from_arrays([pa.array(values) for values in columns.values()], names=list(columns))
    middle = pa.Table.from_batches([pa.RecordBatch.from_struct_array(whole)]).slice(1, 4)

    class Piece:
        """Rows of an array that say where they start, while its columns don't."""

        def __arrow_c_array__(self, requested_schema=None):
            return whole.slice(1, 4).__arrow_c_array__(requested_schema)

    copied = pa.table({name: values[1:5] for name, values in columns.items()})
    fit = lambda frame: DecisionTreeClassifier(random_state=0).fit(frame, [0, 0, 1, 1])
    models = [fit(frame) for frame in (copied, middle, middle.to_batches()[0], Piece(), OnlyCapsule(middle))]
    assert len({model._model.to_bytes() for model in models}) == 1
    raw = bytearray(1 + 8 * 4)
    raw[1:] = np.arange(4.0).tobytes()
    odd = pa.table({"x": pa.Array.from_buffers(pa.float64(), 4, [None, pa.py_buffer(memoryview(raw)[1:])])})
    assert fit(odd).predict(odd).tolist() == [0, 0, 1, 1]


def test_unsupported_column_types_are_errors():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "when": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(TypeError, match="'when' holds datetime64"):
        DecisionStumpClassifier().fit(frame, [0, 1])
    with pytest.raises(TypeError, match="datetime64"):
        DecisionStumpClassifier().fit(frame[["when"]].to_numpy(), [0, 1])
    with pytest.raises(TypeError, match="'month' holds Period"):
        DecisionStumpClassifier().fit(pd.DataFrame({"month": pd.period_range("2020", periods=2, freq="M")}), [0, 1])
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="LazyFrame.*collect"):
        DecisionStumpClassifier().fit(pl.LazyFrame({"a": [1.0, 2.0]}), [0, 1])


def test_text_in_an_array_is_categories():
    X = np.array([["a", 1], ["b", 1], ["a", 2], ["b", 2]], dtype=object)
    model = DecisionStumpClassifier().fit(X, [0, 1, 0, 1])
    assert model.score(X, [0, 1, 0, 1]) == 1.0
    assert DecisionStumpClassifier().fit([["a"], ["b"]], [0, 1]).predict([["b"], ["a"]]).tolist() == [1, 0]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_sparse_goes_to_learners_that_take_it(form):
    S = form(np.where(X > 0, X, 0))
    assert DummyClassifier().fit(S, Y).predict_proba(S).shape == (80, 2)
    # The same trees from sparse columns as from dense ones.
    for model in (DecisionStumpClassifier(), DecisionTreeClassifier(), RandomForestClassifier(n_estimators=5, random_state=0), AdaBoostClassifier(n_estimators=5)):
        dense = clone(model).fit(S.toarray(), Y)
        np.testing.assert_array_equal(model.fit(S, Y).predict_proba(S), dense.predict_proba(S.toarray()))
    neighbors, dense = (KNeighborsClassifier().fit(form, Y) for form in (S, S.toarray()))
    np.testing.assert_array_equal(neighbors.predict_proba(S), dense.predict_proba(S.toarray()))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        QuadTreeClassifier().fit(S, Y)


def test_sparse_duplicates_and_disorder():
    S = sparse.csc_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(4, 1))
    assert DummyClassifier().fit(S, [0, 1, 0, 1]).n_features_in_ == 1


ERRORS = [
    (lambda: DecisionStumpClassifier().fit(X[0], Y), ValueError, "Reshape your data"),
    (lambda: DecisionStumpClassifier().fit(X.reshape(2, 40, 5), Y), ValueError, "dim 3"),
    (lambda: DecisionStumpClassifier().fit(X[:0], Y[:0]), ValueError, r"0 sample\(s\)"),
    (lambda: DecisionStumpClassifier().fit(X[:, :0], Y), ValueError, r"0 feature\(s\)"),
    (lambda: DecisionStumpClassifier().fit(X, Y[:-1]), ValueError, "inconsistent numbers of samples"),
    (lambda: DecisionStumpClassifier().fit(X + 1j, Y), ValueError, "Complex data not supported"),
    (lambda: DecisionStumpClassifier().fit(X, Y + 0.5), ValueError, "Unknown label type: continuous"),
    (lambda: DecisionStumpClassifier().fit(X, None), ValueError, "the target y is None"),
    (lambda: DecisionStumpClassifier().fit(X, np.c_[Y, Y]), ValueError, "1d array"),
    (lambda: DecisionStumpClassifier().fit(X, np.array(["a", 1] * 40, dtype=object)), TypeError, "one type"),
    (lambda: DecisionStumpClassifier().fit(X, ["a", None] * 40), ValueError, "NaN"),
    (lambda: DecisionStumpClassifier().fit(X, Y, sample_weight=-np.ones(80)), ValueError, "Negative values in data passed to `sample_weight`: -1.0 in row 0"),
    (lambda: DecisionStumpClassifier().fit(X, Y, sample_weight=np.ones(3)), ValueError, "sample_weight.shape"),
    (lambda: DecisionStumpClassifier().fit(np.matrix(X), Y), TypeError, "np.matrix"),
    (lambda: PLAIN.predict(X[:, :2]), ValueError, "X has 2 features, but DecisionStumpClassifier is expecting 5"),
    (lambda: PLAIN.score(X, Y[:3]), ValueError, "inconsistent"),
]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("do, kind, words", ERRORS)
def test_mistakes_are_errors(do, kind, words):
    with pytest.raises(kind, match=words):
        do()


def test_names_must_match():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = DecisionStumpClassifier().fit(frame, Y)
    with pytest.raises(ValueError, match="unseen at fit time:\n- z"):
        model.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[list("edcba")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        PLAIN.predict(frame)
    with pytest.raises(TypeError, match="string names"):
        DecisionStumpClassifier().fit(pd.DataFrame(X, columns=["a", 1, 2, 3, 4]), Y)


def test_a_model_with_an_odd_header_is_a_value_error(tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    path = tmp_path / "m.ermine"
    DecisionTreeClassifier().fit(X, np.arange(10) % 2).save(path)
    whole = path.read_bytes()
    length = int.from_bytes(whole[12:20], "little")
    header = json.loads(whole[20 : 20 + length])
    for note in ["text", 3, [1], {"class": 7}, {"labels": 5}, {"labels": "no such type"}, {"names": []}]:
        header["model"]["notes"] = {"python": note}
        text = json.dumps(header).encode()
        changed = whole[:12] + len(text).to_bytes(8, "little") + text + whole[20 + length : -4]
        path.write_bytes(changed + zlib.crc32(changed).to_bytes(4, "little"))
        try:
            ermine.load(path)
        except ValueError:
            pass


def test_exceeding_the_memory_limit_is_a_memory_error(monkeypatch):
    monkeypatch.setenv("ERMINE_MAX_MEMORY", "300M")
    n = 30_000
    X = np.arange(n, dtype=float).reshape(n, 1) % 977
    with pytest.raises(MemoryError, match="10000 classes"):
        DecisionTreeClassifier().fit(X, np.arange(n) % 10_000)
