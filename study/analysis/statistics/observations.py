"""Define and check the input of an analysis: observations, conditions, and measures.

An observation is one participant's value on one measure in one condition. The module builds one table of
observations per measure. A test that the data do not allow has the result `NotComputable`. Errors::

    Exception
    ├── AnalysisError
    │   ├── DefinitionError   conditions or measures that cannot be used
    │   └── RowError          an observation that does not fit the conditions or measures, or that
    │                         contradicts another observation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar, Literal, Self, get_args

from study.design.analysis_plan import KEY

Kind = Literal["rate", "count", "likert", "score", "number"]


class AnalysisError(Exception):
    """Base class of all errors about data that the caller can correct. The message is one line."""


class DefinitionError(AnalysisError):
    """Raised for an unusable condition or measure. The message names it and the reason."""


class RowError(AnalysisError):
    """Raised for an unusable observation. The message names participant, condition, measure and reason."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One participant's value on one measure in one condition.

    `value` is None if it is missing. `order_position` is the number of the participant's episode, from 1.
    `synthetic` is true if a bot produced the value. `version` is the number of the study version that the
    participant entered. `before_freeze` is true if the participant entered before this version was
    preregistered.
    """

    participant: str
    condition: str
    measure: str
    value: float | None
    order_position: int
    synthetic: bool
    version: int = 1
    before_freeze: bool = False
    group: str = ""
    """The participant's group between people; empty without groups."""
    team: str = ""
    """The people who share this value, because they played together. Empty for a participant's own value."""
    episode: int = 0
    """The episode in which they share it."""


@dataclass(frozen=True, slots=True)
class BetweenFactor:
    """The between-subjects groups of a study. It gives the group that plays each condition, and the
    condition's level of the within-subject factor.

    A condition with an empty group is played by all groups.
    """

    groups: tuple[str, ...]
    levels: Mapping[str, str]
    """The level of each condition, by its key."""
    played_by: Mapping[str, str]
    """The group that plays each condition, by its key."""

    def conditions_of(self, group: str) -> set[str]:
        """Return the keys of the conditions that this group plays."""
        return {key for key, whose in self.played_by.items() if whose in ("", group)}


