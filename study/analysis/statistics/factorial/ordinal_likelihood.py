"""Fit a cumulative-link mixed model: ordinal ratings, logit link, random intercepts of participants.

The random intercepts are integrated out by adaptive Gauss-Hermite quadrature. One node is Laplace's
approximation. Thresholds between ratings are free. The numbers are those of R's `ordinal::clmm`.
"""

# log odds of a rating up to j: threshold_j - x b - sd u, with u ~ N(0, 1) for each participant. Quadrature is
# centred on the mode of each participant's integrand, and scaled by its curvature there (Pinheiro and Bates
# 1995). With the logistic distribution F, the log probability of a rating between the thresholds at a (above)
# and b (below) is log(exp a - exp b) - log(1 + exp a) - log(1 + exp b). A shift of both by s changes it with
# the slope 1 - F(a) - F(b), so all derivatives are simple, and the gradient below is exact for every number
# of nodes: it includes the movement of the nodes. Second derivatives are differences of the gradient.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from numpy.polynomial.hermite import hermgauss
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.ordinal_tests import MOST_LOG_ODDS, cut_points
from study.analysis.statistics.within.type_three_sums import Integers

MODE_STEPS, NEWTON_STEPS = 60, 10
NEAR_MODE, FLAT, NEARLY_FLAT = 1e-11, 1e-8, 1e-4
"""Largest step in the search for a mode at its end; largest slope of the likelihood at its peak, and where
the search may end before."""
NO_SD = 1e-4
"""A smaller standard deviation of the participants counts as 0."""
DIFFERENCE = 1e-5


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings `y` (numbers of categories from 0), the design matrix `x` without an intercept, the number of
    the participant of each rating (ascending from 0), and the number of categories."""

    y: Integers
    x: Array
    people: Integers
    categories: int

    @property
    def upper(self) -> Array:
        """Return which threshold lies above each rating, as indicators of shape (ratings, thresholds)."""
        return np.eye(self.categories)[self.y][:, :-1]

    @property
    def lower(self) -> Array:
        """Return which threshold lies below each rating, as indicators of shape (ratings, thresholds)."""
        return np.eye(self.categories)[self.y][:, 1:]

    def sums(self, rows: Array) -> Array:
        """Return sums over the ratings of each participant. `rows` has one row for each rating."""
        return np.asarray(np.add.reduceat(rows, np.flatnonzero(np.diff(self.people, prepend=-1)), axis=0))


@dataclass(frozen=True, slots=True)
class OrdinalFit:
    """A fitted model: thresholds, coefficients with their covariance, the standard deviation of participants,
    and the log likelihood. `converged` is False if the search ended without a peak. Then the covariance is
    0."""

    thresholds: Array
    coefficients: Array
    covariance: Array
    sd: float
    log_likelihood: float
    converged: bool


def fit_ordinal(data: Ratings, nodes: int) -> OrdinalFit:
    """Fit the model by maximum likelihood with `nodes` quadrature points. A quasi-Newton search ends with
    Newton's method. Ratings that are separated completely do not converge."""
    quadrature = hermgauss(nodes)
    params, value, slope = _peak(data, quadrature, FLAT)
    return _result(params, value, slope, _curvature(params, data, quadrature), data)


def highest_log_likelihood(data: Ratings, nodes: int) -> float | None:
    """Return the highest log likelihood of the model. Return None if the search did not converge."""
    params, value, slope = _peak(data, hermgauss(nodes), NEARLY_FLAT / 10)
    return value if float(np.abs(slope).max()) < NEARLY_FLAT and not _is_separated(params, data) else None


def _peak(data: Ratings, quadrature: tuple[Array, Array], flat: float) -> tuple[Array, float, Array]:
    """Return the parameters of the highest likelihood, its logarithm, and the slope there. The search ends
    where no slope is larger than `flat`, or where it finds no better parameters."""
    start = np.concatenate([1.2 * cut_points(data.y, data.categories), np.zeros(data.x.shape[1]), [1.0]])
    params = _searched(start, data, quadrature)
    value, slope = _likelihood(params, data, quadrature)
    for _ in range(NEWTON_STEPS):
        if float(np.abs(slope).max()) < flat or _is_separated(params, data):
            break
        step = _ascent(_curvature(params, data, quadrature), slope)
        tried, tried_slope = _likelihood(params + step, data, quadrature)
        if tried < value - 1e-9 or not np.abs(tried_slope).max() < np.abs(slope).max():
            break
        params, value, slope = params + step, tried, tried_slope
    return params, value, slope


