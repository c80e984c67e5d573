"""ProAgent's Table 1 as bars, as the paper's figures draw partners: a panel for each level, in it both seats,
a bar for everybody over all others with the standard error; the paper's own behind, hollow, as printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kitchen.charts.chart import Format
from kitchen.charts.looks import COLOURS as ALL_COLOURS
from kitchen.charts.looks import GRID, QUIET
from kitchen.charts.sheet import STYLE, drawn, metadata_of
from kitchen.contract.bench import Pairings
from kitchen.experiments.figure import COLOURS as NUMBERS
from kitchen.experiments.pairing_tables import ground_of
from kitchen.experiments.pairings import Mean, Pairing, levels_of, over_others, pairings_of
from kitchen.experiments.results import CellResult, players_of

HEIGHT, HEAD, FOOT = 2.1, 0.95, 0.4
"""Inches of a panel, of what is over and under all of them; all panels stand below each other."""
LOOK = {**STYLE, "font.size": 8, "svg.hashsalt": "figure4", "svg.id": "figure_figure4"}
COLOURS = [ALL_COLOURS[number] for number in NUMBERS]
WIDTH, GAP, BELOW = 9.5, 1.2, -13
"""Inches across; bars between one seat and the next; points from the axis to the seats' names."""


def draw_pairings(results: Sequence[CellResult], kind: Format = "svg") -> bytes:
    """The figure as a file's bytes. Safe from any thread."""
    ground = ground_of(results)
    title = f"{ground.figure.capitalize()} by seat, over all others"
    said = metadata_of(title, f"{title}. {players_of(results)}", kind)
    return drawn(lambda: _figure(title, results, ground), kind, LOOK, said)


def _figure(title: str, results: Sequence[CellResult], ground: Pairings) -> Figure:
    pairings = pairings_of(results)
    levels = levels_of(pairings)
    height = len(levels) * HEIGHT + HEAD + FOOT
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    panels = figure.subplots(len(levels), 1, squeeze=False).flatten()
    colours = _colours(pairings, levels)
    for axes, level in zip(panels, levels, strict=True):
        _panel(axes, pairings, level, ground, colours)
    figure.text(0.02, 1 - 0.1 / height, title, size=10.5, weight="bold", va="top")
    who = players_of(results)
    patches = [Patch(facecolor=colour, label=who.told(name)) for name, colour in colours.items()]
    patches.append(Patch(facecolor="white", edgecolor=QUIET, label="in the paper, as printed"))
    place = (0, 1 - 0.3 / height)
    figure.legend(handles=patches, loc="upper left", ncols=4, frameon=False, bbox_to_anchor=place)
    figure.subplots_adjust(top=1 - HEAD / height, bottom=FOOT / height, left=0.07, right=0.99, hspace=0.45)
    return figure


def _colours(pairings: Sequence[Pairing], levels: Sequence[str]) -> dict[str, str]:
    names = dict.fromkeys(
        name for level in levels for seat in (0, 1) for name, _ in over_others(pairings, level, seat)
    )
    return {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}


def _panel(
    axes: Axes, pairings: Sequence[Pairing], level: str, ground: Pairings, colours: Mapping[str, str]
) -> None:
    _dress(axes, level, ground)
    place, names = 0.0, list[tuple[float, str]]()
    for seat in (0, 1):
        first = place
        for name, mean in over_others(pairings, level, seat):
            _bar(axes, place, mean, colours[name])
            place += 1
        for name, cell in ground.printed(level, seat).items():
            look = {"ecolor": QUIET, "elinewidth": 0.7}
            axes.bar(place, cell.mean, 0.8, yerr=cell.spread, color="white", edgecolor=QUIET, error_kw=look)
            names.append((place, name))
            place += 1
        _name_seat(axes, (first + place - 1) / 2, seat)
        place += GAP
    axes.set_xticks([x for x, _ in names], [text for _, text in names], size=6)
    axes.set_ylim(bottom=0)


def _dress(axes: Axes, level: str, ground: Pairings) -> None:
    axes.set_title(level, size=8.5, pad=4)
    axes.set_ylabel(ground.figure.capitalize())
    axes.grid(color=GRID, linewidth=0.7, axis="y")
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
    axes.tick_params(length=0)
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)


def _name_seat(axes: Axes, middle: float, seat: int) -> None:
    """Under the names of its bars: no tick, since a bar in the middle has one there."""
    axes.annotate(
        f"seat {seat}",
        (middle, 0),
        xytext=(0, BELOW),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        size=7,
        ha="center",
        va="top",
    )


def _bar(axes: Axes, place: float, mean: Mean, colour: str) -> None:
    axes.bar(place, mean.mean or 0, 0.8, color=colour, yerr=mean.error, error_kw={"elinewidth": 0.9})
