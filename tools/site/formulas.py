"""A Sphinx extension: formulas as MathML, which browsers draw by themselves, so that the site needs no script and no network for them."""

from html import escape

from latex2mathml.converter import convert


def mathml(formula, display):
    try:
        return convert(formula, display=display)
    except Exception as error:  # the converter has no error class of its own
        raise ValueError(f"the formula {formula!r} is not understood: {error}") from error


def inline(writer, node):
    writer.body.append(mathml(node.astext(), "inline"))
    raise_skip()


def block(writer, node):
    writer.body.append(f'<div class="math" aria-label="{escape(node.astext(), quote=True)}">{mathml(node.astext(), "block")}</div>')
    raise_skip()


def raise_skip():
    from docutils import nodes

    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
