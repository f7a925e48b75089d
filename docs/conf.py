"""Settings of the documentation site. `make site` builds it; see tools/site/build.py."""

import sys
from pathlib import Path

import ermine

# Pages are built from a copy of docs/ (target/site/source), so the extension is found through the repository.
ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "Cargo.toml").exists())
sys.path.insert(0, str(ROOT / "tools" / "site"))

project = "Ermine"
copyright = "the Ermine contributors"
version = release = ermine.__version__

extensions = [
    "docstrings",
    "figures",
    "formulas",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["requirements.txt", "images/README.md"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Curly quotes and ellipses, but no dashes: flags begin with two hyphens.
smartquotes_action = "qe"

# Docstrings write names in single backticks.
default_role = "code"
# Types of attributes name things like (n_features_in_,), which several classes have.
suppress_warnings = ["ref.python"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Learner"]

html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"Ermine {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#4cc38a", "color-brand-content": "#4cc38a"},
}
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
