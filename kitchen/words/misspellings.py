"""Compare words that people type with known words, to find misspellings of one letter. Imports no Django."""

from __future__ import annotations

import re


def is_misspelling(word: str, usual: str) -> bool:
    """Return whether two words with the same first letter differ by one letter or by two swapped letters."""
    if not word or not usual or word[0] != usual[0] or abs(len(word) - len(usual)) > 1:
        return False
    first = next(
        (place for place, pair in enumerate(zip(word, usual, strict=False)) if len(set(pair)) > 1), 0
    )
    start, other = word[first or len(usual) :], usual[first or len(word) :]
    if not first:
        return len(word) != len(usual)
    swapped = start[:2] == other[1::-1] and start[2:] == other[2:]
    return start[1:] == other[1:] or start[1:] == other or start == other[1:] or swapped


def without_doubles(word: str) -> str:
    """Return the word with each doubled letter once: `chopp` becomes `chop`."""
    return re.sub(r"(.)\1+", r"\1", word)