@dataclass(frozen=True, slots=True)
class AnalysisCondition:
    """One condition of the study, as a level of the analysed factor. Tables and figures sort by `position`,
    then `key`.

    Raises DefinitionError for an invalid key or an empty label.
    """

    key: str
    label: str
    position: int

    def __post_init__(self) -> None:
        _check_name("condition", self.key, self.label)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with the bounds of its scale (both inclusive).

    The kinds of scale: `rate` is a share from 0 to 1. `count` has no upper bound if `high` is None.
    `likert` has whole steps from `low` to `high`, but a mean of items may lie between two steps. `number`
    may have a `unit`, and has no bound if `low` or `high` is None. `scale_labels` is empty, has labels for
    the two ends, or has one for every step. Raises DefinitionError if the arguments contradict each other.
    """

    key: str
    label: str
    kind: Kind
    low: float | None = 0.0
    high: float | None = None
    scale_labels: tuple[str, ...] = ()
    unit: str = ""
    exploratory: bool = False
    """If true, no test of this measure is decisive, whatever is planned."""
    primary: bool = False
    """True if the measure decides about the hypothesis. Its p values are corrected over primary measures
    only."""
    in_scale: bool = False
    """True for an item whose scale is analysed, too, if the roles of measures are planned. Its p values are
    not corrected together with those of other measures."""

    @classmethod
    def rate(cls, key: str, label: str) -> Self:
        """Return a measure whose values are shares from 0 to 1, such as a success rate."""
        return cls(key, label, "rate", 0.0, 1.0)

    @classmethod
    def count(cls, key: str, label: str, high: float | None = None) -> Self:
        """Return a measure whose values are counts from 0. `high` is the highest possible count; None for
        no limit."""
        return cls(key, label, "count", 0.0, high)

    @classmethod
    def likert(cls, key: str, label: str, points: int = 5, scale_labels: tuple[str, ...] = ()) -> Self:
        """Return a measure for a survey item with answers from 1 to `points`. The paper's items have five
        points."""
        return cls(key, label, "likert", 1.0, float(points), scale_labels)

    @classmethod
    def score(cls, key: str, label: str, low: float, high: float) -> Self:
        """Return a measure whose values are numbers between two bounds, such as the score of several
        items."""
        return cls(key, label, "score", float(low), float(high))

    @classmethod
    def number(cls, key: str, label: str, low: float | None, high: float | None, unit: str = "") -> Self:
        """Return a measure whose values are numbers with optional bounds, such as a time in steps."""
        return cls(key, label, "number", low, high, unit=unit)

    def __post_init__(self) -> None:
        _check_name("measure", self.key, self.label)
        if self.kind not in get_args(Kind):
            raise DefinitionError(f"measure {self.key!r}: kind {self.kind!r} is not one of {get_args(Kind)}")
        self._check_bounds()
        self._check_scale_labels()

    def _check_bounds(self) -> None:
        if self.low is None and self.kind != "number":
            raise DefinitionError(f"measure {self.key!r}: a {self.kind} needs a lower bound")
        if self.high is None and self.kind not in ("count", "number"):
            raise DefinitionError(f"measure {self.key!r}: a {self.kind} needs an upper bound")
        if self.low is not None and self.high is not None and self.high <= self.low:
            raise DefinitionError(f"measure {self.key!r}: upper bound {self.high} is not above {self.low}")
        if self.kind == "rate" and (self.low, self.high) != (0.0, 1.0):
            raise DefinitionError(f"measure {self.key!r}: a rate goes from 0 to 1")

    def _check_scale_labels(self) -> None:
        steps = 0 if self.low is None or self.high is None else round(self.high - self.low) + 1
        if len(self.scale_labels) not in (0, 2, steps):
            raise DefinitionError(
                f"measure {self.key!r}: {len(self.scale_labels)} scale labels, but a scale has 2 or {steps}"
            )

    def holds(self, value: float) -> bool:
        """Return whether the value is within the bounds of the measure's scale."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    @property
    def scale(self) -> str:
        """Return the scale as text: "0 to 1", "1 = never to 5 = always", "0 or more"."""
        if self.low is None:
            return "any number" if self.high is None else f"{self.high:g} or less"
        if self.high is None:
            return f"{self.low:g} or more"
        if not self.scale_labels:
            return f"{self.low:g} to {self.high:g}"
        return f"{self.low:g} = {self.scale_labels[0]} to {self.high:g} = {self.scale_labels[-1]}"


def _check_name(what: str, key: str, label: str) -> None:
    if not KEY.fullmatch(key):
        raise DefinitionError(f"{what} key {key!r} is not made of letters, digits, '_' and '-' (at most 64)")
    if not label.strip() or not label.isprintable():
        raise DefinitionError(f"{what} {key!r}: label {label!r} is empty or has characters that do not print")


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
    "groups",
]

SAME, TINY = 1e-14, 1e-100
"""Values differ by rounding only if their difference is at most this share of their size, or this number."""


@dataclass(frozen=True, slots=True)
class NotComputable:
    """Why a test could not be computed from the data: a code for programs and a clause for people.

    `because` continues the sentence "not computable because ...", without a full stop.
    """

    reason: Reason
    because: str
    computable: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"not computable because {self.because}"


@dataclass(frozen=True, slots=True)
class MeasureTable:
    """All rows of one measure: the conditions in order, and the observations sorted by participant and
    condition."""

    measure: Measure
    conditions: tuple[AnalysisCondition, ...]
    observations: tuple[Observation, ...]
    between: BetweenFactor | None = None
    """The groups between people, if the study has them: then nobody plays all conditions."""

    def values(self, condition: str) -> tuple[float, ...]:
        """Return the values of one condition, in the order of participants."""
        return tuple(r.value for r in self.observations if r.condition == condition and r.value is not None)

    def missing(self, condition: str) -> int:
        """Return how many rows of one condition have no value."""
        return sum(r.condition == condition and r.value is None for r in self.observations)

    def groups(self) -> dict[AnalysisCondition, tuple[float, ...]]:
        """Return the values of each condition by condition key. Conditions without any value are left out."""
        by_condition = {condition: self.values(condition.key) for condition in self.conditions}
        return {condition: values for condition, values in by_condition.items() if values}

    def without_data(self) -> tuple[AnalysisCondition, ...]:
        """Return the conditions without any value. For example, an item about teammates has none in a
        condition without teammates."""
        return tuple(c for c in self.conditions if not self.values(c.key))


