"""Define `Chart`, which holds a chart's data and texts, and write its table as CSV or JSON.

All drawings of a chart show exactly these data.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

MarkKind = Literal[
    "bars",
    "hollow",
    "dots",
    "faint",
    "lines",
    "curve",
    "steps",
    "threads",
    "links",
    "dashed",
    "dotted",
    "spans",
    "clouds",
    "boxes",
    "whiskers",
]
"""Kinds of mark. Bars start at the lower end of the axis; hollow ones are for comparison. Lines join points,
with a mark on each; a curve has none. Steps are lines of values that stay until they change at once. Threads
are thin lines, for many of them; links are thinner, and have no points. Faint dots lie behind other marks.
Dashed and dotted lines are for comparison. Spans run along a row from `low` to `high`. Clouds are areas
between the x values `low` and `x`. Boxes and whiskers run along the y axis from `low` to `high`."""

WITHOUT_INTERVALS = ("spans", "clouds", "boxes", "whiskers")
"""Marks whose `low` and `high` are not the ends of an interval."""

ImageFormat = Literal["svg", "pdf", "png"]
"""File formats of a drawn figure."""

CUT_NOTE = "An interval that reaches past the scale ends at its edge; the table has all of it."

Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a series.

    `low` and `high` are the ends of the value's interval. In a series of horizontal spans, they are the
    start and end of the span on the x axis. `words` is the tooltip. `label` is printed next to the point.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    words: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points with the same name, mark and colour. `colour` is a number that selects colour and shape
    (`chart_style`); None means the text colour. `listed` series appear in the legend, if there are
    several."""

    name: str
    look: MarkKind
    points: tuple[Point, ...]
    colour: int | None = 0
    listed: bool = True
    thick: float = 1.0
    """Height of its spans or width of its bars and boxes, as a share of the usual one."""
    dash: tuple[float, ...] = ()
    """Lengths of the dashes and gaps of its line in pixels; empty for an unbroken line."""

    @property
    def has_intervals(self) -> bool:
        """Return True if any point has an interval along the y axis."""
        return self.look not in WITHOUT_INTERVALS and any(point.low is not None for point in self.points)


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracket above the plot that joins two positions on the x axis. `words` is the text above it."""

    left: int
    right: int
    words: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the plots of a chart. All panels have the same axes."""

    series: tuple[Series, ...]
    title: str = ""
    brackets: tuple[Bracket, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`. With `names`, the positions 0, 1, … have these names. Otherwise the
    numbers in `ticks` are marked or, without `ticks`, round numbers."""

    title: str
    low: float
    high: float
    names: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()
    whole: bool = False
    below: tuple[str, ...] = ()
    """Lines below each name in a file."""

    @classmethod
    def of_names(cls, title: str, names: tuple[str, ...], below: tuple[str, ...] = ()) -> Axis:
        """Return an axis whose positions 0, 1, … have these names. `below` has a further line for each
        name."""
        return cls(title, -0.6, max(len(names), 1) - 0.4, names, below=below)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its texts and its table. `under` is the subtitle, which states whose data are shown.
    `note` explains the marks. `words` describes the chart for people who cannot see it. `head` and `rows`
    are its table. `replaced_texts` has (name, text) pairs that are shown instead of `title` and `note`; an
    empty text leaves it out."""

    key: str
    title: str
    x: Axis
    y: Axis
    panels: tuple[Panel, ...]
    under: str = ""
    note: str = ""
    words: str = ""
    head: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    synthetic: bool = False
    replaced_texts: tuple[tuple[str, str], ...] = ()
    legend: str = ""
    """The title of the legend."""

    @property
    def shown_title(self) -> str:
        """Return the title that the drawing shows. It is empty if it is left out."""
        return dict(self.replaced_texts).get("title", self.title)

    @property
    def full_title(self) -> str:
        """Return the title, followed by `(synthetic data)` if programs played instead of people."""
        return f"{self.title} (synthetic data)" if self.synthetic else self.title

    @property
    def alternative(self) -> str:
        """Return the description of the chart. It begins with “Synthetic data.” if any number comes from a
        program."""
        return f"Synthetic data. {self.words}" if self.synthetic else self.words

    @property
    def full_note(self) -> str:
        """Return the note below the chart. If an interval is cut at the end of the axis, a sentence says
        so. The result is empty if the note is left out."""
        note = dict(self.replaced_texts).get("note", self.note)
        if not note and "note" in dict(self.replaced_texts):
            return ""
        points = (point for one in self.series if one.has_intervals for point in one.points)
        ends = (end for point in points for end in (point.low, point.high) if end is not None)
        cut = any(not self.y.low <= end <= self.y.high for end in ends)
        return f"{note} {CUT_NOTE}".strip() if cut else note

    @property
    def series(self) -> tuple[Series, ...]:
        """Return the series of all panels."""
        return tuple(one for panel in self.panels for one in panel.series)

    @property
    def listed(self) -> tuple[Series, ...]:
        """Return the series that the legend shows, each name once. Empty if there would be fewer than two."""
        found = {one.name: one for one in self.series if one.listed}
        return tuple(found.values()) if len(found) > 1 else ()

    @property
    def is_empty(self) -> bool:
        """Return True if the chart has no points."""
        return not any(one.points for one in self.series)

    @property
    def has_rows(self) -> bool:
        """Return True if the y axis has names and the x axis has numbers. The first name is then at the
        top."""
        return bool(self.y.names) and not self.x.names


def csv_bytes(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return a table as UTF-8 CSV (RFC 4180) with a header line.

    Missing values are empty cells. Numbers have full precision, and booleans are 1 and 0.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([int(cell) if isinstance(cell, bool) else cell for cell in row] for row in rows)
    return out.getvalue().encode()


def chart_csv(chart: Chart) -> bytes:
    """Return the chart's table as CSV."""
    return csv_bytes(chart.head, chart.rows)


def chart_json(chart: Chart) -> bytes:
    """Return the chart's texts and table as one JSON object. Missing values are null."""
    whole = {
        "figure": chart.key,
        "title": chart.title,
        "synthetic": chart.synthetic,
        "words": chart.words,
        "note": chart.full_note,
        "rows": [dict(zip(chart.head, row, strict=True)) for row in chart.rows],
    }
    return (json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def cell_text(cell: Cell) -> str:
    """Return a table cell as text for readers: numbers with at most three decimals, a dash for a missing
    value."""
    if cell is None:
        return "\N{EN DASH}"
    return f"{cell:.3f}".rstrip("0").rstrip(".") if isinstance(cell, float) else str(cell)
