"""Tukey's HSD: all pairs of conditions, with the error of the family held at 5 % (MindAgent, section 5.3).

Like the ANOVA it goes with, it takes the observations as independent. Unequal groups are compared by
Kramer's extension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import fmean, variance
from typing import ClassVar

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
    family = _family([*groups.values()])
    return Tukey(
        tuple(_pair(one, other, family) for one, other in combinations(groups.items(), 2)),
        table.without_data(),
    )


@dataclass(frozen=True, slots=True)
class Family:
    """What all pairs share: how many groups, and the error within them with its degrees of freedom."""

    k: int
    df: int
    mean_square: float


def _family(groups: Sequence[Sequence[float]]) -> Family:
    df = sum(map(len, groups)) - len(groups)
    within = sum((len(values) - 1) * variance(values) for values in groups)
    return Family(len(groups), df, within / df)


Member = tuple[AnalysisCondition, Sequence[float]]


def _pair(one: Member, other: Member, family: Family) -> Pair:
    (first, before), (second, after) = one, other
    difference = fmean(after) - fmean(before)
    error = math.sqrt(family.mean_square / 2 * (1 / len(before) + 1 / len(after)))
    reach = error * _critical(family.k, family.df)
    return Pair(
        first=first,
        second=second,
        difference=difference,
        ci_low=difference - reach,
        ci_high=difference + reach,
        p=_exceeded(abs(difference) / error, family),
        g=hedges_g(before, after),
    )


def _exceeded(q: float, family: Family) -> float:
    """The chance of a studentised range of at least q; no less than 0 and no more than 1."""
    from scipy.stats import studentized_range  # slow to import, so not before it is needed

    return min(max(float(studentized_range.sf(q, family.k, family.df)), 0.0), 1.0)


@lru_cache(maxsize=256)
def _critical(k: int, df: int) -> float:
    """What that range exceeds with a chance of `ALPHA`: looked for once, since it takes a third of a second
    and measures of one study share it."""
    from scipy.stats import studentized_range  # likewise

    return float(studentized_range.ppf(1 - ALPHA, k, df))


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
