"""Power of each main test of a plan (`study.design.testing.MAIN_TESTS`) under the model of `plan.py`.

*Repeated measures*: by its noncentral F (`formula.py`). *Mixed model*: what the orders leave of the
information on conditions beside position and carry-over (generalised least squares, correlation known); its
F is noncentral, too, with the degrees of freedom of what varies within participants. *Friedman*: the
efficiency of ranks beside the ANOVA with normal values, 3 k / (pi (k + 1)) (Hollander, Wolfe and Chicken
2014, section 7.11). *One-way*: rows as if independent while they are not, averaged over its error.
`simulate_studies --test` makes studies up, runs the test of the analysis, and compares.
"""

from __future__ import annotations

from math import pi

import numpy as np

from study.planning.power.formula import anova_power, f_power
from study.planning.power.information import independent, information
from study.planning.power.plan import PowerPlan, means_of
from study.planning.power.simulate import Array

DRAWS = 500
"""Errors of the one-way ANOVA that its power is averaged over."""
SEED = 20231


def main_power(plan: PowerPlan, people: int, *, test: str, pattern: str, scheme: str) -> float:
    """The chance that a main test finds the effect with so many complete participants; their orders follow
    the scheme, their means lie in the pattern. 0 where there are too few for it."""
    if people < 2:
        return 0.0
    if test == "mixed":
        return _mixed(plan, people, pattern, scheme)
    if test == "friedman":
        return _friedman(plan, people)
    return _one_way(plan, people) if test == "one_way" else anova_power(plan, people)


def _friedman(plan: PowerPlan, people: int) -> float:
    k = plan.conditions
    strength = people * k * plan.f**2 / (1 - plan.correlation) * 3 * k / (pi * (k + 1))
    return f_power(k - 1, (k - 1) * (people - 1), strength, plan.alpha)


def _one_way(plan: PowerPlan, people: int) -> float:
    """SS between is a noncentral chi squared, SS within a sum of two that weigh differently."""
    from scipy.stats import f, ncx2  # slow to import, so not before it is needed

    k, rho, rng = plan.conditions, plan.correlation, np.random.default_rng(SEED)
    between, within = rng.chisquare(people - 1, DRAWS), rng.chisquare((people - 1) * (k - 1), DRAWS)
    error = ((1 + (k - 1) * rho) * between + (1 - rho) * within) / (k * (people - 1))
    critical = f.isf(plan.alpha, k - 1, k * (people - 1)) * (k - 1) * error / (1 - rho)
    return float(ncx2.sf(critical, k - 1, people * k * plan.f**2 / (1 - rho)).mean())


def _mixed(plan: PowerPlan, people: int, pattern: str, scheme: str) -> float:
    k, rho = plan.conditions, plan.correlation
    whole, sums = information(k, scheme, people)
    weight = rho / (1 + (k - 1) * rho)
    left, columns = _left((whole - weight * sums) / (1 - rho), k)
    effects = np.array(means_of(plan, pattern)[:-1])
    if len(left) < len(effects):
        return 0.0
    strength = float(effects @ left @ effects)
    return f_power(k - 1, people * (k - 1) - columns + 1, strength, plan.alpha)


def _left(matrix: Array, first: int) -> tuple[Array, int]:
    """What of the information on conditions (columns 1 to before `first`) is left beside the others, and how
    many columns there are: one that follows from those before it is none."""
    kept = independent(matrix)
    own = [one for one in kept if 0 < one < first]
    others = [one for one in kept if one not in own]
    across = matrix[np.ix_(own, others)]
    taken = across @ np.linalg.solve(matrix[np.ix_(others, others)], across.T)
    return matrix[np.ix_(own, own)] - taken, len(kept)
