"""Makes the pages of the Python API: one for each module, with a table of its classes and all of its functions, and one for each class.

A public name without documentation is an error.
"""

import importlib
import inspect
from pathlib import Path

import ermine
from ermine._catalog import MODULES

ROOT = Path(__file__).resolve().parents[2]


def summary(thing):
    """The first paragraph of a docstring, in one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def undocumented(module, names):
    """Public names of a module, and public methods of its classes, that have no documentation."""
    found = []
    for name in names:
        thing = getattr(module, name)
        if not inspect.getdoc(thing):
            found.append(f"{module.__name__}.{name}")
        if inspect.isclass(thing):
            members = [(key, value) for key, value in inspect.getmembers(thing) if not key.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))]
            found += [f"{module.__name__}.{name}.{key}" for key, _ in members if not any(getattr(vars(base).get(key), "__doc__", None) for base in thing.__mro__)]
    return found


def public_names(module):
    """The names that a module offers of its own; what it hands over from scikit-learn is documented there."""
    return [name for name in module.__all__ if not inspect.ismodule(thing := getattr(module, name)) and getattr(thing, "__module__", "ermine").startswith("ermine")]


def class_page(module, name):
    return "\n".join([
        f"# {name}", "", "```{eval-rst}", f".. currentmodule:: {module.__name__}", "", f".. autoclass:: {name}", "   :members:", "   :inherited-members: object, tuple",
        "   :exclude-members: set_fit_request, set_score_request, set_predict_request, set_partial_fit_request, set_predict_proba_request", "```", "",
    ])


def module_page(module, folder):
    names = public_names(module)
    classes = [name for name in names if inspect.isclass(getattr(module, name))]
    functions = [name for name in names if inspect.isroutine(getattr(module, name))]
    lines = [f"# {module.__name__}", "", summary(module), ""]
    if classes:
        lines += ["| class | |", "|---|---|"]
        for name in classes:
            lines.append(f"| [{name}]({module.__name__}.{name}.md) | {cell(summary(getattr(module, name)))} |")
            (folder / f"{module.__name__}.{name}.md").write_text(class_page(module, name))
        lines.append("")
    if functions:
        lines += ["| function | |", "|---|---|", *(f"| [{name}](#{module.__name__}.{name}) | {cell(summary(getattr(module, name)))} |" for name in functions), ""]
        lines += ["```{eval-rst}", f".. currentmodule:: {module.__name__}", ""]
        for name in functions:
            lines += [f".. autofunction:: {name}", ""]
        lines += ["```", ""]
    if classes:
        lines += ["```{toctree}", ":hidden:", "", *(f"{module.__name__}.{name}" for name in classes), "```", ""]
    (folder / f"{module.__name__}.md").write_text("\n".join(lines))
    return undocumented(module, names)


def cell(text):
    return text.replace("``", "`").replace("|", "\\|")


def build(source):
    folder = source / "api"
    folder.mkdir(parents=True, exist_ok=True)
    modules = [ermine, *(importlib.import_module(f"ermine.{name}") for name in MODULES)]
    missing = [name for module in modules for name in module_page(module, folder)]
    if missing:
        raise SystemExit("public names without documentation: " + ", ".join(missing))
    lines = [
        "# Python API", "", "Modules have scikit-learn's names. `ermine.load` reads a model file; all else is in the modules.", "", "| module | |", "|---|---|",
        *(f"| [{module.__name__}]({module.__name__}.md) | {cell(summary(module))} |" for module in modules), "",
        "```{toctree}", ":hidden:", "", *(module.__name__ for module in modules), "```", "",
    ]
    (folder / "index.md").write_text("\n".join(lines))
