"""Tukey's HSD: all pairs of conditions, with the error of the family held at 5 % (MindAgent, section 5.3).

Like the ANOVA it goes with, it takes the observations as independent. Unequal groups are compared by
Kramer's extension, which is what scipy computes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, variance
from typing import Any, ClassVar

from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.table import MeasureTable, NotComputable, why_not

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conditions compared; `first` comes before `second` in the order of the conditions.

    `difference` is the mean of `second` less that of `first`, in the measure's unit, with its 95 %
    simultaneous interval; `p` is adjusted for all pairs. `g` is Hedges' g of the same sign, over the
    pooled standard deviation of the two; None where neither varies.
    """

    first: AnalysisCondition
    second: AnalysisCondition
    difference: float
    ci_low: float
    ci_high: float
    p: float
    g: float | None

    @property
    def significant(self) -> bool:
        """Whether p < .05."""
        return self.p < ALPHA

    @property
    def higher(self) -> AnalysisCondition:
        """The condition with the higher mean."""
        return self.second if self.difference > 0 else self.first

    @property
    def lower(self) -> AnalysisCondition:
        """The condition with the lower mean."""
        return self.first if self.difference > 0 else self.second


@dataclass(frozen=True, slots=True)
class Tukey:
    """All pairs of the conditions that have values, in order; `without_data` took no part."""

    pairs: tuple[Pair, ...]
    without_data: tuple[AnalysisCondition, ...] = ()
    computable: ClassVar[bool] = True

    @property
    def significant(self) -> tuple[Pair, ...]:
        """The pairs with p < .05."""
        return tuple(pair for pair in self.pairs if pair.significant)


def all_pairs(table: MeasureTable) -> Tukey | NotComputable:
    """Compare every two conditions. Conditions without any value take no part and are named."""
    groups = table.groups()
    problem = why_not(groups)
    if problem:
        return problem
    from scipy.stats import tukey_hsd  # slow to import, so not before it is needed

    result = tukey_hsd(*groups.values())
    interval = result.confidence_interval(1 - ALPHA)
    members = list(enumerate(groups.items()))
    return Tukey(
        tuple(_pair(one, other, result, interval) for one, other in combinations(members, 2)),
        table.without_data(),
    )


Member = tuple[int, tuple[AnalysisCondition, Sequence[float]]]


def _pair(one: Member, other: Member, result: Any, interval: Any) -> Pair:
    (i, (first, before)), (j, (second, after)) = one, other
    return Pair(
        first=first,
        second=second,
        difference=fmean(after) - fmean(before),
        ci_low=float(interval.low[j, i]),
        ci_high=float(interval.high[j, i]),
        p=min(max(float(result.pvalue[j, i]), 0.0), 1.0),
        g=hedges_g(before, after),
    )


def hedges_g(before: Sequence[float], after: Sequence[float]) -> float | None:
    """(mean of after - mean of before) / pooled sd, with the exact correction for small samples.

    Hedges (1981), equation 6e. None where neither group varies. Both need two values or more.
    """
    df = len(before) + len(after) - 2
    pooled = ((len(before) - 1) * variance(before) + (len(after) - 1) * variance(after)) / df
    if pooled == 0:
        return None
    correction = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    return correction * (fmean(after) - fmean(before)) / math.sqrt(pooled)
