"""Define the statistical model of a power analysis: effect sizes, power, and number of participants needed.

Each participant gives one value in each of k conditions. Values are normal with standard deviation 1 within
each condition. Any two values of one participant correlate by rho. Cohen's f is the standard deviation of the
conditions' means. The power is that of G*Power ("ANOVA: repeated measures, within factors", one group).
"""

# Each of n people gives one value in each of k conditions. Values are normal with standard deviation 1 within
# each condition, and any two values of one person correlate by rho. The standard deviation of the conditions'
# means (divisor k) is f, Cohen's f. The main effect is F(eps (k - 1), eps (k - 1) (n - 1)) with noncentrality
# eps n k f^2 / (1 - rho). This is as in G*Power ("ANOVA: repeated measures, within factors", one group; Faul
# et al. 2007, Behav. Res. Methods 39, 175-191). With two conditions it is the two-sided paired t test.

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, isnan, sqrt
from types import MappingProxyType

from study.analysis.statistics.apa_format import format_number, format_share

MOST_PEOPLE = 2000
"""Largest number of people considered."""
NEAR = 1e-6
"""Minimum distance of a correlation from its bounds; closer ones leave too little error to compute with."""


class PowerPlanError(ValueError):
    """Raised for a plan with a value out of range, or a plan that needs too many people. `field` names the
    wrong field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """The planned one-way repeated-measures design and its expected effect. Raises PowerPlanError for
    values out of range."""

    conditions: int
    f: float
    correlation: float = 0.5
    alpha: float = 0.05
    epsilon: float = 1.0
    """Box's measure of sphericity: 1 if it holds, 1 / (k - 1) at its worst."""

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
        """Return the largest possible size of a negative correlation between conditions: 1 / (k - 1) for k
        conditions."""
        return 1 / max(self.conditions - 1, 1)

    @property
    def lowest(self) -> float:
        """Return the smallest possible epsilon for this number of conditions."""
        return 1 / max(self.conditions - 1, 1)

    def _bounds(self) -> str:
        return f"For {self.conditions} conditions the correlation is above -{self.loosest:.3g} and below 1."

    def _sphericity(self) -> str:
        return f"For {self.conditions} conditions epsilon is from {self.lowest:.3g} to 1."


def f_from_partial_eta(
    partial_eta: float, conditions: int, correlation: float, effect: str = "condition"
) -> float:
    """Return Cohen's f for a partial eta squared, as software reports it. `effect` is one of `MIXED_EFFECTS`.

    Partial eta squared compares an effect with its own error: eta / (1 - eta) = f^2 k / e. For conditions and
    the interaction, which exclude the differences between persons, e = (k - 1) (1 - rho). For groups,
    e = 1 + (k - 1) rho. G*Power calls it "as in SPSS"; here it is for the population (n, not n - 1).
    Raises PowerPlanError, whose `field` is `effect` or `correlation`, for values out of range.
    """
    if not 0 <= partial_eta < 1:
        raise PowerPlanError("effect", "Partial eta squared is from 0 to below 1.")
    if conditions < 2 or correlation >= 1:
        raise PowerPlanError("correlation", "The correlation must be below 1, for two conditions or more.")
    return sqrt(partial_eta / (1 - partial_eta) * _error(conditions, correlation, effect) / conditions)


def partial_eta_of(plan: PowerPlan, effect: str = "condition") -> float:
    """Return the partial eta squared that corresponds to the plan's Cohen's f. It is the inverse of
    `f_from_partial_eta`."""
    ratio = plan.f**2 * plan.conditions / _error(plan.conditions, plan.correlation, effect)
    return ratio / (1 + ratio)


def _error(conditions: int, correlation: float, effect: str) -> float:
    """Return the amount that one person adds to the sum of squares of the error term of this effect."""
    if effect == "group":
        return 1 + (conditions - 1) * correlation
    return (conditions - 1) * (1 - correlation)


PATTERNS: Mapping[str, str] = {
    "one": "one condition lies below all others, which are equal",
    "even": "the conditions are equally spaced",
    "ends": "two conditions differ, and all others are half-way between them",
}
"""Patterns of means with the same f. They decide which pairs differ, not the power of the ANOVA."""

_MEANS: Mapping[str, Callable[[int], list[float]]] = {
    "one": lambda k: [-1.0 + 1 / k] + [1 / k] * (k - 1),
    "even": lambda k: [place - (k - 1) / 2 for place in range(k)],
    "ends": lambda k: [-1.0] + [0.0] * (k - 2) + [1.0],
}


def means_of(plan: PowerPlan, pattern: str) -> list[float]:
    """Return the conditions' means for a named pattern, in standard deviations. They are centred on 0 and
    have the plan's effect size f."""
    raw = _MEANS[pattern](plan.conditions)
    spread = sqrt(sum(value**2 for value in raw) / len(raw))
    return [value * plan.f / spread for value in raw]


def anova_power(plan: PowerPlan, people: int) -> float:
    """Return the probability that the repeated-measures ANOVA finds the effect with this number of people.
    It is 0 for fewer than two people. If epsilon is below 1, it is the approximate power of the test with
    the sphericity correction."""
    steps = plan.epsilon * (plan.conditions - 1)
    strength = plan.epsilon * people * plan.conditions * plan.f**2 / (1 - plan.correlation)
    return f_power(steps, steps * (people - 1), strength, plan.alpha)


