"""What the power of a within-subject comparison depends on, and effect sizes in each other's terms.

Every one of n people gives one value in each of k conditions. The model: values are normal with standard
deviation 1 within each condition, any two values of one person correlate by rho, and the standard deviation
of the conditions' means (divisor k) is f, Cohen's f.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

MOST_PEOPLE = 2000
"""Beyond that no number of people is looked for."""
NEAR = 1e-6
"""Closer to its bounds a correlation leaves no error that could be computed with."""


class PowerPlanError(ValueError):
    """A plan that cannot be computed; `field` names what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """A one-way repeated-measures design before anyone is recruited. PlanError if a value is out of range."""

    conditions: int
    f: float
    correlation: float = 0.5
    alpha: float = 0.05
    epsilon: float = 1.0
    """Box's measure of sphericity: 1 where it holds, 1 / (k - 1) at its worst."""

    def __post_init__(self) -> None:
        for field, wrong, message in (
            ("conditions", self.conditions < 2, "There must be two conditions or more to compare."),
            ("f", not 0 <= self.f <= 10, "The effect must be from 0 to 10."),
            ("correlation", not NEAR - self.loosest < self.correlation < 1 - NEAR, self._bounds()),
            ("alpha", not 0 < self.alpha < 1, "Alpha must be between 0 and 1."),
            ("epsilon", not self.lowest - 1e-9 <= self.epsilon <= 1, self._sphericity()),
        ):
            if wrong:
                raise PowerPlanError(field, message)

    @property
    def loosest(self) -> float:
        """k values cannot all correlate by less than minus this."""
        return 1 / max(self.conditions - 1, 1)

    @property
    def lowest(self) -> float:
        """The smallest epsilon there is for so many conditions."""
        return 1 / max(self.conditions - 1, 1)

    def _bounds(self) -> str:
        return f"For {self.conditions} conditions the correlation is above -{self.loosest:.3g} and below 1."

    def _sphericity(self) -> str:
        return f"For {self.conditions} conditions epsilon is from {self.lowest:.3g} to 1."


def f_from_partial_eta(partial_eta: float, conditions: int, correlation: float) -> float:
    """Cohen's f from the partial eta squared that software reports for a repeated-measures ANOVA.

    That one has the differences between persons taken out: eta / (1 - eta) is the variance of the means over
    the error's, sigma^2 (1 - rho) (k - 1) / k. It is what G*Power calls "as in SPSS", for the population
    (n, not n - 1). PlanError at `effect` or `correlation`.
    """
    if not 0 <= partial_eta < 1:
        raise PowerPlanError("effect", "Partial eta squared is from 0 to below 1.")
    if conditions < 2 or correlation >= 1:
        raise PowerPlanError("correlation", "The correlation must be below 1, for two conditions or more.")
    return sqrt(partial_eta / (1 - partial_eta) * (1 - correlation) * (conditions - 1) / conditions)


def partial_eta_of(plan: PowerPlan) -> float:
    """The other way round."""
    ratio = plan.f**2 * plan.conditions / ((plan.conditions - 1) * (1 - plan.correlation))
    return ratio / (1 + ratio)


def _even(k: int) -> list[float]:
    return [place - (k - 1) / 2 for place in range(k)]


def _one_apart(k: int) -> list[float]:
    return [-1.0 + 1 / k] + [1 / k] * (k - 1)


def _ends(k: int) -> list[float]:
    return [-1.0] + [0.0] * (k - 2) + [1.0]


PATTERNS: Mapping[str, str] = {
    "one": "one condition lies below all others, which are equal",
    "even": "the conditions follow one another at equal distances",
    "ends": "two conditions lie apart, all others half-way between them",
}
"""How the means may lie for the same f: it decides which pairs differ, not the power of the ANOVA."""

_MEANS = {"one": _one_apart, "even": _even, "ends": _ends}


def means_of(plan: PowerPlan, pattern: str) -> list[float]:
    """The conditions' means in standard deviations, around 0, in a pattern with the plan's f."""
    raw = _MEANS[pattern](plan.conditions)
    spread = sqrt(sum(value**2 for value in raw) / len(raw))
    return [value * plan.f / spread for value in raw]
