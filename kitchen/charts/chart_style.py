"""Define the colours, marker shapes and label positions of all charts.

A data series has the same colour and shape in files and in browsers.
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

DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 3), (9, 3, 2, 3))
"""Dashes of lines, which distinguish series without colours."""

INK, MUTED_INK, GRID, PAPER = "#22272E", "#68707A", "#E4E7EB", "#FFFFFF"
PAGE_COLOURS = {"ink": INK, "ink-soft": MUTED_INK, "line": GRID, "paper": PAPER}
"""Names of page colours that replace these colours where a figure is drawn in a page, because pages may be
dark."""
AMBER, AMBER_EDGE, AMBER_INK = "#FFF1CC", "#B7791F", "#6B4300"
FONT = "DejaVu Sans, Verdana, Arial, Helvetica, sans-serif"


def series_colour(number: int | None) -> str:
    """Return the colour of the series with this number. For None, return the colour of text."""
    return INK if number is None else COLOURS[number % len(COLOURS)]


def series_shape(number: int | None) -> str:
    """Return the mark shape of the series with this number; a circle for None."""
    return "circle" if number is None else SHAPES[number % len(SHAPES)]


def series_dash(number: int) -> tuple[float, ...]:
    """Return the dashes of the line of the series with this number."""
    return DASHES[number % len(DASHES)]


Span = tuple[int, int]

SPREAD = 0.27
"""Maximum distance of a point from the middle of its bar, in bars."""

BINS = 40
"""The axis is divided into this number of parts. Points in the same part are drawn side by side."""


def bracket_rows(spans: Sequence[Span], *, apart: bool = False) -> list[int]:
    """Return the row of each bracket, counted from 0 at the bottom. Short brackets are in low rows.
    Brackets in one row do not overlap, but two may end at the same bar, unless they are `apart`."""
    rows: list[list[Span]] = []
    gap = int(apart)
    places = {span: _place(span, rows, gap) for span in sorted(spans, key=lambda s: (s[1] - s[0], s))}
    return [places[span] for span in spans]


def _place(span: Span, rows: list[list[Span]], gap: int) -> int:
    for level, row in enumerate(rows):
        if all(span[1] + gap <= left or right + gap <= span[0] for left, right in row):
            row.append(span)
            return level
    rows.append([span])
    return len(rows) - 1


def spread_points(values: Sequence[float], low: float, high: float) -> list[float]:
    """Return the horizontal offset of each point from the middle of its bar. Points with nearly equal
    values are placed side by side. `low` and `high` are the ends of the value axis."""
    bins: dict[int, list[int]] = {}
    for index, value in enumerate(values):
        bins.setdefault(round((value - low) / (high - low) * BINS), []).append(index)
    shifts = [0.0] * len(values)
    for members in bins.values():
        step = min(0.07, 2 * SPREAD / max(len(members) - 1, 1))
        for place, index in enumerate(members):
            shifts[index] = (place - (len(members) - 1) / 2) * step
    return shifts


def wrap_text(text: str, width: int, *, most: int | None = 3) -> str:
    """Return the text in lines of `width` characters. A text of more than `most` lines ends with an
    ellipsis."""
    return "\n".join(textwrap.wrap(text, width, max_lines=most, placeholder="…"))


def wrap_name(name: str, width: int) -> list[str]:
    """Return a name as lines of at most `width` characters, which end at spaces and after `+`. A long word
    is not cut: its line is longer."""
    pieces = name.replace("+", "+ ")
    lines = textwrap.wrap(pieces, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("+ ", "+") for line in lines] or [""]


def round_axis_ends(low: float, high: float, parts: int = 6) -> tuple[float, float]:
    """Return the nearest round numbers below `low` and above `high`. The step between round numbers is
    chosen so that about `parts` steps fit."""
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
    """Return the SVG fill value of the hatch pattern with this number. The file must define the patterns."""
    return f"url(#hatch-{number or 0})"