def _searched(start: Array, data: Ratings, quadrature: tuple[Array, Array]) -> Array:
    """Return the parameters of the highest likelihood. The search is over the first threshold and the
    logarithms of the distances between thresholds, so that these stay in order."""
    cuts = data.categories - 1

    def bound(free: Array) -> Array:
        gaps = np.exp(np.clip(free[1:cuts], -MOST_LOG_ODDS, MOST_LOG_ODDS))
        return np.concatenate([free[:1] + np.concatenate([[0.0], np.cumsum(gaps)]), free[cuts:]])

    def loss(free: Array) -> tuple[float, Array]:
        params = bound(free)
        value, slope = _likelihood(params, data, quadrature)
        above = np.cumsum(slope[:cuts][::-1])[::-1]  # a distance moves all thresholds above it
        return -value, -np.concatenate([above[:1], above[1:] * np.diff(params[:cuts]), slope[cuts:]])

    def stop(free: Array) -> None:
        if _is_separated(bound(free), data):
            raise StopIteration

    free = np.concatenate([start[:1], np.log(np.diff(start[:cuts])), start[cuts:]])
    found = minimize(
        loss, free, jac=True, method="BFGS", callback=stop, options={"gtol": 1e-6, "maxiter": 300}
    )
    return bound(found.x)


def _is_separated(params: Array, data: Ratings) -> bool:
    return float(np.abs(params[data.categories - 1 :]).max()) > MOST_LOG_ODDS


def _ascent(curvature: Array, slope: Array) -> Array:
    """Return Newton's step towards a peak. Directions in which the likelihood is not curved downwards are
    climbed too."""
    values, vectors = np.linalg.eigh(-curvature)
    sizes = np.maximum(np.abs(values), 1e-8 * float(np.abs(values).max()))
    step = vectors @ ((vectors.T @ slope) / sizes)
    return np.asarray(step / max(1.0, float(np.abs(step).max()) / 2))


def _curvature(params: Array, data: Ratings, quadrature: tuple[Array, Array]) -> Array:
    """Return the second derivatives of the log likelihood, as differences of its first derivatives."""
    rows = []
    for direction in DIFFERENCE * np.eye(len(params)):
        ends = [_likelihood(params + sign * direction, data, quadrature)[1] for sign in (1, -1)]
        rows.append((ends[0] - ends[1]) / (2 * DIFFERENCE))
    found = np.array(rows)
    return np.asarray((found + found.T) / 2)


def _result(params: Array, value: float, slope: Array, curvature: Array, data: Ratings) -> OrdinalFit:
    cuts, sd = data.categories - 1, abs(float(params[-1]))
    used = -curvature if sd > NO_SD else -curvature[:-1, :-1]
    peak = float(np.abs(slope).max()) < NEARLY_FLAT and not _is_separated(params, data)
    peak = peak and bool(np.linalg.eigvalsh(used)[0] > 0)
    inverse = np.asarray(np.linalg.inv(used) if peak else np.zeros_like(used), dtype=float)
    covariance = inverse[cuts : len(params) - 1, cuts : len(params) - 1]
    return OrdinalFit(params[:cuts], params[cuts:-1], covariance, sd if sd > NO_SD else 0.0, value, peak)


@dataclass(frozen=True, slots=True)
class _Slopes:
    """Derivatives of each rating's log probability. The arrays have one row for each rating, and one column
    for each node.

    `first`, `second`, `third`: derivatives by a common shift of both thresholds. `above`, `below`: first
    derivatives by either threshold. `curve_above`, `curve_below`: the densities at the thresholds, with
    `turn_above`, `turn_below` as their slopes.
    """

    value: Array
    first: Array
    second: Array
    third: Array
    above: Array
    below: Array
    curve_above: Array
    curve_below: Array
    turn_above: Array
    turn_below: Array


def _slopes(upper: Array, lower: Array, gap: Array) -> _Slopes:
    """Return the derivatives at these upper and lower thresholds, minus the predicted value. They are
    infinite for the highest and lowest rating. `gap` is upper minus lower threshold."""
    top, bottom = np.isposinf(upper), np.isneginf(lower)
    a, b = np.where(top, 0.0, upper), np.where(bottom, 0.0, lower)
    fa, fb = np.where(top, 1.0, expit(a)), np.where(bottom, 0.0, expit(b))
    middle = ~(top | bottom)
    apart = np.where(middle, gap, 1.0)
    value = np.where(bottom, a, np.where(middle, a + np.log(-np.expm1(-apart)), 0.0))
    value = value - np.where(top, 0.0, np.logaddexp(0, a)) - np.where(bottom, 0.0, np.logaddexp(0, b))
    ca, cb = fa * (1 - fa), fb * (1 - fb)
    ta, tb = ca * (1 - 2 * fa), cb * (1 - 2 * fb)
    rise = np.where(middle, -1 / np.expm1(-apart), 1.0)
    above = np.where(top, 0.0, rise - fa)
    below = np.where(bottom, 0.0, np.where(middle, 1 - rise, 0.0) - fb)
    return _Slopes(value, 1 - fa - fb, -ca - cb, -ta - tb, above, below, ca, cb, ta, tb)


