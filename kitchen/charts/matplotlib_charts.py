"""Draw a chart as SVG, PDF or PNG with matplotlib, without pyplot.

Matplotlib's styles and fonts are global, so a lock lets one figure be drawn at a time. The same chart
gives the same bytes: no date and no random ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from threading import Lock
from typing import Any, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kitchen.charts.chart_data import Axis, Chart, ImageFormat, Panel, Point, Series
from kitchen.charts.chart_style import (
    AMBER,
    AMBER_EDGE,
    AMBER_INK,
    FONT,
    GRID,
    INK,
    MUTED_INK,
    bracket_rows,
    series_colour,
    series_shape,
    wrap_text,
)

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
"""Matplotlib's names for the shapes of `chart_style`."""

LINE_STYLES: dict[str, dict[str, Any]] = {
    "lines": {"lw": 1.6, "ms": 4.6},
    "steps": {"lw": 1.6, "ms": 4.6, "drawstyle": "steps-post"},
    "dots": {"lw": 0, "ms": 5.0},
    "threads": {"lw": 0.7, "ms": 2.0, "alpha": 0.45},
    "dashed": {"lw": 1.0, "ms": 2.4, "linestyle": (0, (3, 2)), "alpha": 0.75},
    "dotted": {"lw": 1.2, "ms": 0, "linestyle": (0, (1, 1.5))},
}
BAR, SPAN = 0.66, 0.72
"""Width of a bar and height of a span, in places."""


def draw_series(axes: Axes, one: Series) -> None:
    """Draw all marks of a series. Intervals over bars are drawn in ink, others in the series' colour."""
    points = sorted(one.points, key=lambda point: point.x)
    if one.look == "bars":
        _draw_bars(axes, one, points)
    elif one.look == "spans":
        _draw_spans(axes, one, points)
    else:
        look = _look(one)
        axes.plot([p.x for p in points], [p.y for p in points], clip_on=False, zorder=_layer(one), **look)
        _draw_intervals(axes, points, series_colour(one.colour), _layer(one))


def _layer(one: Series) -> int:
    return {"threads": 2, "dashed": 3, "dotted": 3}.get(one.look, 5)


def _look(one: Series) -> dict[str, Any]:
    return {
        "color": series_colour(one.colour),
        "marker": MARKS[series_shape(one.colour)],
        **LINE_STYLES[one.look],
    }


def _draw_bars(axes: Axes, one: Series, points: Sequence[Point]) -> None:
    low = axes.get_ylim()[0]
    for point in points:
        axes.bar(
            point.x, point.y - low, BAR, bottom=low, color=series_colour(one.colour), alpha=0.45, zorder=3
        )
    _draw_intervals(axes, points, INK, 5)


def _draw_spans(axes: Axes, one: Series, points: Sequence[Point]) -> None:
    for point in points:
        low, high = point.low or 0.0, point.high or 0.0
        axes.barh(
            point.y,
            high - low,
            SPAN * one.thick,
            left=low,
            color=series_colour(one.colour),
            edgecolor="white",
            linewidth=0.2,
            zorder=2,
            hatch=HATCHES[(one.colour or 0) % len(HATCHES)],
        )


HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "++++")
"""Patterns that distinguish spans without colours."""


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
    """Return the marks of the legend, and their names."""
    return [_legend_mark(one) for one in listed], [one.name for one in listed]


def _legend_mark(one: Series) -> Line2D | Patch:
    if one.look in ("bars", "spans"):
        hatch = HATCHES[(one.colour or 0) % len(HATCHES)] if one.look == "spans" else None
        return Patch(facecolor=series_colour(one.colour), edgecolor="white", hatch=hatch)
    return Line2D([], [], **_look(one))


STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": [name for name in FONT.split(", ") if name != "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": MUTED_INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": MUTED_INK,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}

SYNTHETIC_LABEL_STYLE: dict[str, Any] = {
    "size": 8.5,
    "weight": "bold",
    "color": AMBER_INK,
    "ha": "right",
    "va": "top",
    "bbox": {"boxstyle": "round,pad=0.45", "facecolor": AMBER, "edgecolor": AMBER_EDGE, "linewidth": 0.8},
}

DRAWING_LOCK = Lock()
"""Held while drawing with matplotlib."""

