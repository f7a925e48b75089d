"""Every Python example runs without warnings and prints something, and the list of examples is complete."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SCRIPTS = sorted((EXAMPLES / "python").glob("*.py"))


def test_the_list_of_examples_is_complete():
    listed = re.findall(r"\]\(([\w/]+\.(?:py|sh))\)", (EXAMPLES / "README.md").read_text())
    shipped = [path.relative_to(EXAMPLES).as_posix() for folder in ("python", "cli") for path in (EXAMPLES / folder).iterdir() if path.suffix in (".py", ".sh")]
    assert sorted(listed) == sorted(shipped)


def test_the_data_is_small_and_described():
    files = [path for path in (EXAMPLES / "data").iterdir() if path.name != "README.md"]
    assert sum(path.stat().st_size for path in files) < 500_000
    described = (EXAMPLES / "data" / "README.md").read_text()
    assert all(f"`{path.name}`" in described for path in files)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example(script, tmp_path):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, encoding="utf-8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) >= 4 and re.search(r"\d\.\d", done.stdout), done.stdout
