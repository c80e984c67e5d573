"""Compute an experiment's results for each level and number of agents.

Published results and an upper bound are shown beside them. The success rate is completed / (completed +
failed) orders (tasks). The collaboration score (CoS) is its mean over all tested intervals between orders.
Source: MindAgent, arXiv 2309.09971, section 3.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean

from kitchen.contract.benchmark import ComparisonBenchmark, OrderCounts, ScoreBound
from kitchen.experiments.episode_rows import PLAYED, DecisionMakers, EpisodeRow
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    ExperimentColumn,
    ExperimentSetup,
    episode_seed,
)


def collaboration_score(counts: Iterable[tuple[int, int]]) -> float | None:
    """Return the collaboration score: the mean over intervals of completed / (completed + failed), from
    (completed, failed) pairs. None if there is no interval, or if both counts of an interval are 0."""
    shares = [done / (done + failed) if done + failed else None for done, failed in counts]
    return None if None in shares or not shares else fmean(share for share in shares if share is not None)


@dataclass(frozen=True, slots=True)
class IntervalResult:
    """The results of one cell at one interval between orders (alpha)."""

    alpha: float
    episodes: int
    completed: int
    failed: int
    paper: OrderCounts | None
    bound: ScoreBound
    """Upper bound over the played episodes, or over all planned ones if none was played."""
    players: DecisionMakers
    figures: tuple[float, ...] = ()
    """The metric's value in each episode, for comparisons of one metric."""
    second_figures: tuple[float, ...] = ()
    """The same for the second metric, if there is one."""
    counts: tuple[OrderCounts, ...] = ()
    """(completed, completed or failed) for each played episode."""
    goals: tuple[int | None, ...] = ()
    """Steps until the goal of each played episode; None if it was not reached."""
    plannings: tuple[float, ...] = ()
    """Planning iterations of a member, on average, for each played episode that has them."""
    steps: tuple[int, ...] = ()
    """Number of steps of each played episode."""
    more_figures: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Further metrics by name: the values of the episodes in which they are defined."""

    @property
    def total(self) -> int:
        """Return the number of orders that were completed or failed. Worlds without orders count something
        similar."""
        return self.completed + self.failed

    @property
    def share(self) -> float | None:
        """Return completed / total; None if nothing was completed or failed."""
        return self.completed / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class CellResult:
    """The results of one cell (level and number of agents), at each interval between orders."""

    column: ExperimentColumn
    intervals: tuple[IntervalResult, ...]

    @property
    def players(self) -> DecisionMakers:
        """Return the decision makers of this cell (variant, level and number of agents), over all intervals
        between orders."""
        return sum((each.players for each in self.intervals), DecisionMakers())

    @property
    def cos(self) -> float | None:
        """Return the collaboration score (CoS) of this cell (variant, level and number of agents). None if an
        interval between orders has no result yet."""
        return collaboration_score((each.completed, each.failed) for each in self.intervals)

    @property
    def paper_cos(self) -> float | None:
        """Return the paper's collaboration score (CoS) for this cell, from its printed counts of orders.
        Return None if the paper lacks the counts for an interval between orders."""
        counts = [each.paper for each in self.intervals]
        pairs = [(done, total - done) for done, total in (each for each in counts if each)]
        return collaboration_score(pairs) if len(pairs) == len(counts) else None

    @property
    def bound_cos(self) -> float | None:
        """Return the upper bound of the collaboration score (CoS) in this cell (variant, level and number of
        agents). None if none is known."""
        shares = [each.bound.share for each in self.intervals]
        return mean_of(shares) if None not in shares else None

    @property
    def is_above(self) -> bool | None:
        """Return True if this experiment's collaboration score is above the paper's. None if one of them is
        missing."""
        if self.cos is None or self.paper_cos is None:
            return None
        return self.cos > self.paper_cos


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values. Return None if there are none, or if any value is None: a mean over
    fewer values would not be comparable."""
    all_values = list(values)
    known = [value for value in all_values if value is not None]
    return fmean(known) if all_values and len(known) == len(all_values) else None


@dataclass(frozen=True, slots=True)
class MeanScores:
    """Mean collaboration scores (CoS) over several cells. `ours_there` and `paper` are means over the
    cells for which both scores exist."""

    ours: float | None
    """Mean CoS of this experiment over every played cell."""
    played: int
    cells: int
    ours_there: float | None
    paper: float | None
    there: int
    """Number of cells with both scores."""
    bound: float | None
    """Mean bound over the played cells, or over all cells if none was played."""


def means_of(cells: Sequence[CellResult]) -> MeanScores:
    """Return the mean scores of these cells (variant, level and number of agents), and how many cells each
    mean covers."""
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
    """Return the results of every cell of the experiment (variant, level and number of agents). Cells without
    rows are included."""
    by_interval = defaultdict[tuple[str, str, int, float], list[EpisodeRow]](list)
    for row in rows:
        by_interval[row.key[:4]].append(row)
    return tuple(
        CellResult(
            column,
            tuple(_interval(setup, column, alpha, by_interval[*column.key, alpha]) for alpha in setup.alphas),
        )
        for column in setup.columns
    )


def _interval(
    setup: ExperimentSetup, column: ExperimentColumn, alpha: float, mine: Sequence[EpisodeRow]
) -> IntervalResult:
    played = [row for row in mine if row.outcome == PLAYED]
    counts = len(played), sum(row.completed for row in played), sum(row.failed for row in played)
    planned = (episode_seed(setup.seed, column, alpha, number) for number in range(1, setup.episodes + 1))
    seeds = tuple(sorted(row.seed for row in played)) or tuple(planned)
    compares_metric = isinstance(column.ground, ComparisonBenchmark)
    bound = ScoreBound(0, 0) if compares_metric else _bound(column.level, alpha, column.agents, seeds)
    figures = tuple(row.figure for row in played if row.figure is not None)
    each = tuple((row.completed, row.completed + row.failed) for row in played)
    return IntervalResult(
        alpha,
        *counts,
        column.paper.get(alpha),
        bound,
        DecisionMakers.of(mine),
        figures,
        tuple(row.second_figure for row in played if row.second_figure is not None),
        each,
        goals=tuple(row.goal_steps for row in played),
        plannings=tuple(row.plannings for row in played if row.plannings is not None),
        steps=tuple(row.steps for row in played),
        more_figures=_more_figures(played),
    )


def _more_figures(played: Iterable[EpisodeRow]) -> dict[str, tuple[float, ...]]:
    found = defaultdict[str, list[float]](list)
    for row in played:
        for name, value in json.loads(row.more_figures or "{}").items():
            if value is not None:
                found[name].append(value)
    return {name: tuple(values) for name, values in found.items()}


@lru_cache(maxsize=4096)
def _bound(level: str, alpha: float, agents: int, seeds: tuple[int, ...]) -> ScoreBound:
    return DEFAULT_BENCHMARK.bound(level, alpha, agents, seeds)


def decision_makers_of(results: Iterable[CellResult]) -> DecisionMakers:
    """Return the decision makers of all these results together."""
    return sum((each.players for each in results), DecisionMakers())


def group_by_agents(results: Sequence[CellResult]) -> dict[int, list[CellResult]]:
    """Return the results grouped by the number of agents, in ascending order."""
    numbers = sorted({each.column.agents for each in results})
    return {number: [each for each in results if each.column.agents == number] for number in numbers}
