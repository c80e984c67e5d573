"""Ratings as ranks: Friedman's test, Kendall's W, and all pairs after Nemenyi and Conover.

Friedman (1937) with its correction for ties; Nemenyi by the studentised range of infinite degrees of freedom
(Hollander, Wolfe and Chicken 2014, section 7.3), Conover by t (Conover 1999, section 5.8), after Holm.
"""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2, norm, rankdata
from scipy.stats import t as t_distribution

from study.analysis.statistics.table import MeasureTable, NotComputable
from study.analysis.statistics.within.cells import Array, Cells, cells_of, why_not_within
from study.analysis.statistics.within.contrasts import holm
from study.analysis.statistics.within.results import Friedman, RankPair

STEPS = 801


def friedman(table: MeasureTable) -> Friedman | NotComputable:
    """Whether ranks differ between conditions; who lacks a value is left out and named."""
    cells = cells_of(table)
    problem = why_not_within(cells)
    if problem and problem.reason != "no_variance_within":  # ranks that all agree are no problem
        return problem
    ranks = np.apply_along_axis(rankdata, 1, cells.values)
    if float(((ranks - ranks.mean()) ** 2).sum()) == 0:
        return NotComputable("no_variance", "everybody's values are the same in all conditions")
    return _friedman(cells, ranks)


def _friedman(cells: Cells, ranks: Array) -> Friedman:
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


def _pairs(cells: Cells, ranks: Array) -> tuple[RankPair, ...]:
    n, k = ranks.shape
    means = ranks.mean(axis=0)
    places = list(combinations(range(k), 2))
    apart = [float(means[j] - means[i]) for i, j in places]
    q = [abs(one) / sqrt(k * (k + 1) / (12 * n)) for one in apart]
    nemenyi = [_range_tail(one, k) for one in q]
    conover = holm(_conover(ranks, apart))
    return tuple(
        RankPair(cells.conditions[i], cells.conditions[j], *found)
        for (i, j), *found in zip(places, apart, nemenyi, conover, strict=True)
    )


def _range_tail(q: float, k: int) -> float:
    """The chance that the range of k standard normal values exceeds q: the studentised range of infinite
    degrees of freedom, as a sum over a grid (scipy's takes 20 ms)."""
    z = np.linspace(-9, 9 + q, STEPS)
    below = k * float((norm.pdf(z) * (ndtr(z) - ndtr(z - q)) ** (k - 1)).sum() * (z[1] - z[0]))
    return min(max(1 - below, 0.0), 1.0)


def _conover(ranks: Array, apart: list[float]) -> list[float]:
    """p of each difference of mean ranks, not adjusted; 0 where the ranks of all participants agree."""
    n, k = ranks.shape
    df = (n - 1) * (k - 1)
    error = float((ranks**2).sum() - (ranks.sum(axis=0) ** 2).sum() / n)
    if error <= 1e-12 * float((ranks**2).sum()):
        return [0.0 if one else 1.0 for one in apart]
    scale = sqrt(2 * error / (n * df))
    return [float(2 * t_distribution.sf(abs(one) / scale, df)) for one in apart]
