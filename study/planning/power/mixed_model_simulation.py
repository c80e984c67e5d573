"""Simulate the power of the mixed model: fit it to many simulated studies with complete data at once.

Single values are not drawn, only the sums that the fit needs. The distributions of these sums are known
(normal and chi squared), so the simulation is exact. F tests have Satterthwaite's degrees of freedom, as in
`study.analysis.statistics.within.mixed_model`. A test compares the two modules.
"""

# The values of single participants are not drawn, only the sums that the model needs. For normal values,
# these sums have known distributions (normal and chi squared, all independent). So drawing them is exact, and
# takes as long for ten people as for a thousand.
#
# The sums are weighted sums of a study's values within participants, weighted sums of the participants' means
# (between), and two residual sums of squares. A *direction* is a combination of the model's columns.
# Directions are chosen so that they are independent both within and between participants (simultaneous
# diagonalisation). Then the REML deviance is a sum over directions. With d the share of a direction's
# information within participants, r the ratio of the variances between and within, and h = 1 - d + d r:
#
#     free log(s) + Q / s + (n - p) log r + sum(log h),   Q = left_w + left_b / r + sum(e / h)
#
# Here s is the variance within, and e comes from the difference between a direction's two estimates. The
# fitted r is where the slope is 0. If the deviance only rises from r = 1, then r is 1: participants have no
# variance, and the fit is singular. The F test has Satterthwaite's degrees of freedom, as in
# `study.analysis.statistics.within.mixed_model`; a test compares the two modules.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from study.planning.power.main_test_power import RUNS, Array, independent, information
from study.planning.power.power_formulas import PowerPlan, means_of

HALVINGS, FARTHEST = 40, 20.0
"""Bisection of the log of the ratio: number of halvings, and upper end of the interval from 0."""


