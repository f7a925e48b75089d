"""A Sphinx extension: the directive `gallery`, which shows a figure of the gallery in the colors of the reader's mode.

    ```{gallery} svm_margins
    The margin of a support vector machine.
    ```

The argument is a script of examples/gallery, and after a `#` the number of its figure if it has several. The text is the caption; a link to the script is added.
"""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class GalleryFigure(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged}

    def run(self):
        script, _, number = self.arguments[0].partition("#")
        file = f"{script}_{number or 1}"
        caption = " ".join(self.content)
        alt = self.options.get("alt", caption)
        figure = nodes.figure()
        for mode in ("light", "dark"):
            figure += nodes.image(uri=f"/gallery/images/{file}-{mode}.svg", alt=alt, classes=[f"only-{mode}"])
        text, messages = self.state.inline_text(caption + " ", self.lineno)
        link = self.state.inline_text(f"([example](/gallery/{script}.md))", self.lineno)[0]
        figure += nodes.caption(caption, "", *text, *link)
        return [figure, *messages]


def setup(app):
    app.add_directive("gallery", GalleryFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
