"""Nearest neighbors: the same answers as scikit-learn's twins, and what only Ermine has."""

import doctest
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn import neighbors as theirs

import ermine
from ermine import _neighbors
from ermine.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors, RadiusNeighborsClassifier, RadiusNeighborsRegressor


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(300, 4)), rng.normal(size=(50, 4))
    return X, Q, rng.integers(0, 3, size=300), np.stack([X[:, 0], X[:, 1] ** 2], axis=1)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d)])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "chebyshev", "cosine", lambda a, b: np.abs(a - b).max()])
def test_same_as_scikit_learn(data, metric, weights):
    X, Q, labels, numbers = data
    options = {"n_neighbors": 7, "metric": metric, "weights": weights}
    ours, them = KNeighborsClassifier(**options).fit(X, labels), theirs.KNeighborsClassifier(**options).fit(X, labels)
    np.testing.assert_allclose(ours.predict_proba(Q), them.predict_proba(Q), atol=1e-9)
    for a, b in zip(ours.kneighbors(Q), them.kneighbors(Q)):
        np.testing.assert_allclose(a, b, atol=1e-9)
    ours, them = KNeighborsRegressor(**options).fit(X, numbers), theirs.KNeighborsRegressor(**options).fit(X, numbers)
    np.testing.assert_allclose(ours.predict(Q), them.predict(Q))


def test_radius(data):
    X, Q, labels, numbers = data
    kept = theirs.NearestNeighbors().fit(X).kneighbors(Q, 1)[0][:, 0] < 1
    ours, them = RadiusNeighborsClassifier(weights="distance").fit(X, labels), theirs.RadiusNeighborsClassifier(weights="distance").fit(X, labels)
    np.testing.assert_allclose(ours.predict_proba(Q[kept]), them.predict_proba(Q[kept]), atol=1e-9)
    ours, them = RadiusNeighborsRegressor(radius=1.5).fit(X, numbers), theirs.RadiusNeighborsRegressor(radius=1.5).fit(X, numbers)
    np.testing.assert_allclose(ours.predict(Q[kept]), them.predict(Q[kept]))
    for a, b in zip(ours.radius_neighbors(Q), them.radius_neighbors(Q, sort_results=True)):
        assert all(np.allclose(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "ball_tree", "brute"])
def test_an_index_without_a_target(data, algorithm, dtype):
    X, Q = data[0].astype(dtype), data[1].astype(dtype)
    ours, them = NearestNeighbors(algorithm=algorithm).fit(X), theirs.NearestNeighbors().fit(X.astype(np.float64))
    for mine, other in ((ours.kneighbors(Q, 9), them.kneighbors(Q.astype(np.float64), 9)), (ours.kneighbors(), them.kneighbors())):
        np.testing.assert_array_equal(mine[1], other[1])
        np.testing.assert_allclose(mine[0], other[0], atol=1e-9)
    assert ours.kneighbors(np.asfortranarray(Q), return_distance=False).tolist() == ours.kneighbors(Q)[1].tolist()
    again = pickle.loads(pickle.dumps(ours))
    assert again.kneighbors(Q)[1].tolist() == ours.kneighbors(Q)[1].tolist()
    grown = NearestNeighbors(algorithm=algorithm).fit(X[:200]).add(X[200:])
    assert grown.n_samples_fit_ == 300 and grown.kneighbors(Q)[1].tolist() == ours.kneighbors(Q)[1].tolist()
    assert doctest.testmod(_neighbors).failed == 0
    kind, reason, recall = ours.index_
    assert kind in ("kd_tree", "ball_tree", "brute") and reason and recall is None


def test_bits_text_and_approximate_search():
    rng = np.random.default_rng(1)
    codes, asked = (rng.integers(0, 256, size=(n, 5), dtype=np.uint8) for n in (200, 10))
    bits = np.unpackbits(codes[None] ^ asked[:, None], axis=2).sum(axis=2)
    distances, rows = NearestNeighbors(metric="bits", n_neighbors=3).fit(codes).kneighbors(asked)
    np.testing.assert_array_equal(distances, np.sort(bits, axis=1)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(bits, rows, axis=1), distances)
    names = NearestNeighbors(metric="edit", n_neighbors=1).fit(["anna", "otto", "lotte"])
    assert names.kneighbors(["hannah", "lotto"])[1].tolist() == [[0], [1]]
    X = rng.normal(size=(3000, 8))
    index = NearestNeighbors(algorithm="hnsw").fit(X)
    assert index.index_[2] > 0.9
    model = KNeighborsRegressor(algorithm="hnsw").fit(X, X[:, 0])
    assert model.recall_ > 0.9 and "approximate" in str(model.certificate_)


