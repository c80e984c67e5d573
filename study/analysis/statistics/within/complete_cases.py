"""Select the participants who have a value in every condition, as a matrix of participants by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from study.analysis.statistics.observations import (
    SAME,
    TINY,
    AnalysisCondition,
    BetweenFactor,
    MeasureTable,
    NotComputable,
)
from study.analysis.statistics.within.result_types import ExcludedParticipant

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

FEWEST = 3
"""Minimum number of participants. With two, only one degree of freedom is left for the error."""


@dataclass(frozen=True, slots=True)
class CompleteCases:
    """The values of the participants who have a value in every condition. `values` has shape
    (participants, conditions), without gaps. `left_out` lists the other participants."""

    participants: tuple[str, ...]
    conditions: tuple[AnalysisCondition, ...]
    values: Array
    left_out: tuple[ExcludedParticipant, ...]


def values_by_participant(table: MeasureTable) -> dict[str, dict[str, float]]:
    """Return each participant's values by condition key. Participants without any value are left out."""
    found: dict[str, dict[str, float]] = {}
    for row in table.observations:
        if row.value is not None:
            found.setdefault(row.participant, {})[row.condition] = row.value
    return found


def complete_cases(table: MeasureTable, keys: Sequence[str] = ()) -> CompleteCases:
    """Return the values of the participants who have a value in each of the conditions `keys`. Without
    `keys`, all conditions that have values are required."""
    asked = [c for c in table.conditions if (c.key in keys if keys else table.values(c.key))]
    people = values_by_participant(table)
    if table.between:
        players = _players_of(table, table.between, {c.key for c in asked})
        people = {who: values for who, values in people.items() if who in players}
    whole = [who for who, values in people.items() if all(c.key in values for c in asked)]
    gaps = [
        ExcludedParticipant(who, tuple(c.label for c in asked if c.key not in values))
        for who, values in people.items()
        if any(c.key not in values for c in asked)
    ]
    rows = [[people[who][c.key] for c in asked] for who in whole]
    values = np.array(rows, dtype=float).reshape(len(whole), len(asked))
    return CompleteCases(tuple(whole), tuple(asked), values, tuple(gaps))


def _players_of(table: MeasureTable, between: BetweenFactor, keys: set[str]) -> set[str]:
    """Return the participants whose between-subjects group plays all the conditions `keys`."""
    groups = {group for group in between.groups if keys <= between.conditions_of(group)}
    return {row.participant for row in table.observations if row.group in groups}


def why_not_within(cells: CompleteCases) -> NotComputable | None:
    """Return why these conditions cannot be compared within participants. Return None if they can."""
    if not cells.conditions:
        return NotComputable("no_data", "no condition has a value")
    if len(cells.conditions) < 2:
        return NotComputable("one_condition", f"only {cells.conditions[0].label} has values")
    if len(cells.participants) < FEWEST:
        who = {0: "nobody has", 1: "only one participant has"}.get(
            len(cells.participants), "only two participants have"
        )
        return NotComputable("too_few", f"{who} a value in every condition")
    if are_equal(cells.values):
        return NotComputable("no_variance", "all values are the same")
    if are_equal(residuals(cells.values)):
        return NotComputable(
            "no_variance_within", "participants differ from condition to condition all alike"
        )
    return None


def residuals(values: Array) -> Array:
    """Return the residuals: the values without the mean effects of participant and condition. `values` has
    shape (participants, conditions)."""
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    left = values - rows - columns + values.mean()
    return np.where(np.abs(left) <= SAME * 16 * np.abs(values).max(), 0.0, left)


def are_equal(values: Array) -> bool:
    """Return True if all values are equal, apart from rounding errors."""
    return bool(np.ptp(values) <= max(SAME * float(np.abs(values).max()), TINY))
