"""Power of each main test of a plan (`study.design.analysis_plan.MAIN_TESTS`) under the model of
`power_formulas`. It includes what the orders of a scheme tell about conditions beside position and
carry-over.

*Repeated measures*: by its noncentral F. *Mixed model*: what the orders leave of the information on
conditions (generalised least squares, correlation known); its F is noncentral, too, with the degrees of
freedom of what varies within participants. *Friedman*: the efficiency of ranks beside the ANOVA with
normal values, 3 k / (pi (k + 1)) (Hollander, Wolfe and Chicken 2014, section 7.11). *One-way*: rows as
if independent while they are not, averaged over its error. `simulate_studies --test` simulates studies,
runs the test of the analysis, and compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import pi

import numpy as np

from kitchen.contract.canonical_json import derived_seed
from study.design.counterbalancing import random_order, scheme_sequences
from study.planning.power.pairwise_simulation import Array
from study.planning.power.power_formulas import MOST_PEOPLE, PowerPlan, anova_power, f_power, means_of

SEED = 20231


def information(k: int, scheme: str, people: int) -> tuple[Array, Array]:
    """X'X, and X'1 1'X summed over participants, of so many (columns x columns each). Columns 1 to k - 1 are
    the conditions. Those beyond MOST_PEOPLE tell as much as those before."""
    counted = min(people, MOST_PEOPLE)
    whole, sums = _summed(k, scheme)
    return whole[counted - 1] * (people / counted), sums[counted - 1] * (people / counted)


def independent(matrix: Array) -> list[int]:
    """Places of columns that do not follow from those before them, as in the model."""
    kept: list[int] = []
    for place in range(len(matrix)):
        if _apart(matrix, kept, place) > 1e-9 * max(matrix[place, place], 1e-300):
            kept.append(place)
    return kept


def _apart(matrix: Array, kept: Sequence[int], place: int) -> float:
    """What of a column's information does not follow from those that are kept."""
    across = matrix[np.ix_(kept, [place])]
    taken = across.T @ np.linalg.solve(matrix[np.ix_(kept, kept)], across) if kept else np.zeros((1, 1))
    return float(matrix[place, place] - taken[0, 0])


@lru_cache(maxsize=16)
def _summed(k: int, scheme: str) -> tuple[Array, Array]:
    """Both of the first so many participants (each MOST_PEOPLE x columns x columns)."""
    columns = [_columns(order) for order in _orders(k, scheme)]
    sums = [one.sum(axis=0) for one in columns]
    return (
        np.cumsum([one.T @ one for one in columns], axis=0),
        np.cumsum([np.outer(one, one) for one in sums], axis=0),
    )


def _orders(k: int, scheme: str) -> list[Sequence[str]]:
    """Orders of MOST_PEOPLE participants: full blocks one after another, or each by chance."""
    names = [str(place) for place in range(k)]
    if block := scheme_sequences(scheme, names):
        mixed = random_order([str(place) for place in range(len(block))], SEED)
        return [block[int(mixed[who % len(block)])].order for who in range(MOST_PEOPLE)]
    return [random_order(names, derived_seed(SEED, "order", who)) for who in range(MOST_PEOPLE)]


def _columns(order: Sequence[str]) -> Array:
    """Of one participant, in this order: intercept, conditions in deviations from their mean (the last
    is minus 1 in all), position, the condition before likewise (Jones and Kenward 2014, section 5)."""
    k = len(order)
    deviations = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    now = deviations[[int(one) for one in order]]
    before = np.vstack([np.zeros(k - 1), now[:-1]])
    return np.column_stack([np.ones(k), now, np.arange(k) - (k - 1) / 2, before])


DRAWS = 500
"""Errors of the one-way ANOVA that its power is averaged over."""


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
