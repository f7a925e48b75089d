#!/usr/bin/env python3
"""Writes the estimator modules of the Python package (ermine/tree.py, ...) from the registry's declared parameters.

    python tools/python_estimators.py            write them
    python tools/python_estimators.py --check    say which are out of date; exit code 1 if any is

Needs the installed package. The classes and where they live stand in ermine/_catalog.py; names, defaults, types and documentation of their
parameters come from Rust.
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from ermine import _data, _target
from ermine._catalog import CATALOG, MODULES, Entry
from ermine._ermine import fit, learners

PACKAGE = Path(__file__).resolve().parent.parent / "crates" / "ermine-python" / "python" / "ermine"
LEARNERS = {learner["info"]["name"]: learner for learner in json.loads(learners())}
WIDTH = 120

TITLES = {
    "dummy": "Predictors that ignore their input: what any other must beat.",
    "ensemble": "Many models that answer as one.",
    "tree": "Decision trees and stumps.",
}

#: Parameters that Python takes in another form than the rest of the house: type hint, type in words, documentation.
PYTHON_FORM = {
    "class_weight": ("Mapping[Any, float] | Literal[\"balanced\"] | None", "dict, 'balanced' or None",
                     "How much rows of each class count: {class: weight}, 1 for a class that is not named; 'balanced' for n_samples / "
                     "(n_classes * rows of the class)."),
    "estimator": ("str | Estimator", "str or estimator",
                  "The learner: another estimator of this package, or its name in the registry with parameters in brackets, such as "
                  "'decision-tree(max_depth=3)'. Its random_state, n_jobs and verbose are those of the whole."),
}

ATTRIBUTES = {
    "feature_importances": ("ndarray of shape (n_features_in_,)", "The share of each column in what all splits gain."),
    "n_leaves": ("int", "How many leaves the tree has."),
    "depth": ("int", "How many questions lie on the longest way to a leaf."),
    "oob_score": ("float", "The score on rows that members didn't see in training, where ``oob_score`` is set."),
    "n_estimators": ("int", "How many rounds there are."),
    "estimator_weights": ("ndarray of shape (n_rounds,)", "The vote of each round."),
    "estimator_errors": ("ndarray of shape (n_rounds,)", "The weighted error of each round; for numbers, its mean loss."),
    "train_errors": ("ndarray of shape (n_rounds,)", "The training error after each round; for numbers, the mean absolute error."),
    "normalizers": ("ndarray of shape (n_rounds,)", "What the weights of each round are divided by (Z)."),
    "train_error_bounds": ("ndarray of shape (n_rounds,)", "What the training error is at most: the product of the normalizers so far."),
    "oob_decision_function": ("ndarray of shape (n_samples, n_classes)",
                              "What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row."),
    "oob_prediction": ("ndarray of shape (n_samples,) or (n_samples, n_outputs)",
                       "What members say about the rows that they didn't see, where ``oob_score`` is set; NaN where all have seen a row."),
    "permutation_importances": ("ndarray of shape (n_features_in_,)",
                                "How much worse trees get on rows that they didn't see when a column is shuffled (accuracy lost, or squared error "
                                "gained), where ``permutation_importances`` is set."),
}

RANDOM_STATE = ("random_state", "int | np.random.RandomState | None", "None", "int, RandomState instance or None",
                "Every random choice follows from it; the same number gives the same model.")
WARM_START = ("warm_start", "bool", "False", "bool",
              "Whether fitting again keeps what is there and adds as many members as ``n_estimators`` says more; random_state then stays what it was.")
COMMON = (
    ("n_jobs", "int | None", "None", "int",
     "How many threads to use: None for all cores (or what OMP_NUM_THREADS allows), -1 for all, -2 for all but one. The model doesn't "
     "depend on it."),
    ("verbose", "int", "0", "int", "Shows a progress bar on long fits if not 0."),
)

EXAMPLE = {
    "classification": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = ["low"] * 6 + ["high"] * 6
        >>> model = {name}().fit(X, y)
        >>> model.predict([[1], [10]]).shape
        (2,)
        >>> model.classes_.tolist()
        ['high', 'low']
        """,
    "regression": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = [1.0] * 6 + [2.0] * 6
        >>> model = {name}().fit(X, y)
        >>> model.predict([[1], [10]]).shape
        (2,)
        """,
}


def type_hint(kind: Any) -> str:
    """The Python type of a declared kind."""
    if isinstance(kind, str):
        return {"bool": "bool", "int": "int", "float": "float", "text": "str"}[kind]
    ((word, inner),) = kind.items()
    if word == "choice":
        return f"Literal[{', '.join(json.dumps(choice) for choice in inner)}]"
    if word == "list":
        return f"Sequence[{type_hint(inner)}]"
    if word == "optional":
        return f"{type_hint(inner)} | None"
    return " | ".join(dict.fromkeys(type_hint(each) for each in inner))


def type_words(kind: Any) -> str:
    """The type as numpydoc says it."""
    if isinstance(kind, str):
        return {"bool": "bool", "int": "int", "float": "float", "text": "str"}[kind]
    ((word, inner),) = kind.items()
    if word == "choice":
        return "{" + ", ".join(repr(choice) for choice in inner) + "}"
    if word == "list":
        return f"list of {type_words(inner)}"
    if word == "optional":
        return f"{type_words(inner)} or None"
    return " or ".join(dict.fromkeys(type_words(each) for each in inner))


def literal(value: Any) -> str:
    """A default as Python source."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    return repr(value)