MIXED_EFFECTS: Mapping[str, str] = MappingProxyType(
    {
        "group": "Groups differ (between people)",
        "interaction": "Conditions differ in one group more than in another (interaction)",
        "condition": "Conditions differ, all groups together",
    }
)
"""The effects of a mixed ANOVA, with labels."""


def mixed_power(plan: PowerPlan, groups: int, people: int, effect: str) -> float:
    """Return the probability that a mixed ANOVA finds one of `MIXED_EFFECTS`, with `people` in each group.
    `plan` has the expected effect size f of this effect.

    The formulas are the same as in G*Power ("ANOVA: repeated measures, between factors", "within-between
    interaction" and "within factors"; Faul et al. 2007). Everybody plays the k conditions of one of g groups;
    n is `people`, N = g n. The test statistics are:

    groups: F(g - 1, N - g), noncentrality N k f^2 / (1 + (k - 1) rho);

    interaction: F(eps (g - 1)(k - 1), eps (N - g)(k - 1)), noncentrality eps N k f^2 / (1 - rho);

    conditions: F(eps (k - 1), eps (N - g)(k - 1)), noncentrality eps N k f^2 / (1 - rho).
    """
    k, total = plan.conditions, groups * people
    strength = total * k * plan.f**2
    if effect == "group":
        strength /= 1 + (k - 1) * plan.correlation
        return f_power(groups - 1, total - groups, strength, plan.alpha)
    steps = plan.epsilon * (k - 1)
    strength *= plan.epsilon / (1 - plan.correlation)
    df_effect = steps * (groups - 1) if effect == "interaction" else steps
    return f_power(df_effect, steps * (total - groups), strength, plan.alpha)


def pair_power(difference: float, plan: PowerPlan, people: int, *, alpha: float | None = None) -> float:
    """Return the probability that a two-sided paired t test finds this difference (in standard deviations).

    `alpha` is the significance level, for example the plan's alpha divided by the number of pairs
    (Bonferroni). The default is the plan's alpha.
    """
    dz = dz_from_difference(difference, plan)
    return f_power(1, people - 1, people * dz**2, plan.alpha if alpha is None else alpha)


def dz_from_difference(difference: float, plan: PowerPlan) -> float:
    """Return Cohen's d_z for this difference between two conditions. It is the mean of the differences
    within persons, divided by the standard deviation of these differences."""
    return float(difference / (2 * (1 - plan.correlation)) ** 0.5)


def f_power(df_effect: float, df_error: float, strength: float, alpha: float) -> float:
    """Return the probability that an F statistic with noncentrality `strength` exceeds its critical value.
    Return 0 if the error has no degrees of freedom.

    For some large noncentralities, scipy returns NaN. Then the limiting chi-squared distribution is used.
    """
    from scipy import stats  # slow to import
    from statsmodels.stats.power import ftest_power_f2  # slow to import

    if df_error <= 0:
        return 0.0
    effect = strength / (df_effect + df_error)  # statsmodels computes the same noncentrality from it
    power = float(ftest_power_f2(effect, df_effect, df_error, alpha, ncc=0))
    if isnan(power):
        power = float(stats.ncx2.sf(stats.f.isf(alpha, df_effect, df_error) * df_effect, df_effect, strength))
    return min(max(power, 0.0), 1.0)


def people_needed(power_at: Callable[[int], float], power: float) -> int | None:
    """Return the smallest number of complete participants with this power. Return None if more than
    MOST_PEOPLE are needed.

    `power_at` returns the power for a number of participants.
    """
    people = bisect_left(range(MOST_PEOPLE + 1), power, lo=2, key=power_at)
    return people if people <= MOST_PEOPLE else None


def people_to_invite(complete: int, drop_out: float) -> int:
    """Return how many participants must begin so that `complete` finish. `drop_out` is the share that does
    not finish (0 to below 1)."""
    return ceil(round(complete / (1 - drop_out), 9))


TOO_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "repeated": "repeated-measures ANOVA",
        "mixed": "linear mixed model",
        "friedman": "Friedman test",
        "one_way": "one-way ANOVA (rows as if independent)",
    }
)
"""Names of main tests in sentences, after "the"."""
USUAL = (0.8, 0.85, 0.9, 0.95)
"""Usual values of the wanted power."""


def power_words(power: float) -> str:
    """Format a power with two decimals, rounded, without the leading zero: .5973 becomes .60.

    If rounding would show a common target that is not reached, three decimals are shown, rounded down:
    .7999 becomes .799.
    """
    if power > 0.99:
        return "> .99"
    told = round(power, 2)
    short = told in USUAL and power < told - 1e-9
    return format_share(int(power * 1000 + 1e-9) / 1000, 3) if short else format_share(told)


def pattern_words(pattern: str) -> str:
    """Return the description of a pattern of means. The text can follow the words "so that"."""
    return PATTERNS[pattern]


def plan_words(plan: PowerPlan, *, counted: bool = True) -> str:
    """Describe a plan in one line: "5 conditions, f = 0.25, correlation .50, alpha .05, epsilon 1".
    The number of conditions is left out if it is not `counted`."""
    parts = [
        *([f"{plan.conditions} conditions"] if counted else []),
        f"f = {format_number(plan.f, 3).rstrip('0')}",
        f"correlation {format_share(plan.correlation)}",
        f"alpha {format_share(plan.alpha, 3).rstrip('0')}",
        f"epsilon {plan.epsilon:.3g}",
    ]
    return ", ".join(parts)