LEFT, NAMED, RIGHT, EDGE = 0.74, 1.9, 0.22, 0.16
PLOT, SMALL, ROW, LINE = 2.9, 1.9, 0.27, 0.165
"""Lengths in inches: margins (left margin without and with names of rows); the plot's height, alone and next
to others; a row of brackets, and a line of a label."""
WIDEST, ACROSS, NAME = 9.0, 4, 1.15
"""Width of the widest sheet in inches; panels in a row; inches of a named place."""
DPI = 300
"""Dots per inch of a PNG, as journals require."""
LETTERS, NOTED = 16.5, 0.14
"""Letters of a small line per inch, and inches between lines."""


def draw_chart(chart: Chart, kind: ImageFormat = "svg", *, dpi: int = DPI) -> bytes:
    """Return the chart as a file's bytes. SVG keeps text as text; `dpi` is for PNG only. Thread-safe."""
    style = {**STYLE, "svg.hashsalt": chart.key, "svg.id": f"figure_{chart.key}"}
    metadata = figure_metadata(chart.full_title, chart.alternative, kind)
    return figure_bytes(lambda: _figure(chart), kind, style, metadata, dpi)


def figure_bytes(
    make: Callable[[], Figure],
    kind: ImageFormat,
    style: dict[str, Any],
    metadata: dict[str, Any],
    dpi: int = DPI,
) -> bytes:
    """Return a figure, drawn in a style, as a file's bytes."""
    with DRAWING_LOCK, mpl.rc_context(cast(Any, style)):
        out = BytesIO()
        make().savefig(out, format=kind, dpi=dpi, metadata=metadata)
    return out.getvalue()


def figure_metadata(title: str, words: str, kind: ImageFormat) -> dict[str, Any]:
    """Return the metadata of a drawing, without its date and program."""
    if kind == "svg":
        return {"Title": title, "Description": words, "Date": None, "Creator": None}
    if kind == "pdf":
        return {"Title": title, "Subject": words, "CreationDate": None, "Creator": None, "Producer": None}
    return {"Title": title, "Description": words, "Software": None}


@dataclass(frozen=True, slots=True)
class _Sheet:
    """All sizes of the figure, in inches."""

    width: float
    left: float
    across: int
    down: int
    plot: float
    foot: float
    strip: float
    head: float
    legend: float
    title: str
    under: str
    note: str

    @classmethod
    def of(cls, chart: Chart) -> _Sheet:
        places = max(len(chart.x.names), 1)
        across = min(ACROSS, len(chart.panels), max(1, int(WIDEST / (NAME * places + 0.6))))
        alone = WIDEST if chart.has_rows else min(max(5.4, NAME * places + LEFT + RIGHT), 2 * WIDEST)
        width = WIDEST if across > 1 else alone
        title = wrap_text(chart.title, int((width - 1.8) / 0.115))
        under, note = (wrap_text(text, int(width * LETTERS)) for text in (chart.under, chart.full_note))
        lines = max((wrap_text(name, 14).count("\n") for name in chart.x.names), default=0)
        rows = [bracket_rows([(b.left, b.right) for b in panel.brackets]) for panel in chart.panels]
        highest = max((max(each) + 1 for each in rows if each), default=0)
        return cls(
            width=width,
            left=NAMED if chart.has_rows else LEFT,
            across=across,
            down=ceil(len(chart.panels) / across),
            plot=_plot_height(chart),
            foot=0.62 + LINE * lines + NOTED * (note.count("\n") + bool(note)),
            strip=ROW * highest + (0.04 if highest else 0) + (0.24 if across > 1 else 0),
            head=0.66 + 0.2 * title.count("\n") + 0.15 * under.count("\n"),
            legend=0.24 * ceil(len(chart.listed) / legend_columns(width, chart)) if chart.listed else 0.0,
            title=title,
            under=under,
            note=note,
        )

    @property
    def one(self) -> float:
        """Height of a row of panels: the plot, what is above it, and the axis labels below it."""
        return self.plot + self.strip + (0.3 if self.down > 1 else 0.0)

    @property
    def height(self) -> float:
        return self.foot + self.one * self.down + self.head + self.legend

    def part(self, place: int) -> tuple[float, float, float, float]:
        """Return the place of a panel's plot, in shares of the sheet."""
        row, column = divmod(place, self.across)
        step = (self.width - self.left - RIGHT + 0.2) / self.across
        bottom = self.foot + self.one * (self.down - 1 - row)
        left = self.left + step * column
        return left / self.width, bottom / self.height, (step - 0.2) / self.width, self.plot / self.height


def legend_columns(width: float, chart: Chart) -> int:
    """Return how many names fit next to each other in the legend."""
    longest = max((len(one.name) for one in chart.listed), default=1)
    return max(1, min(len(chart.listed) or 1, int((width - 2 * EDGE) / (0.45 + longest * 0.075))))