def test_rows_are_added_and_files_are_read(data, tmp_path):
    X, Q, labels, numbers = data
    whole = KNeighborsClassifier(tie="next_point").fit(X, labels)
    grown = KNeighborsClassifier(tie="next_point").fit(X[:100], labels[:100]).add(X[100:], labels[100:])
    np.testing.assert_array_equal(grown.predict_proba(Q), whole.predict_proba(Q))
    grown.save(tmp_path / "m.ermine")
    again = ermine.load(tmp_path / "m.ermine")
    assert type(again) is KNeighborsClassifier and again.n_samples_fit_ == 300
    np.testing.assert_array_equal(again.predict_proba(Q), whole.predict_proba(Q))
    with pytest.raises(ValueError, match="class"):
        grown.add(X[:1], [17])
    many = KNeighborsRegressor().fit(X[:100], numbers[:100]).add(X[100:], numbers[100:])
    np.testing.assert_array_equal(many.predict(Q), KNeighborsRegressor().fit(X, numbers).predict(Q))


def test_k_is_chosen_and_the_covariance_given(data):
    X, Q, labels, numbers = data
    model = KNeighborsRegressor(max_neighbors=15).fit(X, numbers)
    k = model.n_neighbors_
    others = theirs.NearestNeighbors().fit(X).kneighbors(n_neighbors=15, return_distance=False)
    errors = [((numbers[others[:, : i + 1]].mean(axis=1) - numbers) ** 2).mean() for i in range(15)]
    np.testing.assert_allclose(model.leave_one_out_errors_, errors)
    assert k == np.argmin(errors) + 1 and model.certificate_.value == pytest.approx(errors[k - 1])
    V = np.cov(Q.T)
    them = theirs.KNeighborsClassifier(metric="mahalanobis", metric_params={"VI": np.linalg.inv(V)}, algorithm="brute").fit(X, labels)
    ours = KNeighborsClassifier(metric="mahalanobis", covariance=V).fit(X, labels)
    np.testing.assert_allclose(ours.predict_proba(Q), them.predict_proba(Q))


def test_mistakes_are_explained(data):
    X, Q, labels, _ = data

    def broken(a, b):
        raise ZeroDivisionError("my own mistake")

    with pytest.raises(ZeroDivisionError, match="my own"):
        KNeighborsClassifier(metric=broken).fit(X, labels).predict(Q)
    with pytest.raises(ZeroDivisionError, match="my own"):
        KNeighborsClassifier(weights=lambda d: broken(d, d)).fit(X, labels).predict(Q)
    with pytest.raises(ValueError, match="weights of 5 neighbors"):
        KNeighborsClassifier(weights=lambda d: d[:1]).fit(X, labels).predict(Q)
    with pytest.raises(ValueError, match="function"):
        pickle.dumps(KNeighborsClassifier(weights=np.sqrt).fit(X, labels)._model)
    with pytest.raises(ValueError, match="n_samples_fit"):
        KNeighborsClassifier().fit(X, labels).kneighbors(Q, 301)
    with pytest.raises(ValueError, match="metric"):
        NearestNeighbors(metric="euclidian").fit(X)
    for wrong in (None, 3):
        with pytest.raises(TypeError, match="metric"):
            NearestNeighbors(metric=wrong).fit(X)
    np.testing.assert_array_equal(KNeighborsClassifier(weights=None).fit(X, labels).predict(Q), KNeighborsClassifier().fit(X, labels).predict(Q))
    with pytest.raises(ValueError, match="row 0, column 1"):
        NearestNeighbors().fit([[0.0, np.nan]])
    with pytest.raises(Exception, match="not fitted"):
        NearestNeighbors().kneighbors(Q)
    for wrong in (np.nan, -1.0):
        with pytest.raises(ValueError, match="negative or not a number"):
            NearestNeighbors(metric=lambda a, b: wrong).fit(X).kneighbors(Q)
    with pytest.raises(ValueError, match="omplex"):
        NearestNeighbors().fit(X + 1j)
    with pytest.raises(TypeError, match="Sparse"):
        NearestNeighbors().fit(X).kneighbors(scipy.sparse.csr_array(Q))
    for width in (0, -1, 2.5):
        with pytest.raises(ValueError, match="search_width"):
            NearestNeighbors(algorithm="hnsw", search_width=width).fit(X)
    with pytest.raises(ValueError, match="function"):
        pickle.dumps(NearestNeighbors(metric=lambda a, b: 0.0).fit(X)._index)


