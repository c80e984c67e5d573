"""Compute the power of each statistical test that can be the main test of a study.

The tests are those of `study.design.analysis_plan.MAIN_TESTS`:

- *Repeated-measures ANOVA*: the noncentral F distribution.
- *Mixed model*: generalised least squares with known correlation. The power takes position and carry-over
  effects of the counterbalanced orders into account.
- *Friedman*: the efficiency of ranks relative to the ANOVA with normal values (Hollander, Wolfe and Chicken
  2014, section 7.11).
- *One-way ANOVA*: rows are treated as independent although they are not. The power is averaged over
  simulated error variances.

The power of pairwise contrasts with a correction (Holm or Tukey) is simulated. The command `simulate_studies
--test` checks all values: it simulates studies, runs the real test, and compares.
"""

# The model is that of `power_formulas`. The mixed model also accounts for the orders of a counterbalancing
# scheme: it estimates the conditions after position and carry-over effects are removed.
#
# - *Repeated measures*: the noncentral F distribution.
# - *Mixed model*: generalised least squares with a known correlation. F is noncentral with the degrees of
#   freedom within participants.
# - *Friedman*: the efficiency of ranks relative to the ANOVA with normal values, 3 k / (pi (k + 1))
#   (Hollander, Wolfe and Chicken 2014, section 7.11).
# - *One-way*: rows are treated as independent although they are not; power is averaged over the error.
#
# The power of pairwise contrasts with a correction (Holm or Tukey) has no formula and is simulated. For
# normal values, the tests need only the conditions' means and their covariance matrix. Both are drawn
# directly, from a normal and a Wishart distribution, so a thousand people take no longer than ten.
#
# `simulate_studies --test` checks these values: it simulates studies, runs the real test, and compares.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import pi
from typing import Any, TypeAlias

import numpy as np

from kitchen.contract.canonical_json import derived_seed
from study.design.counterbalancing import random_order, scheme_sequences
from study.planning.power.power_formulas import (
    MOST_PEOPLE,
    PowerPlan,
    PowerPlanError,
    anova_power,
    f_power,
    means_of,
)

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

RUNS = 4000
"""Number of simulated studies: a share of them is accurate to 1.6 points (95 %) at worst."""
BISECTIONS = 30


@lru_cache(maxsize=256)
def critical_range(alpha: float, k: int, df: int) -> float:
    """Return the critical value of the studentised range, for Tukey's HSD. The range of `k` equal means
    exceeds it with probability `alpha`. `df` (1 or more) is the degrees of freedom of the error.

    The distribution is approximated by sums over grids, which takes milliseconds; scipy's function takes
    seconds. The true probability differs from `alpha` by less than 1 % of `alpha`, or 5 % if `df` is below
    ten.
    """
    # The range of k standard normal values is below w with probability
    # k int phi(z) (Phi(z) - Phi(z - w))^(k - 1) dz. If the range is divided by an independent standard
    # deviation s of df degrees of freedom, this probability is averaged over w = q s.
    low, high = 0.0, 8.0
    while _below(high, k, df) < 1 - alpha:
        high *= 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, k, df) < 1 - alpha else (low, middle)
    return high


def _below(q: float, k: int, df: int) -> float:
    """Return the probability that a studentised range of `k` means is at most `q`. `df` is the degrees of
    freedom of the error."""
    from scipy.special import ndtr  # slow to import

    z = np.linspace(-8, 8, 161)
    s, weights = _deviations(df)
    inner = ndtr(z) - ndtr(z - q * s[:, None])
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    return float(weights @ (k * (inner ** (k - 1)) @ density))


@lru_cache(maxsize=64)
def _deviations(df: int) -> tuple[Any, Any]:
    """Return two arrays for a numerical integral over the standard deviation: quantiles of its chi
    distribution, and their Gauss-Legendre weights."""
    from scipy.special import chdtri

    nodes, weights = np.polynomial.legendre.leggauss(64)
    tail = (1 - nodes) / 2
    return np.sqrt(chdtri(df, tail) / df), weights / 2


@dataclass(frozen=True, slots=True)
class SimulatedSamples:
    """Simulated studies with the same plan. `means` has shape (runs, k), `covariances` (runs, k, k), for k
    conditions."""

    people: int
    means: Array
    covariances: Array


@dataclass(frozen=True, slots=True)
class PairShares:
    """Results of simulated studies: for each pair of conditions, the share in which a test found a
    difference. Also the share in which the test found all true differences."""

    pairs: tuple[tuple[int, int], ...]
    """Indices of two conditions, in the order of `combinations`."""
    found: tuple[float, ...]
    all_true: float | None
    """None if no two means differ."""


