"""Draw the results of an experiment: success rates as lines, or one metric as bars.

The lines are Figure 4 of the MindAgent paper: the success rate by the interval between orders (alpha). Each
number of agents has a line with 95 % confidence intervals over episodes. Published values and the upper bound
are drawn as further lines. The bars show partners by seat with the standard error, or line-ups with 95 %
confidence intervals. A subtitle states who made the decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kitchen.charts.chart_data import Axis, Cell, Chart, ImageFormat, Panel, Point, Series
from kitchen.charts.chart_style import COLOURS as ALL_COLOURS
from kitchen.charts.chart_style import GRID, MUTED_INK
from kitchen.charts.matplotlib_charts import STYLE, figure_bytes, figure_metadata
from kitchen.charts.matplotlib_charts import draw_chart as draw_chart
from kitchen.contract.benchmark import ComparisonBenchmark, PairingBenchmark, PublishedValue
from kitchen.experiments.comparison_tables import (
    comparison_benchmark,
    levels_in,
    line_up_results,
    means_over_others,
    pairing_benchmark,
)
from kitchen.experiments.experiment_results import CellResult, IntervalResult, decision_makers_of
from kitchen.experiments.experiment_setup import ExperimentSetup
from kitchen.words.english_text import counted_noun

SERIES_NUMBERS = (4, 1, 2, 3, 0, 5, 7, 6)
"""Numbers of the line colours, for ascending numbers of agents."""
CONFIDENCE, POINT_OFFSET = 0.95, 0.045
SUCCESS_RATE_COLUMNS = (
    "panel",
    "agents",
    "alpha",
    "episodes",
    "completed",
    "total",
    "share",
    "low",
    "high",
    "paper",
    "bound",
)


def draw_success_rates(
    setup: ExperimentSetup, results: Sequence[CellResult], kind: ImageFormat = "svg"
) -> bytes:
    """Return the figure of success rates as a file's bytes. Safe from any thread."""
    return draw_chart(success_rate_chart(setup, results), kind)


def draw_results(setup: ExperimentSetup, results: Sequence[CellResult], kind: ImageFormat = "svg") -> bytes:
    """Return the figure of an experiment as a file's bytes. Safe from any thread."""
    if not isinstance(setup.ground, ComparisonBenchmark):
        return draw_success_rates(setup, results, kind)
    of_partners = isinstance(setup.ground, PairingBenchmark)
    bars = pairing_bars(results) if of_partners else comparison_bars(results)
    metadata = figure_metadata(bars.title, f"{bars.title}. {decision_makers_of(results)}", kind)
    return figure_bytes(lambda: _figure(bars, results), kind, BAR_STYLE, metadata)


def success_rate_chart(setup: ExperimentSetup, results: Sequence[CellResult]) -> Chart:
    """Return the chart of success rates; presets have a panel for each variant."""
    panels = {_name(each): [cell for cell in results if _name(cell) == _name(each)] for each in results}
    agents = sorted({each.column.agents for each in results})
    alphas = sorted({each.alpha for cell in results for each in cell.intervals})
    edge = 0.08 * (alphas[-1] - alphas[0]) or 0.5
    alone = f", {counted_noun(agents[0], 'agent')}" if len(agents) == 1 else ""
    return Chart(
        key="figure4",
        title=f"Success rate, {setup.coplayer}{alone}",
        x=Axis(
            "Interval (\N{GREEK SMALL LETTER ALPHA})",
            alphas[0] - edge,
            alphas[-1] + edge,
            ticks=tuple(alphas),
        ),
        y=Axis("completed / (completed + failed)", -0.02, 1.02, ticks=(0, 0.25, 0.5, 0.75, 1)),
        panels=tuple(
            Panel(tuple(line for cell in cells for line in _lines(cell, agents) if line.points), name)
            for name, cells in panels.items()
        ),
        under=str(decision_makers_of(results)),
        note=_note(results),
        words=_words(results),
        head=SUCCESS_RATE_COLUMNS,
        rows=tuple(_row(cell, each) for cell in results for each in cell.intervals),
    )


def _name(result: CellResult) -> str:
    return result.column.variant.label or result.column.level


