"""Draw the charts of an experiment: success rates as lines, or one metric as bars.

A line chart shows success rate against the interval between orders (tasks), as in Figure 4 of the MindAgent
paper. Each number of agents has its own line, with 95 % confidence intervals. Further lines show published
values and the upper bound. A bar chart compares teams or pairs of agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from kitchen.charts.chart_data import Axis, Cell, Chart, Panel, Point, Series
from kitchen.charts.chart_style import round_axis_ends
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


def result_chart(setup: ExperimentSetup, results: Sequence[CellResult]) -> Chart:
    """Return the chart of an experiment's results."""
    if isinstance(setup.ground, PairingBenchmark):
        return pairing_chart(results)
    if isinstance(setup.ground, ComparisonBenchmark):
        return comparison_chart(results)
    return success_rate_chart(setup, results)


def success_rate_chart(setup: ExperimentSetup, results: Sequence[CellResult]) -> Chart:
    """Return the line chart of success rates by interval between orders. Each variant of the agents has its
    own panel."""
    names = list(dict.fromkeys(_name(each) for each in results))
    agents = sorted({each.column.agents for each in results})
    alphas = sorted({each.alpha for cell in results for each in cell.intervals})
    alone = f", {counted_noun(agents[0], 'agent')}" if len(agents) == 1 else ""
    return Chart(
        key="figure4",
        title=f"Success rate, {setup.coplayer}{alone}",
        x=Axis("Interval (\N{GREEK SMALL LETTER ALPHA})", *_around(alphas), ticks=tuple(alphas)),
        y=Axis("completed / (completed + failed)", -0.02, 1.02, ticks=(0, 0.25, 0.5, 0.75, 1)),
        panels=tuple(
            _success_rate_panel(name, [r for r in results if _name(r) == name], agents) for name in names
        ),
        under=str(decision_makers_of(results)),
        note=_note(results),
        words=_words(results),
        head=SUCCESS_RATE_COLUMNS,
        rows=tuple(_row(cell, each) for cell in results for each in cell.intervals),
    )


def _name(result: CellResult) -> str:
    return result.column.variant.label or result.column.level


def _around(alphas: Sequence[float]) -> tuple[float, float]:
    edge = 0.08 * (alphas[-1] - alphas[0]) or 0.5
    return alphas[0] - edge, alphas[-1] + edge


def _success_rate_panel(name: str, cells: Sequence[CellResult], agents: Sequence[int]) -> Panel:
    return Panel(
        tuple(line for cell in cells for line in _lines(cell, agents) if line.points),
        name,
    )


def _lines(cell: CellResult, agents: Sequence[int]) -> Iterator[Series]:
    """Yield the lines of a figure: the upper bound, the paper's results and ours. Our lines are shifted a
    little so that their intervals stay visible."""
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
    """Return the 95 % interval of the success rate, completed / (completed + failed), over episodes. It is
    cut at 0 and 1.

    Orders of one episode depend on each other. So the interval is computed for a ratio of sums over
    episodes (Cochran 1977, 6.3), with Student's t. Return (None, None) for fewer than two episodes.
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


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a bar, which is the same in all panels. It has the bar's group and name, and says
    whether the bar's value is published."""

    group: str
    name: str
    printed: bool


@dataclass(frozen=True, slots=True)
class BarGroup:
    """A group of adjacent bars of one level: this experiment's bars, then the published values."""

    name: str
    ours: Mapping[str, Point]
    printed: Mapping[str, PublishedValue]

    def bars(self) -> Iterator[tuple[Slot, Point]]:
        """Yield the position and the value of each bar."""
        for name, bar in self.ours.items():
            yield Slot(self.name, name, False), bar
        for name, cell in self.printed.items():
            reach = None if cell.spread is None else (cell.spread, cell.spread)
            yield Slot(self.name, name, True), _bar(name, cell.mean, reach)


def pairing_chart(results: Sequence[CellResult]) -> Chart:
    """Return a bar chart: the mean of every kind of agent over all partners of another kind, by level and
    seat."""
    ground, pairings = pairing_benchmark(results), line_up_results(results)

    def group(level: str, seat: int) -> BarGroup:
        means = means_over_others(pairings, level, seat)
        ours = {
            name: _bar(name, one.mean or 0, None if one.error is None else (one.error, one.error))
            for name, one in means
        }
        return BarGroup(f"seat {seat}", ours, ground.printed(level, seat))

    groups = {level: (group(level, 0), group(level, 1)) for level in levels_in(pairings)}
    figure = ground.figure.capitalize()
    return _bar_chart(f"{figure} by seat, over all others", figure, groups, results)