def parameters(entry: Entry) -> list[tuple[str, str, str, str, str]]:
    """Name, type hint, default, type in words and documentation of each parameter."""
    learner = LEARNERS[entry.learner]
    own = []
    for p in learner["params"]:
        if p["name"] not in entry.hidden:
            usual = (type_hint(p["kind"]), type_words(p["kind"]), p["doc"])
            hint, words, doc = PYTHON_FORM.get(p["name"], usual)
            if "balanced_subsample" in json.dumps(p["kind"]):
                hint = hint.replace('"balanced"', '"balanced", "balanced_subsample"')
                words = words.replace("'balanced'", "'balanced', 'balanced_subsample'")
                doc += " 'balanced_subsample' balances the rows that were drawn for each tree."
            own.append((p["name"], hint, literal(p["default"]), words, doc))
    return own + [RANDOM_STATE] * is_random(entry) + [WARM_START] * entry.goes_on + list(COMMON)


def is_random(entry: Entry) -> bool:
    return entry.seeded or LEARNERS[entry.learner]["info"]["capabilities"]["random"]


def attributes(entry: Entry) -> list[str]:
    """Names of the numbers that a fitted model shows, found by fitting one."""
    table, _ = _data.read([[float(i)] for i in range(12)], entry.name, False)
    y = [0] * 6 + [1] * 6
    target, _ = _target.classes(y, 12) if entry.task == "classification" else _target.values(y, 12, False)
    names = {p["name"] for p in LEARNERS[entry.learner]["params"]}
    params = {name: True for name in ("oob_score", "bootstrap", "permutation_importances") if name in names}
    return list(fit(entry.learner, params, table, target, None, seed=0, threads=1, note="{}").attributes())


def paragraph(text: str, indent: int) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)


