"""Sphinx's settings of the documentation: scripts/site.sh builds it."""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/site"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]

project = PROJECT["name"]
release = PROJECT["version"]
author = "The openreg-gen authors"
copyright = author
extensions = ["myst_parser", "blocks"]
smartquotes = False  # they make a dash of the two hyphens of an option
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# Sessions of the book have words in quotes that go over several lines, which the lexer of sessions does not know.
suppress_warnings = ["misc.highlighting_failure", "myst.xref_ambiguous"]
highlight_language = "text"
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
html_theme = "furo"
html_title = f"openreg-gen {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [],
}


def source_read(app, name, content):
    """Links that leave docs/ lead to the repository."""
    folder = (pathlib.Path(app.srcdir) / name).parent

    def absolute(match):
        target, hash_, anchor = match[1].partition("#")
        path = (folder / target).resolve()
        if "://" in target or not target.startswith("../") or path.is_relative_to(app.srcdir):
            return match[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"]({REPOSITORY}/{kind}/main/{path.relative_to(ROOT)}{hash_}{anchor})"

    content[0] = re.sub(r"\]\(([^)\s]+)\)", absolute, content[0])


def setup(app):
    app.connect("source-read", source_read)
