"""Tabulate one metric by level, seats and line-up, or by pairs of partners, beside published values.

Brackets are 95 % intervals over episodes: Student's t for means, and Wilson's interval if each episode is 0
or 1. For pairs, ± is the standard error of the mean over episodes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from kitchen.contract.benchmark import ComparisonBenchmark, PairingBenchmark, PublishedValue
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.world import Metric
from kitchen.experiments.experiment_results import CellResult, decision_makers_of
from kitchen.registry.world_metrics import metrics_of_world
from kitchen.registry.world_registry import get_pairings
from kitchen.words.english_text import counted_noun


@dataclass(frozen=True, slots=True)
class MeanWithError:
    """The mean of a metric over some episodes with its standard error.

    `mean` is None without episodes, `error` with fewer than two.
    """

    number: int
    mean: float | None
    error: float | None

    @classmethod
    def of(cls, figures: Sequence[float]) -> MeanWithError:
        """Compute the mean and standard error of these values."""
        mean = fmean(figures) if figures else None
        error = stdev(figures) / sqrt(len(figures)) if len(figures) > 1 else None
        return cls(len(figures), mean, error)

    def __str__(self) -> str:
        if self.mean is None:
            return "n/a"
        return f"{self.mean:.1f}" + ("" if self.error is None else f" \N{PLUS-MINUS SIGN} {self.error:.1f}")


@dataclass(frozen=True, slots=True)
class Pairing:
    """The results of two co-players in one level."""

    level: str
    kinds: tuple[str, ...]
    """Kinds of co-player, by seat."""
    figures: tuple[float, ...]
    """Values of the metric, by episode."""

    @property
    def mean(self) -> MeanWithError:
        """Mean over the episodes, with its standard error."""
        return MeanWithError.of(self.figures)


def pairings_in(results: Sequence[CellResult]) -> list[Pairing]:
    """Return the result of every pair of partners, in the order of the experiment."""
    return [
        Pairing(cell.column.level, line_up_kinds(cell.column.variant.coplayer), cell.intervals[0].figures)
        for cell in results
    ]


def pairing_levels(pairings: Sequence[Pairing]) -> list[str]:
    """Return the levels in which these pairs played, in their order."""
    return list(dict.fromkeys(each.level for each in pairings))


def agents_in_seat(pairings: Sequence[Pairing], seat: int) -> list[str]:
    """Return the kinds of co-player that played in this seat in any level, in their order."""
    return list(dict.fromkeys(each.kinds[seat] for each in pairings))


def means_over_others(
    pairings: Sequence[Pairing], level: str, seat: int
) -> Iterator[tuple[str, MeanWithError]]:
    """Yield (kind, mean) for every kind in this seat of the level, over all partners of another kind.

    Pairs of the same kind are excluded, as in the paper.
    """
    for kind in agents_in_seat(pairings, seat):
        mine = [each for each in pairings if each.level == level and each.kinds[seat] == kind]
        others = [each for each in mine if len(set(each.kinds)) > 1]
        if others:
            yield kind, MeanWithError.of([figure for each in others for figure in each.figures])


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of texts: a head, and rows whose first cell names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    played_by: str = ""
    """One sentence that states who made the decisions."""


COMPARISON_COLUMNS = (
    "level",
    "seats",
    "who",
    "organisation",
    "episodes",
    "mean",
    "low",
    "high",
    "spread",
    "source",
)
COMPARISON_OURS, COMPARISON_PRINTED = "ours", "as printed"
CONFIDENCE, Z = 0.95, 1.959964
COMPARISON_NOTE = "Mean [95 % interval over the episodes]. Down: who plays, seat 0 first. Across: levels."


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of a metric over some episodes with its 95 % interval.

    `mean` is None without episodes, `low` and `high` with fewer than two.
    """

    number: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], ends: tuple[float | None, float | None] = (None, None)) -> Estimate:
        """Estimate the mean of these values.

        `ends` are the lowest and highest possible values of the metric.
        """
        number = len(values)
        if number < 2:
            return cls(number, values[0] if values else None)
        return cls(number, fmean(values), *_interval(values, ends))

    @property
    def reach(self) -> tuple[float, float] | None:
        """Distances from the mean to the lower and the upper end of the interval; None without an
        interval."""
        if self.mean is None or self.low is None or self.high is None:
            return None
        return max(self.mean - self.low, 0.0), max(self.high - self.mean, 0.0)


