"""Writes the data sets of crates/ermine/tests/data that come from scikit-learn's package: python tools/test_data.py

The other files there are copies; the README beside them names source and license of each.
"""

import gzip
import pathlib

from sklearn import datasets

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/ermine/tests/data"


def save(name, data, target, labels):
    lines = [",".join([*(str(column) for column in data.feature_names), target])]
    lines += [",".join([*(f"{value:g}" for value in row), labels[code]]) for row, code in zip(data.data, data.target)]
    # Without a time stamp, so that the same data gives the same bytes.
    (OUT / name).write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))


iris, wine, digits = datasets.load_iris(), datasets.load_wine(), datasets.load_digits()
save("iris.csv.gz", iris, "class", list(iris.target_names))
save("wine.csv.gz", wine, "class", list(wine.target_names))
save("digits.csv.gz", digits, "label", [str(digit) for digit in digits.target_names])
