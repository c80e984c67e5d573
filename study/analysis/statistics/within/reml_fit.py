"""Fit linear mixed models with random intercepts by restricted maximum likelihood (REML).

Participants have random intercepts. Further random intercepts may be nested in participants, such as one for
each participant at each level of a factor. F tests have Satterthwaite's degrees of freedom, as in R's
lmerTest.
"""

# y = X b + sum_k Z_k u_k + e with u_k ~ N(0, s_k) and e ~ N(0, s) (Laird and Ware 1982). With the ratios
# theta_k = s_k / s, b and s follow in closed form, so the likelihood is a function of the ratios alone (Bates
# et al. 2015, section 3.4). Values of different people are independent, so every matrix is taken person by
# person. One ratio is searched where the slope of the deviance is 0. Several are searched by a quasi-Newton
# method over their square roots, then by Newton's method over the variances. F tests have Satterthwaite's
# degrees of freedom, combined as in Kuznetsova et al. (2017, lmerTest); derivatives of the variances are
# exact. statsmodels fits such models, but has no degrees of freedom for their tests.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import log, pi
from typing import Literal

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import f as f_distribution

from study.analysis.statistics.within.complete_cases import Array

GRID = (0.0, *np.logspace(-6, 8, 43).tolist())
"""Ratios of variances at which the likelihood is first evaluated; 0 is a singular model."""
SMALLEST_RATIO = 1e-6
"""If there are several components, a smaller ratio of variances counts as 0."""
NEWTON_STEPS, STEEPEST = 20, 1e-6
"""The most steps of Newton's method, and the largest slope of the deviance (by a ratio's logarithm) after
them."""
DEPENDENT = 1e-9

Dropped = Literal["zero", "unidentified", "no_convergence"]
"""Why a variance component is not in the fitted model: its estimate is 0, the data do not separate it from
the other components, or the search for it did not converge."""


@dataclass(frozen=True, slots=True)
class RemlFit:
    """A model fitted by REML. It has the estimates, their covariance, the variances, and the numbers from
    which degrees of freedom are computed."""

    estimates: Array
    covariance: Array
    variances: tuple[float, ...]
    """The variance of each random intercept: participants first. It is 0 for one that was dropped."""
    variance_error: float
    log_likelihood: float
    dropped: tuple[tuple[int, Dropped], ...]
    """Numbers of the random intercepts that were dropped, each with the reason."""
    slopes: tuple[Array, ...]
    """Derivatives of the covariance of the estimates by each estimated variance."""
    spread: Array
    """Covariance of the estimated variances."""

    @property
    def singular(self) -> bool:
        """Return True if a variance is estimated as 0."""
        return any(why == "zero" for _, why in self.dropped)


@dataclass(frozen=True, slots=True)
class _PersonBlocks:
    """The values `y` (people x most values), the design matrix `x` (people x most values x columns), and the
    kernel Z Z' of each random intercept (people x most values x most values). Gaps are 0. `free` is the
    number of values minus the number of columns."""

    y: Array
    x: Array
    kernels: tuple[Array, ...]
    present: Array
    """1 where a person has a value, else 0."""
    free: int


def _person_blocks(
    y: Array, x: Array, groups: Sequence[int], nested: Sequence[Sequence[int]]
) -> _PersonBlocks:
    people = np.asarray(groups, dtype=int)
    sizes = np.bincount(people)
    order = np.argsort(people, kind="stable")
    places = np.empty(len(y), dtype=int)
    places[order] = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = len(sizes), int(sizes.max())

    def spread(values: Array) -> Array:
        found = np.zeros(shape + values.shape[1:])
        found[people, places] = values
        return found

    present = spread(np.ones(len(y)))
    both = present[:, :, None] * present[:, None, :]
    codes = [spread(np.asarray(one, dtype=float)) for one in nested]
    kernels = (both, *(both * (one[:, :, None] == one[:, None, :]) for one in codes))
    return _PersonBlocks(spread(y), spread(x), kernels, present, len(y) - x.shape[1])


@dataclass(frozen=True, slots=True)
class _Solution:
    """The best estimates at some ratios of variances. `inverse` is that of the covariance of each person's
    values, divided by the error variance. `py` are the weighted residuals."""

    deviance: float
    variance: float
    inverse: Array
    weighted: Array
    """`inverse` times `x`."""
    unscaled: Array
    """The covariance of the estimates, divided by the error variance."""
    estimates: Array
    py: Array


