"""Compute the power of each main test of a plan (`study.design.analysis_plan.MAIN_TESTS`).

The model is that of `power_formulas`, with the information that the orders of a scheme give on conditions
beside position and carry-over.

- *Repeated measures*: by its noncentral F.
- *Mixed model*: by the information on conditions that the orders leave (generalised least squares,
  correlation known). Its F is noncentral, too, with the degrees of freedom within participants.
- *Friedman*: the efficiency of ranks relative to the ANOVA with normal values, 3 k / (pi (k + 1)) (Hollander,
  Wolfe and Chicken 2014, section 7.11).
- *One-way*: rows are treated as independent although they are not; power is averaged over the error.

`simulate_studies --test` simulates studies, runs the test of the analysis, and compares.
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
    """Return X'X and X'1 1'X, summed over this many participants (each columns x columns).

    Columns 1 to k - 1 are the conditions. Participants beyond MOST_PEOPLE count as much as those before.
    """
    counted = min(people, MOST_PEOPLE)
    whole, sums = _summed(k, scheme)
    return whole[counted - 1] * (people / counted), sums[counted - 1] * (people / counted)


def independent(matrix: Array) -> list[int]:
    """Return the indices of columns that do not depend on those before them, as in the model."""
    kept: list[int] = []
    for place in range(len(matrix)):
        if _unexplained(matrix, kept, place) > 1e-9 * max(matrix[place, place], 1e-300):
            kept.append(place)
    return kept


def _unexplained(matrix: Array, kept: Sequence[int], place: int) -> float:
    """Return the part of a column's information that the kept columns do not explain."""
    across = matrix[np.ix_(kept, [place])]
    taken = across.T @ np.linalg.solve(matrix[np.ix_(kept, kept)], across) if kept else np.zeros((1, 1))
    return float(matrix[place, place] - taken[0, 0])


@lru_cache(maxsize=16)
def _summed(k: int, scheme: str) -> tuple[Array, Array]:
    """Return the cumulative sums over participants (each MOST_PEOPLE x columns x columns)."""
    columns = [_columns(order) for order in _orders(k, scheme)]
    sums = [one.sum(axis=0) for one in columns]
    return (
        np.cumsum([one.T @ one for one in columns], axis=0),
        np.cumsum([np.outer(one, one) for one in sums], axis=0),
    )


def _orders(k: int, scheme: str) -> list[Sequence[str]]:
    """Return the orders of MOST_PEOPLE participants: full blocks one after another, or random orders."""
    names = [str(place) for place in range(k)]
    if block := scheme_sequences(scheme, names):
        mixed = random_order([str(place) for place in range(len(block))], SEED)
        return [block[int(mixed[who % len(block)])].order for who in range(MOST_PEOPLE)]
    return [random_order(names, derived_seed(SEED, "order", who)) for who in range(MOST_PEOPLE)]


def _columns(order: Sequence[str]) -> Array:
    """Return the design rows of one participant (k x columns) for this order.

    The columns are intercept, conditions in deviation coding (the last is minus 1 in all), position, and the
    condition before, coded likewise (Jones and Kenward 2014, section 5).
    """
    k = len(order)
    deviations = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    now = deviations[[int(one) for one in order]]
    before = np.vstack([np.zeros(k - 1), now[:-1]])
    return np.column_stack([np.ones(k), now, np.arange(k) - (k - 1) / 2, before])


DRAWS = 500
"""Number of simulated errors over which the power of the one-way ANOVA is averaged."""


def main_power(plan: PowerPlan, people: int, *, test: str, pattern: str, scheme: str) -> float:
    """Return the probability that a main test finds the effect with this many complete participants.

    Orders follow the scheme, and means follow the pattern. Return 0 if there are too few participants.
    """
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
    """Return the power of the one-way ANOVA.

    SS between is a noncentral chi squared, and SS within a weighted sum of two.
    """
    from scipy.stats import f, ncx2  # slow to import

    k, rho, rng = plan.conditions, plan.correlation, np.random.default_rng(SEED)
    between, within = rng.chisquare(people - 1, DRAWS), rng.chisquare((people - 1) * (k - 1), DRAWS)
    error = ((1 + (k - 1) * rho) * between + (1 - rho) * within) / (k * (people - 1))
    critical = f.isf(plan.alpha, k - 1, k * (people - 1)) * (k - 1) * error / (1 - rho)
    return float(ncx2.sf(critical, k - 1, people * k * plan.f**2 / (1 - rho)).mean())


def _mixed(plan: PowerPlan, people: int, pattern: str, scheme: str) -> float:
    k, rho = plan.conditions, plan.correlation
    whole, sums = information(k, scheme, people)
    weight = rho / (1 + (k - 1) * rho)
    left, columns = _condition_information((whole - weight * sums) / (1 - rho), k)
    effects = np.array(means_of(plan, pattern)[:-1])
    if len(left) < len(effects):
        return 0.0
    strength = float(effects @ left @ effects)
    return f_power(k - 1, people * (k - 1) - columns + 1, strength, plan.alpha)


def _condition_information(matrix: Array, first: int) -> tuple[Array, int]:
    """Return the information on conditions that the other columns leave, and the number of columns.

    Conditions are the columns from 1 to before `first`. Dependent columns do not count.
    """
    kept = independent(matrix)
    own = [one for one in kept if 0 < one < first]
    others = [one for one in kept if one not in own]
    across = matrix[np.ix_(own, others)]
    taken = across @ np.linalg.solve(matrix[np.ix_(others, others)], across.T)
    return matrix[np.ix_(own, own)] - taken, len(kept)
