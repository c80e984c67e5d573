"""Define the result of an equivalence test, and the bounds within which a difference counts as none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from study.analysis.statistics.observations import DefinitionError

Unit = Literal["raw", "d"]
EQUIVALENCE_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class EquivalenceBounds:
    """The largest differences, downwards (`low`) and upwards (`high`), that count as no difference.

    With the unit `raw` they are in the measure's unit. With `d` they are multiples of a standard deviation:
    that of the differences for pairs, and the root of the mean variance for two groups. Raises
    DefinitionError if `low` is not below `high`.
    """

    low: float
    high: float
    unit: Unit = "raw"

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise DefinitionError(f"equivalence bounds: {self.low} is not below {self.high}")


@dataclass(frozen=True, slots=True)
class OneSidedTest:
    """A one-sided t test of the difference against a bound, in the measure's unit."""

    bound: float
    t: float
    p: float


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of two one-sided tests. `difference` is the second mean minus the first, in the measure's
    unit, with its 90 % interval. `sizes` are the numbers of pairs, or of people in each group; they are empty
    for a contrast of cells."""

    sizes: tuple[int, ...]
    difference: float
    se: float
    df: float
    above: OneSidedTest
    """The difference is above the lower bound."""
    below: OneSidedTest
    """The difference is below the upper bound."""
    ci_low: float
    ci_high: float
    computable: ClassVar[bool] = True

    @property
    def decisive(self) -> OneSidedTest:
        """Return the test with the larger p value, which decides."""
        return max(self.above, self.below, key=lambda one: one.p)

    @property
    def p(self) -> float:
        """Return the p value of equivalence: the larger one of the two tests."""
        return self.decisive.p

    @property
    def equivalent(self) -> bool:
        """Return True if both tests are significant at .05: the 90 % interval lies between the bounds."""
        return self.p < EQUIVALENCE_LEVEL