def _solve(blocks: _PersonBlocks, ratios: Sequence[float]) -> _Solution:
    """Return the solution at these ratios of variances (random intercepts to error). The deviance is minus
    twice the restricted log likelihood."""
    identity = np.eye(blocks.y.shape[1])
    whole = identity + sum(ratio * kernel for ratio, kernel in zip(ratios, blocks.kernels, strict=True))
    inverse = np.linalg.inv(np.broadcast_to(whole, (*blocks.y.shape, blocks.y.shape[1])))
    weighted = inverse @ blocks.x
    flat_x, flat_wx = _flat(blocks.x), _flat(weighted)
    xvx = flat_x.T @ flat_wx
    unscaled = np.asarray(np.linalg.inv(xvx), dtype=float)
    estimates = unscaled @ (flat_wx.T @ blocks.y.ravel())
    py = (inverse @ (blocks.y - blocks.x @ estimates)[:, :, None])[:, :, 0]
    variance = float((blocks.y * py).sum()) / blocks.free
    logs = float(np.linalg.slogdet(whole)[1].sum()) + float(np.linalg.slogdet(xvx)[1])
    deviance = logs + blocks.free * (log(2 * pi * variance) + 1)
    return _Solution(deviance, variance, inverse, weighted, unscaled, estimates, py)


def _flat(a: Array) -> Array:
    """Return an array of shape (people, most values, columns) with the first two axes joined."""
    return a.reshape(-1, a.shape[-1])


def _slopes(blocks: _PersonBlocks, at: _Solution) -> Array:
    """Return the slope of the deviance by each ratio of variances. The error variance is the one that fits
    best at these ratios."""
    found = []
    for kernel in blocks.kernels:
        inner = _flat(at.weighted).T @ _flat(kernel @ at.weighted)
        trace = float((at.inverse * kernel).sum() - (at.unscaled * inner).sum())
        found.append(trace - float(np.einsum("pi,pij,pj->", at.py, kernel, at.py)) / at.variance)
    return np.array(found)


def fit_reml(y: Array, x: Array, groups: Sequence[int], nested: Sequence[Sequence[int]] = ()) -> RemlFit:
    """Fit a model with random intercepts by restricted maximum likelihood (REML), and return it.

    `y` are the values. `x` is the design matrix (values x columns) of full rank, and `groups` the
    participant of each value, counted from 0. The columns of `x` must not explain `y` completely. Each
    sequence of `nested` gives a level number for each value. It adds a random intercept for each participant
    at each level. Components that are estimated as 0, or that do not converge, are dropped one by one.
    """
    blocks = _person_blocks(y, x, groups, nested)
    dropped: dict[int, Dropped] = dict.fromkeys(_unidentified(blocks), "unidentified")
    while True:
        active = [number for number in range(len(blocks.kernels)) if number not in dropped]
        part = replace(blocks, kernels=tuple(blocks.kernels[number] for number in active))
        ratios, doubtful = _best_ratios(part)
        if doubtful is None:
            return _fit(part, ratios, active, len(blocks.kernels), dropped)
        dropped[active[doubtful[0]]] = doubtful[1]


def leaves_error(y: Array, x: Array, groups: Sequence[int], nested: Sequence[Sequence[int]] = ()) -> bool:
    """Return False if fixed effects and random intercepts explain the values completely, apart from rounding
    errors. Then the model cannot be fitted. The arguments are those of `fit_reml`."""
    blocks = _person_blocks(y, x, groups, nested)
    lost = _unidentified(blocks)
    used = [kernel for number, kernel in enumerate(blocks.kernels) if number not in lost]
    sizes, directions = np.linalg.eigh(sum(used, np.zeros_like(blocks.kernels[0])))
    outside = directions * ((sizes < 1e-6)[:, None, :])  # what no random intercept explains
    left = [_flat(outside.transpose(0, 2, 1) @ one) for one in (blocks.y[:, :, None], blocks.x)]
    unexplained = left[0] - left[1] @ np.linalg.lstsq(left[1], left[0], rcond=None)[0]
    return float((unexplained**2).sum()) > 1e-20 * max(float(y @ y), 1e-280)


def explain_all_values(groups: Sequence[int], nested: Sequence[Sequence[int]]) -> bool:
    """Return True if the random intercepts explain every possible value, so that no error can be told from
    them. The arguments are those of `fit_reml`."""
    blank = np.zeros((len(groups), 1))
    blocks = _person_blocks(blank[:, 0], blank, groups, nested)
    ranks = np.linalg.matrix_rank(sum(blocks.kernels, np.zeros_like(blocks.kernels[0])), hermitian=True)
    return int(ranks.sum()) == len(groups)


def _unidentified(blocks: _PersonBlocks) -> list[int]:
    """Return the numbers of the random intercepts whose kernels depend linearly on earlier ones or on the
    error. The data do not separate them."""
    if len(blocks.kernels) == 1 and blocks.y.shape[1] > 1:
        return []
    identity = np.broadcast_to(np.eye(blocks.y.shape[1]), (*blocks.y.shape, blocks.y.shape[1]))
    flat = _flat(blocks.x)
    unscaled = np.asarray(np.linalg.inv(flat.T @ flat), dtype=float)
    products = _traces(identity, blocks.x, unscaled, _with_error(blocks))
    known, lost = [0], []
    for number in range(1, len(products)):
        scale = products[number, number]
        rows = products[np.ix_(known, known)], products[known, number]
        left = scale - rows[1] @ np.linalg.solve(*rows)
        if left > DEPENDENT * max(scale, DEPENDENT):
            known.append(number)
        else:
            lost.append(number - 1)
    return lost