def _lines(cell: CellResult, agents: Sequence[int]) -> Iterator[Series]:
    """Yield the bound, the paper's and our line. Ours is shifted a little, so that intervals are visible."""
    who, place = counted_noun(cell.column.agents, "agent"), agents.index(cell.column.agents)
    colour, aside = (
        SERIES_NUMBERS[place % len(SERIES_NUMBERS)],
        POINT_OFFSET * (place - (len(agents) - 1) / 2),
    )
    for name, look, shares in (
        (f"{who}, at most", "dotted", [(each.alpha, each.bound.share) for each in cell.intervals]),
        (f"{who}, GPT-4 in the paper", "dashed", [(each.alpha, _papers(each)) for each in cell.intervals]),
    ):
        points = tuple(Point(x, y, words=f"{name}: {y:.3f}") for x, y in shares if y is not None)
        yield Series(name, "dotted" if look == "dotted" else "dashed", points, colour, listed=False)
    ours = [(each, each.share, *share_interval(each)) for each in cell.intervals]
    yield Series(
        who,
        "lines",
        tuple(
            Point(
                e.alpha + aside,
                y,
                low,
                high,
                f"{who}: {y:.3f} ({e.completed} of {e.total}, {e.episodes} episodes)",
            )
            for e, y, low, high in ours
            if y is not None
        ),
        colour,
    )


def _papers(each: IntervalResult) -> float | None:
    return each.paper[0] / each.paper[1] if each.paper else None