def comparison_chart(results: Sequence[CellResult]) -> Chart:
    """Return a bar chart of the mean of every line-up (agents that play together), by level and number of
    seats."""
    (ground, figure), found = comparison_benchmark(results), line_up_results(results)

    def group(level: str, seats: int) -> BarGroup:
        mine = (each for each in found if (each.level, each.seats) == (level, seats))
        ours = {
            one.name: _bar(one.name, one.estimate.mean, one.estimate.reach)
            for one in mine
            if one.estimate.mean is not None
        }
        return BarGroup(counted_noun(seats, "seat"), ours, ground.published(level, seats))

    places = dict.fromkeys((each.level, each.seats) for each in found)
    groups = {
        level: tuple(group(level, seats) for other, seats in places if other == level) for level, _ in places
    }
    top = SHARE_TOP if figure.kind == "share" else None
    title = f"{figure.label} by who plays, with 95 % intervals"
    return _bar_chart(title, figure.label, groups, results, top)


SHARE_TOP = 1.05
"""Upper end of the axis of a share."""


def _bar(name: str, height: float, reach: tuple[float, float] | None) -> Point:
    """Return a bar of this height. `reach` is the distance from its top to the lower and upper end of its
    interval."""
    low, high = (height - reach[0], height + reach[1]) if reach else (None, None)
    return Point(0, height, low, high, f"{name}: {height:.2f}")


def _bar_chart(
    title: str,
    axis: str,
    groups: Mapping[str, Sequence[BarGroup]],
    results: Sequence[CellResult],
    top: float | None = None,
) -> Chart:
    """Return a chart with a panel for each level. A group of bars, and each bar in it, has the same place in
    all panels. `top` is the upper end of the axis, if it is known."""
    slots = _slots([group for several in groups.values() for group in several])
    who, panels = decision_makers_of(results), []
    ours = list(dict.fromkeys(one.name for one in slots if one.name and not one.printed))
    for level, several in groups.items():
        bars = {slot: point for group in several for slot, point in group.bars()}
        placed = [(slot, replace(bars[slot], x=float(x))) for x, slot in enumerate(slots) if slot in bars]
        mine = (
            Series(
                who.figure_label(name),
                "bars",
                tuple(bar for slot, bar in placed if slot.name == name and not slot.printed),
                SERIES_NUMBERS[number % len(SERIES_NUMBERS)],
                thick=WIDE,
            )
            for number, name in enumerate(ours)
        )
        printed = tuple(bar for slot, bar in placed if slot.printed)
        panels.append(Panel((*mine, Series(PRINTED, "hollow", printed, None, thick=WIDE)), level))
    points = [point for panel in panels for one in panel.series for point in one.points]
    low, high = round_axis_ends(0, max([1.0, *(point.high or point.y for point in points)]))
    return Chart(
        key="figure4",
        title=title,
        x=_slot_axis(slots),
        y=Axis(axis, min([low, *(point.y for point in points)]), top or high),
        panels=tuple(panels),
        under=str(who),
        words=f"{title}. {who}",
    )


WIDE = 1.2
"""Width of a bar, as a share of the usual one."""
PRINTED = "in the paper, as printed"


def _slots(groups: Iterable[BarGroup]) -> list[Slot]:
    """Return the places of all bars from left to right, with an empty place between groups."""
    bars: dict[str, dict[Slot, None]] = {}
    for group in groups:
        bars.setdefault(group.name, {}).update((slot, None) for slot, _ in group.bars())
    ordered: list[Slot] = []
    for name, slots in bars.items():
        ordered += [*sorted(slots, key=lambda slot: slot.printed), Slot(name, "", False)]
    return ordered[:-1]


def _slot_axis(slots: Sequence[Slot]) -> Axis:
    """Return the axis with the names of published bars, and the group's name below its middle."""
    groups = dict.fromkeys(slot.group for slot in slots)
    places = {
        name: [x for x, slot in enumerate(slots) if slot.group == name and slot.name] for name in groups
    }
    middles = {several[len(several) // 2]: name for name, several in places.items() if several}
    below = tuple(middles.get(x, "") for x in range(len(slots)))
    return Axis.of_names("", tuple(slot.name if slot.printed else "" for slot in slots), below)
