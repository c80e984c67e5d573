"""Draw Figure 5 of the paper with matplotlib: for each measure a bar chart of means with 95 % intervals.

Brackets mark significant pairs. It also draws each participant's values over the conditions. The same result
gives the same bytes: no date and no random ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kitchen.charts.chart_data import ImageFormat
from kitchen.charts.chart_style import COLOURS, GRID, INK, MUTED_INK, bracket_rows, spread_points, wrap_text
from kitchen.charts.matplotlib_charts import (
    DPI,
    LETTERS,
    NOTED,
    STYLE,
    SYNTHETIC_LABEL_STYLE,
    figure_bytes,
    figure_metadata,
)
from kitchen.charts.matplotlib_charts import draw_chart as draw_chart
from study.analysis.statistics.anova_and_tukey import Pair
from study.analysis.statistics.apa_format import format_p
from study.analysis.statistics.observations import Measure
from study.analysis.statistics.result_charts import axis_bounds, means_chart, participants_chart
from study.analysis.statistics.result_sentences import (
    bracketed_pairs,
    describe_figure,
    describe_participants,
    value_axis_title,
)
from study.analysis.statistics.run_analysis import MeasureResult

EDGE, LEFT, RIGHT = 0.16, 0.72, 0.22
PLOT, FOOT, HEAD = 2.9, 1.1, 0.78
ROW, LINE, PLAYER = 0.27, 0.165, 0.125
"""Sizes in inches: margins; plot, space below and above it; one row of brackets, one line of a label, one
line about co-players."""


def draw(result: MeasureResult, kind: ImageFormat = "svg", *, dpi: int = DPI) -> bytes:
    """Return the chart of one measure as a file's bytes; SVG keeps text as text. `dpi` is for PNG only.

    Safe to call from any thread. A measure without values gives an empty chart with a note.
    """
    style = {**STYLE, "svg.hashsalt": result.measure.key, "svg.id": f"figure_{result.measure.key}"}
    result = result.where_measured()
    title = result.measure.label + (" (synthetic data)" if result.synthetic else "")
    return figure_bytes(
        lambda: _figure(result), kind, style, figure_metadata(title, describe_figure(result), kind), dpi
    )


def draw_participants(result: MeasureResult, kind: ImageFormat = "svg", *, dpi: int = DPI) -> bytes:
    """Return the chart of each participant over the conditions, with brackets of paired contrasts.

    It has the same parameters as `draw`.
    """
    return draw_chart(participants_chart(result), kind, dpi=dpi)


def _figure(result: MeasureResult) -> Figure:
    """Draw the title, the strip of brackets, the bars and the note, each in its own part of the sheet."""
    rows = bracket_rows([_span(result, pair) for pair in bracketed_pairs(result.brackets)])
    sheet = _Sheet.of(result, rows)
    figure = Figure(figsize=(sheet.width, sheet.height), facecolor="white")
    bars = figure.add_axes(sheet.part(sheet.foot, PLOT))
    _draw_bars(bars, result)
    if rows:
        above = figure.add_axes(sheet.part(sheet.foot + PLOT, sheet.strip), sharex=bars)
        above.set_ylim(0, sheet.strip)
        _draw_brackets(above, result, rows)
    _write(figure, result, sheet)
    return figure


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Sizes of the parts of a figure, in inches. The plot height is fixed."""

    width: float
    left: float
    foot: float
    strip: float
    head: float
    title: str
    note: str

    @classmethod
    def of(cls, result: MeasureResult, rows: Sequence[int]) -> _Sheet:
        labels = _labels(result)
        left = LEFT + LINE * y_label(result).count("\n")
        width = max(5.4, 1.15 * len(labels) + left + RIGHT)
        title = wrap_text(result.measure.label, int((width - 1.8) / 0.115))
        note = wrap_text(means_chart(result).full_note, int(width * LETTERS))
        below = LINE * max(label.count("\n") for label in labels) + PLAYER * _player_lines(result)
        foot = FOOT + below + NOTED * note.count("\n")
        strip = ROW * (max(rows) + 1) + 0.04 if rows else 0.0
        return cls(width, left, foot, strip, HEAD + 0.2 * title.count("\n"), title, note)

    @property
    def height(self) -> float:
        return self.foot + PLOT + self.strip + self.head

    def part(self, bottom: float, height: float) -> tuple[float, float, float, float]:
        """Return a full-width part as shares of the sheet, as matplotlib expects it."""
        inner = self.width - self.left - RIGHT
        return self.left / self.width, bottom / self.height, inner / self.width, height / self.height


def _labels(result: MeasureResult) -> list[str]:
    return [wrap_text(condition.label, 14) for condition in result.table.conditions]


def _players(result: MeasureResult) -> list[str]:
    """Return the co-players of each bar as wrapped texts."""
    return [wrap_text(players.short, 17) for players in result.players]


def _player_lines(result: MeasureResult) -> int:
    return max((text.count("\n") + 1 for text in _players(result)), default=0)


