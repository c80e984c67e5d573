"""Compute descriptive statistics by condition, one-way ANOVA, and Tukey's HSD for all pairs of conditions.

These are the tests of the MindAgent paper (arXiv 2309.09971, section 5.3). They treat observations as
independent, although every participant plays every condition. `study.analysis.statistics.within` has tests
that fit such a design. Tukey's test uses Kramer's method for groups of unequal size. Its family-wise error
rate is 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import fsum
from statistics import fmean, median, stdev, variance
from typing import ClassVar

from study.analysis.statistics.observations import (
    AnalysisCondition,
    MeasureTable,
    NotComputable,
    why_not_comparable,
)

NEAR = 1e-3


@dataclass(frozen=True, slots=True)
class Anova:
    """The result of a one-way ANOVA. Sums of squares are in the measure's unit squared.

    `f` is the ratio of mean squares, `p` its upper tail under F(df_between, df_within). `eta_squared` is the
    share of variance between conditions in this sample. `omega_squared` estimates it for the population and
    may be slightly below 0. `without_data` are conditions without values, which are excluded.
    """

    f: float
    df_between: int
    df_within: int
    p: float
    ss_between: float
    ss_within: float
    eta_squared: float
    omega_squared: float
    without_data: tuple[AnalysisCondition, ...] = ()
    computable: ClassVar[bool] = True

    @property
    def ms_within(self) -> float:
        """Return the mean square within conditions."""
        return self.ss_within / self.df_within


def one_way_anova(table: MeasureTable) -> Anova | NotComputable:
    """Compare the means of the conditions with a one-way ANOVA. Conditions without any value are excluded
    and listed in the result. Return NotComputable if the data do not allow the test."""
    by_condition = table.groups()
    if problem := why_not_comparable(by_condition):
        return problem
    from scipy.stats import f as f_distribution  # slow to import

    groups = list(by_condition.values())
    between, within = sums_of_squares(groups)
    df_between, df_within = len(groups) - 1, sum(map(len, groups)) - len(groups)
    ms_within = within / df_within
    f = between / df_between / ms_within
    return Anova(
        f=f,
        df_between=df_between,
        df_within=df_within,
        p=float(f_distribution.sf(f, df_between, df_within)),
        ss_between=between,
        ss_within=within,
        eta_squared=between / (between + within),
        omega_squared=(between - df_between * ms_within) / (between + within + ms_within),
        without_data=table.without_data(),
    )


def sums_of_squares(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the sums of squares as (between groups, within groups).

    Each group is centred on its own mean first, which avoids rounding errors for large values.
    """
    groups = _without_common_part(groups)
    means = [fmean(group) for group in groups]
    grand = fmean(value for group in groups for value in group)
    between = fsum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True))
    within = fsum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group)
    return between, within


