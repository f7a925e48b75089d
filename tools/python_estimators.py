#!/usr/bin/env python3
"""Generates the Python estimator classes and the reference pages from what the learners declare in Rust.

    python tools/python_estimators.py            write the files
    python tools/python_estimators.py --check    list the files that are out of date; exit code 1 if there are any

Writes ``ermine/tree.py`` and the other estimator modules, the list of classes ``ermine/_catalog.py`` and ``docs/reference/``. Names, defaults, types and
documentation of parameters and attributes come from the registry; ``tools/python_catalog.py`` lists where a class differs from the default. Needs the
installed package, built from the same sources (``make python``).
"""

import json
import re
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from python_catalog import (
    CALLABLES, CHOICES, CLASSES, COMMON, FAMILIES, LEFT_OUT, OWN_ESTIMATOR, PROBABILITY, PYTHON_FORM, RANDOM_STATE, RELATED, SOLVERS, TRANSLATED, WARM_START, WITHOUT_EFFECT, Class,
)

from ermine import _data, _ranking, _target
from ermine._ermine import fit, learners, measures

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "crates" / "ermine-python" / "python" / "ermine"
REFERENCE = ROOT / "docs" / "reference"
LEARNERS = {learner["info"]["name"]: learner for learner in json.loads(learners())}
WIDTH = 120

SUFFIX = {"classification": "Classifier", "multilabel": "Classifier", "ranking": "Ranker", "regression": "Regressor"}
BASE = {"multilabel": "_multilabel.BinaryRelevance", "ranking": "_ranking.Ranker", "regression": "_estimator.Regressor"}


class Entry(NamedTuple):
    """A class to generate."""

    module: str
    name: str
    differences: Class

    @property
    def learner(self) -> str:
        return self.differences.learner

    @property
    def task(self) -> str:
        return self.differences.task


