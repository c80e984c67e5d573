"""The marks of one series, drawn by matplotlib; the same in the legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kitchen.charts.chart import Point, Series
from kitchen.charts.looks import INK, colour_of, shape_of

MARKS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "cross": "P",
    "triangle-down": "v",
    "triangle-right": ">",
    "stroke": "X",
}
"""Of the shapes of looks.py, as matplotlib calls them."""

LINES: dict[str, dict[str, Any]] = {
    "lines": {"lw": 1.6, "ms": 4.6},
    "steps": {"lw": 1.6, "ms": 4.6, "drawstyle": "steps-post"},
    "dots": {"lw": 0, "ms": 5.0},
    "threads": {"lw": 0.7, "ms": 2.0, "alpha": 0.45},
    "dashed": {"lw": 1.0, "ms": 2.4, "linestyle": (0, (3, 2)), "alpha": 0.75},
    "dotted": {"lw": 1.2, "ms": 0, "linestyle": (0, (1, 1.5))},
}
BAR, SPAN = 0.66, 0.72
"""How wide a bar is, how high a span, in places."""


def draw_series(axes: Axes, one: Series) -> None:
    """All its marks; intervals in ink over bars, else in its colour."""
    points = sorted(one.points, key=lambda point: point.x)
    if one.look == "bars":
        _draw_bars(axes, one, points)
    elif one.look == "spans":
        _draw_spans(axes, one, points)
    else:
        look = _look(one)
        axes.plot([p.x for p in points], [p.y for p in points], clip_on=False, zorder=_layer(one), **look)
        _draw_intervals(axes, points, colour_of(one.colour), _layer(one))


def _layer(one: Series) -> int:
    return {"threads": 2, "dashed": 3, "dotted": 3}.get(one.look, 5)


def _look(one: Series) -> dict[str, Any]:
    return {"color": colour_of(one.colour), "marker": MARKS[shape_of(one.colour)], **LINES[one.look]}


def _draw_bars(axes: Axes, one: Series, points: Sequence[Point]) -> None:
    low = axes.get_ylim()[0]
    for point in points:
        axes.bar(point.x, point.y - low, BAR, bottom=low, color=colour_of(one.colour), alpha=0.45, zorder=3)
    _draw_intervals(axes, points, INK, 5)


def _draw_spans(axes: Axes, one: Series, points: Sequence[Point]) -> None:
    for point in points:
        low, high = point.low or 0.0, point.high or 0.0
        axes.barh(
            point.y,
            high - low,
            SPAN * one.thick,
            left=low,
            color=colour_of(one.colour),
            edgecolor="white",
            linewidth=0.2,
            zorder=2,
            hatch=HATCHES[(one.colour or 0) % len(HATCHES)],
        )


HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "++++")
"""So that spans are told apart without colours."""


def _draw_intervals(axes: Axes, points: Sequence[Point], colour: str, layer: int) -> None:
    bottom, top = sorted(axes.get_ylim())
    for point in points:
        if point.low is not None and point.high is not None:
            low, high = max(point.low, bottom), min(point.high, top)
            mark = axes.errorbar(
                point.x,
                point.y,
                [[max(point.y - low, 0.0)], [max(high - point.y, 0.0)]],
                color=colour,
                elinewidth=1.2,
                capsize=3,
                zorder=layer,
            )
            for part in (*mark[1], *mark[2]):
                part.set_clip_on(False)


def legend_marks(listed: Sequence[Series]) -> tuple[list[Line2D | Patch], list[str]]:
    """What stands in the legend, and its names."""
    return [_legend_mark(one) for one in listed], [one.name for one in listed]


def _legend_mark(one: Series) -> Line2D | Patch:
    if one.look in ("bars", "spans"):
        hatch = HATCHES[(one.colour or 0) % len(HATCHES)] if one.look == "spans" else None
        return Patch(facecolor=colour_of(one.colour), edgecolor="white", hatch=hatch)
    return Line2D([], [], **_look(one))
