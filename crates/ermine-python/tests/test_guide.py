"""Every piece of Python in the guide and the README runs, and prints what is shown below it."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md")) + [ROOT / "README.md"]

#: A block of Python, shown or in a comment (what a page needs that readers know anyway), and the text below it, if any.
BLOCK = re.compile(r"(?:^```|<!--)python\n(.*?)\n(?:```|-->)\n(?:```text\n(.*?)\n```\n)?", re.MULTILINE | re.DOTALL)


def blocks(page):
    return [(code, text) for code, text in BLOCK.findall(page.read_text())]


def test_pages_have_something_to_run():
    assert len(PAGES) > 10 and all(blocks(page) for page in PAGES)
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "guide" / "README.md").read_text()))
    assert listed == {page.name for page in PAGES if page.parent.name == "guide"} - {"README.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_page(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    for code, shown in blocks(page):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, page.name, "exec"), names)
        if shown:
            assert said.getvalue().rstrip("\n") == shown
