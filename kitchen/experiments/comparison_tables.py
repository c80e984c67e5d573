"""Write tables that compare one metric between teams or pairs of agents, next to published values.

Brackets contain 95 % confidence intervals over episodes. In tables of pairs, the number after ± is the
standard error of the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import fmean, stdev

from kitchen.contract.benchmark import ComparisonBenchmark, PairingBenchmark, PublishedValue
from kitchen.contract.bootstrap_intervals import BOOTSTRAP_SAMPLES, mean_interval
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.world import Metric
from kitchen.experiments.episode_rows import csv_bytes
from kitchen.experiments.experiment_results import CellResult, decision_makers_of
from kitchen.registry.world_metrics import metrics_of_world
from kitchen.registry.world_registry import get_pairings
from kitchen.words.english_text import counted_noun

CONFIDENCE, Z = 0.95, 1.959964
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
OURS, PRINTED, OTHERS = "ours", "as printed", "the others"


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over some episodes, with its standard error and its 95 % interval."""

    values: tuple[float, ...]
    ends: tuple[float | None, float | None] = (None, None)
    """The lowest and the highest possible value of the metric."""

    are_counts: bool = False
    """True if the values are counts, so that 0 and 1 are not failures and successes."""

    @property
    def mean(self) -> float | None:
        """Return the mean of the values; None if there are no episodes."""
        return fmean(self.values) if self.values else None

    @property
    def error(self) -> float | None:
        """Return the standard error of the mean; None with fewer than two episodes."""
        return stdev(self.values) / sqrt(len(self.values)) if len(self.values) > 1 else None

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % confidence interval of the mean, cut at the metric's lowest and highest possible
        values. None with fewer than two episodes."""
        if self.error is None:
            return None
        if not self.are_counts and set(self.values) <= {0.0, 1.0}:
            return _wilson(sum(self.values), len(self.values))
        from scipy.stats import t  # imported here because scipy.stats is slow to import

        number, mean, (low, high) = len(self.values), fmean(self.values), self.ends
        half = float(t.ppf((1 + CONFIDENCE) / 2, number - 1)) * stdev(self.values) / sqrt(number)
        bottom = mean - half if low is None else max(mean - half, low)
        return bottom, mean + half if high is None else min(mean + half, high)

    @property
    def reach(self) -> tuple[float, float] | None:
        """Return the distances from the mean to the lower and to the upper end of the mean's interval. None
        if there is no interval."""
        if self.interval is None:
            return None
        (low, high), mean = self.interval, fmean(self.values)
        return max(mean - low, 0.0), max(high - mean, 0.0)

    def __str__(self) -> str:
        """Return the text "mean ± standard error"."""
        if self.mean is None:
            return "n/a"
        return f"{self.mean:.1f}" + ("" if self.error is None else f" {PLUS_MINUS} {self.error:.1f}")


def _wilson(successes: float, number: int) -> tuple[float, float]:
    """Return the ends (low, high) of Wilson's score interval of a proportion: `successes` out of `number`
    (Wilson 1927)."""
    share, squared = successes / number, Z * Z / number
    middle = (share + squared / 2) / (1 + squared)
    half = Z / (1 + squared) * sqrt(share * (1 - share) / number + squared / (4 * number))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class LineUpResult:
    """The result of one line-up (agents that play together) in one level."""

    level: str
    seats: int
    name: str
    """Name of the line-up, with its organisation if several are compared."""
    kinds: tuple[str, ...]
    """Kinds of co-player; of partners, by seat."""
    organisation: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table whose cells are texts. It has a header, and the first cell of each row names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    played_by: str = ""
    """One sentence that states who made the decisions."""


def comparison_benchmark(results: Sequence[CellResult]) -> tuple[ComparisonBenchmark, Metric]:
    """Return the benchmark of the world in these results, and the metric that the benchmark compares."""
    ground, world = results[0].column.ground, results[0].column.world
    assert isinstance(ground, ComparisonBenchmark)  # noqa: S101 - only called for comparison benchmarks
    return ground, next(figure for figure in metrics_of_world(world) if figure.name == ground.figure)


def pairing_benchmark(results: Sequence[CellResult]) -> PairingBenchmark:
    """Return the benchmark of pairs of agents for the world in these results."""
    return get_pairings(results[0].column.world)


def line_up_results(results: Sequence[CellResult]) -> list[LineUpResult]:
    """Return the result of each line-up (agents that play together) in each level, in the order of
    `results`."""
    _, figure = comparison_benchmark(results)
    return [
        LineUpResult(
            cell.column.level,
            cell.column.agents,
            cell.column.variant.name,
            line_up_kinds(cell.column.variant.coplayer),
            cell.column.variant.organisation.kind if cell.column.variant.organisation else "",
            Estimate(cell.intervals[0].figures, figure.ends),
        )
        for cell in results
    ]


def levels_in(found: Iterable[LineUpResult]) -> list[str]:
    """Return the names of the levels that occur, each once, in their order."""
    return list(dict.fromkeys(each.level for each in found))


def _published_rows(printed: Mapping[str, Mapping[str, PublishedValue]]) -> list[tuple[str, ...]]:
    """Return one table row for each published name. Each row has one column per level."""
    return [
        (f"{name}, {PRINTED}", *(_published(values.get(name)) for values in printed.values()))
        for name in dict.fromkeys(name for values in printed.values() for name in values)
    ]


def _published(cell: PublishedValue | None) -> str:
    if cell is None:
        return ""
    return f"{cell.mean:g}" + ("" if cell.spread is None else f" {PLUS_MINUS} {cell.spread:g}")


# line-ups

COMPARISON_COLUMNS = (
    *("level", "seats", "who", "organisation"),
    *("episodes", "mean", "low", "high", "spread", "source"),
)
COMPARISON_NOTE = (
    "Mean [95 % interval over the episodes: Wilson's for successes, otherwise by Student's t]. Down: who "
    "plays, seat 0 first. Across: levels."
)


def comparison_text_tables(results: Sequence[CellResult]) -> list[TextTable]:
    """Return one table for each number of seats, with the results of all line-ups (agents that play
    together). Tables of the benchmark's further metrics follow."""
    found = line_up_results(results)
    numbers = sorted({each.seats for each in found})
    ground, _ = comparison_benchmark(results)
    return [
        *(_grid(seats, found, results) for seats in numbers),
        *(_further_grid(seats, name, results) for seats in numbers for name in ground.more_figures),
    ]


