"""Runs the scripts of examples/gallery and makes a page of each: text, code, what it printed and its figures.

A script is in the percent format: a docstring with the title and an introduction, then code; a comment that begins with `# %%` starts a new block of text, whose
further lines are comments. Scripts are plain matplotlib. Figures are drawn once and written twice, for pages with a light and with a dark background: all
text and lines that the style below colors get the color of the mode. An SVG file that a script writes is shown as it is.
"""

import ast
import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "examples" / "gallery"

# The colors of text, of grids and of faint text, on light and on dark pages.
INK, GRID, FAINT = ("#24292f", "#d7dce1"), ("#d8dee5", "#3a4149"), ("#6b7480", "#98a2ad")
# Colors of data, legible on both (Okabe and Ito, without yellow and black, slightly adapted).
PALETTE = ["#2f81c8", "#e07b1f", "#1a9e77", "#c95ca0", "#8f7ee0", "#c9a227", "#58b4d6", "#d4553f"]


def style():
    """Settings of matplotlib for all figures of the site."""
    from cycler import cycler

    return {
        "figure.figsize": (6.4, 4.0), "figure.facecolor": "none", "figure.constrained_layout.use": True,
        "axes.facecolor": "none", "axes.edgecolor": GRID[0], "axes.labelcolor": INK[0], "axes.titlesize": 11, "axes.titlecolor": INK[0],
        "axes.grid": True, "axes.axisbelow": True, "axes.prop_cycle": cycler(color=PALETTE), "axes.spines.top": False, "axes.spines.right": False,
        "grid.color": GRID[0], "grid.linewidth": 0.7, "text.color": INK[0], "xtick.color": INK[0], "ytick.color": INK[0],
        "legend.frameon": False, "lines.linewidth": 1.8, "font.size": 10, "savefig.facecolor": "none", "image.cmap": "viridis",
        "svg.hashsalt": "ermine", "svg.fonttype": "path",
    }


def save(figure, folder, name):
    """Writes a figure as NAME-light.svg and NAME-dark.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    light = text.getvalue()
    (folder / f"{name}-light.svg").write_text(light)
    dark = light
    for color in (INK, GRID, FAINT):
        dark = dark.replace(color[0], color[1])
    (folder / f"{name}-dark.svg").write_text(dark)


def parts(source):
    """The title of a script, and its parts: text, and the code that follows it."""
    title, _, text = ast.get_docstring(ast.parse(source)).partition("\n")
    code = source.split('"""\n', 1)[1]
    found = []
    for block in re.split(r"^# %%", code, flags=re.MULTILINE):
        if found:
            lines = block.split("\n")
            n = next((i for i, line in enumerate(lines[1:], 1) if not line.startswith("#")), len(lines))
            text = "\n".join([lines[0].strip(), *(line[1:].removeprefix(" ") for line in lines[1:n])])
            block = "\n".join(lines[n:])
        found.append((text.strip(), block.strip()))
    return title.rstrip("."), found


def run(script, images=None):
    """Runs a script and returns its title and parts with what each printed and its figures (their names, if `images` is a folder to write them to)."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    title, found = parts(script.read_text())
    names = {"__name__": "__main__", "__file__": str(script)}
    shown, n_figures = [], 0
    with plt.rc_context(style()), warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*non-interactive.*")
        for text, code in found:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, str(script), "exec"), names)
            figures = []
            for number in plt.get_fignums():
                n_figures += 1
                if images is not None:
                    save(plt.figure(number), images, f"{script.stem}_{n_figures}")
                figures.append(f"{script.stem}_{n_figures}")
            plt.close("all")
            for drawing in sorted(Path.cwd().glob("*.svg")):
                n_figures += 1
                if images is not None:
                    images.mkdir(parents=True, exist_ok=True)
                    for mode in ("light", "dark"):
                        shutil.copy(drawing, images / f"{script.stem}_{n_figures}-{mode}.svg")
                drawing.unlink()
                figures.append(f"{script.stem}_{n_figures}")
            shown.append((text, code, printed.getvalue().rstrip(), figures))
    return title, shown


def image(name, alt):
    return "\n".join(f"![{alt}](/gallery/images/{name}-{mode}.svg){{.only-{mode}}}" for mode in ("light", "dark")) + "\n"


def page(script, images):
    title, shown = run(script, images)
    lines = [f"# {title}", ""]
    for text, code, printed, figures in shown:
        lines += [text, ""] if text else []
        lines += ["```python", code, "```", ""] if code else []
        lines += ["```{code-block} text", ":class: output", "", printed, "```", ""] if printed else []
        for number, name in enumerate(figures, 1):
            lines += [image(name, title if len(figures) == 1 else f"{title}, figure {number}")]
    lines += [f"The script is `examples/gallery/{script.name}`: {{download}}`download it <files/{script.name}>`.", ""]
    return title, "\n".join(lines)


def sections():
    """The headings of examples/gallery/README.md with the scripts listed below each."""
    found = []
    for line in (SCRIPTS / "README.md").read_text().splitlines():
        if line.startswith("## "):
            found.append((line[3:], []))
        elif listed := re.match(r"- \[(.*)\]\((\w+\.py)\): (.*)", line):
            found[-1][1].append((listed[2], listed[1], listed[3]))
    return found


def build(source):
    """Writes the pages and figures of the gallery to the folder `gallery` of the site's source."""
    folder = source / "gallery"
    (folder / "files").mkdir(parents=True, exist_ok=True)
    index = ["# Gallery", "", "Worked examples with figures. Each is a script in `examples/gallery/` that runs on a fresh machine: the data is shipped with Ermine or with scikit-learn, or generated.", ""]
    toctree = []
    for heading, scripts in sections():
        index += [f"## {heading}", "", "::::{grid} 1 2 3 3", ":gutter: 3", ""]
        for file, name, line in scripts:
            begin = time.perf_counter()
            _, text = page(SCRIPTS / file, folder / "images")
            stem = Path(file).stem
            (folder / f"{stem}.md").write_text(text)
            (folder / "files" / file).write_text((SCRIPTS / file).read_text())
            index += [f":::{{grid-item-card}} {name}", f":link: {stem}", ":link-type: doc", "", image(f"{stem}_1", ""), line, ":::", ""]
            toctree.append(stem)
            print(f"gallery: {file} ({time.perf_counter() - begin:.1f} s)", file=sys.stderr)
        index += ["::::", ""]
    index += ["```{toctree}", ":hidden:", "", *toctree, "```", ""]
    (folder / "index.md").write_text("\n".join(index))


if __name__ == "__main__":
    os.chdir(ROOT)
    target = ROOT / "target" / "site" / "source"
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            _, text = page(SCRIPTS / f"{name}.py", target / "gallery" / "images")
            print(text)
    else:
        build(target)
