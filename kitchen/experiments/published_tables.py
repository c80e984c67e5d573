"""Print result tables from papers next to our own results.

The module handles tables with one value for a whole group of levels. Our value is the mean over all our
episodes of that group, with a 95 % confidence interval in brackets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kitchen.contract.benchmark import ComparisonBenchmark, PublishedRow, PublishedTable
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.world import Json, Metric
from kitchen.experiments.comparison_tables import (
    OURS,
    PRINTED,
    Estimate,
    TextTable,
    comparison_benchmark,
)
from kitchen.experiments.episode_rows import csv_bytes
from kitchen.experiments.experiment_results import CellResult
from kitchen.experiments.experiment_setup import NO_ORGANISATION
from kitchen.registry.world_metrics import metrics_of_world

ALONE = "solo"
"""The kind of organisation of a single member."""
PUBLISHED_COLUMNS = ("table", "row", "who", "source", "figure", "episodes", "mean", "low", "high")


class GroupMean(NamedTuple):
    """A mean of ours over the episodes of a group, with its 95 % interval."""

    episodes: int
    mean: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        """Return the mean with its interval and its number of episodes."""
        reach = "" if self.low is None or self.high is None else f" [{self.low:.3g}, {self.high:.3g}]"
        return f"{self.mean:.3g}{reach} (n {self.episodes})"


@dataclass(frozen=True, slots=True)
class TableBesideOurs:
    """A published table, and the results of ours that belong to it."""

    table: PublishedTable
    results: Sequence[CellResult]

    @property
    def ground(self) -> ComparisonBenchmark:
        """Return the benchmark of the world in which these results were played."""
        return comparison_benchmark(self.results)[0]

    @property
    def metric(self) -> Metric:
        """Return the metric of our results that is compared with the printed values."""
        name = self.table.figure or self.ground.figure
        world = self.results[0].column.world
        return next(metric for metric in metrics_of_world(world) if metric.name == name)

    @property
    def line_ups(self) -> tuple[str, ...]:
        """Return the names of the line-ups (agents that play together) in our results, in their order."""
        return tuple(dict.fromkeys(cell.column.variant.name for cell in self.results))

    def estimate(self, row: PublishedRow, line_up: str) -> Estimate | None:
        """Return the mean of our results for this row and this line-up (agents that play together), in the
        unit of our metric. Return None if no levels of ours belong to the row, or if none was played."""
        if row.where is None:
            return None
        wanted = row.where.items()
        mine = (cell for cell in self.results if cell.column.variant.name == line_up)
        cells = [cell for cell in mine if wanted <= self._facts(cell).items()]
        values = tuple(value for cell in cells for value in self._values(cell))
        counts = self.metric.kind != "share"
        return Estimate(values, self.metric.ends, are_counts=counts) if values else None

    def numbers(self, row: PublishedRow, line_up: str) -> GroupMean | None:
        """Return the mean of our results for this row and this line-up (agents that play together), in the
        unit of the printed values. Return None if no levels of ours belong to the row, or if none was
        played."""
        ours, scale = self.estimate(row, line_up), self.table.scale
        if ours is None or ours.mean is None:
            return None
        low, high = (end * scale for end in ours.interval) if ours.interval else (None, None)
        return GroupMean(len(ours.values), ours.mean * scale, low, high)

    def _facts(self, cell: CellResult) -> dict[str, Json]:
        variant = cell.column.variant
        team = variant.organisation
        members = len(team.members if team else line_up_kinds(variant.coplayer))
        kind = team.kind if team else NO_ORGANISATION
        return {
            **self.ground.level_facts(cell.column.level),
            "seats": cell.column.agents,
            "members": members,
            "organisation": ALONE if members == 1 else kind,
            **({"talk": team is not None and not team.is_silent} if members > 1 else {}),
        }

    def _values(self, cell: CellResult) -> tuple[float, ...]:
        result = cell.intervals[0]
        is_second = self.table.figure and self.table.figure == self.ground.second_figure
        return result.second_figures if is_second else result.figures


def _tables(results: Sequence[CellResult]) -> Iterator[TableBesideOurs]:
    ground, _ = comparison_benchmark(results)
    return (TableBesideOurs(table, results) for table in ground.published_tables())


def published_text_tables(results: Sequence[CellResult]) -> list[TextTable]:
    """Return each published table as text. The printed values come first, then one column for each line-up
    (agents that play together) in our results. Rows without any value are left out. Below the last table
    stands the source of the values, unless our own tables already have it."""
    tables = [_text_table(each) for each in _tables(results)]
    ground, _ = comparison_benchmark(results)
    if not tables or any(ground.published(cell.column.level, cell.column.agents) for cell in results):
        return tables
    *others, last = tables
    return [*others, replace(last, notes=(*last.notes, ground.source))]


def _text_table(beside: TableBesideOurs) -> TextTable:
    table = beside.table
    head = ("", *(f"{name}, {PRINTED}" for name in table.columns), *(f"{n}, {OURS}" for n in beside.line_ups))
    rows = (
        (
            row.name,
            *(_printed(row, place) for place in range(len(table.columns))),
            *(str(beside.numbers(row, name) or "") for name in beside.line_ups),
        )
        for row in table.rows
    )
    return TextTable(table.title, head, tuple(row for row in rows if any(row[1:])), (table.note,))


def _printed(row: PublishedRow, place: int) -> str:
    value = row.values[place] if place < len(row.values) else None
    return "" if value is None else f"{value:g}"


def published_csv(results: Sequence[CellResult]) -> bytes:
    """Return a CSV file with one row for each value of each table. Each table's printed values come before
    the means of our results."""
    return csv_bytes(PUBLISHED_COLUMNS, (line for each in _tables(results) for line in _lines(each)))


def _lines(beside: TableBesideOurs) -> Iterator[tuple[object, ...]]:
    table, figure = beside.table, beside.metric.name
    for row in table.rows:
        for name, value in zip(table.columns, row.values, strict=False):
            if value is not None:
                yield table.title, row.name, name, PRINTED, figure, None, value, None, None
        for name in beside.line_ups:
            if ours := beside.numbers(row, name):
                yield table.title, row.name, name, OURS, figure, *ours