BOOTSTRAP_NOTE = (
    "Brackets: 95 % bootstrap interval of the mean over the episodes in which the metric is defined "
    f"(percentiles of {BOOTSTRAP_SAMPLES:,} samples)."
)


def _further_grid(seats: int, name: str, results: Sequence[CellResult]) -> TextTable:
    """Return the table for one of the benchmark's additional metrics (`ComparisonBenchmark.more_figures`)."""
    cells = [cell for cell in results if cell.column.agents == seats]
    figure = next(one for one in metrics_of_world(cells[0].column.world) if one.name == name)
    texts = {
        (cell.column.variant.name, cell.column.level): _bootstrap_text(
            figure, cell.intervals[0].more_figures.get(name, ())
        )
        for cell in cells
    }
    levels = list(dict.fromkeys(level for _, level in texts))
    rows = (
        (who, *(texts.get((who, level), "") for level in levels))
        for who in dict.fromkeys(who for who, _ in texts)
    )
    title = f"{figure.label}, {counted_noun(seats, 'seat')}"
    return TextTable(title, ("", *levels), tuple(rows), (BOOTSTRAP_NOTE,))


def _bootstrap_text(figure: Metric, values: Sequence[float]) -> str:
    """Return the mean of these values with its bootstrap interval, as text. Return `n/a` if there are no
    values."""
    if not values:
        return "n/a"
    mean, ends = _number(figure, fmean(values)), mean_interval(values)
    return f"{mean} [{_number(figure, ends[0])}, {_number(figure, ends[1])}]" if ends else mean


