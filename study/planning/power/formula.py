"""Power by the noncentral F distribution (statsmodels), and how many people a wanted power takes.

The main effect: F(eps (k - 1), eps (k - 1) (n - 1)) with noncentrality eps n k f^2 / (1 - rho), as in G*Power
("ANOVA: repeated measures, within factors", one group; Faul et al. 2007, Behav. Res. Methods 39, 175-191).
With two conditions that is the two-sided paired t test.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isnan

from study.planning.power.plan import MOST_PEOPLE, PowerPlan


def anova_power(plan: PowerPlan, people: int) -> float:
    """The chance that the repeated-measures ANOVA finds the effect with so many complete participants.

    With epsilon below 1 it is that of the corrected test, an approximation. 0 for
    fewer than two people.
    """
    steps = plan.epsilon * (plan.conditions - 1)
    strength = plan.epsilon * people * plan.conditions * plan.f**2 / (1 - plan.correlation)
    return f_power(steps, steps * (people - 1), strength, plan.alpha)


def pair_power(difference: float, plan: PowerPlan, people: int, *, alpha: float | None = None) -> float:
    """The chance that a paired t test, two-sided, finds a difference of two means (in standard deviations).

    At the plan's alpha or another, for example one divided by the number of pairs (Bonferroni).
    """
    dz = dz_of(difference, plan)
    return f_power(1, people - 1, people * dz**2, plan.alpha if alpha is None else alpha)


def dz_of(difference: float, plan: PowerPlan) -> float:
    """Cohen's d_z: the mean of the differences within persons over their standard deviation."""
    return float(difference / (2 * (1 - plan.correlation)) ** 0.5)


def f_power(df_effect: float, df_error: float, strength: float, alpha: float) -> float:
    """The chance of an F beyond its critical value under this noncentrality; 0 without any error left. At
    some large noncentralities scipy has no number: it is that of the chi squared which F nears there."""
    from scipy import stats  # slow to import, so not before it is needed
    from statsmodels.stats.power import ftest_power_f2  # likewise

    if df_error <= 0:
        return 0.0
    effect = strength / (df_effect + df_error)  # from which it makes the same noncentrality again
    power = float(ftest_power_f2(effect, df_effect, df_error, alpha, ncc=0))
    if isnan(power):
        power = float(stats.ncx2.sf(stats.f.isf(alpha, df_effect, df_error) * df_effect, df_effect, strength))
    return min(max(power, 0.0), 1.0)


def people_needed(power_at: Callable[[int], float], power: float) -> int | None:
    """The smallest number of complete participants with this power, where `power_at` says that of a number;
    None if MOST_PEOPLE are not enough."""
    low, high = 1, MOST_PEOPLE  # the power of low is below the wanted one, that of high is not
    if power_at(high) < power:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if power_at(middle) >= power:
            high = middle
        else:
            low = middle
    return high


def invited(complete: int, drop_out: float) -> int:
    """How many must begin so that so many finish, if this share (0 to below 1) does not."""
    return ceil(round(complete / (1 - drop_out), 9))
