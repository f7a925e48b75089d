"""Columns of text: numbers are numbers, as in scikit-learn; categories are categories; identifiers are ignored with a warning."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ermine
from ermine.linear_model import LogisticRegression
from ermine.tree import DecisionTreeClassifier


def numbers_and_classes(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(6)
    return X, (X[:, 0] + 0.2 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("form", [lambda X: X.astype(str), lambda X: X.astype(str).astype(object), lambda X: X.astype("S"), lambda X: pd.DataFrame(X.astype(str)), lambda X: pl.DataFrame(X.astype(str).tolist(), orient="row")])
def test_text_that_is_numbers_is_numbers(form):
    X, y = numbers_and_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(form(X), y)
        np.testing.assert_array_equal(model.predict(form(X)), DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y).predict(X))


@pytest.mark.parametrize("form", [lambda X: X, pd.DataFrame, lambda X: X.astype(str)])
def test_text_among_numbers_is_an_error_with_its_row(form):
    X, y = numbers_and_classes()
    X = X.astype(object)
    X[17, 1] = "?"
    with pytest.raises(ValueError, match=r"could not convert string to float: '\?' \(row 17 of column"):
        DecisionTreeClassifier().fit(form(X), y)


def test_text_means_the_same_in_fit_and_predict():
    frame = pd.DataFrame({"children": ["0", "1", "2", "3+"] * 20})
    y = [0, 0, 1, 1] * 20
    model = DecisionTreeClassifier().fit(frame, y)
    # The first rows alone look like numbers.
    np.testing.assert_array_equal(model.predict(frame[:3]), y[:3])
    numbers = DecisionTreeClassifier().fit(pd.DataFrame({"x": ["1", "2", "3", "4"] * 20}), y)
    with pytest.raises(ValueError, match="could not convert string to float: 'many'"):
        numbers.predict(pd.DataFrame({"x": ["many"]}))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("cls", [DecisionTreeClassifier, LogisticRegression])
def test_a_text_column_that_identifies_rows_is_ignored_with_a_warning(cls, frame, tmp_path):
    X, y = numbers_and_classes()
    columns = {f"x{j}": X[:, j] for j in range(3)}
    named = frame(columns | {"id": [f"customer {i}" for i in range(len(X))]})
    with pytest.warns(UserWarning, match="column 'id' is text with 200 different values in 200 rows"):
        model = cls().fit(named, y)
    other = frame(columns | {"id": [f"visitor {i}" for i in range(len(X))]})
    plain = cls().fit(frame(columns), y)
    np.testing.assert_array_equal(model.predict(other), plain.predict(frame(columns)))
    model.save(tmp_path / "model.ermine")
    np.testing.assert_array_equal(ermine.load(tmp_path / "model.ermine").predict(other), model.predict(other))