@cache
def entries() -> list[Entry]:
    """Every learner and task of the registry, in its order, with the classes of the catalog or else the default class."""
    found = []
    for name, learner in LEARNERS.items():
        if name in LEFT_OUT:
            continue
        camel = "".join(word.capitalize() for word in name.split("-"))
        module = FAMILIES[learner["info"]["family"]].module
        for task in learner["info"]["capabilities"]["tasks"]:
            listed = [one for one in CLASSES if (one.learner, one.task) == (name, task)] or [Class(name, task)]
            found += [Entry(module, one.name or camel + SUFFIX[task], one) for one in listed]
    unused = {(one.learner, one.task) for one in CLASSES} - {(entry.learner, entry.task) for entry in found}
    if unused:
        sys.exit(f"python_catalog.py lists classes that the registry has no learner or task for: {sorted(unused)}")
    return found


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
    "multilabel": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = [[i % 2, int(i > 5)] for i in range(12)]
        >>> model = {name}().fit(X, y)
        >>> model.predict([[1], [10]]).shape
        (2, 2)
        """,
    "ranking": """
        >>> from ermine.{module} import {name}
        >>> X = [[i] for i in range(12)]
        >>> y = [0, 0, 1, 2, 3, 4] * 2
        >>> model = {name}().fit(X, y, group=[6, 6])
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
    differences, own = entry.differences, []
    for p in LEARNERS[entry.learner]["params"]:
        if p["name"] in differences.hidden:
            continue
        hint, words, doc = PYTHON_FORM.get(p["name"], (type_hint(p["kind"]), type_words(p["kind"]), p["doc"]))
        if p["name"] == "estimator" and entry.name in ("LabelPowersetClassifier", "OmegaRanker", "PairwiseRanker"):
            doc = OWN_ESTIMATOR
        if p["name"] == "class_weight" and entry.module in ("tree", "ensemble"):
            doc += " Sample weights are taken into account."
        if "balanced_subsample" in json.dumps(p["kind"]):
            hint = hint.replace('"balanced"', '"balanced", "balanced_subsample"')
            words = words.replace("'balanced'", "'balanced', 'balanced_subsample'")
            doc += " 'balanced_subsample' balances the rows drawn for each tree."
        if p["name"] in differences.callables:
            function, what = CALLABLES[p["name"]]
            hint, words, doc = f"{hint} | {function}", f"{words} or callable", f"{doc} {what}"
        if (entry.name, p["name"]) in CHOICES:
            choices, less = CHOICES[entry.name, p["name"]]
            hint, words, doc = type_hint({"choice": choices}), type_words({"choice": choices}), less or doc
        if p["name"] == "eval_metric":
            choices = ("loss", *measures(entry.task))
            hint, words = type_hint({"choice": choices}), type_words({"choice": choices})
        if p["name"] == "scoring":
            choices = tuple(measures(entry.task))
            hint, words = f"{type_hint({'choice': choices})} | None", f"{type_words({'choice': choices})} or None"
        default = dict(differences.defaults).get(p["name"], p["default"])
        if default is None and not hint.endswith(("None", "Any")):
            hint, words = f"{hint} | None", f"{words} or None"
        elif default is not None and default is not p["default"]:
            hint, words = hint.removesuffix(" | None"), words.removesuffix(" or None")
        if default == "auto" and hint == "int":
            hint, words, doc = 'int | Literal["auto"]', "int or 'auto'", doc.replace("0 for", "'auto' for").replace("; 0 ", "; 'auto' ")
        if isinstance(default, (int, float)) and hint.startswith("Sequence"):
            hint, words = f"{type(default).__name__} | {hint}", f"{type(default).__name__} or {words}"
        own.append((p["name"], hint, literal(default), words, doc))
    for name in differences.without_effect:
        hint, default, words, why = WITHOUT_EFFECT[name]
        own.append((name, hint, default or SOLVERS[entry.name], words, f"Accepted for compatibility with scikit-learn, without effect: {why}"))
    own += [(name, *TRANSLATED[entry.name][name]) for name in differences.translated]
    positional = differences.positional
    own.sort(key=lambda parameter: positional.index(parameter[0]) if parameter[0] in positional else len(positional))
    own += [PROBABILITY] * ("kernel" in differences.callables and entry.task == "classification")
    return own + [RANDOM_STATE] * is_random(entry) + [WARM_START] * differences.warm_start + list(COMMON)


def is_random(entry: Entry) -> bool:
    return entry.differences.seeded or LEARNERS[entry.learner]["info"]["capabilities"]["random"]


@cache
def attributes(entry: Entry) -> list[tuple[str, str, str]]:
    """Name, type and documentation of the attributes of a fitted model, found by fitting one."""
    table, _ = _data.read([[float(i)] for i in range(12)], entry.name, False)
    y = [0] * 6 + [1] * 6
    if entry.task == "ranking":
        target = _ranking.relevance(y, 12)
    elif entry.task == "multilabel":
        target, _, _ = _target.labels([[i % 2, int(i > 5)] for i in range(12)], 12)
    else:
        target, _ = _target.classes(y, 12) if entry.task == "classification" else _target.values(y, 12, False)
    names = {p["name"] for p in LEARNERS[entry.learner]["params"]} - set(entry.differences.hidden)
    # Settings that add attributes.
    wanted = (("pruning", "cross_validation"), ("oob_score", True), ("bootstrap", True), ("permutation_importances", True), ("max_neighbors", 3), ("keep", "condensed"))
    params = {name: value for name, value in wanted if name in names}
    group = _ranking.queries([12], None, 12) if entry.task == "ranking" else None
    return fit(entry.learner, params, table, target, None, seed=0, threads=1, note="{}", group=group).attribute_docs()


def paragraph(text: str, indent: int) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)


def summary(entry: Entry) -> str:
    text = LEARNERS[entry.learner]["info"]["summary"]
    return f"{text[0].upper()}{text[1:]}."


