"""Builds the documentation site from docs/: `make site`.

    python tools/site/build.py [--keep-gallery]

The sources are put together in target/site/source: a copy of docs/, and the pages that are generated: the gallery (examples/gallery), the command line (the
program's help), the Python API (docstrings), benchmarks (bench/record) and the changelog. The site is written to target/site/html; a warning is an error. It
needs no network. `--keep-gallery` keeps the gallery of the last build, which takes most of the time.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import api
import benchmarks
import cli
import gallery

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "target" / "site"
#: A link to a file that is not below docs/, which the site doesn't have.
OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[\w./-]+)\)")


def without_outside_links(path):
    """The text of a page; links that lead out of docs/ become names of files."""

    def replace(link):
        target = (path.parent / link[2]).resolve()
        return link[0] if target.is_relative_to(ROOT / "docs") else f"{link[1]} (`{target.relative_to(ROOT)}`)"

    return OUTSIDE.sub(replace, path.read_text())


def stage(source):
    """Copies docs/ to the folder that Sphinx reads."""
    for path in sorted((ROOT / "docs").rglob("*")):
        target = source / path.relative_to(ROOT / "docs")
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.suffix == ".md":
            target.write_text(without_outside_links(path))
        else:
            shutil.copy(path, target)


def list_pages(source):
    """Adds the pages of folders whose README lists them as links to the navigation."""
    for folder in ("decisions", "reference"):
        index = source / folder / "README.md"
        pages = sorted(path.stem for path in index.parent.glob("*.md") if path != index)
        index.write_text("\n".join([index.read_text(), "```{toctree}", ":hidden:", "", *pages, "```", ""]))


def changelog(source):
    text = (ROOT / "CHANGELOG.md").read_text()
    (source / "changelog.md").write_text(text.replace("](docs/", "]("))


def main():
    source, html = SITE / "source", SITE / "html"
    keep = "--keep-gallery" in sys.argv and (source / "gallery" / "index.md").exists()
    kept = SITE / "gallery"
    if keep:
        shutil.rmtree(kept, ignore_errors=True)
        (source / "gallery").rename(kept)
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(html, ignore_errors=True)
    source.mkdir(parents=True)
    stage(source)
    list_pages(source)
    if keep:
        kept.rename(source / "gallery")
    else:
        gallery.build(source)
    cli.build(source)
    benchmarks.build(source)
    api.build(source)
    changelog(source)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-b", "html", "-d", SITE / "doctrees", source, html], env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode == 0:
        rustdoc = ROOT / "target" / "doc"
        if rustdoc.exists():
            shutil.copytree(rustdoc, html / "rust", dirs_exist_ok=True)
        print(html / "index.html")
    return done.returncode


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
