"""Define a chart as data, and write its table as CSV or JSON.

The functions that draw a chart add nothing to it and leave nothing out.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MarkKind = Literal["bars", "dots", "lines", "steps", "threads", "dashed", "dotted", "spans"]
"""Bars stand on the lower end of the axis; lines join points with a mark on each; steps likewise, of what
stays as it is until it changes at once; threads are thin, quiet and without marks, for many of them; dashed
and dotted lines are what others are compared with; spans lie along a row from `low` to `high`."""

ImageFormat = Literal["svg", "pdf", "png"]
"""What a figure is drawn as."""

CUT_NOTE = "An interval that reaches past the scale ends at its edge; the table has all of it."

Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class Point:
    """One value. `low` and `high` are the ends of its interval, for spans where it begins and ends along the
    x axis; `words` say it for whoever points at it."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together. `colour` is the number of its colour and shape (looks.py), None for
    ink; `listed` series stand in the legend where there are several."""

    name: str
    look: MarkKind
    points: tuple[Point, ...]
    colour: int | None = 0
    listed: bool = True
    thick: float = 1.0
    """How high its spans are, as a share of what fits into a row."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Joins two places of the x axis, above everything, with words."""

    left: int
    right: int
    words: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of the figure; all have the same axes."""

    series: tuple[Series, ...]
    title: str = ""
    brackets: tuple[Bracket, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`. Where it has `names` the places are 0, 1, ... and nothing lies between them that
    has a name; else `ticks` are marked, or whatever is round."""

    title: str
    low: float
    high: float
    names: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()
    whole: bool = False

    @classmethod
    def of_names(cls, title: str, names: tuple[str, ...]) -> Axis:
        """An axis of places."""
        return cls(title, -0.6, max(len(names), 1) - 0.4, names)


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure: `under` its title stands whose data it shows, `note` says what the marks are, `words` say
    what it shows to whoever does not see it, `head` and `rows` are the table behind it."""

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

    @property
    def full_title(self) -> str:
        """The title, which says so where any number comes from a program."""
        return f"{self.title} (synthetic data)" if self.synthetic else self.title

    @property
    def alternative(self) -> str:
        """Its words, after whether the data are synthetic."""
        return f"Synthetic data. {self.words}" if self.synthetic else self.words

    @property
    def full_note(self) -> str:
        """The note, which says so where an interval is longer than the axis, for it is cut there."""
        return f"{self.note} {CUT_NOTE}".strip() if any(map(self._leaves, self._intervals())) else self.note

    @property
    def listed(self) -> tuple[Series, ...]:
        """The series of the legend, each name once, in their order; none where there is one only."""
        found = {one.name: one for panel in self.panels for one in panel.series if one.listed}
        return tuple(found.values()) if len(found) > 1 else ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be seen."""
        return not any(True for _ in self.points())

    @property
    def has_rows(self) -> bool:
        """Whether it is made of rows with names, the first one at the top, along an axis of numbers."""
        return bool(self.y.names) and not self.x.names

    def _intervals(self) -> Iterator[Point]:
        """What has ends along the y axis."""
        for panel in self.panels:
            for one in panel.series:
                yield from one.points if one.look != "spans" else ()

    def _leaves(self, point: Point) -> bool:
        ends = [end for end in (point.low, point.high) if end is not None]
        return any(not self.y.low <= end <= self.y.high for end in ends)

    def points(self) -> Iterator[Point]:
        """All points of all panels."""
        for panel in self.panels:
            for one in panel.series:
                yield from one.points


def chart_csv(chart: Chart) -> bytes:
    """UTF-8 after RFC 4180: a head, a blank for what is not there, numbers in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(chart.head)
    writer.writerows(["" if cell is None else cell for cell in row] for row in chart.rows)
    return out.getvalue().encode()


def chart_json(chart: Chart) -> bytes:
    """What the figure says and its table as one JSON object; what is not there is null."""
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
    """A cell for people: three digits behind the point at most, a dash where there is nothing."""
    if cell is None:
        return "\N{EN DASH}"
    return f"{cell:.3f}".rstrip("0").rstrip(".") if isinstance(cell, float) else str(cell)
