"""One-way analysis of variance over conditions, as in the paper (MindAgent, section 5.3: F(4, 55)).

Observations are taken as independent although every participant plays every condition: twelve
participants in five conditions are 60 observations, so df = (4, 55). It is here to replicate the paper;
a test that fits the design is another module's work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import ClassVar

from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.table import MeasureTable, NotComputable, why_not

NEAR = 1e-3


@dataclass(frozen=True, slots=True)
class Anova:
    """The table of a one-way ANOVA. Sums of squares are in the measure's unit squared.

    `f` is the ratio of mean squares, `p` its upper tail under F(df_between, df_within). `eta_squared` is
    the share of variance between conditions in this sample; `omega_squared` estimates it for the
    population and may fall a little below 0. `without_data` are conditions that took no part.
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
        """Mean square within conditions."""
        return self.ss_within / self.df_within


def one_way(table: MeasureTable) -> Anova | NotComputable:
    """Compare the conditions' means. Conditions without any value take no part and are named."""
    groups = table.groups()
    problem = why_not(groups)
    if problem:
        return problem
    return _anova(list(groups.values()), table.without_data())


def _anova(groups: Sequence[Sequence[float]], without_data: tuple[AnalysisCondition, ...]) -> Anova:
    from scipy.stats import f as f_distribution  # slow to import, so not before it is needed

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
        without_data=without_data,
    )


def sums_of_squares(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Between and within the groups, each around its own mean, which keeps the digits of large values."""
    groups = _without_common_part(groups)
    means = [fmean(group) for group in groups]
    grand = fmean(value for group in groups for value in group)
    between = fsum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True))
    within = fsum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group)
    return between, within


def _without_common_part(groups: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    """Values that agree in three digits or more are taken from the first of them, which loses nothing
    (Sterbenz 1974): their means have more digits than doubles of that size hold."""
    values = [value for group in groups for value in group]
    if max(values) - min(values) >= NEAR * abs(values[0]):
        return groups
    return [[value - values[0] for value in group] for group in groups]
