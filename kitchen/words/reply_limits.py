"""Limit how much of a language model's reply is searched for commands, so that reading takes little time."""

from __future__ import annotations

import re

MAX_READ_CHARACTERS = 50_000
"""Largest number of characters that are searched: more than a model writes in a step, with its thoughts."""
MAX_GAP_CHARACTERS = 80
"""Largest number of spaces and line ends in a row."""
_LONG_GAPS = re.compile(rf"\s{{{MAX_GAP_CHARACTERS + 1},}}+")


def limited_text(text: str) -> str:
    """Return the text with longer gaps closed, cut to its last `MAX_READ_CHARACTERS`. A reply decides and
    corrects itself at its end, so the beginning is left out, up to the end of a line."""
    said = _LONG_GAPS.sub(lambda gap: "\n\n" if "\n" in gap[0] else "    ", text)
    if len(said) <= MAX_READ_CHARACTERS:
        return said
    kept = said[-MAX_READ_CHARACTERS:]
    _, end, whole_lines = kept.partition("\n")
    return whole_lines if end else kept