def docstring(entry: Entry, params: list[tuple[str, str, str, str, str]]) -> str:
    info = LEARNERS[entry.learner]["info"]
    lines = [f'    """{info["summary"][0].upper()}{info["summary"][1:]}.', "", "    Parameters", "    ----------"]
    for name, _, default, words, doc in params:
        lines += [f"    {name} : {words}, default={default}", paragraph(doc, 8)]
    lines += ["", "    Attributes", "    ----------"]
    if entry.task == "classification":
        lines += ["    classes_ : ndarray of shape (n_classes,)", "        The distinct labels in ascending order."]
    lines += [
        "    n_features_in_ : int", "        How many columns it was fitted on.",
        "    feature_names_in_ : ndarray of shape (n_features_in_,)", "        Their names, where the data had names.",
        *(line for name in attributes(entry) for line in (f"    {name}_ : {ATTRIBUTES[name][0]}", f"        {ATTRIBUTES[name][1]}")),
        "    certificate_ : Certificate", "        What was minimised, and what is proven about it.",
        "", "    Examples", "    --------",
    ]
    example = textwrap.dedent(EXAMPLE[entry.task]).strip().format(module=entry.module, name=entry.name)
    lines += [f"    {line}" for line in example.splitlines()] + ['    """']
    return "\n".join(lines)


def bases(entry: Entry) -> list[str]:
    return ["Tree"] * entry.tree + [entry.many] * bool(entry.many) + [base(entry)]


def base(entry: Entry) -> str:
    if entry.task == "regression":
        return "Regressor"
    return "ProbabilisticClassifier" if LEARNERS[entry.learner]["info"]["capabilities"]["probabilities"] else "MarginClassifier"


def facts(entry: Entry) -> list[str]:
    """What the class says about its learner, as far as it differs from its base."""
    can = LEARNERS[entry.learner]["info"]["capabilities"]
    own = tuple(p["name"] for p in LEARNERS[entry.learner]["params"] if p["name"] not in entry.hidden)
    said = {
        "_learner": (entry.learner, None),
        "_parameters": (own, None),
        "_takes_sparse": (can["sparse"], False),
        "_is_random": (is_random(entry), False),
        "_poor_score": (entry.poor_score, False),
        "_binary_only": (can["binary_only"] and entry.task == "classification", False),
        "_multi_output": (can["multi_output"] and entry.task == "regression", False),
    }
    return [f"    {name} = {literal(value)}" for name, (value, usual) in said.items() if value != usual]


def class_source(entry: Entry) -> str:
    params = parameters(entry)
    lines = [f"class {entry.name}({', '.join(bases(entry))}):", docstring(entry, params), "", *facts(entry), "", "    def __init__(", "        self,", "        *,"]
    lines += [f"        {name}: {hint} = {default}," for name, hint, default, _, _ in params]
    lines += ["    ) -> None:"] + [f"        self.{name} = {name}" for name, *_ in params]
    return "\n".join(lines)


def module_source(module: str) -> str:
    entries = [entry for entry in CATALOG if entry.module == module]
    body = "\n\n\n".join(class_source(entry) for entry in entries)
    names = ", ".join(f'"{entry.name}"' for entry in entries)
    many = {entry.many for entry in entries} - {""}
    ours = {name for entry in entries for name in bases(entry)} - many | ({"Estimator"} if "| Estimator" in body else set())
    imports = []
    for source, names_there in (("collections.abc", ("Mapping", "Sequence")), ("typing", ("Any", "Literal"))):
        used = [name for name in names_there if f"{name}[" in body or f"[{name}," in body]
        imports += [f"from {source} import {', '.join(used)}"] * bool(used)
    imports += [""] * bool(imports)
    imports += ["import numpy as np", ""] * ("np." in body)
    imports += [f"from ermine._ensemble import {', '.join(sorted(many))}"] * bool(many)
    imports += [f"from ermine._estimator import {', '.join(sorted(ours))}"]
    head = f'"""{TITLES[module]}\n\nWritten by tools/python_estimators.py from the parameters that the learners declare: change them there.\n"""\n'
    return "\n".join([head, *imports, "", f"__all__ = [{names}]", "", "", body, ""])


def main() -> int:
    stale = []
    for module in MODULES:
        path, source = PACKAGE / f"{module}.py", module_source(module)
        if not path.exists() or path.read_text() != source:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(source)
    print(f"{'out of date' if '--check' in sys.argv else 'written'}: {', '.join(stale) or 'nothing'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
