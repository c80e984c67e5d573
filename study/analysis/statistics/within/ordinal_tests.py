"""Test whether ordinal ratings differ between conditions: Friedman's test and the cumulative-link model.

Friedman's test is corrected for ties and reports Kendall's W. Pairs of conditions are compared by Nemenyi's
method, and by Conover's method with Holm's correction. The cumulative-link model (ordinal logistic
regression) assumes proportional odds. It is fitted by maximum likelihood, and its covariance is clustered by
participant. Wald's test compares the conditions.
"""

# Friedman's test (1937) is corrected for ties and has Kendall's W. Pairs are compared after Nemenyi, by the
# studentised range of infinite degrees of freedom (Hollander, Wolfe and Chicken 2014, section 7.3). They are
# also compared after Conover, by t (Conover 1999, section 5.8), with Holm's correction.
#
# The cumulative-link model has proportional odds (McCullagh 1980). It is fitted by maximum likelihood with
# Newton's method; the likelihood has one peak (Pratt 1981). (statsmodels takes a second for it.) Participants
# are no term of the model. The covariance is clustered by participant (Liang and Zeger 1986, without a
# correction for few clusters). Wald's test of the conditions uses this covariance.

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import chi2, norm, rankdata
from scipy.stats import t as t_distribution

from study.analysis.statistics.observations import MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import (
    FEWEST,
    Array,
    CompleteCases,
    complete_cases,
    why_not_within,
)
from study.analysis.statistics.within.paired_contrasts import holm_adjusted
from study.analysis.statistics.within.result_types import CumulativeLink, Friedman, RankPair

STEPS = 801


def friedman(table: MeasureTable) -> Friedman | NotComputable:
    """Test with Friedman's test whether ranks differ between conditions, and compare all pairs. Return
    NotComputable if the data do not allow it.

    Participants without a value in every condition are left out and listed in the result.
    """
    cells = complete_cases(table)
    problem = why_not_within(cells)
    if problem and problem.reason != "no_variance_within":  # ranks that all agree are no problem
        return problem
    ranks = np.apply_along_axis(rankdata, 1, cells.values)
    if float(((ranks - ranks.mean()) ** 2).sum()) == 0:
        return NotComputable("no_variance", "everybody's values are the same in all conditions")
    return _friedman(cells, ranks)


def _friedman(cells: CompleteCases, ranks: Array) -> Friedman:
    n, k = ranks.shape
    spread = float((ranks**2).sum() - n * k * (k + 1) ** 2 / 4)
    between = float((ranks.sum(axis=0) ** 2).sum() / n - n * k * (k + 1) ** 2 / 4)
    chi_squared = (k - 1) * between * n / spread
    return Friedman(
        n=n,
        chi_squared=chi_squared,
        df=k - 1,
        p=float(chi2.sf(chi_squared, k - 1)),
        w=chi_squared / (n * (k - 1)),
        mean_ranks=tuple(
            (c.key, float(m)) for c, m in zip(cells.conditions, ranks.mean(axis=0), strict=True)
        ),
        pairs=_pairs(cells, ranks),
        left_out=cells.left_out,
    )


def _pairs(cells: CompleteCases, ranks: Array) -> tuple[RankPair, ...]:
    n, k = ranks.shape
    means = ranks.mean(axis=0)
    places = list(combinations(range(k), 2))
    apart = [float(means[j] - means[i]) for i, j in places]
    q = [abs(one) / sqrt(k * (k + 1) / (12 * n)) for one in apart]
    nemenyi = [_range_tail(one, k) for one in q]
    conover = holm_adjusted(_conover(ranks, apart))
    return tuple(
        RankPair(cells.conditions[i], cells.conditions[j], *found)
        for (i, j), *found in zip(places, apart, nemenyi, conover, strict=True)
    )


def _range_tail(q: float, k: int) -> float:
    """Return the probability that the range of `k` standard normal values exceeds `q`.

    This is the studentised range with infinite degrees of freedom. It is computed as a sum over a grid,
    because scipy's function takes 20 ms.
    """
    z = np.linspace(-9, 9 + q, STEPS)
    below = k * float((norm.pdf(z) * (ndtr(z) - ndtr(z - q)) ** (k - 1)).sum() * (z[1] - z[0]))
    return min(max(1 - below, 0.0), 1.0)


def _conover(ranks: Array, apart: list[float]) -> list[float]:
    """Return the unadjusted p value of each pairwise difference of mean ranks (Conover's test). `apart`
    holds these differences. If all participants rank the conditions equally, p is 1 for a difference of 0,
    else 0."""
    n, k = ranks.shape
    df = (n - 1) * (k - 1)
    error = float((ranks**2).sum() - (ranks.sum(axis=0) ** 2).sum() / n)
    if error <= 1e-12 * float((ranks**2).sum()):
        return [0.0 if one else 1.0 for one in apart]
    scale = sqrt(2 * error / (n * df))
    return [float(2 * t_distribution.sf(abs(one) / scale, df)) for one in apart]


FEWEST_STEPS, MOST_STEPS = 3, 21
Places: TypeAlias = "np.ndarray[Any, np.dtype[np.int_]]"