def _interval(
    values: Sequence[float], ends: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    if set(values) <= {0.0, 1.0}:
        return _wilson(sum(values), len(values))
    from scipy.stats import t  # imported here because scipy.stats is slow to import

    number, mean, (low, high) = len(values), fmean(values), ends
    half = float(t.ppf((1 + CONFIDENCE) / 2, number - 1)) * stdev(values) / sqrt(number)
    bottom = mean - half if low is None else max(mean - half, low)
    return bottom, mean + half if high is None else min(mean + half, high)


def _wilson(successes: float, number: int) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927)."""
    share, squared = successes / number, Z * Z / number
    middle = (share + squared / 2) / (1 + squared)
    half = Z / (1 + squared) * sqrt(share * (1 - share) / number + squared / (4 * number))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class LineUpResult:
    """The result of one line-up in one level."""

    level: str
    seats: int
    name: str
    """Name of the line-up, with its organisation if several are compared."""
    organisation: str
    estimate: Estimate


def comparison_benchmark(results: Sequence[CellResult]) -> tuple[ComparisonBenchmark, Metric]:
    """Return the benchmark of these results and the metric that it compares."""
    ground, world = results[0].column.ground, results[0].column.world
    assert isinstance(ground, ComparisonBenchmark)  # noqa: S101 - only called for comparison benchmarks
    return ground, next(figure for figure in metrics_of_world(world) if figure.name == ground.figure)


def line_up_results(results: Sequence[CellResult]) -> list[LineUpResult]:
    """Return the result of each line-up in each level, in the order of the experiment."""
    _, figure = comparison_benchmark(results)
    return [
        LineUpResult(
            cell.column.level,
            cell.column.agents,
            cell.column.variant.name,
            cell.column.variant.organisation.kind if cell.column.variant.organisation else "",
            Estimate.of(cell.intervals[0].figures, figure.ends),
        )
        for cell in results
    ]


def comparison_text_tables(results: Sequence[CellResult]) -> list[TextTable]:
    """Return one table for each number of seats."""
    found = line_up_results(results)
    return [_grid(seats, found, results) for seats in sorted({each.seats for each in found})]


def _grid(seats: int, found: Sequence[LineUpResult], results: Sequence[CellResult]) -> TextTable:
    ground, figure = comparison_benchmark(results)
    mine = {(each.level, each.name): each.estimate for each in found if each.seats == seats}
    levels = list(dict.fromkeys(level for level, _ in mine))
    printed = {level: ground.published(level, seats) for level in levels}
    ours = [
        (name, *(estimate_text(figure, mine.get((level, name))) for level in levels))
        for name in dict.fromkeys(name for _, name in mine)
    ]
    theirs = [
        (
            f"{name}, {COMPARISON_PRINTED}",
            *(_published_comparison(figure, printed[level].get(name)) for level in levels),
        )
        for name in dict.fromkeys(name for level in levels for name in printed[level])
    ]
    who = decision_makers_of([each for each in results if each.column.agents == seats])
    notes = (ground.source,) if theirs else ()
    title = f"{figure.label}, {counted_noun(seats, 'seat')}"
    return TextTable(title, ("", *levels), (*ours, *theirs), notes, str(who))


def estimate_text(figure: Metric, estimate: Estimate | None) -> str:
    """Format an estimate for tables: `0.850 [0.640, 0.948]`."""
    if estimate is None or estimate.mean is None:
        return "n/a" if estimate else ""
    mean = _number(figure, estimate.mean)
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} [{_number(figure, estimate.low)}, {_number(figure, estimate.high)}]"


def _number(figure: Metric, value: float) -> str:
    return f"{value:.3f}" if figure.kind == "share" else f"{value:.1f}"


def _published_comparison(figure: Metric, cell: PublishedValue | None) -> str:
    if cell is None:
        return ""
    return f"{cell.mean:g}" + ("" if cell.spread is None else f" \N{PLUS-MINUS SIGN} {cell.spread:g}")


def comparison_csv(results: Sequence[CellResult]) -> bytes:
    """Return a CSV file with one row for each line-up and level, then the published values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COMPARISON_COLUMNS)
    for row in _comparison_rows(results):
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue().encode()


def _comparison_rows(results: Sequence[CellResult]) -> Iterator[tuple[object, ...]]:
    ground, _ = comparison_benchmark(results)
    found = line_up_results(results)
    for each in found:
        named, ours = (each.level, each.seats, each.name, each.organisation), each.estimate
        yield *named, ours.number, ours.mean, ours.low, ours.high, None, COMPARISON_OURS
    for level, seats in dict.fromkeys((each.level, each.seats) for each in found):
        for name, cell in ground.published(level, seats).items():
            yield level, seats, name, None, None, cell.mean, None, None, cell.spread, COMPARISON_PRINTED


