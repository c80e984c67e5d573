"""Tables and safe text in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of cells that are already safe; the first column left, the others right."""
    line = "| {} |".format
    rule = [":--", *("--:" for _ in head[1:])]
    return "\n".join(line(" | ".join(cells)) for cells in (head, rule, *rows))


def escaped(text: str) -> str:
    """Text in which nothing means anything to Markdown; intervals and p < .05 stay readable."""
    return re.sub(r"[\\`*_|~]|<(?=[A-Za-z/!?])|\](?=[(\[:])", r"\\\g<0>", text)