def _grid(seats: int, found: Sequence[LineUpResult], results: Sequence[CellResult]) -> TextTable:
    ground, figure = comparison_benchmark(results)
    mine = {(each.level, each.name): each.estimate for each in found if each.seats == seats}
    levels = list(dict.fromkeys(level for level, _ in mine))
    ours = [
        (name, *(estimate_text(figure, mine.get((level, name))) for level in levels))
        for name in dict.fromkeys(name for _, name in mine)
    ]
    theirs = _published_rows({level: ground.published(level, seats) for level in levels})
    who = decision_makers_of([each for each in results if each.column.agents == seats])
    notes = (ground.source,) if theirs else ()
    title = f"{figure.label}, {counted_noun(seats, 'seat')}"
    return TextTable(title, ("", *levels), (*ours, *theirs), notes, str(who))


def estimate_text(figure: Metric, estimate: Estimate | None) -> str:
    """Format a mean with its interval for a table cell: `0.850 [0.640, 0.948]`."""
    if estimate is None or estimate.mean is None:
        return "n/a" if estimate else ""
    mean = _number(figure, estimate.mean)
    if estimate.interval is None:
        return mean
    low, high = (_number(figure, end) for end in estimate.interval)
    return f"{mean} [{low}, {high}]"


def _number(figure: Metric, value: float) -> str:
    return f"{value:.3f}" if figure.kind == "share" else f"{value:.1f}"


def comparison_csv(results: Sequence[CellResult]) -> bytes:
    """Return a CSV file with one row for each line-up (agents that play together) and level. The published
    values follow."""
    return csv_bytes(COMPARISON_COLUMNS, _comparison_rows(results))


def _comparison_rows(results: Sequence[CellResult]) -> Iterator[tuple[object, ...]]:
    ground, _ = comparison_benchmark(results)
    found = line_up_results(results)
    for each in found:
        ours, ends = each.estimate, each.estimate.interval or (None, None)
        named = (each.level, each.seats, each.name, each.organisation)
        yield *named, len(ours.values), ours.mean, *ends, None, OURS
    for level, seats in dict.fromkeys((each.level, each.seats) for each in found):
        for name, cell in ground.published(level, seats).items():
            yield level, seats, name, None, None, cell.mean, None, None, cell.spread, PRINTED


def comparison_line(results: Sequence[CellResult]) -> str:
    """Return a summary in one line: the mean over all line-ups (agents that play together), and the best one.
    If nothing was played yet, the line says so."""
    ground, figure = comparison_benchmark(results)
    means = _means(line_up_results(results))
    if not means:
        return "nothing was played yet"
    best, who = (min if figure.better == "lower" else max)(means, key=lambda each: each[0])
    over = _number(figure, fmean(mean for mean, _ in means))
    return (
        f"mean {ground.figure} {over} over {len(means)} of {len(results)} cells; "
        f"best {_number(figure, best)}: {who.name} in {who.level}, {counted_noun(who.seats, 'seat')}"
    )


def _means(found: Iterable[LineUpResult]) -> list[tuple[float, LineUpResult]]:
    """Return (mean, result) for each of these results that has a mean. A result without a mean was not
    played."""
    return [(each.estimate.mean, each) for each in found if each.estimate.mean is not None]


# pairs of partners

PAIRING_COLUMNS = ("level", "seat", "who", "beside", "episodes", "mean", "error", "source")
PAIRING_NOTE = (
    f"Mean {PLUS_MINUS} standard error over the episodes. Down: who sits in seat 0. Across: who sits "
    "in seat 1. Under “over the others”: everybody in one seat, over all partners of another kind."
)


