"""Runs the code on the pages of docs/ and in the README, and writes what it prints below it.

    python tools/docs_output.py [PAGE ...]             all pages, or the given ones
    python tools/docs_output.py --check [PAGE ...]     changes nothing; exits with 1 if what a page shows is not what its Python code prints

Python code is in blocks of ```python, or in comments (`<!--python ... -->`) where readers know it anyway; all blocks of a page are one program. What a block prints is in the
block of ```text right below it. Commands are in blocks of ```console after the comment `<!--run-->`: each line after a `$` is run by bash, all in one folder that has `examples/`,
and its output is in the same block. Outputs of commands contain times, so they are written, but not compared. A line longer than 120 characters is cut, and marked by an ellipsis.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [ROOT / "docs" / name for name in ("", "getting-started", "guide", "coming-from")]
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.glob("*.md")))]

PYTHON = re.compile(r"(?P<open>^```|<!--)python\n(?P<code>.*?)\n(?P<close>```|-->)\n(?:```text\n(?P<text>.*?)\n?```\n)?", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"(?P<open><!--run-->\n```console\n)(?P<body>.*?)(?P<close>^```\n)", re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def working_folder():
    """A temporary folder with `examples/`, where the code of a page runs."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def python_outputs(text, name="page"):
    """Runs the Python blocks of a page, and yields each match with what it printed."""
    names = {"__name__": "__main__"}
    for block in PYTHON.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                exec(compile(block["code"], name, "exec"), names)
            except Exception as error:
                raise RuntimeError(f"{name}: {type(error).__name__}: {error}, in:\n{block['code']}") from error
        yield block, "\n".join(line.rstrip() for line in printed.getvalue().rstrip("\n").split("\n"))


def with_python_outputs(text, name="page"):
    """A page with the outputs of its Python blocks."""
    parts, end = [], 0
    for block, printed in python_outputs(text, name):
        parts += [text[end : block.start()], f"{block['open']}python\n{block['code']}\n{block['close']}\n"]
        if printed and block["open"] == "```":
            parts.append(f"```text\n{printed}\n```\n")
        end = block.end()
    return "".join([*parts, text[end:]])


def commands(body):
    """The commands of a console block, each with its comment and continuation lines."""
    return re.findall(r"^\$ (.*(?:\\\n.*)*)", body, re.MULTILINE)


def run_command(command, program):
    """What a command prints. The program is found by its name; cargo runs in the repository."""
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    folder = ROOT if command.startswith("cargo ") else None
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder, env=os.environ | {"PATH": path, "NO_COLOR": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stderr}")
    lines = (done.stdout + done.stderr).rstrip("\n").split("\n")
    return "\n".join(line if len(line) <= 120 else line[:119] + "…" for line in (line.rstrip() for line in lines))


def with_command_outputs(text, program, skip=()):
    """A page with the outputs of its commands; blocks with a command that begins with one of `skip` stay as they are."""

    def replace(block):
        shown = []
        if any(command.startswith(skip) for command in commands(block["body"])):
            return block[0]
        for command in commands(block["body"]):
            printed = run_command(command, program)
            shown.append(f"$ {command}\n" + (f"{printed}\n" if printed else ""))
        return block["open"] + "".join(shown) + block["close"]

    return CONSOLE.sub(replace, text)


def main(arguments):
    check = "--check" in arguments
    pages = [Path(name).resolve() for name in arguments if name != "--check"] or PAGES
    stale = []
    for page in pages:
        text = page.read_text()
        with working_folder():
            new = with_python_outputs(text, page.name)
            if not check and CONSOLE.search(new):
                sys.path.insert(0, str(ROOT / "tools" / "site"))
                import cli

                new = with_command_outputs(new, cli.program())
        if new != text:
            stale.append(page)
            if not check:
                page.write_text(new)
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'out of date' if check else 'updated'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
