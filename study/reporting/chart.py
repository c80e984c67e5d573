"""The chart of who left where: boxes and arrows, laid out once, drawn as SVG; the PDF draws the same."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from kitchen.words.counting import counted
from study.reporting.flow import Station

WIDTH, MAIN, SIDE, GAP, LINE, PAD = 640, 250, 310, 22, 15, 9
"""Points: the sheet, both columns of boxes, between boxes, a line of text, round it."""
CHARACTERS = {MAIN: 38, SIDE: 50}
"""That fit on a line of a box."""
SIZE = 10
"""Of letters."""


@dataclass(frozen=True, slots=True)
class Box:
    """Lines of text in a frame; `y` grows downwards."""

    x: float
    y: float
    width: float
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """As high as its lines need."""
        return len(self.lines) * LINE + 2 * PAD


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one point to another; its head is at the second."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Chart:
    """The whole drawing, `WIDTH` points wide."""

    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    alt: str


def chart_of(stations: Sequence[Station]) -> Chart:
    """Stations below each other, beside each who left there."""
    boxes, arrows, y = list[Box](), list[Arrow](), 1.0
    middle = MAIN / 2
    for station, last in zip(stations, [*[False] * (len(stations) - 1), True], strict=True):
        box = Box(1, y, MAIN, tuple(_wrapped(f"{station.words}: n = {station.number}", MAIN)))
        boxes.append(box)
        y = bottom = box.y + box.height
        if station.left:
            side = Box(WIDTH - SIDE - 1, bottom + GAP / 2, SIDE, tuple(_left(station)))
            boxes.append(side)
            turn = side.y + side.height / 2
            arrows.append(Arrow(middle, turn, side.x, turn))
            y = side.y + side.height - GAP / 2
        if not last:
            arrows.append(Arrow(middle, bottom, middle, y + GAP))
            y += GAP
    return Chart(y + 1, tuple(boxes), tuple(arrows), in_words(stations))


def in_words(stations: Sequence[Station]) -> str:
    """The chart for those who do not see it."""
    return " ".join(f"{'; '.join([_said(one), *map(_each, one.left)])}." for one in stations)


def _said(station: Station) -> str:
    return f"{counted(station.number, 'participant')} {station.words}"


def _each(left: tuple[str, int]) -> str:
    return f"{left[1]} {left[0]}"


def _left(station: Station) -> Iterator[str]:
    yield f"did not go on: n = {sum(number for _, number in station.left)}"
    for words, number in station.left:
        yield from _wrapped(f"{number} {words}", SIDE)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, CHARACTERS[width]) or [""]


def to_svg(chart: Chart) -> bytes:
    """The chart as SVG, with its words as its name."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {chart.height:g}" width="{WIDTH}" '
        f'height="{chart.height:g}" role="img" font-family="DejaVu Sans, Verdana, Arial, sans-serif" '
        f'font-size="{SIZE}"><title>{escape(chart.alt)}</title>'
        f'<rect width="{WIDTH}" height="{chart.height:g}" fill="#fff"/>'
    )
    parts = [*map(_arrow, chart.arrows), *map(_box, chart.boxes)]
    return "\n".join([head, *parts, "</svg>\n"]).encode()


def _box(box: Box) -> str:
    frame = (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" fill="#fff" '
        'stroke="#22272e"/>'
    )
    lines = (
        f'<text x="{box.x + PAD:g}" y="{box.y + PAD + (number + 0.75) * LINE:g}" fill="#22272e">'
        f"{escape(line)}</text>"
        for number, line in enumerate(box.lines)
    )
    return "\n".join([frame, *lines])


def _arrow(one: Arrow) -> str:
    line = (
        f'<line x1="{one.x1:g}" y1="{one.y1:g}" x2="{one.x2:g}" y2="{one.y2:g}" stroke="#22272e" '
        'stroke-width="1"/>'
    )
    corners = " ".join(f"{x:g},{y:g}" for x, y in head_of(one))
    return f'{line}<polygon points="{corners}" fill="#22272e"/>'


def head_of(arrow: Arrow) -> tuple[tuple[float, float], ...]:
    """The three corners of an arrow's head: it goes down or to the right."""
    x, y = arrow.x2, arrow.y2
    if arrow.x1 == arrow.x2:
        return (x, y), (x - 3, y - 6), (x + 3, y - 6)
    return (x, y), (x - 6, y - 3), (x - 6, y + 3)