def _with_error(blocks: _PersonBlocks) -> tuple[Array, ...]:
    """Return the kernels with that of the error, which is the first."""
    return (blocks.present[:, :, None] * np.eye(blocks.y.shape[1]), *blocks.kernels)


def _traces(inverse: Array, weighted: Array, unscaled: Array, kernels: Sequence[Array]) -> Array:
    """Return the traces of P K P L for every two kernels K and L. P is the inverse covariance of the values
    without the fixed effects, times the error variance. The other arguments are those of `_Solution`."""
    inner = [inverse @ kernel for kernel in kernels]
    right = [_flat(kernel @ weighted) for kernel in kernels]
    solved = [_flat(one @ weighted) for one in inner]
    middle = [unscaled @ (_flat(weighted).T @ one) for one in right]
    found = np.empty((len(kernels), len(kernels)))
    for i, j in combinations_with_replacement(range(len(kernels)), 2):
        own = float((inner[i] * inner[j].transpose(0, 2, 1)).sum())
        mixed = float((unscaled * (right[i].T @ solved[j])).sum())
        found[i, j] = found[j, i] = own - 2 * mixed + float((middle[i] * middle[j].T).sum())
    return found


def _best_ratios(blocks: _PersonBlocks) -> tuple[list[float], tuple[int, Dropped] | None]:
    """Return the ratios of variances with the highest likelihood. If one of several is 0 or did not converge,
    return its number and the reason too."""
    if len(blocks.kernels) < 2:
        ratios = [_best_ratio(blocks)] if blocks.kernels else []
        return ratios, ((0, "zero") if ratios == [0.0] else None)

    def deviance(roots: Array) -> tuple[float, Array]:
        at = _solve(blocks, (roots**2).tolist())
        return at.deviance, 2 * roots * _slopes(blocks, at)

    found = minimize(deviance, np.ones(len(blocks.kernels)), jac=True, method="BFGS", options={"gtol": 1e-5})
    ratios = [float(root) ** 2 for root in found.x]
    smallest = int(np.argmin(ratios))
    if ratios[smallest] < SMALLEST_RATIO:
        return ratios, (smallest, "zero")
    return _refined(blocks, ratios)


def _best_ratio(blocks: _PersonBlocks) -> float:
    """Return the best ratio of variances of a single random intercept. The search begins on a grid and ends
    where the slope of the deviance is 0."""
    sizes, directions = np.linalg.eigh(blocks.kernels[0])  # values along these directions are independent
    sizes, turn = np.rint(sizes).ravel(), directions.transpose(0, 2, 1)  # sizes are numbers of values
    y, x = _flat(turn @ blocks.y[:, :, None])[:, 0], _flat(turn @ blocks.x)

    def deviance_and_slope(ratio: float) -> tuple[float, float]:
        weights = 1 / (1 + ratio * sizes)
        weighted = weights[:, None] * x
        xvx = x.T @ weighted
        unscaled = np.linalg.inv(xvx)
        py = weights * (y - x @ (unscaled @ (weighted.T @ y)))
        variance = float(y @ py) / blocks.free
        logs = float(np.log1p(ratio * sizes).sum() + np.linalg.slogdet(xvx)[1])
        inner = weighted.T @ (sizes[:, None] * weighted)
        slope = float(sizes @ weights - (unscaled * inner).sum() - (sizes * py) @ py / variance)
        return logs + blocks.free * (log(2 * pi * variance) + 1), slope

    found = [deviance_and_slope(ratio) for ratio in GRID]
    best = int(np.argmin([deviance for deviance, _ in found]))
    low, high = max(best - 1, 0), min(best + 1, len(GRID) - 1)
    if found[low][1] >= 0:  # the deviance rises from 0 on
        return 0.0
    if found[high][1] <= 0:
        return float(GRID[high])
    return float(
        brentq(lambda ratio: deviance_and_slope(ratio)[1], GRID[low], GRID[high], xtol=1e-300, rtol=1e-14)
    )


