"""The code in the documentation and in the README runs, and prints what is shown below it; so do the scripts of the gallery."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "site")]

import cli  # noqa: E402
import docs_output  # noqa: E402
import gallery  # noqa: E402

PAGES = [page for page in docs_output.PAGES if docs_output.PYTHON.search(page.read_text())]
PAGES_WITH_COMMANDS = [page for page in docs_output.PAGES if docs_output.CONSOLE.search(page.read_text())]
SCRIPTS = sorted(gallery.SCRIPTS.glob("*.py"))


def name(page):
    return page.relative_to(ROOT).as_posix()


def test_every_page_of_the_guide_has_code_and_is_listed():
    guide = sorted((ROOT / "docs" / "guide").glob("*.md"))
    assert len(guide) > 10 and set(guide) <= {*PAGES, *PAGES_WITH_COMMANDS}
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "guide" / "README.md").read_text()))
    assert listed == {page.name for page in guide} - {"README.md"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_code_prints_the_shown_output(page):
    text = page.read_text()
    with docs_output.working_folder():
        for block, printed in docs_output.python_outputs(text, page.name):
            if block["text"] is not None:
                assert printed == block["text"], f"run `python tools/docs_output.py {name(page)}`"


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=name)
def test_commands_succeed(page):
    try:
        program = cli.program()
    except SystemExit as error:
        pytest.skip(str(error))
    with docs_output.working_folder():
        docs_output.with_command_outputs(page.read_text(), program, skip=("cargo ",))


def test_every_script_of_the_gallery_is_listed():
    listed = [file for _, scripts in gallery.sections() for file, _, _ in scripts]
    assert sorted(listed) == [script.name for script in SCRIPTS] and len(SCRIPTS) >= 15


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_gallery_script_draws_a_figure(script):
    title, shown = gallery.run(script)
    assert title and any(figures for *_, figures in shown)
    assert any(printed for _, _, printed, _ in shown)
