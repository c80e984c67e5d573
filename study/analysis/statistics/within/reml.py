"""A linear model with one random intercept, by restricted maximum likelihood.

y = X b + Z u + e with u ~ N(0, s_u), e ~ N(0, s) of every participant (Laird and Ware 1982). Of one ratio
theta = s_u / s all else follows in closed form, so the likelihood is a curve of one variable (Bates et al.
2015, section 3.4), whose slope is known. F tests have the degrees of freedom of Satterthwaite as
Kuznetsova et al. (2017, lmerTest) combine them; derivatives of the variances are exact.

statsmodels fits such models, but has no degrees of freedom for their tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy.optimize import brentq
from scipy.stats import f as f_distribution

from study.analysis.statistics.within.cells import Array

GRID = (0.0, *np.logspace(-6, 8, 43).tolist())
"""Ratios of variances at which the likelihood is looked at first; 0 is a model that is singular."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Estimates, their covariance, both variances; what the degrees of freedom are made of."""

    estimates: Array
    covariance: Array
    variance_group: float
    variance_error: float
    log_likelihood: float
    singular: bool
    slopes: tuple[Array, ...]
    """Of the covariance of the estimates, by each variance that is estimated."""
    spread: Array
    """The covariance of the estimated variances."""


def fit(y: Array, x: Array, groups: Sequence[int]) -> Fit:
    """Fit by REML; `x` has full rank, `groups` number the participants from 0. y varies around x."""
    z = np.zeros((len(y), max(groups) + 1))
    z[np.arange(len(y)), groups] = 1.0
    ratio = _best_ratio(y, x, z)
    return _at(ratio, y, x, z)


def _best_ratio(y: Array, x: Array, z: Array) -> float:
    """The ratio of variances with the highest likelihood: the best of a grid, then where its slope is 0."""
    values = [_deviance(ratio, y, x, z)[0] for ratio in GRID]
    best = int(np.argmin(values))
    low, high = GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)]
    if _slope(low, y, x, z) >= 0:  # it rises from 0 on
        return 0.0
    if _slope(high, y, x, z) <= 0:
        return float(high)
    return float(brentq(_slope, low, high, args=(y, x, z), xtol=1e-300, rtol=1e-14))


def _slope(ratio: float, y: Array, x: Array, z: Array) -> float:
    """How the deviance changes with the ratio, at the best error variance of each."""
    _, variance = _deviance(ratio, y, x, z)
    inverse, _ = _inverse(ratio, z)
    vx = inverse(x)
    c = np.linalg.inv(x.T @ vx)
    py = inverse(y) - vx @ (c @ (vx.T @ y))
    sizes, zvx = z.sum(axis=0), z.T @ vx
    trace = float((sizes / (1 + ratio * sizes)).sum() - np.trace(c @ zvx.T @ zvx))
    return trace - float(((z.T @ py) ** 2).sum()) / variance


def _deviance(ratio: float, y: Array, x: Array, z: Array) -> tuple[float, float]:
    """Minus twice the restricted log likelihood at its best error variance, and that variance."""
    inverse, log_v = _inverse(ratio, z)
    xvx = x.T @ inverse(x)
    b = np.linalg.solve(xvx, x.T @ inverse(y))
    left = y - x @ b
    free = len(y) - x.shape[1]
    variance = float(left @ inverse(left)) / free
    value = log_v + float(np.linalg.slogdet(xvx)[1]) + free * (log(2 * pi * variance) + 1)
    return value, variance


def _inverse(ratio: float, z: Array) -> tuple[Callable[[Array], Array], float]:
    """Multiplying by the inverse of I + ratio Z Z' (Sherman and Morrison), and the log of its determinant."""
    sizes = z.sum(axis=0)
    shrink = ratio / (1 + ratio * sizes)

    def times(a: Array) -> Array:
        sums = z.T @ a
        return np.asarray(a - z @ (sums * (shrink if a.ndim == 1 else shrink[:, None])))

    return times, float(np.log1p(ratio * sizes).sum())


def _at(ratio: float, y: Array, x: Array, z: Array) -> Fit:
    deviance, variance = _deviance(ratio, y, x, z)
    inverse, _ = _inverse(ratio, z)
    weighted = inverse(x) / variance
    covariance = np.linalg.inv(x.T @ weighted)
    b = covariance @ weighted.T @ y
    slopes, spread = _derivatives(ratio, variance, y, x, z)
    return Fit(
        np.asarray(b),
        np.asarray(covariance),
        ratio * variance,
        variance,
        -deviance / 2,
        ratio == 0,
        slopes,
        spread,
    )


def _derivatives(
    ratio: float, variance: float, y: Array, x: Array, z: Array
) -> tuple[tuple[Array, ...], Array]:
    """How the covariance of the estimates changes with the variances, and the covariance of these: twice the
    inverse of the second derivatives of the deviance (the first are 0 where it is least)."""
    inverse, _ = _inverse(ratio, z)
    v = inverse(np.eye(len(y))) / variance
    vx = v @ x
    c = np.linalg.inv(x.T @ vx)
    p = v - vx @ c @ vx.T
    kernels = [np.eye(len(y))] if ratio == 0 else [z @ z.T, np.eye(len(y))]
    slopes = tuple(c @ vx.T @ g @ vx @ c for g in kernels)
    products = [p @ g for g in kernels]
    py = p @ y
    second = [
        [
            -float((a * b.T).sum()) + 2 * float(py @ kernels[i] @ p @ kernels[j] @ py)
            for j, b in enumerate(products)
        ]
        for i, a in enumerate(products)
    ]
    return slopes, np.asarray(2 * np.linalg.inv(np.array(second)))


def f_test(found: Fit, rows: Array) -> tuple[float, int, float, float]:
    """F, both degrees of freedom and p of the hypothesis that `rows` times the estimates are 0."""
    inner = rows @ found.covariance @ rows.T
    values, vectors = np.linalg.eigh(inner)
    directions = vectors.T @ rows
    t = directions @ found.estimates / np.sqrt(values)
    q = len(values)
    f = float((t**2).sum() / q)
    df = _combined([_satterthwaite(found, one, value) for one, value in zip(directions, values, strict=True)])
    return f, q, df, float(f_distribution.sf(f, q, df))


def _satterthwaite(found: Fit, row: Array, variance: float) -> float:
    gradient = np.array([row @ slope @ row for slope in found.slopes])
    return float(2 * variance**2 / (gradient @ found.spread @ gradient))


def _combined(dfs: Sequence[float]) -> float:
    """The error's degrees of freedom of an F whose squared t values have these (Fai and Cornelius 1996)."""
    if len(dfs) == 1 or max(dfs) - min(dfs) < 1e-8:
        return sum(dfs) / len(dfs)
    if min(dfs) <= 2:
        return 2.0
    expected = sum(df / (df - 2) for df in dfs)
    return 2 * expected / (expected - len(dfs))
