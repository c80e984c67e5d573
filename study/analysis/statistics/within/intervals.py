"""Intervals of means for comparing conditions within participants: Cousineau (2005) with Morey's (2008)
correction. Each value is taken from its participant's mean; the spread is widened by k / (k - 1)."""

from __future__ import annotations

from math import sqrt

from scipy.stats import t as t_distribution

from study.analysis.statistics.table import MeasureTable
from study.analysis.statistics.within.cells import cells_of
from study.analysis.statistics.within.results import Interval

CONFIDENCE = 0.95


def within_intervals(table: MeasureTable) -> tuple[Interval, ...]:
    """One for each condition with values, of those who have all; none for fewer than two of either."""
    cells = cells_of(table)
    n, k = cells.values.shape
    if n < 2 or k < 2:
        return ()
    centred = cells.values - cells.values.mean(axis=1, keepdims=True) + cells.values.mean()
    reach = float(t_distribution.ppf((1 + CONFIDENCE) / 2, n - 1)) * sqrt(k / (k - 1) / n)
    rows = zip(cells.conditions, cells.values.mean(axis=0), centred.std(axis=0, ddof=1), strict=True)
    return tuple(Interval(c, float(m), float(m - reach * s), float(m + reach * s), n) for c, m, s in rows)