def test_searches_return_the_requested_number_of_neighbors():
    codes = np.array([np.packbits([1] * (256 - 256 * i // 20000) + [0] * (256 * i // 20000)) for i in range(20000)], np.uint8)
    index = NearestNeighbors(metric="bits", n_neighbors=5).fit(codes)
    distances, rows = index.kneighbors(np.zeros((20, 32), np.uint8))
    assert rows.shape == (20, 5) and (distances == 1).all()
    own = NearestNeighbors(metric="bits").fit(codes[::400]).kneighbors()
    assert own[1].shape == (50, 5) and (own[1] != np.arange(50)[:, None]).all()
    equal = NearestNeighbors(algorithm="hnsw", n_neighbors=3000).fit(np.ones((3000, 2)))
    assert equal.kneighbors(np.ones((3, 2)))[1].shape == (3, 3000)


def test_names_and_representations(data):
    X, Q, labels, numbers = data
    for name, own in (({"metric": "l1"}, "manhattan"), ({"metric": "l2"}, "euclidean"), ({"metric": "minkowski", "p": np.inf}, "chebyshev")):
        for kind, target in ((NearestNeighbors, None), (KNeighborsClassifier, labels)):
            ours, them = kind(**name).fit(X, target), kind(metric=own).fit(X, target)
            np.testing.assert_array_equal(ours.kneighbors(Q)[1], them.kneighbors(Q)[1])

    def manhattan(a, b):
        return np.abs(a - b).sum()

    manhattan.triangle_inequality = True
    many = np.random.default_rng(2).normal(size=(600, 2))
    index = NearestNeighbors(metric=manhattan).fit(many)
    assert index.index_[0] == "ball_tree"
    np.testing.assert_array_equal(index.kneighbors(many[:9])[1], NearestNeighbors(metric="l1").fit(many).kneighbors(many[:9])[1])
    few = KNeighborsClassifier(keep="condensed", n_neighbors=1).fit(X, labels)
    assert few.kept_rows_.dtype == np.int64 and (np.diff(few.kept_rows_) > 0).all() and len(few.kept_rows_) == few.n_samples_fit_
    np.testing.assert_array_equal(few.predict(X), labels)
    small = KNeighborsRegressor(algorithm="hnsw").fit(X[:3], numbers[:3])
    assert small.n_neighbors_ == 3 and small.recall_ == 1.0
    small.add(X[3:], numbers[3:])
    assert small.n_neighbors_ == 5 and small.n_samples_fit_ == 300 and not hasattr(small, "recall_")


def test_several_classes_for_each_row_at_once(tmp_path):
    sklearn_neighbors = pytest.importorskip("sklearn.neighbors")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3))
    Y = np.column_stack([np.where(X[:, 0] > 0, "up", "down"), rng.choice(["a", "b", "c"], 120)])
    for weights in ("uniform", "distance"):
        ours = KNeighborsClassifier(n_neighbors=4, weights=weights).fit(X[:90], Y[:90])
        theirs = sklearn_neighbors.KNeighborsClassifier(n_neighbors=4, weights=weights).fit(X[:90], Y[:90])
        for mine, other, a, b in zip(ours.predict_proba(X[90:]), theirs.predict_proba(X[90:]), ours.classes_, theirs.classes_, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-12)
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(ours.predict(X[90:]), theirs.predict(X[90:]))
        assert ours.outputs_2d_ and ours.n_outputs_ == 2
        assert ours.score(X[90:], Y[90:]) == (ours.predict(X[90:]) == Y[90:]).all(axis=1).mean()
    ours.save(tmp_path / "model.ermine")
    again = ermine.load(tmp_path / "model.ermine")
    np.testing.assert_array_equal(again.predict(X[90:]), ours.predict(X[90:]))
    for weights in ("uniform", "distance"):
        whole = KNeighborsClassifier(n_neighbors=4, weights=weights).fit(X, Y)
        grown = KNeighborsClassifier(n_neighbors=4, weights=weights).fit(X[:100], Y[:100]).add(X[100:], Y[100:])
        for mine, other in zip(grown.predict_proba(X), whole.predict_proba(X), strict=True):
            np.testing.assert_array_equal(mine, other)
        assert grown.n_samples_fit_ == 120
    again.add(X[:1], [["up", "c"]])
    assert again.n_samples_fit_ == ours.n_samples_fit_ + 1
    for wrong in ([["up", "d"]], [["up"]], [["up", "a", "b"]], ["up"]):
        with pytest.raises(ValueError, match="not among the classes|expected 2 classes"):
            again.add(X[:1], wrong)
    with pytest.raises(ValueError, match="is for one target"):
        KNeighborsClassifier(tie="distance").fit(X, Y)
    assert not ours.fit(X, Y[:, 0]).outputs_2d_


def test_text_is_taken_as_it_is_or_not_at_all():
    pandas = pytest.importorskip("pandas")
    words = ["abc", "abd", "xyz"]
    index = NearestNeighbors(n_neighbors=1, metric="edit").fit(pandas.DataFrame({"w": words}))
    assert index.n_samples_fit_ == 3 and index.kneighbors(["xyy"])[1].tolist() == [[2]]
    for wrong in (["a", None], [["abc"], ["x"]], "hello", [1, 2]):
        with pytest.raises(TypeError, match="list of strings"):
            NearestNeighbors(metric="edit").fit(wrong)
    with pytest.raises(ValueError, match="expected auto or ball_tree"):
        NearestNeighbors(metric="edit", algorithm="hnsw").fit(words)


def test_numbers_without_finite_distances_are_errors():
    for X in ([[1e305], [3e305], [0.0]], [[np.inf], [1.0], [2.0]]):
        with pytest.raises(ValueError, match="numbers up to 1e300 are supported|infinity"):
            KNeighborsClassifier(n_neighbors=1).fit(X, ["a", "b", "c"])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev", "minkowski"])
def test_sparse_and_dense_rows_agree(metric, tmp_path):
    rng = np.random.default_rng(7)
    X = scipy.sparse.random(200, 60, density=0.1, format="csr", random_state=3)
    Q = scipy.sparse.random(40, 60, density=0.1, format="csr", random_state=4)
    labels, numbers = rng.integers(0, 3, size=200), rng.normal(size=(200, 2))
    options = {"metric": metric, "p": 3 if metric == "minkowski" else 2}
    index, dense = NearestNeighbors(**options).fit(X), NearestNeighbors(**options).fit(X.toarray())
    assert index.index_[0] == "brute" and index.nbytes_ <= 1.3 * (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    for a, b in ((index.kneighbors(Q), dense.kneighbors(Q.toarray())), (index.kneighbors(), dense.kneighbors())):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
    for a, b in zip(index.radius_neighbors(Q, 0.9), dense.radius_neighbors(Q.toarray(), 0.9)):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    np.testing.assert_array_equal(index.kneighbors(Q.toarray())[1], index.kneighbors(Q.tocoo())[1])
    grown = NearestNeighbors(**options).fit(X[:150]).add(X[150:])
    np.testing.assert_array_equal(grown.kneighbors(Q)[0], index.kneighbors(Q)[0])
    index.save(tmp_path / "i.ermine")
    np.testing.assert_array_equal(ermine.load(tmp_path / "i.ermine").kneighbors(Q)[0], index.kneighbors(Q)[0])
    if metric in ("euclidean", "manhattan", "cosine"):
        them = theirs.NearestNeighbors(metric=metric).fit(X)
        np.testing.assert_allclose(index.kneighbors(Q)[0], them.kneighbors(Q)[0], atol=1e-7)
    for kind, target in ((KNeighborsClassifier, labels), (KNeighborsRegressor, numbers)):
        ours, same = kind(**options).fit(X, target), kind(**options).fit(X.toarray(), target)
        np.testing.assert_array_equal(ours.predict(Q), same.predict(Q.toarray()))
        ours.add(X[:3], target[:3]).save(tmp_path / "m.ermine")
        np.testing.assert_array_equal(ermine.load(tmp_path / "m.ermine").predict(Q), ours.predict(Q))


def test_unsupported_metrics_of_sparse_rows_are_errors():
    X = scipy.sparse.random(30, 5, density=0.5, format="csr", random_state=3)
    y = np.arange(30) % 2
    for metric in ("mahalanobis", lambda a, b: 0.0):
        for kind in (NearestNeighbors, KNeighborsClassifier):
            with pytest.raises(Exception, match="sparse"):
                kind(metric=metric).fit(X, y)
    for algorithm in ("kd_tree", "ball_tree", "hnsw"):
        for kind in (NearestNeighbors, KNeighborsClassifier):
            with pytest.raises(Exception, match="sparse"):
                kind(algorithm=algorithm).fit(X, y)
    with pytest.raises(Exception, match="sparse"):
        KNeighborsClassifier(metric="hamming").fit(X, y)
    X.data[3] = np.nan
    with pytest.raises(ValueError, match="finite"):
        NearestNeighbors().fit(X)


def test_an_index_without_a_target_is_saved(data, tmp_path):
    X, Q, _, _ = data
    path = tmp_path / "index.ermine"
    codes = np.random.default_rng(2).integers(0, 256, size=(50, 4), dtype=np.uint8)
    cases = [
        (NearestNeighbors(n_neighbors=np.int64(3), radius=0.5, n_jobs=1), X, Q),
        (NearestNeighbors(metric="minkowski", p=np.inf), X.astype(np.float32), Q),
        (NearestNeighbors(metric="mahalanobis", covariance=np.cov(X.T)), X, Q),
        (NearestNeighbors(metric="cosine", algorithm="kd_tree"), X, Q),
        (NearestNeighbors(algorithm="hnsw"), X, Q),
        (NearestNeighbors(metric="bits"), codes, codes[:5]),
        (NearestNeighbors(n_neighbors=1, metric="edit"), ["anna", "otto"], ["hanna"]),
    ]
    for index, rows, queries in cases:
        index.fit(rows).save(path)
        again = ermine.load(path)
        assert type(again) is NearestNeighbors and again.n_samples_fit_ == len(rows) and again.index_ == index.index_
        assert again.get_params().keys() == index.get_params().keys() and again.metric == index.metric
        for a, b in zip(again.kneighbors(queries), index.kneighbors(queries), strict=True):
            np.testing.assert_array_equal(a, b)
        again.add(rows[:1])
        assert again.n_samples_fit_ == len(rows) + 1
    with pytest.raises(Exception, match="not fitted"):
        NearestNeighbors().save(path)
    with pytest.raises(ValueError, match="function"):
        NearestNeighbors(metric=lambda a, b: abs(a - b).sum()).fit(X).save(path)
    whole = path.read_bytes()
    for damaged in (whole[:40], whole[:-1] + bytes([whole[-1] ^ 1]), whole[:8] + b"\x09" + whole[9:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError):
            ermine.load(path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 10, 50])
def test_memory_is_the_rows_once_and_a_little(d, dtype):
    X = np.random.default_rng(d).normal(size=(20_000, d)).astype(dtype)
    for metric in ("euclidean", "manhattan", "cosine", "mahalanobis"):
        for algorithm in ("auto", "kd_tree", "ball_tree", "brute"):
            if metric == "cosine" and algorithm == "kd_tree" and d <= 2:
                continue
            index = NearestNeighbors(metric=metric, algorithm=algorithm).fit(X)
            assert index.nbytes_ <= 1.3 * X.nbytes, (metric, algorithm, index.nbytes_ / X.nbytes)


def test_neighbors_of_the_rows_themselves_and_graphs(data):
    X, Q, labels, _ = data
    them = theirs.NearestNeighbors(radius=1.2).fit(X)
    for ours in (NearestNeighbors(radius=1.2, leaf_size=40).fit(X), RadiusNeighborsClassifier(radius=1.2).fit(X, labels)):
        for a, b in zip(ours.radius_neighbors(sort_results=True), them.radius_neighbors(sort_results=True), strict=True):
            assert all(np.allclose(x, y) for x, y in zip(a, b, strict=True))
        for mode in ("connectivity", "distance"):
            for asked in (None, Q):
                assert abs(ours.radius_neighbors_graph(asked, mode=mode) - them.radius_neighbors_graph(asked, mode=mode)).max() < 1e-9
                assert abs(ours.kneighbors_graph(asked, 4, mode=mode) - them.kneighbors_graph(asked, 4, mode=mode)).max() < 1e-9
    far = NearestNeighbors(radius=1e-9).fit(X)
    assert far.radius_neighbors_graph(Q).nnz == 0 and [len(found) for found in far.radius_neighbors(Q[:2])[1]] == [0, 0]
    for wrong in (True, "1", -1.0, np.nan):
        with pytest.raises((TypeError, ValueError), match="radius"):
            far.radius_neighbors(Q, wrong)
    words = NearestNeighbors(metric="edit").fit(["anna", "hanna", "otto"])
    assert [found.tolist() for found in words.radius_neighbors(radius=1)[1]] == [[1], [0], []]
    codes = np.array([[0], [1], [255]], np.uint8)
    assert [found.tolist() for found in NearestNeighbors(metric="bits").fit(codes).radius_neighbors(radius=2)[1]] == [[1], [0], []]
