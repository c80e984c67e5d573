"""Descriptive statistics of one measure in each condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.table import MeasureTable

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Description:
    """One measure in one condition, in the measure's unit.

    `n` counts values, `missing` rows without one. `sd` is the sample's (n - 1), `se` that of the mean,
    `ci_low` and `ci_high` the 95 % confidence interval of the mean by Student's t; None where there are
    too few values: one for the mean, two for the spread.
    """

    condition: AnalysisCondition
    n: int
    missing: int
    mean: float | None = None
    sd: float | None = None
    se: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None


def describe(table: MeasureTable) -> tuple[Description, ...]:
    """One description per condition, in the order of the conditions."""
    return tuple(
        _describe(condition, table.values(condition.key), table.missing(condition.key))
        for condition in table.conditions
    )


def _describe(condition: AnalysisCondition, values: Sequence[float], missing: int) -> Description:
    if not values:
        return Description(condition, 0, missing)
    mean, (sd, se, half) = fmean(values), _spread(values)
    return Description(
        condition=condition,
        n=len(values),
        missing=missing,
        mean=mean,
        sd=sd,
        se=se,
        ci_low=None if half is None else mean - half,
        ci_high=None if half is None else mean + half,
        median=float(median(values)),
        minimum=float(min(values)),
        maximum=float(max(values)),
    )


def _spread(values: Sequence[float]) -> tuple[float, float, float] | tuple[None, None, None]:
    """Standard deviation, standard error, and half the width of the interval of the mean."""
    from scipy.stats import t  # slow to import, so not before it is needed

    n = len(values)
    if n < 2:
        return None, None, None
    sd = stdev(values)
    se = sd / math.sqrt(n)
    return sd, se, se * float(t.ppf((1 + CONFIDENCE) / 2, n - 1))
