"""A table of texts, for pages and files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: a head, and rows of texts of which the first names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    played_by: str = ""
    """Who really decided, in a sentence."""
