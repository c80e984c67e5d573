"""One figure as bars: a panel for each level, in it groups of bars with their intervals, and beside them what
was published, hollow, as printed.

Of partners the groups are seats, as in ProAgent's figures: a bar for everybody over all others, with the
standard error. Elsewhere they are numbers of seats: a bar for each line-up, with its 95 % interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kitchen.charts.chart import Format
from kitchen.charts.looks import COLOURS as ALL_COLOURS
from kitchen.charts.looks import GRID, QUIET
from kitchen.charts.sheet import STYLE, drawn, metadata_of
from kitchen.contract.bench import Printed
from kitchen.experiments.comparison_tables import compared_in, comparison_of
from kitchen.experiments.figure import COLOURS as NUMBERS
from kitchen.experiments.pairing_tables import ground_of
from kitchen.experiments.pairings import levels_of, over_others, pairings_of
from kitchen.experiments.results import CellResult, players_of
from kitchen.words.counting import counted

HEIGHT, HEAD, FOOT = 2.1, 0.95, 0.4
"""Inches of a panel, of what is over and under all of them; all panels stand below each other."""
LOOK = {**STYLE, "font.size": 8, "svg.hashsalt": "figure4", "svg.id": "figure_figure4"}
COLOURS = [ALL_COLOURS[number] for number in NUMBERS]
SHARE_TOP = 1.05
"""Where the axis of a share ends."""
WIDTH, GAP, BELOW = 9.5, 1.2, -13
"""Inches across; bars between one group and the next; points from the axis to the groups' names."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of ours: how far its interval reaches below and above it, None where it has none."""

    name: str
    height: float
    reach: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Group:
    """Bars of one level that stand together."""

    name: str
    ours: tuple[Bar, ...]
    printed: Mapping[str, Printed]


@dataclass(frozen=True, slots=True)
class Bars:
    """All that is drawn: groups by level, in their order."""

    title: str
    axis: str
    groups: Mapping[str, tuple[Group, ...]]
    top: float | None = None
    """Where the axis ends; None where the bars say so."""


def draw_pairings(results: Sequence[CellResult], kind: Format = "svg") -> bytes:
    """The figure of partners as a file's bytes. Safe from any thread."""
    return _draw(bars_of_pairings(results), results, kind)


def draw_comparison(results: Sequence[CellResult], kind: Format = "svg") -> bytes:
    """The figure of line-ups as a file's bytes. Safe from any thread."""
    return _draw(bars_of_comparison(results), results, kind)


def bars_of_pairings(results: Sequence[CellResult]) -> Bars:
    """Return everybody over all others, by seat."""
    ground, pairings = ground_of(results), pairings_of(results)

    def group(level: str, seat: int) -> Group:
        ours = (
            Bar(name, mean.mean or 0, None if mean.error is None else (mean.error, mean.error))
            for name, mean in over_others(pairings, level, seat)
        )
        return Group(f"seat {seat}", tuple(ours), ground.printed(level, seat))

    groups = {level: (group(level, 0), group(level, 1)) for level in levels_of(pairings)}
    figure = ground.figure.capitalize()
    return Bars(f"{figure} by seat, over all others", figure, groups)


def bars_of_comparison(results: Sequence[CellResult]) -> Bars:
    """Return every line-up, by number of seats."""
    (ground, figure), found = comparison_of(results), compared_in(results)

    def group(level: str, seats: int) -> Group:
        mine = (each for each in found if (each.level, each.seats) == (level, seats))
        ours = (
            Bar(each.name, each.estimate.mean, each.estimate.reach)
            for each in mine
            if each.estimate.mean is not None
        )
        return Group(counted(seats, "seat"), tuple(ours), ground.published(level, seats))

    places = dict.fromkeys((each.level, each.seats) for each in found)
    groups = {
        level: tuple(group(level, seats) for other, seats in places if other == level) for level, _ in places
    }
    top = SHARE_TOP if figure.kind == "share" else None
    return Bars(f"{figure.label} by who plays, with 95 % intervals", figure.label, groups, top)


def _draw(bars: Bars, results: Sequence[CellResult], kind: Format) -> bytes:
    said = metadata_of(bars.title, f"{bars.title}. {players_of(results)}", kind)
    return drawn(lambda: _figure(bars, results), kind, LOOK, said)


def _figure(bars: Bars, results: Sequence[CellResult]) -> Figure:
    height = len(bars.groups) * HEIGHT + HEAD + FOOT
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    panels = figure.subplots(len(bars.groups), 1, squeeze=False).flatten()
    colours = _colours(bars)
    for axes, (level, groups) in zip(panels, bars.groups.items(), strict=True):
        _panel(axes, level, groups, bars, colours)
    figure.text(0.02, 1 - 0.1 / height, bars.title, size=10.5, weight="bold", va="top")
    who = players_of(results)
    patches = [Patch(facecolor=colour, label=who.told(name)) for name, colour in colours.items()]
    patches.append(Patch(facecolor="white", edgecolor=QUIET, label="in the paper, as printed"))
    place = (0, 1 - 0.3 / height)
    figure.legend(handles=patches, loc="upper left", ncols=4, frameon=False, bbox_to_anchor=place)
    figure.subplots_adjust(top=1 - HEAD / height, bottom=FOOT / height, left=0.07, right=0.99, hspace=0.45)
    return figure


def _colours(bars: Bars) -> dict[str, str]:
    names = dict.fromkeys(
        bar.name for groups in bars.groups.values() for group in groups for bar in group.ours
    )
    return {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}


def _panel(axes: Axes, level: str, groups: Sequence[Group], bars: Bars, colours: Mapping[str, str]) -> None:
    _dress(axes, level, bars.axis)
    place, names = 0.0, list[tuple[float, str]]()
    for group in groups:
        first = place
        for bar in group.ours:
            _bar(axes, place, bar, colours[bar.name])
            place += 1
        for name, cell in group.printed.items():
            look = {"ecolor": QUIET, "elinewidth": 0.7}
            axes.bar(place, cell.mean, 0.8, yerr=cell.spread, color="white", edgecolor=QUIET, error_kw=look)
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
    """Under the names of its bars: no tick, since a bar in the middle has one there."""
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