def table_of(
    measure: Measure,
    conditions: Sequence[AnalysisCondition],
    observations: Sequence[Observation],
    between: BetweenFactor | None = None,
) -> MeasureTable:
    """Return the sorted table of one measure. The order of `observations` has no effect."""
    order = tuple(sorted(conditions, key=lambda c: (c.position, c.key)))
    place = {condition.key: i for i, condition in enumerate(order)}
    rows = (row for row in observations if row.measure == measure.key)
    return MeasureTable(
        measure, order, tuple(sorted(rows, key=lambda r: (r.participant, place[r.condition]))), between
    )


def one_row_per_team(observations: Sequence[Observation], measure: Measure) -> Sequence[Observation]:
    """Return rows in which a team takes the place of its members, if they share the values of this measure.

    A team then has one row for each condition: its value or, if its members played several episodes, their
    mean. Without teams, return the rows unchanged.
    """
    teams = {row.participant: row.team for row in observations if row.measure == measure.key and row.team}
    if not teams:
        return observations
    found: dict[tuple[str, str, str], dict[int, Observation]] = {}
    for row in observations:
        who = teams.get(row.participant, row.participant)
        own = found.setdefault((who, row.condition, row.measure), {})
        if row.episode not in own or own[row.episode].value is None:
            own[row.episode] = replace(row, participant=who)
    return [_mean_row(list(rows.values())) for rows in found.values()]


def _mean_row(rows: Sequence[Observation]) -> Observation:
    values = [row.value for row in rows if row.value is not None]
    return replace(rows[0], value=fmean(values) if values else None)


def table_with_missing_rows(
    measure: Measure,
    conditions: Sequence[AnalysisCondition],
    observations: Sequence[Observation],
    between: BetweenFactor | None = None,
) -> MeasureTable:
    """Return the table of one measure, completed with empty rows. Each is for a participant who played a
    condition but has no row for this measure.

    For example, items about teammates are not asked in a condition without teammates. The tests need the
    empty rows to know the order in which the participant played the conditions.
    """
    own = {(row.participant, row.condition): row for row in observations if row.measure == measure.key}
    played = {(row.participant, row.condition): row for row in observations}
    rows = [own.get(place) or replace(row, measure=measure.key, value=None) for place, row in played.items()]
    return table_of(measure, conditions, rows, between)


def why_not_comparable(groups: Mapping[AnalysisCondition, Sequence[float]]) -> NotComputable | None:
    """Return why the means of these independent groups cannot be compared. Return None if they can."""
    if not groups:
        return NotComputable("no_data", "no condition has a value")
    if len(groups) < 2:
        (only,) = groups
        return NotComputable("one_condition", f"only {only.label} has values")
    for condition, values in groups.items():
        if len(values) < 2:
            return NotComputable("one_value", f"{condition.label} has only one value")
    if _all_same([value for values in groups.values() for value in values]):
        return NotComputable("no_variance", "all values are the same")
    if all(map(_all_same, groups.values())):
        return NotComputable("no_variance_within", "values do not vary within any condition")
    return None


def _all_same(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= max(SAME * max(abs(value) for value in values), TINY)


LARGEST = 1e100
"""Largest valid absolute value. Squares of smaller values can be summed without overflow."""


def check_observations(
    observations: Sequence[Observation], conditions: Sequence[AnalysisCondition], measures: Sequence[Measure]
) -> None:
    """Check the input of an analysis. Raises DefinitionError or RowError for the first problem."""
    check_definitions(conditions, measures)
    for row in observations:
        _check_row(row, {c.key for c in conditions}, {m.key: m for m in measures})
    _check_once(observations)
    _check_agreement(observations)


def check_definitions(conditions: Sequence[AnalysisCondition], measures: Sequence[Measure]) -> None:
    """Raise DefinitionError if there are no conditions or no measures, or if two share a key or label."""
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
    if not abs(row.value) <= LARGEST:  # also true for NaN
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
    """Raise RowError if the rows of a participant contradict each other. Each condition must have one
    position, and the participant must always be human or always synthetic."""
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
