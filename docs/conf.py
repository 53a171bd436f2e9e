"""The site made of these chapters: `make docs`."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

project = "lexassay"
author = "lexassay developers"
copyright = "2026, lexassay developers"  # noqa: A001, the name that Sphinx asks for
version = release = version_of("lexassay")

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton"]
exclude_patterns = ["paper", "_build", "**/.*"]
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist"]
smartquotes = False  # quotation marks of code and options stay as they are typed
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
nitpicky = True

nb_execution_mode = "force"  # what the notebooks show is what comes out today
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # !lexassay

html_theme = "furo"
html_title = "lexassay"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"

OUTSIDE = {
    "README.md": "project.md",
    "data/README.md": "data.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""Texts beside the folder of these chapters, and the pages of the site that include them."""


def _on_the_site(text: str, *, begin: str) -> str:
    """Return a text whose links to texts outside lead to the pages that include them."""
    for path, page in OUTSIDE.items():
        text = re.sub(rf"\]\({begin}{re.escape(path)}(?=[)#])", f"](/{page}", text)
    return text


def setup(app: Sphinx) -> None:
    """Let links between chapters and texts outside lead somewhere on the site, too."""

    def chapter(_app: Sphinx, _name: str, content: list[str]) -> None:
        content[0] = _on_the_site(content[0], begin=r"(?:\.\./)+")

    def replace_links(_app: Sphinx, _path: Path, _name: str, content: list[str]) -> None:
        content[0] = _on_the_site(content[0], begin="").replace("](docs/", "](")
        content[0] = content[0].replace("](configs/", "](../configs/")

    app.connect("source-read", chapter)
    app.connect("include-read", replace_links)
