"""A report about a model on rows it has not seen."""

import json
import os
from typing import Any, NamedTuple


class Score(NamedTuple):
    """A score and the interval that 95 % of repetitions would contain."""

    value: float
    low: float
    high: float


class Report:
    """The result of ``model.report(X, y)``.

    Attributes
    ----------
    html : str
        A self-contained HTML page.
    text : str
        The same for a terminal; ``print(report)`` shows it.
    data : dict
        The same as data: scores, curves, importances, the worst rows, ...
    """

    html: str
    text: str
    data: dict[str, Any]

    def __init__(self, html: str, text: str, data: str) -> None:
        self.html, self.text, self.data = html, text, json.loads(data)

    @property
    def scores(self) -> dict[str, Score]:
        """The scores by name, the most important first."""
        return {each["name"]: Score(**each["score"]) for each in self.data["evaluation"]["scores"]}

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"<report on {self.data['evaluation']['n_rows']} rows>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        import html

        # A frame of its own keeps the page's style and the notebook's apart.
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'