def comparison_line(results: Sequence[CellResult]) -> str:
    """Return the experiment in one line: the mean of all line-ups, and the best line-up."""
    ground, figure = comparison_benchmark(results)
    means = [
        (each.estimate.mean, each) for each in line_up_results(results) if each.estimate.mean is not None
    ]
    if not means:
        return "nothing was played yet"
    best, who = (min if figure.better == "lower" else max)(means, key=lambda each: each[0])
    over = _number(figure, fmean(mean for mean, _ in means))
    return (
        f"mean {ground.figure} {over} over {len(means)} of {len(results)} cells; "
        f"best {_number(figure, best)}: {who.name} in {who.level}, {counted_noun(who.seats, 'seat')}"
    )


PAIRING_COLUMNS = ("level", "seat", "who", "beside", "episodes", "mean", "error", "source")
PAIRING_OURS, PAIRING_PRINTED, PAIRING_OTHERS = "ours", "as printed", "the others"
PAIRING_NOTE = (
    "Mean \N{PLUS-MINUS SIGN} standard error over the episodes. Down: who sits in seat 0. Across: who sits "
    "in seat 1. Under “over the others”: everybody in one seat, over all partners of another kind."
)


def pairing_benchmark(results: Sequence[CellResult]) -> PairingBenchmark:
    """Return the pairing benchmark of these results."""
    return get_pairings(results[0].column.world)


def pairing_text_tables(results: Sequence[CellResult]) -> list[TextTable]:
    """Return a table for each level, then for each seat one of every kind over all partners of another
    kind."""
    pairings, ground = pairings_in(results), pairing_benchmark(results)
    grids = [_beside(pairings, level, results) for level in pairing_levels(pairings)]
    seats = [_over(pairings, seat, ground) for seat in (0, 1)]
    return [*grids, *(grid for grid in seats if len(grid.rows))]


def _beside(pairings: Sequence[Pairing], level: str, results: Sequence[CellResult]) -> TextTable:
    across = agents_in_seat(pairings, 1)
    mine = {each.kinds: str(each.mean) for each in pairings if each.level == level}
    rows = [(one, *(mine.get((one, other), "") for other in across)) for one in agents_in_seat(pairings, 0)]
    who = decision_makers_of([each for each in results if each.column.level == level])
    return TextTable(level, ("seat 0", *across), tuple(rows), played_by=str(who))


def _over(pairings: Sequence[Pairing], seat: int, ground: PairingBenchmark) -> TextTable:
    levels = pairing_levels(pairings)
    ours = {level: dict(means_over_others(pairings, level, seat)) for level in levels}
    theirs = {level: ground.printed(level, seat) for level in levels}
    rows = [
        (name, *(str(ours[level].get(name, MeanWithError.of(()))) for level in levels))
        for name in dict.fromkeys(name for level in levels for name in ours[level])
    ]
    printed = [
        (f"{name}, {PAIRING_PRINTED}", *(_published_pairing(theirs[level].get(name)) for level in levels))
        for name in dict.fromkeys(name for level in levels for name in theirs[level])
    ]
    notes = (ground.source,) if printed else ()
    return TextTable(f"Seat {seat}, over the others", ("", *levels), (*rows, *printed), notes)


def _published_pairing(cell: PublishedValue | None) -> str:
    return f"{cell.mean:g} \N{PLUS-MINUS SIGN} {cell.spread:g}" if cell else ""


def pairing_csv(results: Sequence[CellResult]) -> bytes:
    """Return a CSV file: each pair and level, then each kind over all others, then the published values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(PAIRING_COLUMNS)
    for row in _pairing_rows(pairings_in(results), pairing_benchmark(results)):
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue().encode()


def _pairing_rows(pairings: Sequence[Pairing], ground: PairingBenchmark) -> Iterator[tuple[object, ...]]:
    for each in pairings:
        mean = each.mean
        yield each.level, 0, *each.kinds, mean.number, mean.mean, mean.error, PAIRING_OURS
    for level in pairing_levels(pairings):
        for seat in (0, 1):
            for name, over in means_over_others(pairings, level, seat):
                yield level, seat, name, PAIRING_OTHERS, over.number, over.mean, over.error, PAIRING_OURS
            for name, cell in ground.printed(level, seat).items():
                yield level, seat, name, PAIRING_OTHERS, None, cell.mean, cell.spread, PAIRING_PRINTED


def pairing_line(results: Sequence[CellResult]) -> str:
    """Return the experiment in one line: the mean of all pairs, and the best pair."""
    means = [(each.mean.mean, each) for each in pairings_in(results) if each.mean.mean is not None]
    if not means:
        return "nothing was played yet"
    best, pair = max(means, key=lambda each: each[0])
    over = sum(mean for mean, _ in means) / len(means)
    return (
        f"mean {pairing_benchmark(results).figure} {over:.1f} over {len(means)} of {len(results)} pairings; "
        f"most {best:.1f}: {' + '.join(pair.kinds)} in {pair.level}"
    )