def equal_correlations(plan: PowerPlan) -> Array:
    """Return the covariance matrix of one person's values: 1 on the diagonal, and the plan's correlation
    elsewhere."""
    k, rho = plan.conditions, plan.correlation
    return (1 - rho) * np.eye(k) + rho * np.ones((k, k))


def draw_samples(
    means: Sequence[float], covariance: Array, people: int, *, seed: int, runs: int = RUNS
) -> SimulatedSamples:
    """Simulate `runs` studies with normally distributed values, and return their means and covariances.
    `people` must be at least 2."""
    if people < 2:
        raise PowerPlanError("people", "There must be two people or more.")
    rng, k = np.random.default_rng(seed), len(means)
    root = np.linalg.cholesky(covariance)
    centres = np.asarray(means) + rng.standard_normal((runs, k)) @ root.T / people**0.5
    spread = root @ _wishart_root(people - 1, k, runs, rng)
    return SimulatedSamples(people, centres, spread @ spread.transpose(0, 2, 1) / (people - 1))


def _wishart_root(df: int, k: int, runs: int, rng: np.random.Generator) -> Array:
    """Return random matrices A, one for each of `runs`, such that A A' is a Wishart matrix with identity
    scale.

    Bartlett's decomposition is used if `df` is large enough for it.
    """
    if df < k:
        return rng.standard_normal((runs, k, df))
    lower = np.tril(rng.standard_normal((runs, k, k)), -1)
    places = np.arange(k)
    lower[:, places, places] = np.sqrt(rng.chisquare(df - places, (runs, k)))
    return lower


def within_error(samples: SimulatedSamples, k: int) -> Array:
    """Return the mean square of the within-participants error of each simulated study. `k` is the number
    of conditions."""
    trace = np.trace(samples.covariances, axis1=1, axis2=2)
    return np.asarray((trace - samples.covariances.sum(axis=(1, 2)) / k) / (k - 1))


def t_values(samples: SimulatedSamples) -> Array:
    """Return the t statistic of the paired t test for every pair of conditions (runs x pairs). Each pair
    has its own error term."""
    first, second = _places(samples)
    s = samples.covariances
    error = s[:, first, first] + s[:, second, second] - 2 * s[:, first, second]
    return np.asarray(_differences(samples) / np.sqrt(error / samples.people))


def holm_found(samples: SimulatedSamples, alpha: float) -> Array:
    """Return which pairs of conditions paired t tests with Holm's correction find different. The result is
    a boolean array of shape (runs, pairs)."""
    from scipy.special import stdtrit

    t = np.abs(t_values(samples))
    m = t.shape[1]
    critical = stdtrit(samples.people - 1, 1 - alpha / (2 * np.arange(m, 0, -1)))
    order = np.argsort(-t, axis=1)
    passed = np.logical_and.accumulate(np.take_along_axis(t, order, axis=1) > critical, axis=1)
    significant = np.empty_like(passed)
    np.put_along_axis(significant, order, passed, axis=1)
    return significant


def tukey_found(samples: SimulatedSamples, alpha: float) -> Array:
    """Return which pairs of conditions Tukey's HSD within subjects finds different. The result is a boolean
    array of shape (runs, pairs). All pairs use the error term of the ANOVA."""
    k = samples.means.shape[1]
    critical = critical_range(alpha, k, (k - 1) * (samples.people - 1))
    q = np.abs(_differences(samples)) / np.sqrt(within_error(samples, k) / samples.people)[:, None]
    return np.asarray(q > critical)


CORRECTIONS = {"holm": holm_found, "tukey": tukey_found}
"""Corrections that hold the family-wise error of all pairs at alpha."""


def pair_shares(plan: PowerPlan, people: int, *, pattern: str, correction: str, seed: int) -> PairShares:
    """Return the share of simulated studies in which each pair of conditions is found different.

    `pattern` names the pattern of means, `correction` the correction over pairs. All correlations are
    equal.
    """
    means = means_of(plan, pattern)
    passed = CORRECTIONS[correction](
        draw_samples(means, equal_correlations(plan), people, seed=seed), plan.alpha
    )
    pairs = tuple(combinations(range(plan.conditions), 2))
    true = [place for place, (a, b) in enumerate(pairs) if abs(means[a] - means[b]) > 1e-12]
    every = float(passed[:, true].all(axis=1).mean()) if true else None
    return PairShares(pairs, tuple(float(share) for share in passed.mean(axis=0)), every)


def _places(samples: SimulatedSamples) -> tuple[Any, Any]:
    """Return two index arrays: the first and the second condition of every pair. The pairs are in the order
    of `itertools.combinations`."""
    return np.triu_indices(samples.means.shape[1], 1)


