"""Which pairs a figure brackets: all that differ, or none where nobody could read so many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from kitchen.words.counting import counted

MOST = 10
"""As many pairs as five conditions have."""
T = TypeVar("T")


def few(pairs: Sequence[T]) -> tuple[T, ...]:
    """Those that are bracketed."""
    return tuple(pairs) if len(pairs) <= MOST else ()


def bracket_note(pairs: Sequence[object], means: str) -> str:
    """What is said of them under the figure, where `means` says what a bracket does: `Brackets: …`, that
    there are too many, or nothing."""
    if len(pairs) > MOST:
        return f"{counted(len(pairs), 'pair')} differ ({means}): too many to bracket, a table lists them."
    return f"Brackets: {means}." if pairs else ""


def many_words(pairs: Sequence[object], table: str) -> str:
    """What stands in place of their list for who does not see the figure; empty where they are few."""
    return f"{counted(len(pairs), 'pair')}, all of them in {table}" if len(pairs) > MOST else ""