def agents_in_seat(pairs: Iterable[LineUpResult], seat: int) -> list[str]:
    """Return the kinds of agents that played in this seat, in any level. Each kind is listed once, in
    their order."""
    return list(dict.fromkeys(each.kinds[seat] for each in pairs))


def means_over_others(pairs: Sequence[LineUpResult], level: str, seat: int) -> Iterator[tuple[str, Estimate]]:
    """Yield (kind, mean) for every kind of agent that played in this seat in this level. The mean is over
    all partners of another kind."""
    for kind in agents_in_seat(pairs, seat):
        mine = [each for each in pairs if each.level == level and each.kinds[seat] == kind]
        others = [each for each in mine if len(set(each.kinds)) > 1]
        if others:
            yield kind, Estimate(tuple(value for each in others for value in each.estimate.values))


def pairing_text_tables(results: Sequence[CellResult]) -> list[TextTable]:
    """Return a table for each level with the results of all pairs. Then follows a table for each seat,
    with each agent's mean over all partners of another kind."""
    pairs, ground = line_up_results(results), pairing_benchmark(results)
    grids = [_beside(pairs, level, results) for level in levels_in(pairs)]
    seats = [_over(pairs, seat, ground) for seat in (0, 1)]
    return [*grids, *(grid for grid in seats if len(grid.rows))]


def _beside(pairs: Sequence[LineUpResult], level: str, results: Sequence[CellResult]) -> TextTable:
    across = agents_in_seat(pairs, 1)
    mine = {each.kinds: str(each.estimate) for each in pairs if each.level == level}
    rows = [(one, *(mine.get((one, other), "") for other in across)) for one in agents_in_seat(pairs, 0)]
    who = decision_makers_of([each for each in results if each.column.level == level])
    return TextTable(level, ("seat 0", *across), tuple(rows), played_by=str(who))


def _over(pairs: Sequence[LineUpResult], seat: int, ground: PairingBenchmark) -> TextTable:
    levels = levels_in(pairs)
    ours = {level: dict(means_over_others(pairs, level, seat)) for level in levels}
    rows = [
        (name, *(str(ours[level].get(name, Estimate(()))) for level in levels))
        for name in dict.fromkeys(name for level in levels for name in ours[level])
    ]
    printed = _published_rows({level: ground.printed(level, seat) for level in levels})
    notes = (ground.source,) if printed else ()
    return TextTable(f"Seat {seat}, over the others", ("", *levels), (*rows, *printed), notes)


def pairing_csv(results: Sequence[CellResult]) -> bytes:
    """Return a CSV file with three kinds of rows: the result of each pair and level, each agent's mean over
    all other partners, and published values."""
    return csv_bytes(PAIRING_COLUMNS, _pairing_rows(line_up_results(results), pairing_benchmark(results)))


def _pairing_rows(pairs: Sequence[LineUpResult], ground: PairingBenchmark) -> Iterator[tuple[object, ...]]:
    for each in pairs:
        yield each.level, 0, *each.kinds, *_numbers(each.estimate), OURS
    for level in levels_in(pairs):
        for seat in (0, 1):
            for name, over in means_over_others(pairs, level, seat):
                yield level, seat, name, OTHERS, *_numbers(over), OURS
            for name, cell in ground.printed(level, seat).items():
                yield level, seat, name, OTHERS, None, cell.mean, cell.spread, PRINTED


def _numbers(estimate: Estimate) -> tuple[int, float | None, float | None]:
    return len(estimate.values), estimate.mean, estimate.error


def pairing_line(results: Sequence[CellResult]) -> str:
    """Return a summary in one line: the mean over all pairs, and the best pair."""
    means = _means(line_up_results(results))
    if not means:
        return "nothing was played yet"
    best, pair = max(means, key=lambda each: each[0])
    return (
        f"mean {pairing_benchmark(results).figure} {fmean(mean for mean, _ in means):.1f} "
        f"over {len(means)} of {len(results)} pairings; "
        f"most {best:.1f}: {' + '.join(pair.kinds)} in {pair.level}"
    )
