"""Whether rows, conditions and measures fit each other; the first that does not is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from study.analysis.statistics.rows import AnalysisCondition, DefinitionError, Measure, Observation, RowError

LARGEST = 1e100
"""No count is larger, and squares of what is smaller can be added up."""


def check(
    observations: Sequence[Observation], conditions: Sequence[AnalysisCondition], measures: Sequence[Measure]
) -> None:
    """Raise DefinitionError or RowError for the first thing that cannot be analysed."""
    check_definitions(conditions, measures)
    for row in observations:
        _check_row(row, {c.key for c in conditions}, {m.key: m for m in measures})
    _check_once(observations)
    _check_agreement(observations)


def check_definitions(conditions: Sequence[AnalysisCondition], measures: Sequence[Measure]) -> None:
    """Raise DefinitionError where there is no condition or measure, or two share a key or label."""
    for what, definitions in (("condition", conditions), ("measure", measures)):
        if not definitions:
            raise DefinitionError(f"an analysis needs at least one {what}")
        _check_distinct(f"{what} key", (one.key for one in definitions))
        _check_distinct(f"{what} label", (one.label for one in definitions))


def _check_distinct(what: str, names: Iterable[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise DefinitionError(f"{what} {name!r} is used {times} times")


def _check_row(row: Observation, conditions: set[str], measures: dict[str, Measure]) -> None:
    if not row.participant:
        raise _wrong(row, "the participant has no name")
    if row.condition not in conditions:
        raise _wrong(row, f"unknown condition; known are {', '.join(sorted(conditions))}")
    if row.measure not in measures:
        raise _wrong(row, f"unknown measure; known are {', '.join(sorted(measures))}")
    if row.order_position < 1:
        raise _wrong(row, f"order position {row.order_position} is below 1")
    _check_value(row, measures[row.measure])


def _check_value(row: Observation, measure: Measure) -> None:
    if row.value is None:
        return
    if not abs(row.value) <= LARGEST:  # nor is NaN
        raise _wrong(row, f"{row.value} is no usable number; a missing value is None")
    if not measure.holds(row.value):
        raise _wrong(row, f"{row.value} is off the scale ({measure.scale})")


def _check_once(observations: Iterable[Observation]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for row in observations:
        place = (row.participant, row.condition, row.measure)
        if place in seen:
            raise _wrong(row, "is there twice")
        seen.add(place)


def _check_agreement(observations: Iterable[Observation]) -> None:
    """One participant played one condition in one place, and is a person or a bot throughout."""
    places: dict[tuple[str, str], int] = {}
    kinds: dict[str, bool] = {}
    for row in observations:
        place = places.setdefault((row.participant, row.condition), row.order_position)
        if place != row.order_position:
            raise _wrong(row, f"order position {row.order_position}, but {place} in another row")
        if kinds.setdefault(row.participant, row.synthetic) != row.synthetic:
            raise _wrong(row, "the participant is synthetic in some rows and not in others")


def _wrong(row: Observation, why: str) -> RowError:
    return RowError(f"participant {row.participant!r}, {row.condition!r}, {row.measure!r}: {why}")