def y_label(result: MeasureResult) -> str:
    """Return the title of the value axis, wrapped to the height of the plot."""
    title = value_axis_title(result.measure)
    return title if len(title) <= 44 else f"Rating\n{wrap_text(result.measure.scale, 44)}"


def _span(result: MeasureResult, pair: Pair) -> tuple[int, int]:
    order = result.table.conditions
    return order.index(pair.first), order.index(pair.second)


def _draw_bars(axes: Axes, result: MeasureResult) -> None:
    labels = _labels(result)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.set_ylim(*axis_bounds(result))
    _dress(axes, result.measure)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel(y_label(result), labelpad=8)
    _name_groups(axes, result, max(label.count("\n") for label in labels) + 1)
    for place in range(len(labels)):
        _draw_condition(axes, result, place)
    if not any(d.n for d in result.descriptions):
        axes.text(0.5, 0.5, "No values yet", transform=axes.transAxes, ha="center", color=MUTED_INK, size=11)


def _name_groups(axes: Axes, result: MeasureResult, lines: int) -> None:
    """Write below the labels how many values each bar has and who the co-players were."""
    below = -(0.12 + LINE * lines) / PLOT
    look: dict[str, Any] = {"ha": "center", "va": "top", "transform": axes.get_xaxis_transform()}
    for place, description in enumerate(result.descriptions):
        axes.text(place, below, f"n = {description.n}", color=MUTED_INK, size=8, **look)
    for place, played in enumerate(_players(result)):
        axes.text(place, below - 0.165 / PLOT, played, color=MUTED_INK, size=6.5, **look)
    lowest = below - (0.27 + PLAYER * _player_lines(result)) / PLOT
    axes.text((len(result.descriptions) - 1) / 2, lowest, _across(result), **look)


def _across(result: MeasureResult) -> str:
    return "Condition, and who played beside the participants" if result.players else "Condition"


def _dress(axes: Axes, measure: Measure) -> None:
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.tick_params(length=0, pad=6)
    whole = measure.kind in {"count", "likert"}
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=whole, steps=[1, 2, 5, 10]))
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _draw_condition(axes: Axes, result: MeasureResult, place: int) -> None:
    description, (low, high) = result.descriptions[place], axes.get_ylim()
    if description.mean is None:
        return
    colour = COLOURS[place % len(COLOURS)]
    values = result.table.values(description.condition.key)
    across = [place + shift for shift in spread_points(values, low, high)]
    base = low if result.measure.low is not None else min(max(0.0, low), high)
    axes.bar(place, description.mean - base, 0.66, bottom=base, color="white", zorder=1.5)
    axes.scatter(across, values, s=15, color=colour, alpha=0.75, linewidths=0, clip_on=False, zorder=2)
    axes.bar(place, description.mean - base, 0.66, bottom=base, color=colour, alpha=0.38, zorder=3)
    axes.plot(
        [place - 0.33, place + 0.33], [description.mean] * 2, color=colour, lw=2, zorder=4, clip_on=False
    )
    if description.ci_low is not None and description.ci_high is not None:
        ends = (max(description.ci_low, low), min(description.ci_high, high))
        arms = [[description.mean - ends[0]], [ends[1] - description.mean]]
        mark = axes.errorbar(place, description.mean, arms, color=INK, elinewidth=1.3, capsize=4, zorder=5)
        for part in (*mark[1], *mark[2]):
            part.set_clip_on(False)


def _draw_brackets(axes: Axes, result: MeasureResult, rows: Sequence[int]) -> None:
    axes.set_axis_off()
    for pair, row in zip(bracketed_pairs(result.brackets), rows, strict=True):
        left, right = _span(result, pair)
        left_end, right_end, base = left + 0.07, right - 0.07, 0.08 + row * ROW
        axes.plot(
            [left_end, left_end, right_end, right_end],
            [base, base + 0.05, base + 0.05, base],
            color=MUTED_INK,
            lw=0.9,
            solid_joinstyle="miter",
        )
        axes.text((left + right) / 2, base + 0.065, format_p(pair.p), ha="center", va="bottom", size=7.5)


def _write(figure: Figure, result: MeasureResult, sheet: _Sheet) -> None:
    """Write the title, the participants, the legend, and the mark of synthetic data."""

    def put(x: float, y: float, text: str, **look: Any) -> None:
        figure.text(x / sheet.width, y / sheet.height, text, **look)

    top = sheet.height
    put(EDGE, top - 0.2, sheet.title, size=12, weight="bold", va="top", linespacing=1.15)
    put(EDGE, top - sheet.head + 0.32, describe_participants(result), size=8.5, color=MUTED_INK, va="top")
    put(EDGE, 0.13, sheet.note, size=7.5, color=MUTED_INK, va="bottom", linespacing=1.3)
    if result.synthetic:
        put(sheet.width - RIGHT, top - 0.22, "Synthetic data", **SYNTHETIC_LABEL_STYLE)