def see_also(entry: Entry) -> list[str]:
    """The lines of the section "See Also": the same learner for other tasks, then related learners for the same task."""
    same = [other for other in entries() if other.learner == entry.learner and other.name != entry.name]
    names = {other.name for other in same}
    related = [other for learner in RELATED.get(entry.learner, ()) for other in entries() if (other.learner, other.task) == (learner, entry.task) and other.name not in names]
    texts = [f"The same learner for {other.task}." if other.task != entry.task else summary(other) for other in same] + [summary(other) for other in related]
    lines = [
        textwrap.fill(f"{qualified(entry, other)} : {text}", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
        for other, text in zip([*same, *related], texts, strict=True)
    ]
    return ["", "    See Also", "    --------", *lines] if lines else []


def qualified(entry: Entry, other: Entry) -> str:
    """The name of a class as seen from the module of another."""
    return other.name if other.module == entry.module else f"ermine.{other.module}.{other.name}"


def docstring(entry: Entry, params: list[tuple[str, str, str, str, str]]) -> str:
    lines = [f'    """{summary(entry)}', "", "    Parameters", "    ----------"]
    for name, _, default, words, doc in params:
        lines += [f"    {name} : {words}, default={default}", paragraph(doc, 8)]
    lines += ["", "    Attributes", "    ----------"]
    if entry.task == "classification":
        lines += ["    classes_ : ndarray of shape (n_classes,)", "        The class labels in ascending order."]
    if entry.task == "multilabel":
        lines += ["    label_names_ : ndarray of shape (n_labels,)", "        The names of the labels."]
    lines += [
        "    n_features_in_ : int", "        Number of features in the training data.",
        "    feature_names_in_ : ndarray of shape (n_features_in_,)", "        Names of the features, if the training data had names.",
    ]
    for name, words, doc in attributes(entry):
        lines += [f"    {name}_ : {words}", paragraph(doc, 8)]
    lines += ["    certificate_ : Certificate", "        What was minimized, and what is proven about it."]
    lines += [*see_also(entry), "", "    Examples", "    --------"]
    example = textwrap.dedent(EXAMPLE[entry.task]).strip().format(module=entry.module, name=entry.name)
    lines += [f"    {line}" for line in example.splitlines()] + ['    """']
    return "\n".join(lines)


def bases(entry: Entry) -> list[str]:
    """Base classes, as "module.Class"."""
    shown = {name for name, _, _ in attributes(entry)}
    base = entry.differences.base or BASE.get(entry.task)
    if base is None:
        base = "_estimator.ProbabilisticClassifier" if LEARNERS[entry.learner]["info"]["capabilities"]["probabilities"] else "_estimator.MarginClassifier"
    named = entry.module == "linear_model" and "coef" in shown
    return ["_linear.CoefficientNames"] * named + ["_tree.TreeMethods"] * ({"n_leaves", "depth"} <= shown) + [*entry.differences.mixins, base]


def facts(entry: Entry) -> list[str]:
    """The class attributes that differ from those of the base."""
    can = LEARNERS[entry.learner]["info"]["capabilities"]
    own = tuple(p["name"] for p in LEARNERS[entry.learner]["params"] if p["name"] not in entry.differences.hidden)
    values = {
        "_learner": (entry.learner, None),
        "_parameters": (own, None),
        "_takes_sparse": (can["sparse"], False),
        "_is_random": (is_random(entry), False),
        "_poor_score": (entry.differences.poor_score, False),
        "_multi_output": (can["multi_output"] and entry.task == "regression", False),
    }
    return [f"    {name} = {literal(value)}" for name, (value, usual) in values.items() if value != usual]


def class_source(entry: Entry) -> str:
    params = parameters(entry)
    names = bases(entry)
    # Nearest neighbors take no weights.
    narrower = "  # type: ignore[misc]" * (entry.module == "neighbors")
    lines = [f"class {entry.name}({', '.join(names)}):{narrower}", docstring(entry, params), "", *facts(entry), "", "    def __init__(", "        self,"]
    for place, (name, hint, default, _, _) in enumerate(params):
        lines += ["        *,"] * (place == len(entry.differences.positional)) + [f"        {name}: {hint} = {default},"]
    lines += ["    ) -> None:"] + [f"        self.{name} = {name}" for name, *_ in params]
    return "\n".join(lines)


def quoted(names: list[str]) -> str:
    """A list of names as Python source, folded."""
    return textwrap.fill(", ".join(f'"{name}"' for name in names) + ",", WIDTH, initial_indent="    ", subsequent_indent="    ")


def module_source(family: str, all_entries: list[Entry]) -> str:
    module, title, exports, forwarded = FAMILIES[family]
    mine = [entry for entry in all_entries if entry.module == module]
    body = "\n\n\n".join(class_source(entry) for entry in mine)
    exported = [(source, name) for source, names in exports for name in names]
    sources = sorted({base.split(".")[0] for entry in mine for base in bases(entry)})
    imports = ["import typing as _typing", "", f"from ermine import {', '.join(sources)}"]
    imports += ["from ermine._forwarding import forward_names as _forward_names"] * bool(forwarded)
    imports += [f"from ermine.{source} import {', '.join(sorted(name for there, name in exported if there == source))}" for source in sorted({source for source, _ in exported})]
    hints = []
    for source, names_there in (("collections.abc", ("Callable", "Mapping", "Sequence")), ("typing", ("Any", "Literal"))):
        used = [name for name in names_there if re.search(rf"(: |\| |\[){name}\b", body)]
        hints += [f"    from {source} import {', '.join(used)}"] * bool(used)
    hints += [""] * bool(hints) + ["    import numpy as np"] * ("np." in body)
    imports += ["", "if _typing.TYPE_CHECKING:", *hints] if hints else []
    head = (
        f'"""{title}\n\nGenerated by tools/python_estimators.py from what the learners declare: change them there.\n"""\n\n'
        "# Annotations stay text: what only they need is not imported, and the module has public names only.\nfrom __future__ import annotations\n"
    )
    names = quoted([*(entry.name for entry in mine), *(name for _, name in exported)])
    handed = [f"__getattr__ = _forward_names({literal(module)}, __all__, {literal(forwarded)})", "", ""] if forwarded else [""]
    return "\n".join([head, *imports, "", "__all__ = [", names, "]", "", *handed, body, ""])


CATALOG_SOURCE = '''"""The list of estimator classes and the learners they stand for.

Generated by tools/python_estimators.py: change what the learners declare, or tools/python_catalog.py.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """An estimator class."""

    module: str
    name: str
    learner: str
    task: str
    #: Parameters that may be passed by position.
    positional: tuple[str, ...] = ()
    #: Parameters of scikit-learn that are accepted without effect.
    without_effect: tuple[str, ...] = ()


CATALOG: tuple[Entry, ...] = (
{lines}
)

#: Public modules: those of the classes, and others.
MODULES: tuple[str, ...] = {modules}


def find(name: str | None, learner: str, task: str) -> Entry:
    """The class for a model file: the one with this name, or else the first one for the learner and task."""
    # By name whatever the task: a classifier of several targets learns numbers.
    named = [entry for entry in CATALOG if entry.learner == learner and entry.name == name]
    fitting = named or [entry for entry in CATALOG if (entry.learner, entry.task) == (learner, task)]
    if not fitting:
        raise ValueError(f"no estimator class for a {{learner}} model for {{task}}")
    return fitting[0]
'''


def catalog_source(all_entries: list[Entry]) -> str:
    lines = []
    for entry in all_entries:
        fields = [literal(value) for value in (entry.module, entry.name, entry.learner, entry.task)]
        for name in ("positional", "without_effect"):
            value = getattr(entry.differences, name)
            fields += [f"{name}={literal(value)}"] * bool(value)
        lines.append(f"    Entry({', '.join(fields)}),")
    modules = sorted({entry.module for entry in all_entries} | {"metrics", "model_selection"})
    return CATALOG_SOURCE.format(lines="\n".join(lines), modules=literal(tuple(modules)))


ABILITIES = {
    "binary_only": "two classes only (more by reduction)", "multi_output": "several targets", "weights": "sample weights", "missing": "missing values", "nominal": "categories",
    "sparse": "sparse columns", "probabilities": "probabilities", "random": "depends on the random seed",
}


def reference_source(family: str, all_entries: list[Entry]) -> str:
    """The reference page of a family: each learner with its tasks, abilities, classes, parameters and attributes."""
    module, title, _, _ = FAMILIES[family]
    lines = [f"# {title.rstrip('.')}", "", "<!-- Generated by tools/python_estimators.py from what the learners declare. -->", ""]
    for name, learner in LEARNERS.items():
        info = learner["info"]
        if info["family"] != family:
            continue
        mine = [entry for entry in all_entries if entry.learner == name]
        text = info["summary"]
        lines += [f"## {name}", "", f"{text[0].upper()}{text[1:]}.", ""]
        lines += [f"- Tasks: {', '.join(info['capabilities']['tasks'])}"]
        lines += [f"- Supports: {', '.join(words for key, words in ABILITIES.items() if info['capabilities'][key]) or 'no extras'}"]
        lines += [f"- Python: {', '.join(f'`ermine.{module}.{entry.name}`' for entry in mine) or 'written by hand, see `ermine.' + module + '`'}"]
        lines += [f"- Command line: `ermine train DATA --target COLUMN --learner {name}`", ""]
        if learner["params"]:
            lines += ["| parameter | type | default | meaning |", "|---|---|---|---|"]
            cell = lambda text: " ".join(str(text).split()).replace("|", "\\|")  # noqa: E731
            lines += [f"| `{p['name']}` | {cell(type_words(p['kind']))} | `{cell(literal(p['default']))}` | {cell(p['doc'])} |" for p in learner["params"]]
            lines.append("")
        shown = {attribute: (words, doc) for entry in mine for attribute, words, doc in attributes(entry)}
        if shown:
            lines += ["| attribute | type | meaning |", "|---|---|---|"]
            lines += [f"| `{attribute}` | {words.replace('ndarray', 'array')} | {doc} |" for attribute, (words, doc) in shown.items()]
            lines.append("")
    return "\n".join(lines)


def reference_index() -> str:
    lines = ["# Reference", "", "<!-- Generated by tools/python_estimators.py from what the learners declare. -->", ""]
    lines += ["Every learner with its parameters and attributes. Parameter names are the same in Rust, on the command line (`--max-depth`) and in Python.", ""]
    lines += ["| family | learners |", "|---|---|"]
    for family, (module, title, _, _) in FAMILIES.items():
        names = [name for name, learner in LEARNERS.items() if learner["info"]["family"] == family]
        lines.append(f"| [{title.split(':')[0].rstrip('.')}]({module}.md) | {', '.join(names)} |")
    return "\n".join([*lines, ""])


def generated() -> dict[Path, str]:
    """All generated files with their contents."""
    all_entries = entries()
    files = {PACKAGE / "_catalog.py": catalog_source(all_entries), REFERENCE / "README.md": reference_index()}
    for family, (module, *_) in FAMILIES.items():
        files[PACKAGE / f"{module}.py"] = module_source(family, all_entries)
        files[REFERENCE / f"{module}.md"] = reference_source(family, all_entries)
    return files


def main() -> int:
    check = "--check" in sys.argv
    files = generated()
    stale = [path for path, source in files.items() if not path.exists() or path.read_text() != source]
    stale += [path for path in REFERENCE.glob("*.md") if path not in files]
    for path in stale:
        if not check and path in files:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path])
        elif not check:
            path.unlink()
    print(f"{'out of date' if check else 'written'}: {', '.join(str(path.relative_to(ROOT)) for path in stale) or 'nothing'}")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
