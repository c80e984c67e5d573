"""One figure by level, number of seats and who plays, as tables, beside what was published.

Brackets are 95 % intervals over episodes: Student's t for means, cut at the ends of the figure, and Wilson's
interval where each episode is a success (1) or not (0).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from kitchen.contract.bench import Comparison, Printed
from kitchen.contract.world import Figure
from kitchen.experiments.grids import Grid
from kitchen.experiments.results import CellResult, players_of
from kitchen.registry.figures import figures_of
from kitchen.words.counting import counted

CSV_COLUMNS = ("level", "seats", "who", "organisation", "episodes", "mean", "low", "high", "spread", "source")
OURS, PRINTED = "ours", "as printed"
CONFIDENCE, Z = 0.95, 1.959964
EXPLAINED = "Mean [95 % interval over the episodes]. Down: who plays, seat 0 first. Across: levels."


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a figure over some episodes with its interval; None where there is none."""

    number: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], ends: tuple[float | None, float | None] = (None, None)) -> Estimate:
        """Estimate the mean of these values of a figure with these ends."""
        number = len(values)
        if number < 2:
            return cls(number, values[0] if values else None)
        return cls(number, fmean(values), *_interval(values, ends))

    @property
    def reach(self) -> tuple[float, float] | None:
        """How far the interval reaches below and above the mean; None where there is none."""
        if self.mean is None or self.low is None or self.high is None:
            return None
        return max(self.mean - self.low, 0.0), max(self.high - self.mean, 0.0)


def _interval(
    values: Sequence[float], ends: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    if set(values) <= {0.0, 1.0}:
        return _wilson(sum(values), len(values))
    from scipy.stats import t  # slow to import, so not before it is needed

    number, mean, (low, high) = len(values), fmean(values), ends
    half = float(t.ppf((1 + CONFIDENCE) / 2, number - 1)) * stdev(values) / sqrt(number)
    bottom = mean - half if low is None else max(mean - half, low)
    return bottom, mean + half if high is None else min(mean + half, high)


def _wilson(successes: float, number: int) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927)."""
    share, squared = successes / number, Z * Z / number
    middle = (share + squared / 2) / (1 + squared)
    half = Z / (1 + squared) * sqrt(share * (1 - share) / number + squared / (4 * number))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class Compared:
    """One line-up in one level."""

    level: str
    seats: int
    name: str
    """Of the line-up, with its organisation where several are compared."""
    organisation: str
    estimate: Estimate


def comparison_of(results: Sequence[CellResult]) -> tuple[Comparison, Figure]:
    """Return the ground whose results these are, and the figure that it compares."""
    ground, world = results[0].column.ground, results[0].column.world
    assert isinstance(ground, Comparison)  # noqa: S101 - asked of such grounds only
    return ground, next(figure for figure in figures_of(world) if figure.name == ground.figure)


def compared_in(results: Sequence[CellResult]) -> list[Compared]:
    """Return what each line-up came to in each level, in the order of the experiment."""
    _, figure = comparison_of(results)
    return [
        Compared(
            cell.column.level,
            cell.column.agents,
            cell.column.variant.name,
            cell.column.variant.organisation.kind if cell.column.variant.organisation else "",
            Estimate.of(cell.intervals[0].figures, figure.ends),
        )
        for cell in results
    ]


def comparison_grids(results: Sequence[CellResult]) -> list[Grid]:
    """Return a table for each number of seats."""
    found = compared_in(results)
    return [_grid(seats, found, results) for seats in sorted({each.seats for each in found})]


def _grid(seats: int, found: Sequence[Compared], results: Sequence[CellResult]) -> Grid:
    ground, figure = comparison_of(results)
    mine = {(each.level, each.name): each.estimate for each in found if each.seats == seats}
    levels = list(dict.fromkeys(level for level, _ in mine))
    printed = {level: ground.published(level, seats) for level in levels}
    ours = [
        (name, *(told(figure, mine.get((level, name))) for level in levels))
        for name in dict.fromkeys(name for _, name in mine)
    ]
    theirs = [
        (f"{name}, {PRINTED}", *(_printed(figure, printed[level].get(name)) for level in levels))
        for name in dict.fromkeys(name for level in levels for name in printed[level])
    ]
    who = players_of([each for each in results if each.column.agents == seats])
    notes = (ground.source,) if theirs else ()
    title = f"{figure.label}, {counted(seats, 'seat')}"
    return Grid(title, ("", *levels), (*ours, *theirs), notes, str(who))


def told(figure: Figure, estimate: Estimate | None) -> str:
    """Return an estimate as tables show it: `0.850 [0.640, 0.948]`."""
    if estimate is None or estimate.mean is None:
        return "n/a" if estimate else ""
    mean = _number(figure, estimate.mean)
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} [{_number(figure, estimate.low)}, {_number(figure, estimate.high)}]"


def _number(figure: Figure, value: float) -> str:
    return f"{value:.3f}" if figure.kind == "share" else f"{value:.1f}"


def _printed(figure: Figure, cell: Printed | None) -> str:
    if cell is None:
        return ""
    return f"{cell.mean:g}" + ("" if cell.spread is None else f" \N{PLUS-MINUS SIGN} {cell.spread:g}")


def comparison_csv(results: Sequence[CellResult]) -> bytes:
    """Return one row for each line-up and level, then what was published."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for row in _rows(results):
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue().encode()


def _rows(results: Sequence[CellResult]) -> Iterator[tuple[object, ...]]:
    ground, _ = comparison_of(results)
    found = compared_in(results)
    for each in found:
        named, ours = (each.level, each.seats, each.name, each.organisation), each.estimate
        yield *named, ours.number, ours.mean, ours.low, ours.high, None, OURS
    for level, seats in dict.fromkeys((each.level, each.seats) for each in found):
        for name, cell in ground.published(level, seats).items():
            yield level, seats, name, None, None, cell.mean, None, None, cell.spread, PRINTED


def comparison_line(results: Sequence[CellResult]) -> str:
    """Return the experiment in one line: the mean of all line-ups, and the best one."""
    ground, figure = comparison_of(results)
    means = [(each.estimate.mean, each) for each in compared_in(results) if each.estimate.mean is not None]
    if not means:
        return "nothing was played yet"
    best, who = (min if figure.better == "lower" else max)(means, key=lambda each: each[0])
    over = _number(figure, fmean(mean for mean, _ in means))
    return (
        f"mean {ground.figure} {over} over {len(means)} of {len(results)} cells; "
        f"best {_number(figure, best)}: {who.name} in {who.level}, {counted(who.seats, 'seat')}"
    )
