"""What an analysis is given: observations in long format, the conditions and the measures.

Errors::

    AnalysisError
    ├── DefinitionError   conditions or measures that cannot be used
    └── RowError          an observation that contradicts them, or another observation
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

from study.words.keys import KEY

Kind = Literal["rate", "count", "likert", "score", "number"]


class AnalysisError(Exception):
    """Something about the data that the caller can put right; the message is one line."""


class DefinitionError(AnalysisError):
    """A condition or measure that cannot be used; names which and why."""


class RowError(AnalysisError):
    """An observation that cannot be used; names participant, condition, measure and why."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One participant's value on one measure in one condition.

    `value` is None where the participant gave none; `order_position` counts the participant's episodes
    from 1; `synthetic` is true where a bot and no person produced the value. `version` is the number of the
    version of the study that the participant entered under, `before_freeze` whether that was before this
    version was preregistered.
    """

    participant: str
    condition: str
    measure: str
    value: float | None
    order_position: int
    synthetic: bool
    version: int = 1
    before_freeze: bool = False


@dataclass(frozen=True, slots=True)
class AnalysisCondition:
    """One level of the factor; tables and figures are in the order of `position`, then `key`.

    Raises DefinitionError for a key that is no plain name or an empty label.
    """

    key: str
    label: str
    position: int

    def __post_init__(self) -> None:
        _check_name("condition", self.key, self.label)


@dataclass(frozen=True, slots=True)
class Measure:
    """Something measured in every condition, with the bounds of its scale (both inclusive).

    `rate` is a share from 0 to 1; `count` has no upper bound where `high` is None; `likert` takes whole
    steps from `low` to `high`, but a value may lie between them (a mean of items); `number` has no bound
    where `low` or `high` is None, and may have a `unit`. `scale_labels` is empty, or the words for the two
    ends, or a word for every step.
    Raises DefinitionError where these contradict each other.
    """

    key: str
    label: str
    kind: Kind
    low: float | None = 0.0
    high: float | None = None
    scale_labels: tuple[str, ...] = ()
    unit: str = ""
    exploratory: bool = False
    """No test of it decides on anything, whatever is planned."""

    @classmethod
    def rate(cls, key: str, label: str) -> Self:
        """A share from 0 to 1, such as the success rate."""
        return cls(key, label, "rate", 0.0, 1.0)

    @classmethod
    def count(cls, key: str, label: str, high: float | None = None) -> Self:
        """A number of things, from 0."""
        return cls(key, label, "count", 0.0, high)

    @classmethod
    def likert(cls, key: str, label: str, points: int = 5, scale_labels: tuple[str, ...] = ()) -> Self:
        """An item of a survey, from 1 to `points`; the paper's have five."""
        return cls(key, label, "likert", 1.0, float(points), scale_labels)

    @classmethod
    def score(cls, key: str, label: str, low: float, high: float) -> Self:
        """A number between two ends, such as the score of several items."""
        return cls(key, label, "score", float(low), float(high))

    @classmethod
    def number(cls, key: str, label: str, low: float | None, high: float | None, unit: str = "") -> Self:
        """Any number, such as a time in steps."""
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
        """Whether the value lies on this scale."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    @property
    def scale(self) -> str:
        """The scale in words: "0 to 1", "1 = never to 5 = always", "0 or more"."""
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
