"""Sphinx configuration of the documentation site. `make docs` builds it into `docs/site/html/`.

The sections of `docs/index.md` and the pages linked there are the navigation. The site loads nothing from
other servers and has no scripts or styles inside its pages, so that it works under the app's security policy.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
OTHERS = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]
"""Folders that hold no page."""

project = "Brigade"
root_doc = "docs/index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
include_patterns = ["docs/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["docs/site", *OTHERS]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # mermaid

html_theme = "theme"
html_theme_path = ["."]
html_title = "Brigade documentation"
html_copy_source = False
html_use_index = False


def navigation(index: str) -> str:
    """Return the sections of the first page as the navigation of the site."""
    made = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        pages = "\n".join(re.findall(r"\]\(([\w./-]+)\.md\)", body))
        made.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n")
    return "".join(made)


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the navigation to the first page when Sphinx reads it."""
    if page == root_doc:
        source[0] += navigation(source[0])


def setup(app: Sphinx) -> None:
    """Connect the navigation."""
    app.connect("source-read", add_navigation)