def _without_common_part(groups: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    """Subtract the first value from all values, if all values agree in at least three digits. Otherwise
    return the values unchanged.

    The subtraction is exact (Sterbenz 1974). The mean of such values may need more digits than a
    floating-point number of their size has. The differences are smaller, so their mean is more precise.
    """
    values = [value for group in groups for value in group]
    if max(values) - min(values) >= NEAR * abs(values[0]):
        return groups
    return [[value - values[0] for value in group] for group in groups]


ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Pair:
    """The comparison of two conditions; `first` comes before `second` in the order of the conditions.

    `difference` is the mean of `second` minus the mean of `first`, in the measure's unit. It has a 95 %
    simultaneous interval. `p` is adjusted for all pairs. `g` is Hedges' g with the same sign as the
    difference. It uses the pooled standard deviation of the two conditions, and is None if neither varies.
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
        """Return True if the adjusted p value is below .05."""
        return self.p < ALPHA

    @property
    def higher(self) -> AnalysisCondition:
        """Return the condition with the higher mean."""
        return self.second if self.difference > 0 else self.first

    @property
    def lower(self) -> AnalysisCondition:
        """Return the condition with the lower mean."""
        return self.first if self.difference > 0 else self.second


@dataclass(frozen=True, slots=True)
class Tukey:
    """The results of Tukey's HSD: all pairs of conditions that have values. `without_data` lists the other
    conditions."""

    pairs: tuple[Pair, ...]
    without_data: tuple[AnalysisCondition, ...] = ()


def tukey_hsd(table: MeasureTable) -> Tukey | NotComputable:
    """Compare every two conditions with Tukey's HSD. Conditions without any value are excluded and listed
    in the result. Return NotComputable if the data do not allow the test."""
    groups = table.groups()
    if problem := why_not_comparable(groups):
        return problem
    df = sum(map(len, groups.values())) - len(groups)
    mean_square = sum((len(values) - 1) * variance(values) for values in groups.values()) / df
    pairs = (_pair(groups, *two, df, mean_square) for two in combinations(groups, 2))
    return Tukey(tuple(pairs), table.without_data())


def _pair(
    groups: Mapping[AnalysisCondition, Sequence[float]],
    first: AnalysisCondition,
    second: AnalysisCondition,
    df: int,
    mean_square: float,
) -> Pair:
    """Compare the means of the conditions `first` and `second`. The test uses the error variance of all
    groups: `mean_square` with `df` degrees of freedom."""
    before, after = groups[first], groups[second]
    difference = fmean(after) - fmean(before)
    error = math.sqrt(mean_square / 2 * (1 / len(before) + 1 / len(after)))
    reach = error * _critical(len(groups), df)
    p = _p_value(abs(difference) / error, len(groups), df)
    return Pair(
        first=first,
        second=second,
        difference=difference,
        ci_low=difference - reach,
        ci_high=difference + reach,
        p=p,
        g=hedges_g(before, after),
    )


@lru_cache(maxsize=4096)
def _p_value(q: float, k: int, df: int) -> float:
    """Return the probability that the studentised range of `k` means with `df` degrees of freedom is above
    `q`.

    It is a double integral, so the value is cached: tables, figures and the report need the same ones. For
    two means it follows from Student's t, because then `q` is the absolute t times the square root of 2.
    """
    from scipy.stats import studentized_range, t  # slow to import

    if k == 2:
        return float(2 * t.sf(q / math.sqrt(2), df))
    return min(max(float(studentized_range.sf(q, k, df)), 0.0), 1.0)


@lru_cache(maxsize=256)
def _critical(k: int, df: int) -> float:
    """Return the critical value of the studentised range for `k` means and `df` degrees of freedom, at
    level `ALPHA`.

    The value is cached. Its computation takes a third of a second, and all measures of a study need the
    same value.
    """
    from scipy.stats import studentized_range, t  # slow to import

    if k == 2:
        return float(math.sqrt(2) * t.ppf(1 - ALPHA / 2, df))
    return float(studentized_range.ppf(1 - ALPHA, k, df))


def hedges_g(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return Hedges' g: (mean of `after` - mean of `before`) / pooled standard deviation, with the exact
    correction for small samples.

    Source: Hedges (1981), equation 6e. Return None if neither group varies. Both groups need at least two
    values.
    """
    df = len(before) + len(after) - 2
    pooled = ((len(before) - 1) * variance(before) + (len(after) - 1) * variance(after)) / df
    if pooled == 0:
        return None
    return small_sample_correction(df) * (fmean(after) - fmean(before)) / math.sqrt(pooled)


def small_sample_correction(df: int) -> float:
    """Return the exact factor that corrects a standardised mean difference for small samples (Hedges 1981,
    equation 6e). `df` are the degrees of freedom."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Description:
    """Descriptive statistics of one measure in one condition, in the measure's unit.

    `n` counts values, `missing` rows without a value. `sd` is the sample standard deviation (n - 1), and
    `se` the standard error of the mean. `ci_low` and `ci_high` are the ends of the mean's 95 % confidence
    interval (Student's t). The mean is None without a value. The other statistics are None with fewer than
    two values.
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
    """Return the descriptive statistics of each condition, in the order of the conditions."""
    return tuple(
        _describe(condition, table.values(condition.key), table.missing(condition.key))
        for condition in table.conditions
    )


def _describe(condition: AnalysisCondition, values: Sequence[float], missing: int) -> Description:
    from scipy.stats import t  # slow to import

    n = len(values)
    if not n:
        return Description(condition, 0, missing)
    ends = {"median": float(median(values)), "minimum": float(min(values)), "maximum": float(max(values))}
    mean = fmean(values)
    if n < 2:
        return Description(condition, n, missing, mean, **ends)
    sd = stdev(values)
    se = sd / math.sqrt(n)
    half = se * float(t.ppf((1 + CONFIDENCE) / 2, n - 1))
    return Description(condition, n, missing, mean, sd, se, mean - half, mean + half, **ends)