def _plot_height(chart: Chart) -> float:
    """Return the height of the plot; each named row needs room."""
    if chart.y.names:
        return max(0.9, 0.42 * len(chart.y.names))
    return SMALL if len(chart.panels) > 2 else PLOT


def _figure(chart: Chart) -> Figure:
    sheet = _Sheet.of(chart)
    figure = Figure(figsize=(sheet.width, sheet.height), facecolor="white")
    for place, panel in enumerate(chart.panels):
        axes = figure.add_axes(sheet.part(place))
        _dress(axes, chart, inner=place % sheet.across > 0, last=place + sheet.across >= len(chart.panels))
        _draw_panel(axes, chart, panel, sheet)
    _write(figure, chart, sheet)
    return figure


def _draw_panel(axes: Axes, chart: Chart, panel: Panel, sheet: _Sheet) -> None:
    if panel.title:
        axes.set_title(panel.title, size=8.5, pad=4)
    for one in panel.series:
        draw_series(axes, one)
    _draw_brackets(axes, panel, sheet.plot)
    if not any(one.points for one in panel.series):
        axes.text(0.5, 0.5, "No values yet", transform=axes.transAxes, ha="center", color=MUTED_INK, size=11)


def _dress(axes: Axes, chart: Chart, *, inner: bool, last: bool) -> None:
    axes.set_xlim(chart.x.low, chart.x.high)
    axes.set_ylim(chart.y.low, chart.y.high)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.tick_params(length=0, pad=6, labelleft=not inner, labelbottom=last)
    _mark(axes.xaxis, chart.x, 14)
    _mark(axes.yaxis, chart.y, 26)
    if chart.y.names:
        axes.grid(visible=False)
        axes.invert_yaxis()
    if last:
        axes.set_xlabel(chart.x.title, labelpad=6)
    if not inner:
        axes.set_ylabel(wrap_text(chart.y.title, 34), labelpad=8)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _mark(which: Any, axis: Axis, letters: int) -> None:
    if axis.names:
        which.set_ticks(range(len(axis.names)), [wrap_text(name, letters) for name in axis.names])
    elif axis.ticks:
        which.set_ticks(list(axis.ticks), [f"{tick:g}" for tick in axis.ticks])
    else:
        which.set_major_locator(MaxNLocator(6, integer=axis.whole, steps=[1, 2, 5, 10]))


def _draw_brackets(axes: Axes, panel: Panel, plot: float) -> None:
    """Draw the brackets above the plot; heights are shares of the plot's height."""
    look: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
    for bracket, row in zip(
        panel.brackets, bracket_rows([(b.left, b.right) for b in panel.brackets]), strict=True
    ):
        left, right, base = bracket.left + 0.07, bracket.right - 0.07, 1 + (0.08 + row * ROW) / plot
        top = base + 0.05 / plot
        axes.plot([left, left, right, right], [base, top, top, base], color=MUTED_INK, lw=0.9, **look)
        middle = (bracket.left + bracket.right) / 2
        axes.text(middle, top + 0.015 / plot, bracket.words, ha="center", va="bottom", size=7.5, **look)


def _write(figure: Figure, chart: Chart, sheet: _Sheet) -> None:
    """Write the title, whose data it shows, the legend, the note, and whether the data are synthetic."""

    def put(x: float, y: float, text: str, **look: Any) -> None:
        figure.text(x / sheet.width, y / sheet.height, text, **look)

    top = sheet.height
    put(EDGE, top - 0.16, sheet.title, size=12, weight="bold", va="top", linespacing=1.15)
    lines = sheet.title.count("\n")
    put(EDGE, top - 0.42 - 0.2 * lines, sheet.under, size=8.5, color=MUTED_INK, va="top")
    put(EDGE, 0.1, sheet.note, size=7.5, color=MUTED_INK, va="bottom", linespacing=1.3)
    if chart.synthetic:
        put(sheet.width - RIGHT, top - 0.18, "Synthetic data", **SYNTHETIC_LABEL_STYLE)
    if chart.listed:
        place = (EDGE / sheet.width / 2, 1 - (sheet.head - 0.02) / sheet.height)
        handles, names = legend_marks(chart.listed)
        columns = legend_columns(sheet.width, chart)
        look: dict[str, Any] = {"loc": "upper left", "frameon": False, "fontsize": 8.5, "borderpad": 0.1}
        figure.legend(handles, names, ncols=columns, bbox_to_anchor=place, **look)
