"""Writes a golden file with a header that names the script, the libraries and their versions that made it."""

import json
import pathlib

#: Names of modules that differ from those of their distributions.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "crates/ermine/tests/golden"
#: Golden files of unit tests, beside the crate that they test.
FOLDERS = {"measures.json": ROOT / "crates/ermine-core/tests/golden"}


def write(name, script, content, *libraries, **options):
    """Writes ``content``, a dictionary, to the golden file ``name``, after a header for ``script`` (its ``__file__``) and the modules ``libraries``."""
    versions = {DISTRIBUTIONS.get(library.__name__, library.__name__): library.__version__ for library in libraries}
    header = {"script": f"tools/{pathlib.Path(script).name}", "libraries": versions}
    path = FOLDERS.get(name, FOLDER) / name
    path.write_text(json.dumps({"made_by": header, **content}, **options) + "\n")
    return path
