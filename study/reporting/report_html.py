"""Convert a study's report from Markdown to HTML.

The HTML is part of a page of the researcher's console, or a file that needs no other files.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

Sources = Callable[[str], str]
"""Returns the address of a figure by its name, for an image; empty if there is none."""


EXPLORATORY_HTML = "<em>Exploratory: not planned.</em>"
"""Start of a paragraph marked as exploratory; see `study.reporting.report_text.EXPLORATORY`."""
NUMBERS = "number"
"""CSS class of cells in a column of numbers."""
WORDS = re.compile("[^\\W\\d_]{3}")
"""Pattern that no cell of numbers matches."""


def markdown_reader() -> MarkdownIt:
    """Return a Markdown parser with tables, in which HTML is escaped."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def parse_report(text: str) -> list[Token]:
    """Parse the report's Markdown, and return its tokens. Cells in columns of numbers have the CSS class
    `NUMBERS`. No cell has an inline style."""
    tokens = markdown_reader().parse(text)
    starts = [place for place, token in enumerate(tokens) if token.type == "table_open"]
    ends = [place for place, token in enumerate(tokens) if token.type == "table_close"]
    for start, end in zip(starts, ends, strict=True):
        _align(tokens[start:end])
    return tokens


def _align(table: Sequence[Token]) -> None:
    """Set the CSS classes of all cells in one table."""
    columns: dict[int, list[tuple[Token, str]]] = {}
    column = 0
    for token, inside in pairwise(table):
        column = 0 if token.type == "tr_open" else column
        if token.type in ("th_open", "td_open"):
            columns.setdefault(column, []).append((token, inside.content))
            column += 1
    for cells in columns.values():
        words = any(token.type == "td_open" and WORDS.search(text) for token, text in cells)
        for token, _ in cells:
            token.attrs.pop("style", None)
            token.attrs |= {} if words else {"class": NUMBERS}
            token.attrs |= {"scope": "col"} if token.type == "th_open" else {}


def to_html(text: str, source: Sources) -> str:
    """Return the report, given as Markdown, as HTML. `source` returns the address of a figure by its name."""
    markdown = markdown_reader()
    markdown.add_render_rule("image", _image(source))
    return _scrolling(str(markdown.renderer.render(parse_report(text), markdown.options, {})))


def _image(source: Sources) -> Callable[..., str]:
    def image(self: Any, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Return the HTML of one figure. If the figure's image is missing, return its description instead."""
        words = escape(self.renderInlineAsText(tokens[idx].children, options, env))
        address = source(str(tokens[idx].attrs["src"]))
        return f'<img src="{escape(address)}" alt="{words}">' if address else words

    return image


def _scrolling(html: str) -> str:
    """Return the HTML with each wide table in a scrollable element. It can also be scrolled with the
    keyboard."""
    opened = '<div class="data-scroll open" tabindex="0" role="group" aria-label="Table"><table>'
    return html.replace("<table>", opened).replace("</table>", "</table></div>")


def fold_sections(html: str) -> str:
    """Return the HTML in which each measure's exploratory tests and replication are in a closed `details`
    element. The page then first shows the planned tests."""
    parts = re.split("(?=<h[23]>)", html)
    return "".join(map(_folded, parts))


def _folded(part: str) -> str:
    planned, mark, rest = part.partition(f"<p>{EXPLORATORY_HTML}")
    if not mark:
        return part
    inside = f"<summary>What was not planned, and the replication</summary>{mark}{rest}"
    return f"{planned}<details>{inside}</details>"


def embed_figures(figures: Mapping[str, bytes]) -> Sources:
    """Return a function that takes a figure's name and returns a `data:` address with its SVG. For an
    unknown name, the function returns an empty string."""

    def source(name: str) -> str:
        if name not in figures:
            return ""
        return f"data:image/svg+xml;base64,{base64.b64encode(figures[name]).decode()}"

    return source
