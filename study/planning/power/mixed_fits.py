"""The mixed model of the analysis, fitted to many studies of complete data at once.

All that the model makes of a study's values are weighted sums of them within participants and between (their
means), and two sums of squares that are left. In directions that are independent in both (simultaneous
diagonalisation of their information) the deviance of REML is a sum over directions: with d the share of a
direction's information that lies within, r the ratio of the variances between and within, h = 1 - d + d r,

    free log(s) + Q / s + (n - p) log r + sum(log h),   Q = left_w + left_b / r + sum(e / h)

where s is the variance within, and e says how far both estimates of a direction lie apart. r is where the
slope is 0, or 1 where the deviance rises from there: no variance of participants, a singular fit. The F test
has Satterthwaite's degrees of freedom, as in `study.analysis.statistics.within.reml`, which a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from study.planning.power.information import independent, information
from study.planning.power.simulate import Array

HALVINGS, FARTHEST = 40, 20.0
"""Of the log of the ratio, which is looked for from 0 to the farthest."""


@dataclass(frozen=True, slots=True)
class Strata:
    """What so many people in the orders of a scheme tell, within participants and between."""

    people: int
    conditions: int
    within: Array
    """Of every direction, the share of its information that lies within participants: 0 to 1."""
    columns: Array
    """Estimates of the model's columns are this times those of the directions."""

    @property
    def free(self) -> int:
        """Values less columns."""
        return self.people * self.conditions - len(self.within)


@dataclass(frozen=True, slots=True)
class Sums:
    """What studies have: sums for every direction (studies x directions), and squares left (studies)."""

    within: Array
    between: Array
    left_within: Array
    left_between: Array


@dataclass(frozen=True, slots=True)
class Fits:
    """Of every study at its ratio, or at one that is tried: h and Q, both derivatives of Q by the log of the
    ratio, and the first one of log h."""

    ratio: Array
    h: Array
    q: Array
    slope: Array
    bend: Array
    grown: Array


def strata(conditions: int, scheme: str, people: int) -> Strata:
    """Of the model's columns in the orders of a scheme, without those that follow from others."""
    whole, sums = information(conditions, scheme, people)
    kept = independent(whole)
    return told_by(whole[np.ix_(kept, kept)], sums[np.ix_(kept, kept)], conditions, people)


def told_by(whole: Array, sums: Array, conditions: int, people: int) -> Strata:
    """From X'X, and X'1 1'X summed over participants; X has full rank."""
    from scipy.linalg import eigh  # slow to import, so not before it is needed

    within, columns = eigh(whole - sums / conditions, whole)
    within = np.where(within < 1e-9, 0.0, np.where(within > 1 - 1e-9, 1.0, within))
    return Strata(people, conditions, within, columns)


def f_tests(told: Strata, sums: Sums) -> tuple[Array, Array]:
    """F of the conditions in every study, and the degrees of freedom of its error."""
    fits = _best(told, sums)
    own = told.columns[1 : told.conditions]
    scale = fits.ratio * fits.q / told.free
    estimates = ((fits.ratio[:, None] * sums.within + sums.between) / fits.h) @ own.T
    values, vectors = np.linalg.eigh((own / fits.h[:, None, :]) @ own.T)
    turned = vectors.transpose(0, 2, 1)
    squares = (turned @ estimates[:, :, None])[:, :, 0] ** 2 / values / scale[:, None]
    return squares.mean(axis=1), _combined(_satterthwaite(told, fits, turned @ own, values))


def _best(told: Strata, sums: Sums) -> Fits:
    """At the ratio where each study's deviance is least: halved in upon, or 1."""
    low, high = np.zeros(len(sums.within)), np.full(len(sums.within), FARTHEST)
    singular = _rising(told, _at(told, sums, low))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rising = _rising(told, _at(told, sums, middle))
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return _at(told, sums, np.where(singular, 0.0, high))


def _at(told: Strata, sums: Sums, log_ratio: Array) -> Fits:
    ratio, d = np.exp(log_ratio), told.within
    h = 1 - d + ratio[:, None] * d
    grown, apart, left = ratio[:, None] * d / h, _apart(told, sums) / h, sums.left_between / ratio
    return Fits(
        ratio,
        h,
        sums.left_within + left + apart.sum(axis=1),
        -left - (apart * grown).sum(axis=1),
        left - (apart * grown * (1 - 2 * grown)).sum(axis=1),
        grown,
    )


def _apart(told: Strata, sums: Sums) -> Array:
    """e: how far the estimates of a direction within and between lie apart; 0 where there is one only."""
    d = told.within
    both = np.where((d > 0) & (d < 1), d * (1 - d), np.inf)
    return np.asarray((sums.within * (1 - d) - sums.between * d) ** 2 / both)


def _rising(told: Strata, fits: Fits) -> Any:
    """Whether the deviance grows with the ratio, at the best variance within of each."""
    others = told.people - len(told.within) + fits.grown.sum(axis=1)
    return told.free * fits.slope / fits.q + others >= 0


def _satterthwaite(told: Strata, fits: Fits, rows: Array, values: Array) -> Array:
    """Degrees of freedom of every independent t (studies x conditions - 1). In the logs of the variance
    within and of the ratio the deviance bends by [free, across; across, own], and the log of a t's variance
    grows by 1 and `more`. Of a singular fit only one variance is estimated."""
    free, variance = told.free, fits.q / told.free
    across = (-fits.slope / variance)[:, None]
    own = (fits.bend / variance + (fits.grown * (1 - fits.grown)).sum(axis=1))[:, None]
    more = (rows**2 @ ((1 - fits.grown) / fits.h)[:, :, None])[:, :, 0] / values
    df = (free * own - across**2) / (own - 2 * across * more + free * more**2)
    return np.where((fits.ratio == 1)[:, None], float(free), df)


def _combined(dfs: Array) -> Array:
    """Those of F, where its squared t values have these (Fai and Cornelius 1996)."""
    least, most = dfs.min(axis=1), dfs.max(axis=1)
    expected = (dfs / np.maximum(dfs - 2, 1e-9)).sum(axis=1)
    combined = np.where(least <= 2, 2.0, 2 * expected / np.maximum(expected - dfs.shape[1], 1e-300))
    alike = most - least < 1e-8
    return np.where(alike, dfs.mean(axis=1), combined)