def _differences(samples: SimulatedSamples) -> Array:
    first, second = _places(samples)
    return np.asarray(samples.means[:, second] - samples.means[:, first])


SEED = 20231


def information(k: int, scheme: str, people: int) -> tuple[Array, Array]:
    """Return two matrices of the mixed model for `people` participants: the sums of X'X and of X'1 1'X. Both
    have shape (columns, columns).

    X is one participant's design matrix, and 1 a column of ones. Columns 1 to k - 1 of X are the conditions.
    For more than MOST_PEOPLE participants, the sums are scaled up.
    """
    counted = min(people, MOST_PEOPLE)
    whole, sums = _summed(k, scheme)
    return whole[counted - 1] * (people / counted), sums[counted - 1] * (people / counted)


def independent(matrix: Array) -> list[int]:
    """Return the indices of the columns of X that are linearly independent of the columns before them.
    `matrix` is X'X for a design matrix X."""
    kept: list[int] = []
    for place in range(len(matrix)):
        if _unexplained(matrix, kept, place) > 1e-9 * max(matrix[place, place], 1e-300):
            kept.append(place)
    return kept


def _unexplained(matrix: Array, kept: Sequence[int], place: int) -> float:
    """Return the part of a column's sum of squares that the columns `kept` do not explain. `matrix` is X'X,
    and `place` is the column's index."""
    across = matrix[np.ix_(kept, [place])]
    taken = across.T @ np.linalg.solve(matrix[np.ix_(kept, kept)], across) if kept else np.zeros((1, 1))
    return float(matrix[place, place] - taken[0, 0])


@lru_cache(maxsize=16)
def _summed(k: int, scheme: str) -> tuple[Array, Array]:
    """Return two arrays of sums over the first 1, 2, 3, … participants, each of shape (MOST_PEOPLE, columns,
    columns).

    The first array sums X'X, where X is a participant's design matrix. The second sums the outer product of
    X's column sums with itself.
    """
    columns = [_columns(order) for order in _orders(k, scheme)]
    sums = [one.sum(axis=0) for one in columns]
    return (
        np.cumsum([one.T @ one for one in columns], axis=0),
        np.cumsum([np.outer(one, one) for one in sums], axis=0),
    )


def _orders(k: int, scheme: str) -> list[Sequence[str]]:
    """Return the orders of conditions of MOST_PEOPLE participants. They are full blocks of the scheme one
    after another, or random orders if the scheme has no blocks."""
    names = [str(place) for place in range(k)]
    if block := scheme_sequences(scheme, names):
        mixed = random_order([str(place) for place in range(len(block))], SEED)
        return [block[int(mixed[who % len(block)])].order for who in range(MOST_PEOPLE)]
    return [random_order(names, derived_seed(SEED, "order", who)) for who in range(MOST_PEOPLE)]


def _columns(order: Sequence[str]) -> Array:
    """Return the design matrix of one participant who plays the conditions in this order, of shape (k,
    columns).

    The columns are the intercept, the conditions, the position and the previous condition. Conditions are
    in deviation coding: the last one is -1 in all columns. The previous condition is coded in the same
    manner (Jones and Kenward 2014, section 5).
    """
    k = len(order)
    deviations = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    now = deviations[[int(one) for one in order]]
    before = np.vstack([np.zeros(k - 1), now[:-1]])
    return np.column_stack([np.ones(k), now, np.arange(k) - (k - 1) / 2, before])


DRAWS = 500
"""Number of simulated errors over which the power of the one-way ANOVA is averaged."""


def main_power(plan: PowerPlan, people: int, *, test: str, pattern: str, scheme: str) -> float:
    """Return the probability that the main test `test` finds the effect with this number of complete
    participants.

    `pattern` names the pattern of means, `scheme` the order scheme. Return 0 if there are too few
    participants.
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
    """Return the power of the one-way ANOVA with this number of participants.

    The sum of squares between conditions is a noncentral chi squared variable. The sum of squares within
    conditions is a weighted sum of two chi squared variables.
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
    """Return two things: the information about conditions that remains after the other columns are accounted
    for, and the number of linearly independent columns.

    Columns 1 to `first` - 1 of the design matrix are the conditions.
    """
    kept = independent(matrix)
    own = [one for one in kept if 0 < one < first]
    others = [one for one in kept if one not in own]
    across = matrix[np.ix_(own, others)]
    taken = across @ np.linalg.solve(matrix[np.ix_(others, others)], across.T)
    return matrix[np.ix_(own, own)] - taken, len(kept)
