"""What every test is given: one measure's values by participant and condition; and how a test says no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from study.analysis.statistics.rows import AnalysisCondition, Measure, Observation

Reason = Literal[
    "no_data",
    "one_condition",
    "one_value",
    "no_variance",
    "no_variance_within",
    "too_few",
    "too_many",
    "confounded",
    "no_fit",
]

SAME, TINY = 1e-14, 1e-100
"""Values closer than this share of their size, or than this, differ by rounding only."""


@dataclass(frozen=True, slots=True)
class NotComputable:
    """A test that the data do not allow: a code for programs and a clause for people.

    `because` continues the sentence "not computable because ...", without a full stop.
    """

    reason: Reason
    because: str
    computable: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"not computable because {self.because}"


@dataclass(frozen=True, slots=True)
class MeasureTable:
    """One measure in long format: conditions in their order, observations by participant and condition."""

    measure: Measure
    conditions: tuple[AnalysisCondition, ...]
    observations: tuple[Observation, ...]

    def values(self, condition: str) -> tuple[float, ...]:
        """The values of one condition, in the order of participants."""
        return tuple(r.value for r in self.observations if r.condition == condition and r.value is not None)

    def missing(self, condition: str) -> int:
        """How many rows of one condition have no value."""
        return sum(r.condition == condition and r.value is None for r in self.observations)

    def groups(self) -> dict[AnalysisCondition, tuple[float, ...]]:
        """The values of every condition that has any."""
        by_condition = {condition: self.values(condition.key) for condition in self.conditions}
        return {condition: values for condition, values in by_condition.items() if values}

    def without_data(self) -> tuple[AnalysisCondition, ...]:
        """Conditions in which this measure has no value, such as an item on teammates when alone."""
        return tuple(c for c in self.conditions if not self.values(c.key))


def table_of(
    measure: Measure, conditions: Sequence[AnalysisCondition], observations: Sequence[Observation]
) -> MeasureTable:
    """The table of one measure, sorted, so that the order in which rows come in changes nothing."""
    order = tuple(sorted(conditions, key=lambda c: (c.position, c.key)))
    place = {condition.key: i for i, condition in enumerate(order)}
    rows = (row for row in observations if row.measure == measure.key)
    return MeasureTable(
        measure, order, tuple(sorted(rows, key=lambda r: (r.participant, place[r.condition])))
    )


def with_gaps(
    measure: Measure, conditions: Sequence[AnalysisCondition], observations: Sequence[Observation]
) -> MeasureTable:
    """The same with a row without a value wherever somebody played and the measure has no row, as that of an
    item on teammates when alone: so that the table knows what everybody played before what."""
    own = {(row.participant, row.condition): row for row in observations if row.measure == measure.key}
    played = {(row.participant, row.condition): row for row in observations}
    rows = [own.get(place) or replace(row, measure=measure.key, value=None) for place, row in played.items()]
    return table_of(measure, conditions, rows)


def why_not(groups: Mapping[AnalysisCondition, Sequence[float]]) -> NotComputable | None:
    """Why means of these independent groups cannot be compared, or None where they can."""
    if not groups:
        return NotComputable("no_data", "no condition has a value")
    if len(groups) < 2:
        (only,) = groups
        return NotComputable("one_condition", f"only {only.label} has values")
    for condition, values in groups.items():
        if len(values) < 2:
            return NotComputable("one_value", f"{condition.label} has only one value")
    return _no_variance(list(groups.values()))


def _no_variance(groups: list[Sequence[float]]) -> NotComputable | None:
    if _all_same([value for values in groups for value in values]):
        return NotComputable("no_variance", "all values are the same")
    if all(_all_same(values) for values in groups):
        return NotComputable("no_variance_within", "values do not vary within any condition")
    return None


def _all_same(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= max(SAME * max(abs(value) for value in values), TINY)