@dataclass(frozen=True, slots=True)
class Strata:
    """The information that the orders of a scheme give on the model's columns, for a number of people. It
    is split into information within participants and information between participants."""

    people: int
    conditions: int
    within: Array
    """Share of each direction's information within participants: 0 to 1."""
    columns: Array
    """Matrix that turns estimates of directions into estimates of the model's columns."""

    @property
    def free(self) -> int:
        """Return the residual degrees of freedom: the number of values minus the number of columns."""
        return self.people * self.conditions - len(self.within)


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums that the model needs, one row per simulated study.

    `within` and `between` have the shape (studies, directions). `left_within` and `left_between` are
    residual sums of squares.
    """

    within: Array
    between: Array
    left_within: Array
    left_between: Array


@dataclass(frozen=True, slots=True)
class Fits:
    """The terms of the deviance for every simulated study, at the current ratio of its variances. `h` and `q`
    are h and Q of the module's formula.

    `slope` and `bend` are the first two derivatives of Q by the log of the ratio; `grown` is the first
    derivative of log h.
    """

    ratio: Array
    h: Array
    q: Array
    slope: Array
    bend: Array
    grown: Array


def strata(conditions: int, scheme: str, people: int) -> Strata:
    """Return the information about the model's columns (`Strata`), for the orders of a scheme and these
    numbers of conditions and people. Linearly dependent columns are left out."""
    whole, sums = information(conditions, scheme, people)
    kept = independent(whole)
    return strata_from_information(whole[np.ix_(kept, kept)], sums[np.ix_(kept, kept)], conditions, people)


def strata_from_information(whole: Array, sums: Array, conditions: int, people: int) -> Strata:
    """Return the information about the model's columns (`Strata`), computed from `whole` (X'X) and `sums`
    (X'1 1'X summed over participants). X must have full rank."""
    from scipy.linalg import eigh  # slow to import

    within, columns = eigh(whole - sums / conditions, whole)
    within = np.where(within < 1e-9, 0.0, np.where(within > 1 - 1e-9, 1.0, within))
    return Strata(people, conditions, within, columns)


def f_tests(strata: Strata, sums: Sums) -> tuple[Array, Array]:
    """Return the F statistic for the effect of conditions in every simulated study, and its denominator
    degrees of freedom."""
    fits = _best_fits(strata, sums)
    own = strata.columns[1 : strata.conditions]
    scale = fits.ratio * fits.q / strata.free
    estimates = ((fits.ratio[:, None] * sums.within + sums.between) / fits.h) @ own.T
    values, vectors = np.linalg.eigh((own / fits.h[:, None, :]) @ own.T)
    turned = vectors.transpose(0, 2, 1)
    squares = (turned @ estimates[:, :, None])[:, :, 0] ** 2 / values / scale[:, None]
    return squares.mean(axis=1), _combined(_satterthwaite(strata, fits, turned @ own, values))


def _best_fits(strata: Strata, sums: Sums) -> Fits:
    """Return the best fit of each simulated study: the variance ratio, at least 1, that minimises its
    deviance. It is found by bisection."""
    low, high = np.zeros(len(sums.within)), np.full(len(sums.within), FARTHEST)
    singular = _rising(strata, _at(strata, sums, low))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rising = _rising(strata, _at(strata, sums, middle))
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return _at(strata, sums, np.where(singular, 0.0, high))


def _at(strata: Strata, sums: Sums, log_ratio: Array) -> Fits:
    ratio, d = np.exp(log_ratio), strata.within
    h = 1 - d + ratio[:, None] * d
    grown, apart, left = ratio[:, None] * d / h, _distances(strata, sums) / h, sums.left_between / ratio
    return Fits(
        ratio,
        h,
        sums.left_within + left + apart.sum(axis=1),
        -left - (apart * grown).sum(axis=1),
        left - (apart * grown * (1 - 2 * grown)).sum(axis=1),
        grown,
    )


def _distances(strata: Strata, sums: Sums) -> Array:
    """Return, for each direction of the model's columns, the squared distance between its two estimates:
    within and between participants. It is 0 if there is only one estimate."""
    d = strata.within
    both = np.where((d > 0) & (d < 1), d * (1 - d), np.inf)
    return np.asarray((sums.within * (1 - d) - sums.between * d) ** 2 / both)


def _rising(strata: Strata, fits: Fits) -> Any:
    """Return, for each simulated study, whether the deviance increases with the variance ratio at this fit.
    The variance within participants is then the best one for that ratio."""
    others = strata.people - len(strata.within) + fits.grown.sum(axis=1)
    return strata.free * fits.slope / fits.q + others >= 0


def _satterthwaite(strata: Strata, fits: Fits, rows: Array, values: Array) -> Array:
    """Return Satterthwaite's degrees of freedom of every independent t test, of shape (studies, conditions -
    1). A singular fit estimates only one variance.

    Derivatives are with respect to two logarithms: of the variance within participants, and of the variance
    ratio. The second derivatives of the deviance are [free, across; across, own]. The log of the variance of
    a t test has the first derivatives 1 and `more`.
    """
    free, variance = strata.free, fits.q / strata.free
    across = (-fits.slope / variance)[:, None]
    own = (fits.bend / variance + (fits.grown * (1 - fits.grown)).sum(axis=1))[:, None]
    more = (rows**2 @ ((1 - fits.grown) / fits.h)[:, :, None])[:, :, 0] / values
    df = (free * own - across**2) / (own - 2 * across * more + free * more**2)
    return np.where((fits.ratio == 1)[:, None], float(free), df)


def _combined(dfs: Array) -> Array:
    """Return the denominator degrees of freedom of an F test (Fai and Cornelius 1996). `dfs` are the
    degrees of freedom of the t tests into which the F test is split."""
    least, most = dfs.min(axis=1), dfs.max(axis=1)
    expected = (dfs / np.maximum(dfs - 2, 1e-9)).sum(axis=1)
    combined = np.where(least <= 2, 2.0, 2 * expected / np.maximum(expected - dfs.shape[1], 1e-300))
    alike = most - least < 1e-8
    return np.where(alike, dfs.mean(axis=1), combined)


SEED = 20231
FEWEST = 3
"""Minimum number of people for the mixed model of the analysis."""
MOST_STEPS = 8
"""Number of further sample sizes that are tried."""


@dataclass(frozen=True, slots=True)
class MixedModelPower:
    """The share of simulated studies that found the effect, with this number of participants."""

    people: int
    found: float
    runs: int

    @property
    def margin(self) -> float:
        """Return half of the width of the 95 % confidence interval of the power (a share of simulated
        studies)."""
        return float(1.96 * (self.found * (1 - self.found) / self.runs) ** 0.5)

    def reaches(self, power: float) -> bool:
        """Return whether the simulated power plus its margin of error is at least `power`."""
        return self.found + self.margin >= power


def simulate_upwards(
    plan: PowerPlan, power: float, people: int, step: int, *, pattern: str, scheme: str
) -> tuple[MixedModelPower, ...]:
    """Simulate studies with `people` participants, then with `step` more each time, until the wanted `power`
    is reached. Return all results.

    Stops after MOST_STEPS increases. The last result may then be below `power`.
    """
    tried: list[MixedModelPower] = []
    for steps in range(MOST_STEPS + 1):
        tried.append(mixed_model_power(plan, people + steps * step, pattern=pattern, scheme=scheme))
        if tried[-1].reaches(power):
            break
    return tuple(tried)


def mixed_model_power(
    plan: PowerPlan, people: int, *, pattern: str, scheme: str, seed: int = SEED, runs: int = RUNS
) -> MixedModelPower:
    """Simulate studies with this number of complete participants, and return the power: the share of
    studies in which the test finds the effect. The power is 0 if there are too few participants for the
    model."""
    from scipy.special import fdtrc  # slow to import

    told = strata(plan.conditions, scheme, people)
    if people < FEWEST or told.free <= people:
        return MixedModelPower(people, 0.0, runs)
    f, df = f_tests(told, draw_sums(told, plan, means_of(plan, pattern), seed=seed, runs=runs))
    found = fdtrc(plan.conditions - 1, df, f) < plan.alpha
    return MixedModelPower(people, float(found.mean()), runs)


def draw_sums(strata: Strata, plan: PowerPlan, means: Sequence[float], *, seed: int, runs: int) -> Sums:
    """Draw the sums of `runs` simulated studies with these condition means. The studies have no effects of
    position or carry-over."""
    rng, k, n, d = np.random.default_rng(seed), strata.conditions, strata.people, strata.within
    within, between = 1 - plan.correlation, 1 + (k - 1) * plan.correlation
    estimated = np.array([0.0, *means[:-1], *[0.0] * (len(d) - k)])
    true = np.linalg.solve(strata.columns, estimated)
    noise = rng.standard_normal((2, runs, len(d)))
    left = (n * (k - 1) - np.count_nonzero(d > 0), n - np.count_nonzero(d < 1))
    return Sums(
        d * true + noise[0] * np.sqrt(within * d),
        (1 - d) * true + noise[1] * np.sqrt(between * (1 - d)),
        2 * within * rng.standard_gamma(left[0] / 2, runs),
        2 * between * rng.standard_gamma(left[1] / 2, runs),
    )