MOST_LOG_ODDS = 12.0
"""Larger log odds mean that the ratings are separated: the likelihood then grows without limit."""
MOST_ROUNDS, MOST_HALVES, DONE = 100, 40, 1e-12


def cumulative_link(table: MeasureTable) -> CumulativeLink | NotComputable:
    """Test with the cumulative-link (proportional odds) model whether ratings differ between conditions.
    Return NotComputable if the data do not allow it."""
    rows = [row for row in table.observations if row.value is not None]
    known = [c for c in table.conditions if table.values(c.key)]
    people = sorted({row.participant for row in rows})
    values = np.array([row.value for row in rows], dtype=float)
    steps, y = np.unique(values, return_inverse=True)
    if len(known) < 2 or len(people) < FEWEST:
        return NotComputable("too_few", "it needs two conditions and three participants with values")
    if not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
        return NotComputable(
            "no_variance", f"there are {len(steps)} different values; it takes 3 to {MOST_STEPS}"
        )
    x = np.array([[float(row.condition == c.key) for c in known[1:]] for row in rows])
    groups = np.array([people.index(row.participant) for row in rows])
    found = _fitted(y, x, groups)
    if isinstance(found, NotComputable):
        return found
    estimates, covariance, log_likelihood = found
    chi_squared = float(estimates @ np.linalg.solve(covariance, estimates))
    odds = zip((c.key for c in known[1:]), map(float, np.exp(estimates)), strict=True)
    df = len(estimates)
    p = float(chi2.sf(chi_squared, df))
    return CumulativeLink(len(people), len(rows), chi_squared, df, p, log_likelihood, tuple(odds))


def _fitted(y: Places, x: Array, groups: Places) -> tuple[Array, Array, float] | NotComputable:
    """Fit the cumulative-link model. Return the estimates for the conditions, their covariance (clustered
    by participant), and the log likelihood."""
    steps, k = int(y.max()) + 1, x.shape[1]
    upper, lower = _rows(y, x, steps), _rows(y - 1, x, steps)
    params = np.concatenate([cut_points(y, steps), np.zeros(k)])
    for _ in range(MOST_ROUNDS):
        value, scores, hessian = _likelihood(params, upper, lower, y, steps)
        step = np.linalg.lstsq(-hessian, scores.sum(axis=0), rcond=None)[0]
        params = _climbed(params, step, value, lambda at: _likelihood(at, upper, lower, y, steps)[0])
        if float(np.abs(params[-k:]).max()) > MOST_LOG_ODDS:
            return NotComputable("no_fit", "ratings of some conditions hardly overlap")
        if float(np.abs(step).max()) < DONE:
            break
    value, scores, hessian = _likelihood(params, upper, lower, y, steps)
    if float(np.abs(scores.sum(axis=0)).max()) > 1e-6:
        return NotComputable("no_fit", "the model found no best estimate")
    bread = np.linalg.inv(-hessian)
    sums = np.array([scores[groups == g].sum(axis=0) for g in range(int(groups.max()) + 1)])
    covariance = (bread @ (sums.T @ sums) @ bread)[-k:, -k:]
    if np.linalg.matrix_rank(covariance) < k:
        return NotComputable("too_few", "there are too few participants for so many conditions")
    return params[-k:], covariance, value


def _rows(y: Places, x: Array, steps: int) -> Array:
    """Return one row of the design matrix for each value in `y`: an indicator of the value's cut point, and
    the negated columns of conditions. `steps` is the number of different values, so there are `steps` - 1
    cut points."""
    cuts = np.zeros((len(y), steps - 1))
    inside = (y >= 0) & (y < steps - 1)
    cuts[np.flatnonzero(inside), y[inside]] = 1.0
    return np.hstack([cuts, -x])


def cut_points(y: Places, steps: int) -> Array:
    """Return the start values of the cut points: those that fit the distribution of all values, without
    regard to conditions."""
    shares = np.cumsum(np.bincount(y, minlength=steps))[:-1] / len(y)
    return np.asarray(np.log(shares / (1 - shares)))


def _likelihood(
    params: Array, upper: Array, lower: Array, y: Places, steps: int
) -> tuple[float, Array, Array]:
    """Return the log likelihood at `params`, its first derivatives for each value, and its second
    derivatives.

    If the cut points are not in ascending order, the log likelihood is minus infinity.
    """
    high, low = upper @ params, lower @ params
    above, below = expit(high), expit(low)
    above[y == steps - 1], below[y == 0] = 1.0, 0.0
    chance = above - below
    if not (chance > 0).all():
        return -np.inf, upper, upper.T @ upper
    f, g = above * (1 - above), below * (1 - below)
    scores = (f / chance)[:, None] * upper - (g / chance)[:, None] * lower
    curves = (f * (1 - 2 * above) / chance)[:, None] * upper
    others = (g * (1 - 2 * below) / chance)[:, None] * lower
    hessian = upper.T @ curves - lower.T @ others - scores.T @ scores
    return float(np.log(chance).sum()), scores, hessian


def _climbed(params: Array, step: Array, value: float, likelihood: Callable[[Array], float]) -> Array:
    """Take one Newton step from `params`, and return the new parameters. The step is halved until the
    likelihood does not decrease."""
    for _ in range(MOST_HALVES):
        if likelihood(params + step) >= value - 1e-10:
            return params + step
        step = step / 2
    return params
