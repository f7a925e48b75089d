"""The package is typed: the stub says what the compiled module does, and mypy is content."""

import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ermine
from ermine import _ermine

PACKAGE = Path(ermine.__file__).parent
STUB = ast.parse((PACKAGE / "_ermine.pyi").read_text())
ALIASES = {"Progress", "Found"}


def said(body):
    """Functions and attributes that a stub declares: {name: parameters or None}."""
    names = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            a = node.args
            positional = [p.arg for p in a.args if p.arg not in ("self", "cls")]
            required = len(positional) - len(a.defaults)
            keyword = [(p.arg, default is not None) for p, default in zip(a.kwonlyargs, a.kw_defaults)]
            names[node.name] = [(name, i >= required, False) for i, name in enumerate(positional)] + [(name, has, True) for name, has in keyword]
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return names


def real(function):
    """The parameters of a compiled function: name, whether it has a default, whether it is a keyword."""
    params = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    return [(p.name, p.default is not p.empty, p.kind == p.KEYWORD_ONLY) for p in params]


def test_the_stub_has_all_functions():
    functions = said(STUB.body)
    compiled = {name for name in dir(_ermine) if inspect.isbuiltin(getattr(_ermine, name))}
    assert {name for name, params in functions.items() if params is not None} == compiled
    for name in compiled:
        assert functions[name] == real(getattr(_ermine, name)), name


def test_the_stub_has_all_classes():
    classes = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    compiled = {name: cls for name, cls in vars(_ermine).items() if inspect.isclass(cls)}
    assert set(classes) == set(compiled)
    for name, cls in compiled.items():
        declared = said(classes[name].body)
        public = {member for member in vars(cls) if not member.startswith("_")}
        assert {member for member in declared if not member.startswith("_")} == public, name
        for member in public:
            if declared[member] is not None:
                assert declared[member] == real(getattr(cls, member)), f"{name}.{member}"


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_types_are_right(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import ermine\n"
        "from ermine.ensemble import RandomForestClassifier\n"
        "from ermine.linear_model import Ridge\n"
        "from ermine.metrics import accuracy_score\n"
        "model = RandomForestClassifier(10, max_depth=3).fit([[0.0], [1.0]], [0, 1])\n"
        "answer: np.ndarray = model.predict([[0.5]])\n"
        "score: float = accuracy_score([0], answer)\n"
        "Ridge(alpha='much')  # wrong\n"
    )
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), "--python-executable", sys.executable]
    done = subprocess.run([*command, "-p", "ermine"], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.stdout == "" and done.returncode == 0, done.stdout
    done = subprocess.run([*command, str(program)], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert [line.split(": ")[0].split(":")[-1] for line in done.stdout.splitlines()] == ["9"], done.stdout
