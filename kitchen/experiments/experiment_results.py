"""Aggregate episode rows into the results of each cell, beside published results and the upper bound.

CoS is the mean over intervals of completed / (completed + failed), with counts summed over the episodes of
the interval (MindAgent, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from kitchen.agents.evaluation import collaboration_score
from kitchen.contract.benchmark import ComparisonBenchmark, OrderCounts, ScoreBound
from kitchen.experiments.episode_rows import PLAYED, DecisionMakers, EpisodeRow
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    ExperimentColumn,
    ExperimentSetup,
    episode_seed,
)


@dataclass(frozen=True, slots=True)
class IntervalResult:
    """One interval of one cell."""

    alpha: float
    episodes: int
    completed: int
    failed: int
    paper: OrderCounts | None
    bound: ScoreBound
    """Over the episodes that were played; while there are none, over all that the experiment is to have."""
    players: DecisionMakers
    figures: tuple[float, ...] = ()
    """Where partners are compared: what each episode came to."""
    counts: tuple[OrderCounts, ...] = ()
    """Of each episode that was played: done, and done or missed."""

    @property
    def total(self) -> int:
        """What was done or missed."""
        return self.completed + self.failed

    @property
    def share(self) -> float | None:
        """completed / total; None while nothing has ended."""
        return self.completed / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class CellResult:
    """One level x agents cell."""

    column: ExperimentColumn
    intervals: tuple[IntervalResult, ...]

    @property
    def players(self) -> DecisionMakers:
        """Who played all its intervals."""
        return sum((each.players for each in self.intervals), DecisionMakers())

    @property
    def cos(self) -> float | None:
        """Ours; None where an interval has nothing yet."""
        return collaboration_score((each.completed, each.failed) for each in self.intervals)

    @property
    def paper_cos(self) -> float | None:
        """The paper's, from its counts; None where it has none for one of the intervals."""
        counts = [each.paper for each in self.intervals]
        pairs = [(done, total - done) for done, total in (each for each in counts if each)]
        return collaboration_score(pairs) if len(pairs) == len(counts) else None

    @property
    def bound_cos(self) -> float | None:
        """What nobody can pass."""
        shares = [each.bound.share for each in self.intervals]
        return mean_of(shares) if None not in shares else None

    @property
    def is_above(self) -> bool | None:
        """Whether it is above the paper; None where that cannot be said."""
        if self.cos is None or self.paper_cos is None:
            return None
        return self.cos > self.paper_cos


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean; None where one is missing, since the mean of the others would be of other cells."""
    all_values = list(values)
    known = [value for value in all_values if value is not None]
    return fmean(known) if all_values and len(known) == len(all_values) else None


@dataclass(frozen=True, slots=True)
class MeanScores:
    """Scores over several cells. Those that stand beside each other are over the same cells, so `ours_there`
    and `paper` are over the cells that have both."""

    ours: float | None
    """Over every cell that is played."""
    played: int
    cells: int
    ours_there: float | None
    paper: float | None
    there: int
    """Cells with both."""
    bound: float | None
    """Over the cells that are played; over all while none is."""


def means_of(cells: Sequence[CellResult]) -> MeanScores:
    """What some cells come to on average, and over which of them."""
    played = [each for each in cells if each.cos is not None]
    both = [each for each in played if each.paper_cos is not None]
    return MeanScores(
        ours=mean_of(each.cos for each in played),
        played=len(played),
        cells=len(cells),
        ours_there=mean_of(each.cos for each in both),
        paper=mean_of(each.paper_cos for each in both),
        there=len(both),
        bound=mean_of(each.bound_cos for each in played or cells),
    )


def cell_results_of(setup: ExperimentSetup, rows: Iterable[EpisodeRow]) -> tuple[CellResult, ...]:
    """Every cell of the experiment, whether it has rows already or not."""
    rows_by_interval = _sorted(rows)
    return tuple(
        CellResult(column, tuple(_interval(setup, column, alpha, rows_by_interval) for alpha in setup.alphas))
        for column in setup.columns
    )


_Sorted = Mapping[tuple[str, str, int, float], Sequence[EpisodeRow]]


def _sorted(rows: Iterable[EpisodeRow]) -> _Sorted:
    rows_by_interval: dict[tuple[str, str, int, float], list[EpisodeRow]] = {}
    for row in rows:
        rows_by_interval.setdefault(row.key[:4], []).append(row)
    return rows_by_interval


def _interval(
    setup: ExperimentSetup, column: ExperimentColumn, alpha: float, rows_by_interval: _Sorted
) -> IntervalResult:
    mine = rows_by_interval.get((*column.key, alpha), ())
    played = [row for row in mine if row.outcome == PLAYED]
    counts = len(played), sum(row.completed for row in played), sum(row.failed for row in played)
    planned = (episode_seed(setup.seed, column, alpha, number) for number in range(1, setup.episodes + 1))
    seeds = tuple(sorted(row.seed for row in played)) or tuple(planned)
    bound = _bound_of(column, alpha, seeds)
    figures = tuple(row.figure for row in played if row.figure is not None)
    each = tuple((row.completed, row.completed + row.failed) for row in played)
    return IntervalResult(
        alpha, *counts, column.paper.get(alpha), bound, DecisionMakers.of(mine), figures, each
    )


def _bound_of(column: ExperimentColumn, alpha: float, seeds: tuple[int, ...]) -> ScoreBound:
    """What nobody can pass; nothing where one figure is compared."""
    if isinstance(column.ground, ComparisonBenchmark):
        return ScoreBound(0, 0)
    return _bound(column.level, alpha, column.agents, seeds)


@lru_cache(maxsize=4096)
def _bound(level: str, alpha: float, agents: int, seeds: tuple[int, ...]) -> ScoreBound:
    return DEFAULT_BENCHMARK.bound(level, alpha, agents, seeds)


def decision_makers_of(results: Iterable[CellResult]) -> DecisionMakers:
    """Who played these cells."""
    return sum((each.players for each in results), DecisionMakers())


def group_by_agents(results: Sequence[CellResult]) -> dict[int, list[CellResult]]:
    """Cells by their number of agents, fewest first."""
    numbers = sorted({each.column.agents for each in results})
    return {number: [each for each in results if each.column.agents == number] for number in numbers}
