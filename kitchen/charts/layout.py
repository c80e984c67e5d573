"""Where things go in a figure: brackets that do not cross, points that do not hide each other. No drawing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import count
from math import ceil, floor

Span = tuple[int, int]

SPREAD = 0.27
"""How far from the middle of its bar a point may lie, in bars."""

BINS = 40
"""Points closer than one of so many parts of the axis lie side by side."""


def levels(spans: Sequence[Span]) -> list[int]:
    """A row for each bracket, 0 at the bottom: short ones low, none over another in the same row.

    Brackets may meet at a bar, where the drawing leaves a gap.
    """
    rows: list[list[Span]] = []
    places = {span: _place(span, rows) for span in sorted(spans, key=lambda s: (s[1] - s[0], s))}
    return [places[span] for span in spans]


def _place(span: Span, rows: list[list[Span]]) -> int:
    for level, row in enumerate(rows):
        if all(span[1] <= left or right <= span[0] for left, right in row):
            row.append(span)
            return level
    rows.append([span])
    return len(rows) - 1


def side_by_side(values: Sequence[float], low: float, high: float) -> list[float]:
    """How far left or right of its bar's middle each value's point lies, equal values side by side."""
    bins: dict[int, list[int]] = {}
    for index, value in enumerate(values):
        bins.setdefault(round((value - low) / (high - low) * BINS), []).append(index)
    shifts = [0.0] * len(values)
    for members in bins.values():
        step = min(0.07, 2 * SPREAD / max(len(members) - 1, 1))
        for place, index in enumerate(members):
            shifts[index] = (place - (len(members) - 1) / 2) * step
    return shifts


def wrapped(text: str, width: int) -> str:
    """The text in at most three lines of `width` characters, cut with an ellipsis beyond."""
    return "\n".join(textwrap.wrap(text, width, max_lines=3, placeholder="…"))


def round_ends(low: float, high: float, parts: int = 6) -> tuple[float, float]:
    """The nearest whole and round numbers around what is drawn, about so many steps apart."""
    step = next(each for each in _round_steps() if each >= (high - low) / parts)
    return floor(low / step) * step, ceil(high / step) * step


def _round_steps() -> Iterator[float]:
    """1, 2, 5, 10, 20, 50, ..."""
    for power in count():
        for first in (1, 2, 5):
            yield float(first * 10**power)
