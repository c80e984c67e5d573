"""Define the colours, mark shapes and label positions of all charts.

A series has the same colour and shape on paper and in browsers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import count
from math import ceil, floor

COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#F0E442", "#999999")
"""Colours of Okabe and Ito (2008), which the colour-blind can distinguish. A condition keeps its colour in
every figure."""

SHAPES = ("diamond", "square", "triangle-up", "cross", "circle", "triangle-down", "triangle-right", "stroke")
"""Shapes under Vega's names."""

INK, MUTED_INK, GRID, PAPER = "#22272E", "#68707A", "#E4E7EB", "#FFFFFF"
PAGE_COLOURS = {"ink": INK, "ink-soft": MUTED_INK, "line": GRID, "paper": PAPER}
"""Names of page colours that replace these colours where a figure is drawn in a page, because pages may be
dark."""
AMBER, AMBER_EDGE, AMBER_INK = "#FFF1CC", "#B7791F", "#6B4300"
FONT = "DejaVu Sans, Verdana, Arial, Helvetica, sans-serif"


def series_colour(number: int | None) -> str:
    """Return the colour of a series; ink if it has no number."""
    return INK if number is None else COLOURS[number % len(COLOURS)]


def series_shape(number: int | None) -> str:
    """Return the shape of its marks; a circle if it has no number."""
    return "circle" if number is None else SHAPES[number % len(SHAPES)]


Span = tuple[int, int]

SPREAD = 0.27
"""Maximum distance of a point from the middle of its bar, in bars."""

BINS = 40
"""The axis is divided into this number of parts. Points in the same part are drawn side by side."""


def bracket_rows(spans: Sequence[Span]) -> list[int]:
    """Return a row for each bracket, 0 at the bottom. Short ones are low, and no two overlap in a row.

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


def spread_points(values: Sequence[float], low: float, high: float) -> list[float]:
    """Return for each point its horizontal distance from the middle of its bar, in bars. Close values are
    side by side."""
    bins: dict[int, list[int]] = {}
    for index, value in enumerate(values):
        bins.setdefault(round((value - low) / (high - low) * BINS), []).append(index)
    shifts = [0.0] * len(values)
    for members in bins.values():
        step = min(0.07, 2 * SPREAD / max(len(members) - 1, 1))
        for place, index in enumerate(members):
            shifts[index] = (place - (len(members) - 1) / 2) * step
    return shifts


def wrap_text(text: str, width: int) -> str:
    """Return the text in at most three lines of `width` characters, cut with an ellipsis."""
    return "\n".join(textwrap.wrap(text, width, max_lines=3, placeholder="…"))


def round_axis_ends(low: float, high: float, parts: int = 6) -> tuple[float, float]:
    """Return the nearest round numbers around the values, on a scale of at most `parts` round steps."""
    step = next(each for each in _round_steps() if each >= (high - low) / parts)
    return floor(low / step) * step, ceil(high / step) * step


def _round_steps() -> Iterator[float]:
    """Yield 1, 2, 5, 10, 20, 50, ..."""
    for power in count():
        for first in (1, 2, 5):
            yield float(first * 10**power)


HATCHES: tuple[str, ...] = (
    "",
    "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "M1 2h2M5 6h2",
    "M-2 6L2 10M0 0L8 8M6 -2L10 2",
)
HATCHES += ("M0 0L8 8M0 8L8 0", "M0 4H8", "M4 0V8", "M0 4H8M4 0V8")
"""Patterns that distinguish spans without colours, as SVG paths in a square of 8 pixels."""


def hatch_fill(number: int | None) -> str:
    """Return the fill of spans with this colour in a file that defines the patterns."""
    return f"url(#hatch-{number or 0})"
