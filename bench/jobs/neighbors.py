"""Nearest neighbours: 200,000 points, 20,000 queries, k = 5, exact results; the building of the index; binary codes; digits."""

import functools
import gzip

from harness import DATA, OURS, Job

K = 5


def make(d):
    import numpy as np

    rng = np.random.default_rng(d)
    points, queries = (rng.normal(size=(n, d)).astype(np.float32) for n in (200_000, 20_000))
    return {"points": points, "queries": queries}


def make_codes():
    import numpy as np

    rng = np.random.default_rng(0)
    points, queries = (rng.integers(0, 256, size=(n, 32), dtype=np.uint8) for n in (200_000, 20_000))
    return {"points": points, "queries": queries}


def make_digits():
    import numpy as np

    with gzip.open(DATA / "mnist_10k.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    X, y = table[:, 1:].astype(np.float32), table[:, 0].astype(int)
    return {"X": X[:8000], "y": y[:8000], "test": X[8000:], "truth": y[8000:]}


# Searching an index that is there. Each gives distances, and how many times the data the index holds where it can tell.


def ermine(data):
    from ermine.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=K, n_jobs=2).fit(data["points"])
    memory = index._index.bytes() / data["points"].nbytes
    return lambda: (index.kneighbors(data["queries"])[0], memory)


def intelex(data, algorithm):
    from sklearnex.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=K, algorithm=algorithm, n_jobs=2).fit(data["points"])
    return lambda: (index.kneighbors(data["queries"])[0], None)


def sklearn(data):
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=K, n_jobs=2).fit(data["points"])
    return lambda: (index.kneighbors(data["queries"])[0], None)


def pykdtree(data):
    from pykdtree.kdtree import KDTree

    index = KDTree(data["points"])
    return lambda: (index.query(data["queries"], k=K)[0], None)


def scipy(data):
    from scipy.spatial import cKDTree

    index = cKDTree(data["points"])
    return lambda: (index.query(data["queries"], k=K, workers=2)[0], None)


def faiss_flat(data):
    import faiss
    import numpy as np

    faiss.omp_set_num_threads(2)
    index = faiss.IndexFlatL2(data["points"].shape[1])
    index.add(data["points"])
    return lambda: (np.sqrt(np.maximum(index.search(data["queries"], K)[0], 0)), None)


def distances(_, result):
    found, memory = result
    return {"sum of distances": float(found.astype("f8").sum())} | ({"memory / data": memory} if memory else {})


# Building it.


def ermine_build(data):
    from ermine.neighbors import NearestNeighbors

    return lambda: NearestNeighbors(n_jobs=2).fit(data["points"])


def pykdtree_build(data):
    from pykdtree.kdtree import KDTree

    return lambda: KDTree(data["points"])


# Codes of 256 bits.


def ermine_codes(data):
    from ermine.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=K, metric="bits", n_jobs=2).fit(data["points"])
    memory = index._index.bytes() / data["points"].nbytes
    return lambda: (index.kneighbors(data["queries"])[0], memory)


def faiss_binary(data):
    import faiss

    faiss.omp_set_num_threads(2)
    index = faiss.IndexBinaryFlat(8 * data["points"].shape[1])
    index.add(data["points"])
    return lambda: (index.search(data["queries"], K)[0], None)


# Digits: fitting and predicting.


def ermine_digits(data):
    from ermine.neighbors import KNeighborsClassifier

    return lambda: KNeighborsClassifier(n_neighbors=1, n_jobs=2).fit(data["X"], data["y"]).predict(data["test"])


def sklearn_digits(data):
    from sklearn.neighbors import KNeighborsClassifier

    return lambda: KNeighborsClassifier(n_neighbors=1, n_jobs=2).fit(data["X"], data["y"]).predict(data["test"])


def error(data, predicted):
    return {"error": float((predicted != data["truth"]).mean())}


def search(d, goal, algorithm):
    trees = {"pykdtree": pykdtree, "scipy cKDTree": scipy} if d <= 10 else {}
    peers = {f"scikit-learn-intelex {algorithm}": functools.partial(intelex, algorithm=algorithm), **trees, "FAISS flat": faiss_flat, "scikit-learn": sklearn}
    goals = {name: goal for name in peers}
    return Job(f"neighbours 200,000 x {d}", functools.partial(make, d), {OURS: ermine, **peers}, distances, goals)


def build(d):
    return Job(f"neighbour index 200,000 x {d}", functools.partial(make, d), {OURS: ermine_build, "pykdtree": pykdtree_build}, goals={"pykdtree": 1.0})


JOBS = [
    search(3, 1.8, "kd_tree"),
    search(10, 4.0, "kd_tree"),
    search(50, 3.0, "brute"),
    build(3),
    build(10),
    Job("neighbours 200,000 x 256 bits", make_codes, {OURS: ermine_codes, "FAISS binary flat": faiss_binary}, distances, {"FAISS binary flat": 1 / 1.5}),
    Job("1-NN on digits", make_digits, {OURS: ermine_digits, "scikit-learn": sklearn_digits}, error),
]