def share_interval(each: IntervalResult) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % interval of the share over episodes, within 0 and 1.

    Orders of one episode depend on each other, so the share is a ratio of sums over episodes (Cochran 1977,
    6.3), with Student's t. Return (None, None) for fewer than two episodes.
    """
    from scipy.stats import t  # imported here because scipy.stats is slow to import

    n, share = len(each.counts), each.share
    if n < 2 or share is None:
        return None, None
    left = sum((done - share * ended) ** 2 for done, ended in each.counts)
    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * sqrt(n / (n - 1) * left) / each.total
    return max(share - half, 0.0), min(share + half, 1.0)


def _note(results: Sequence[CellResult]) -> str:
    every = [each for cell in results for each in cell.intervals]
    has_paper = any(each.paper for each in every)
    parts = [
        "Upright lines: 95% CI over episodes." if any(len(each.counts) > 1 for each in every) else "",
        "Dashed: GPT-4 in the paper." if has_paper else "",
        "Dotted: what nobody can pass." if any(each.bound.share is not None for each in every) else "",
    ]
    return " ".join(filter(None, parts))


def _words(results: Sequence[CellResult]) -> str:
    cells = (
        f"{_name(cell)}, {counted_noun(cell.column.agents, 'agent')}: {_shares(cell)}" for cell in results
    )
    return f"Success rate by interval. {'; '.join(cells)}. {decision_makers_of(results)}"


def _shares(cell: CellResult) -> str:
    known = [f"{each.share:.2f} at {each.alpha:g}" for each in cell.intervals if each.share is not None]
    return ", ".join(known) or "nothing yet"


def _row(cell: CellResult, each: IntervalResult) -> tuple[Cell, ...]:
    counts = each.alpha, each.episodes, each.completed, each.total
    shares = each.share, *share_interval(each), _papers(each), each.bound.share
    return _name(cell), cell.column.agents, *counts, *shares


PANEL_HEIGHT, HEAD_INCHES, FOOT_INCHES = 2.1, 0.95, 0.4
"""Inches of a panel, and of the space above and below all panels. Panels are stacked vertically."""
BAR_STYLE = {**STYLE, "font.size": 8, "svg.hashsalt": "figure4", "svg.id": "figure_figure4"}
BAR_COLOURS = [ALL_COLOURS[number] for number in SERIES_NUMBERS]
SHARE_TOP = 1.05
"""Upper end of the axis of a share."""
WIDTH, GAP, BELOW = 9.5, 1.2, -13
"""Width in inches; gap between groups in bars; points from the axis to the names of groups."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of our results; `reach` is the interval's distance below and above, or None."""

    name: str
    height: float
    reach: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Adjacent bars of one level."""

    name: str
    ours: tuple[Bar, ...]
    printed: Mapping[str, PublishedValue]


@dataclass(frozen=True, slots=True)
class BarFigure:
    """The content of a bar figure: groups by level, in their order."""

    title: str
    axis: str
    groups: Mapping[str, tuple[BarGroup, ...]]
    top: float | None = None
    """Upper end of the axis; None to derive it from the bars."""


def pairing_bars(results: Sequence[CellResult]) -> BarFigure:
    """Return bars of every kind over all partners of another kind, by level and seat."""
    ground, pairs = pairing_benchmark(results), line_up_results(results)

    def group(level: str, seat: int) -> BarGroup:
        ours = (
            Bar(name, mean.mean or 0, None if mean.error is None else (mean.error, mean.error))
            for name, mean in means_over_others(pairs, level, seat)
        )
        return BarGroup(f"seat {seat}", tuple(ours), ground.printed(level, seat))

    groups = {level: (group(level, 0), group(level, 1)) for level in levels_in(pairs)}
    figure = ground.figure.capitalize()
    return BarFigure(f"{figure} by seat, over all others", figure, groups)


def comparison_bars(results: Sequence[CellResult]) -> BarFigure:
    """Return bars of every line-up, by level and number of seats."""
    (ground, figure), found = comparison_benchmark(results), line_up_results(results)

    def group(level: str, seats: int) -> BarGroup:
        mine = (each for each in found if (each.level, each.seats) == (level, seats))
        ours = (
            Bar(each.name, each.estimate.mean, each.estimate.reach)
            for each in mine
            if each.estimate.mean is not None
        )
        return BarGroup(counted_noun(seats, "seat"), tuple(ours), ground.published(level, seats))

    places = dict.fromkeys((each.level, each.seats) for each in found)
    groups = {
        level: tuple(group(level, seats) for other, seats in places if other == level) for level, _ in places
    }
    top = SHARE_TOP if figure.kind == "share" else None
    return BarFigure(f"{figure.label} by who plays, with 95 % intervals", figure.label, groups, top)


def _figure(bars: BarFigure, results: Sequence[CellResult]) -> Figure:
    height = len(bars.groups) * PANEL_HEIGHT + HEAD_INCHES + FOOT_INCHES
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    panels = figure.subplots(len(bars.groups), 1, squeeze=False).flatten()
    colours = _colours(bars)
    for axes, (level, groups) in zip(panels, bars.groups.items(), strict=True):
        _bar_panel(axes, level, groups, bars, colours)
    figure.text(0.02, 1 - 0.1 / height, bars.title, size=10.5, weight="bold", va="top")
    who = decision_makers_of(results)
    patches = [Patch(facecolor=colour, label=who.figure_label(name)) for name, colour in colours.items()]
    patches.append(Patch(facecolor="white", edgecolor=MUTED_INK, label="in the paper, as printed"))
    place = (0, 1 - 0.3 / height)
    figure.legend(handles=patches, loc="upper left", ncols=4, frameon=False, bbox_to_anchor=place)
    figure.subplots_adjust(
        top=1 - HEAD_INCHES / height, bottom=FOOT_INCHES / height, left=0.07, right=0.99, hspace=0.45
    )
    return figure


def _colours(bars: BarFigure) -> dict[str, str]:
    names = dict.fromkeys(
        bar.name for groups in bars.groups.values() for group in groups for bar in group.ours
    )
    return {name: BAR_COLOURS[place % len(BAR_COLOURS)] for place, name in enumerate(names)}


def _bar_panel(
    axes: Axes, level: str, groups: Sequence[BarGroup], bars: BarFigure, colours: Mapping[str, str]
) -> None:
    _dress(axes, level, bars.axis)
    place, names = 0.0, list[tuple[float, str]]()
    for group in groups:
        first = place
        for bar in group.ours:
            _bar(axes, place, bar, colours[bar.name])
            place += 1
        for name, cell in group.printed.items():
            look = {"ecolor": MUTED_INK, "elinewidth": 0.7}
            axes.bar(
                place, cell.mean, 0.8, yerr=cell.spread, color="white", edgecolor=MUTED_INK, error_kw=look
            )
            names.append((place, name))
            place += 1
        _name_group(axes, (first + place - 1) / 2, group.name)
        place += GAP
    axes.set_xticks([x for x, _ in names], [text for _, text in names], size=6)
    axes.set_ylim(min([0.0, *(bar.height for group in groups for bar in group.ours)]), bars.top)


def _dress(axes: Axes, level: str, axis: str) -> None:
    axes.set_title(level, size=8.5, pad=4)
    axes.set_ylabel(axis)
    axes.grid(color=GRID, linewidth=0.7, axis="y")
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
    axes.tick_params(length=0)
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)


def _name_group(axes: Axes, middle: float, name: str) -> None:
    """Write the group's name below the names of its bars. It is no tick: a middle bar has a tick there."""
    axes.annotate(
        name,
        (middle, 0),
        xytext=(0, BELOW),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        size=7,
        ha="center",
        va="top",
    )


def _bar(axes: Axes, place: float, bar: Bar, colour: str) -> None:
    reach = None if bar.reach is None else [[bar.reach[0]], [bar.reach[1]]]
    axes.bar(place, bar.height, 0.8, color=colour, yerr=reach, error_kw={"elinewidth": 0.9})
