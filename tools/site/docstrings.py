"""A Sphinx extension: names that end in an underscore, as fitted attributes do, are not links."""

import re

#: Code in a line, or a name that ends in an underscore.
NAME = re.compile(r"``.*?``|`[^`]*`|\b(\w+)_(?![\w`])")


def escape_names(app, what, name, obj, options, lines):
    for number, line in enumerate(lines):
        if not line.startswith(".."):
            field, text = re.match(r"(:[^:]+:)?(.*)", line).groups()
            field = re.sub(r"_:$", r"\\_:", field or "")
            lines[number] = field + NAME.sub(lambda match: f"{match[1]}\\_" if match[1] else match[0], text)


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    # Before the extension for NumPy's sections would be too early: it makes fields of attributes.
    app.connect("autodoc-process-docstring", escape_names, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