def _refined(blocks: _PersonBlocks, ratios: list[float]) -> tuple[list[float], tuple[int, Dropped] | None]:
    """Improve ratios of variances with Newton's method. Return them, and the number of the ratio that did not
    converge with the reason, if there is one."""
    at = _solve(blocks, ratios)
    for _ in range(NEWTON_STEPS):
        slope, second, _ = _second_derivatives(blocks, at)
        step = -np.linalg.lstsq(second, slope, rcond=None)[0] if _is_positive(second) else -slope
        moved = np.array([at.variance, *(ratio * at.variance for ratio in ratios)]) + step
        if (moved <= 0).any():
            break
        tried = [float(one / moved[0]) for one in moved[1:]]
        after = _solve(blocks, tried)
        if after.deviance > at.deviance + 1e-9:
            break
        done = np.allclose(tried, ratios, rtol=1e-13, atol=0)
        ratios, at = tried, after
        if done:
            break
    steep = np.abs(_slopes(blocks, at) * ratios)
    worst = int(np.argmax(steep))
    return ratios, ((worst, "no_convergence") if steep[worst] > STEEPEST else None)


def _is_positive(matrix: Array) -> bool:
    return bool(np.linalg.eigvalsh(matrix)[0] > 0)


def _second_derivatives(blocks: _PersonBlocks, at: _Solution) -> tuple[Array, Array, Array]:
    """Return the first and second derivatives of the deviance by the variances (the error's first), and the
    derivatives of the estimates' covariance, of shape (variances, columns, columns)."""
    kernels = _with_error(blocks)
    v = at.variance
    pushed = [(kernel @ at.py[:, :, None])[:, :, 0] for kernel in kernels]
    solved = [(at.inverse @ one[:, :, None])[:, :, 0] for one in pushed]
    sides = [_flat(at.weighted).T @ one.ravel() for one in pushed]
    inner = [_flat(at.weighted).T @ _flat(kernel @ at.weighted) for kernel in kernels]
    traces = [
        float((at.inverse * kernel).sum() - (at.unscaled * one).sum())
        for kernel, one in zip(kernels, inner, strict=True)
    ]
    slope = [trace / v - float((at.py * one).sum()) / v**2 for trace, one in zip(traces, pushed, strict=True)]
    curves = np.array(
        [
            [float((a * b).sum()) - float(s @ at.unscaled @ r) for b, r in zip(solved, sides, strict=True)]
            for a, s in zip(pushed, sides, strict=True)
        ]
    )
    second = 2 * curves / v**3 - _traces(at.inverse, at.weighted, at.unscaled, kernels) / v**2
    return np.array(slope), second, np.array([at.unscaled @ one @ at.unscaled for one in inner])


def _fit(
    blocks: _PersonBlocks,
    ratios: Sequence[float],
    active: Sequence[int],
    count: int,
    dropped: dict[int, Dropped],
) -> RemlFit:
    """Return the fit at the best ratios of variances of the random intercepts `active`, out of `count`."""
    at = _solve(blocks, ratios)
    _, second, slopes = _second_derivatives(blocks, at)
    variances = [0.0] * count
    for number, ratio in zip(active, ratios, strict=True):
        variances[number] = ratio * at.variance
    return RemlFit(
        estimates=at.estimates,
        covariance=at.unscaled * at.variance,
        variances=tuple(variances),
        variance_error=at.variance,
        log_likelihood=-at.deviance / 2,
        dropped=tuple(sorted(dropped.items())),
        slopes=tuple(slopes),
        spread=np.asarray(2 * np.linalg.inv(second), dtype=float),
    )


def satterthwaite_f_test(found: RemlFit, rows: Array) -> tuple[float, int, float, float]:
    """Test the hypothesis that each row of `rows`, multiplied with the estimates, is 0. Return F, its two
    degrees of freedom (numerator, denominator) and the p value."""
    inner = rows @ found.covariance @ rows.T
    values, vectors = np.linalg.eigh(inner)
    directions = vectors.T @ rows
    t = directions @ found.estimates / np.sqrt(values)
    q = len(values)
    f = float((t**2).sum() / q)
    df = _combined(
        [satterthwaite_df(found, one, value) for one, value in zip(directions, values, strict=True)]
    )
    return f, q, df, float(f_distribution.sf(f, q, df))


def satterthwaite_df(found: RemlFit, row: Array, variance: float) -> float:
    """Return the degrees of freedom of a weighted sum of the estimates. `row` are the weights, and `variance`
    is the sum's squared standard error."""
    gradient = np.array([row @ slope @ row for slope in found.slopes])
    return float(2 * variance**2 / (gradient @ found.spread @ gradient))


def _combined(dfs: Sequence[float]) -> float:
    """Return the denominator degrees of freedom of an F test (Fai and Cornelius 1996). The F test is split
    into t tests, whose degrees of freedom are `dfs`."""
    if len(dfs) == 1 or max(dfs) - min(dfs) < 1e-8:
        return sum(dfs) / len(dfs)
    if min(dfs) <= 2:
        return 2.0
    expected = sum(df / (df - 2) for df in dfs)
    return 2 * expected / (expected - len(dfs))
