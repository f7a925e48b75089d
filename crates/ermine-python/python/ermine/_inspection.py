"""What every fitted estimator can tell and do: its certificate, itself in words and pictures, files for others, reports."""

import json
import os
from typing import Any

import numpy as np

from ermine import _target
from ermine._certificate import Certificate
from ermine._ermine import Model, Table, Target, partial_dependence, permutation, report
from ermine._base import EstimatorBase
from ermine._report import Report


class Inspectable(EstimatorBase):
    """Methods of all fitted estimators."""

    n_jobs: int | None
    n_features_in_: int

    def _fitted(self) -> Model:
        raise NotImplementedError

    def _read_like_fitted(self, X: Any) -> Table:
        raise NotImplementedError

    @property
    def certificate_(self) -> Certificate:
        """What was minimized, and what is proven about it."""
        model = self._fitted()
        return Certificate.of(json.loads(model.header())["certificate"], model.certificate())

    def describe(self) -> str:
        """The fitted model as text: training data, certificate and structure."""
        return f"{self._facts()}\n\n{self._fitted().text()}"

    def _facts(self) -> str:
        model = self._fitted()
        n_rows = json.loads(model.header())["n_rows"]
        return f"{self!r}\ntrained on {n_rows} rows and {self.n_features_in_} columns\n{model.certificate()}"

    def _require_result(self, what: str, result: str | None) -> str:
        if result is None:
            raise ValueError(f"there is no {what} of this {type(self).__name__}")
        return result

    def _picture(self) -> str | None:
        """The picture, where there is one."""
        return self._fitted().svg()

    def svg(self) -> str:
        """The fitted model as an SVG drawing; an error if the model has none."""
        return self._require_result("picture", self._picture())

    def html(self) -> str:
        """The fitted model as an HTML page (for a tree, with collapsible branches); an error if the model has none."""
        return self._require_result("page", self._fitted().html())

    def dot(self) -> str:
        """The fitted model in Graphviz DOT format; an error if the model is not a graph."""
        return self._require_result("graph", self._fitted().dot())

    def rules(self) -> str:
        """The fitted model as if-then rules with coverage and precision; an error if it has no rules."""
        return self._require_result("set of rules", self._fitted().rules())

    def explain_row(self, X: Any, row: int = 0) -> str:
        """Explains the prediction of row ``row`` of ``X``: the decision path of a tree, the terms of a linear model, or the largest SHAP values of an ensemble; an error if the model supports none of these."""
        model = self._fitted()
        table = self._read_like_fitted(X)
        return self._require_result("explanation of single predictions", model.explain_row(table, row))

    def export(self, path: "str | os.PathLike[str]", format: str | None = None) -> None:
        """Exports the fitted model.

        Parameters
        ----------
        path : str or path-like
            The output file. An existing file is replaced.
        format : {"onnx", "c", "rust", "json"}, default=None
            ONNX, or a source file without dependencies, of a model that is a sum of trees; JSON of any model. By default what the file's ending says.
        """
        endings = {".onnx": "onnx", ".c": "c", ".h": "c", ".rs": "rust", ".json": "json"}
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if format is None and ending not in endings:
            raise ValueError(f"what to export is not seen from the ending {ending!r}: say format='onnx', 'c', 'rust' or 'json'")
        data = self._fitted().export(format or endings[ending])
        with open(path, "wb") as file:
            file.write(data)

    def predictor(self) -> Any:
        """A function for predicting one row, again and again: ``predictor(row)`` gives the numbers of a row of float64 or float32, categories as their codes.

        For models that are sums of trees. They are the numbers of ``predict_proba``, or of ``predict`` for numbers; nothing is checked or set up in a call.
        """
        return self._fitted().row_predictor()

    def partial_dependence(self, X: Any, column: int | str, n_values: int = 50, n_curves: int = 0) -> dict[str, Any]:
        """Partial dependence on one column, and individual conditional expectation curves.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows to average over.
        column : int or str
            The column, by number or name.
        n_values : int, default=50
            Number of quantiles of the column to evaluate; all categories of a nominal column.
        n_curves : int, default=0
            Of how many rows, from the first on, curves are kept.

        Returns
        -------
        dict
            ``values``: what the column was set to (names of categories, where it has categories); ``mean``: the mean prediction at each, of shape
            (n_values, n_outputs); ``curves``: the predictions for single rows, of shape (n_curves, n_values), of the last output.
        """
        model = self._fitted()
        table = self._read_like_fitted(X)
        if isinstance(column, str):
            known = list(self.__dict__.get("feature_names_in_", []))
            if column not in known:
                raise ValueError(f"no column named {column!r}: there are {known}")
            column = known.index(column)
        values, categories, mean, curves = partial_dependence(model, table, int(column), int(n_values), int(n_curves), self.n_jobs)
        return {"values": np.array(values if categories is None else categories), "mean": mean, "curves": curves}

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Saves the fitted model to a file that ``ermine.load``, the command line and Rust can read. An existing file is replaced atomically."""
        self._fitted().save(os.fspath(path))

    def report(self, X: Any, y: Any, *, sample_weight: Any = None, random_state: int = 0) -> Report:
        """Evaluates the fitted model on a test set: scores with intervals, curves, feature importances and the worst predictions.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The test set.
        y : array-like of shape (n_samples,)
            The true target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.
        random_state : int, default=0
            The columns are shuffled by it, and rows are drawn where there are many.

        Returns
        -------
        Report
            Shows itself as a page in a notebook and as text elsewhere; ``save`` writes the page, ``data`` holds all of it.
        """
        return self._report(X, y, sample_weight, None, random_state)

    def _report(self, X: Any, y: Any, sample_weight: Any, of_rows: np.ndarray | None, random_state: int) -> Report:
        model = self._fitted()
        table = self._read_like_fitted(X)
        weights = _target.weights(sample_weight, table.n_rows)
        result = report(model, table, self._truth(y, table.n_rows), weights, of_rows, seed=random_state, n_jobs=self.n_jobs)
        return Report(*result)

    def permutation_importance(self, X: Any, y: Any, *, sample_weight: Any = None, n_repeats: int = 5, random_state: int = 0) -> np.ndarray:
        """Permutation importance of each feature on a test set.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The test set.
        y : array-like of shape (n_samples,)
            The true target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.
        n_repeats : int, default=5
            How often each column is shuffled.
        random_state : int, default=0
            The columns are shuffled by it.

        Returns
        -------
        ndarray of shape (n_features,)
            The mean loss of accuracy (classes), or growth of the root mean squared error (numbers).
        """
        model = self._fitted()
        table = self._read_like_fitted(X)
        weights = _target.weights(sample_weight, table.n_rows)
        truth = self._truth(y, table.n_rows)
        found, _ = permutation(model, table, truth, weights, None, n_repeats=n_repeats, seed=random_state, n_jobs=self.n_jobs)
        return np.array(found)

    def _truth(self, y: Any, n_rows: int) -> Target:
        """What is true about the rows of a report."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        import html

        model = self.__dict__.get("_model")
        if model is None:
            return f"<pre>{html.escape(repr(self))}</pre>"
        picture = self._picture()
        if picture is None:
            return f"<pre>{html.escape(self.describe())}</pre>"
        return f"<pre>{html.escape(self._facts())}</pre>{picture}<details><summary>as text</summary><pre>{html.escape(model.text())}</pre></details>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
