"""Test by two one-sided t tests whether an estimated difference lies between two bounds (Schuirmann 1987)."""

from __future__ import annotations

from scipy.stats import t as t_distribution

from study.analysis.statistics.within.equivalence_results import (
    EQUIVALENCE_LEVEL,
    Equivalence,
    EquivalenceBounds,
    OneSidedTest,
)
from study.design.analysis_plan import EquivalenceMargin


def two_one_sided_tests(
    sizes: tuple[int, ...], difference: float, se: float, df: float, bounds: EquivalenceBounds, sd: float
) -> Equivalence:
    """Return both tests of a difference with the standard error `se`. Bounds in units of d are multiples of
    `sd`."""
    scale = sd if bounds.unit == "d" else 1.0
    low, high = bounds.low * scale, bounds.high * scale
    above, below = (difference - low) / se, (difference - high) / se
    half = se * float(t_distribution.ppf(1 - EQUIVALENCE_LEVEL, df))
    return Equivalence(
        sizes=sizes,
        difference=difference,
        se=se,
        df=df,
        above=OneSidedTest(low, above, float(t_distribution.sf(above, df))),
        below=OneSidedTest(high, below, float(t_distribution.cdf(below, df))),
        ci_low=difference - half,
        ci_high=difference + half,
    )


def planned_equivalence(
    sizes: tuple[int, ...],
    difference: float,
    se: float,
    df: float,
    margin: EquivalenceMargin | None,
    sd: float,
) -> Equivalence | None:
    """Return both tests against a planned margin. Return None if no margin is planned."""
    if margin is None:
        return None
    bounds = EquivalenceBounds(-margin.size, margin.size, margin.unit)
    return two_one_sided_tests(sizes, difference, se, df, bounds, sd)