def _likelihood(params: Array, data: Ratings, quadrature: tuple[Array, Array]) -> tuple[float, Array]:
    """Return the log likelihood and its first derivatives. It is minus infinity if thresholds are not in
    ascending order."""
    cuts = data.categories - 1
    thresholds, b, sd = params[:cuts], params[cuts:-1], float(params[-1])
    if (np.diff(thresholds) <= 0).any():
        return -np.inf, np.zeros(len(params))
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    upper, lower = ends[data.y + 1], ends[data.y]
    gap, fixed = (upper - lower)[:, None], data.x @ b

    def at(u: Array) -> _Slopes:
        """Return the derivatives at random intercepts of shape (participants, nodes)."""
        shift = fixed[:, None] + sd * u[data.people]
        return _slopes(upper[:, None] - shift, lower[:, None] - shift, gap)

    mode = _modes(data, sd, at)
    centre = at(mode[:, None])
    curve = 1 - sd**2 * data.sums(centre.second)[:, 0]
    z, weights = quadrature
    reach = sqrt(2) * z / np.sqrt(curve)[:, None]
    u = mode[:, None] + reach
    here = at(u)
    logs = data.sums(here.value) - u**2 / 2 + np.log(weights) + z**2
    totals = logsumexp(logs, axis=1)
    value = float((totals - np.log(curve) / 2).sum()) - len(mode) * log(pi) / 2
    shares = np.exp(logs - totals[:, None])
    leaning = shares * (-sd * data.sums(here.first) - u)
    shift, spread = _movement(data, sd, mode, curve, centre)
    moved = leaning.sum(axis=1) @ shift + (1 + (leaning * reach).sum(axis=1)) @ spread
    return value, _direct_slope(data, here, shares[data.people], u[data.people]) + moved


def _modes(data: Ratings, sd: float, at: Callable[[Array], _Slopes]) -> Array:
    """Return the most likely random intercept of each participant, in standard deviations."""
    mode = np.zeros(int(data.people[-1]) + 1)
    for _ in range(MODE_STEPS):
        here = at(mode[:, None])
        slope = -sd * data.sums(here.first)[:, 0] - mode
        step = np.clip(slope / (1 - sd**2 * data.sums(here.second)[:, 0]), -1, 1)
        mode = mode + step
        if float(np.abs(step).max()) < NEAR_MODE:
            break
    return mode


def _direct_slope(data: Ratings, here: _Slopes, shares: Array, u: Array) -> Array:
    """Return the first derivatives of the log likelihood with the nodes fixed. `shares` are the weights of
    the nodes, and `u` the random intercepts there; both have one row for each rating."""
    above, below, first = ((one * shares).sum(axis=1) for one in (here.above, here.below, here.first))
    turned = float((here.first * u * shares).sum())
    return np.concatenate([data.upper.T @ above + data.lower.T @ below, -data.x.T @ first, [-turned]])


def _movement(data: Ratings, sd: float, mode: Array, curve: Array, centre: _Slopes) -> tuple[Array, Array]:
    """Return how each parameter moves the nodes of each participant, as two arrays of shape (participants,
    parameters): the derivatives of the mode, and of the logarithm of the nodes' spread."""
    u = mode[data.people][:, None]
    upper, lower = data.upper, data.lower
    pushes = (
        sd * (centre.curve_above * upper + centre.curve_below * lower),
        sd * centre.second * data.x,
        sd * u * centre.second - centre.first,
    )
    turns = (
        -(sd**2) * (centre.turn_above * upper + centre.turn_below * lower),
        -(sd**2) * centre.third * data.x,
        2 * sd * centre.second - sd**2 * u * centre.third,
    )
    shift = data.sums(np.hstack(pushes)) / curve[:, None]
    third = -(sd**3) * data.sums(centre.third)
    return shift, (data.sums(np.hstack(turns)) + third * shift) / (2 * curve[:, None])
