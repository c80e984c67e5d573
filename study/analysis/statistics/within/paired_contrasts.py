"""Test differences within participants: between all pairs of conditions, and for planned contrasts.

A contrast is a weighted sum of a participant's values, such as the difference of two conditions. A paired t
test compares the contrast with zero. Holm's correction applies to several contrasts. The effect size is
Hedges' g (d_z with small-sample correction) with an exact interval. The Bayes factor follows Rouder et al.
(2009).
"""

# Results have Holm's correction, effect sizes and Bayes factors. A contrast is a weighted sum of a
# participant's values; the weights are scaled so that it is a difference of means. Its test against zero is
# the paired t test. The error comes from these differences alone, so sphericity is not needed. Hedges' g
# divides by the standard deviation of these sums (d_z), with the exact correction of Hedges (1981). Its
# interval inverts the noncentral t (Smithson 2003), with the same correction.
#
# The Bayes factor is that of a paired t test (Rouder et al. 2009, Psychon. Bull. Rev. 16, equation 1). The
# prior of the standardised effect is a Cauchy distribution of scale r. The integral over its variance g is
# taken over log g, where it is smooth.

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from math import exp, log, log1p, pi, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, roots_legendre
from scipy.stats import chi, false_discovery_control
from scipy.stats import t as t_distribution

from kitchen.words.english_text import and_list
from study.analysis.statistics.anova_and_tukey import small_sample_correction
from study.analysis.statistics.observations import BetweenFactor, MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import (
    FEWEST,
    Array,
    CompleteCases,
    are_equal,
    complete_cases,
)
from study.analysis.statistics.within.result_types import Contrast, Family, UncomputedContrast
from study.analysis.statistics.within.two_one_sided_tests import planned_equivalence
from study.design.analysis_plan import EquivalenceMargin, PlannedContrast

SCALE = sqrt(2) / 2
MOST = 700.0
"""Largest logarithm of a Bayes factor; larger ones are cut off."""


def bayes_factor(t: float, n: float, scale: float = SCALE, df: int | None = None) -> float:
    """Return the Bayes factor BF10: how many times more likely the data are if there is a difference than if
    there is none.

    `t` is the t value of the paired t test, and `n` the number of differences. `scale` is the scale of the
    Cauchy prior. For a t test of two groups, `n` is the product of their sizes divided by the sum, and `df`
    are the degrees of freedom.
    """
    df = df or round(n) - 1
    null = -(df + 1) / 2 * log1p(t * t / df)

    def log_integrand(u: float) -> float:
        g = exp(u)
        wide = 1 + n * g * scale * scale
        prior = -0.5 * log(2 * pi) - 1.5 * u - 1 / (2 * g)
        return prior + u - 0.5 * log(wide) - (df + 1) / 2 * log1p(t * t / (wide * df))

    peak = max(log_integrand(u / 10) for u in range(-60, 200))
    area, _ = quad(
        lambda u: exp(log_integrand(u) - peak), -6, 80, points=[0.0, 6.0], epsabs=0, epsrel=1e-10, limit=400
    )
    return exp(min(max(log(area) + peak - null, -MOST), MOST))


CONFIDENCE = 0.95
NODES = 400


def all_pairs_within(table: MeasureTable) -> Family:
    """Compare every two conditions that have values: the second minus the first. All pairs are corrected
    together.

    Two conditions of different between-subjects groups are not compared, because nobody plays both.
    """
    known = [c for c in table.conditions if table.values(c.key)]
    pairs = [
        PlannedContrast(f"{b.label} \N{MINUS SIGN} {a.label}", {b.key: 1.0, a.key: -1.0})
        for a, b in combinations(known, 2)
        if table.between is None or _same_people(table.between, a.key, b.key)
    ]
    return contrast_family(table, pairs)


def _same_people(between: BetweenFactor, *keys: str) -> bool:
    return len({between.played_by[key] for key in keys} - {""}) < 2


def contrast_family(table: MeasureTable, planned: Sequence[PlannedContrast]) -> Family:
    """Test the planned contrasts in order. Contrasts that can be computed are corrected together with
    Holm's method."""
    found = [paired_contrast(table, one.name, one.weights, one.margin) for one in planned]
    computed = [one for one in found if isinstance(one, Contrast)]
    adjusted = iter(holm_adjusted([one.p for one in computed]))
    return Family(
        tuple(replace(one, p_adjusted=next(adjusted)) if isinstance(one, Contrast) else one for one in found)
    )


def paired_contrast(
    table: MeasureTable, name: str, weights: Mapping[str, float], margin: EquivalenceMargin | None = None
) -> Contrast | UncomputedContrast:
    """Test one contrast without a correction. `weights` maps condition keys to weights. With a `margin`, test
    also whether the difference is equivalent to 0.

    Return UncomputedContrast, with the reason, if the data do not allow it.
    """
    used = scale_weights(weights)
    cells = complete_cases(table, tuple(used))
    sums = cells.values @ np.array([used[c.key] for c in cells.conditions])
    problem = _no_values(table, used) or _why_not(cells, used, sums)
    return UncomputedContrast(name, problem) if problem else _tested(name, used, sums, cells, margin)


def _no_values(table: MeasureTable, used: Mapping[str, float]) -> NotComputable | None:
    """Return the reason if a contrast cannot be computed because some of its conditions have no values.
    Return None otherwise, and also if none of them has values. For example, the measure may not exist in the
    world of a condition."""
    blank = [c.label for c in table.conditions if c.key in used and not table.values(c.key)]
    if not blank or len(blank) == len(used):
        return None
    verb = "has" if len(blank) == 1 else "have"
    return NotComputable("no_data", f"{and_list(blank)} {verb} no values on this measure")


def scale_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights, whose sum must be 0, scaled so that positive ones sum to 1 and negative ones to -1.

    The weighted sum is then a difference of means in the measure's unit. Weights of 0 are left out.
    """
    half = sum(abs(weight) for weight in weights.values()) / 2
    return {key: weight / half for key, weight in weights.items() if weight}


def _why_not(cells: CompleteCases, used: Mapping[str, float], sums: Array) -> NotComputable | None:
    if len(cells.conditions) < len(used):
        return NotComputable("no_data", "a condition of it was not played")
    if len(sums) < FEWEST:
        return NotComputable(
            "too_few", "fewer than three participants have a value in each of its conditions"
        )
    if are_equal(sums):
        return NotComputable("no_variance_within", "the difference is the same for every participant")
    return None


def _tested(
    name: str,
    weights: Mapping[str, float],
    sums: Array,
    cells: CompleteCases,
    margin: EquivalenceMargin | None,
) -> Contrast:
    n, mean, sd = len(sums), float(sums.mean()), float(sums.std(ddof=1))
    se = sd / math.sqrt(n)
    t, df = mean / se, n - 1
    half = se * float(t_distribution.ppf((1 + CONFIDENCE) / 2, df))
    g, low, high = paired_g(t, n)
    p = float(2 * t_distribution.sf(abs(t), df))
    return Contrast(
        name=name,
        weights=tuple(weights.items()),
        n=n,
        difference=mean,
        sd=sd,
        ci_low=mean - half,
        ci_high=mean + half,
        t=t,
        df=df,
        p=p,
        p_adjusted=p,
        g=g,
        g_low=low,
        g_high=high,
        bayes_factor=bayes_factor(t, n),
        left_out=cells.left_out,
        equivalence=planned_equivalence((n,), mean, se, df, margin, sd),
    )


def paired_g(t: float, n: int) -> tuple[float, float, float]:
    """Return Hedges' g and the two ends of its 95 % interval. `t` is the value of a paired t test, and `n`
    the number of differences."""
    return standardised_size(t, n - 1, 1 / math.sqrt(n))


def standardised_size(t: float, df: int, ratio: float) -> tuple[float, float, float]:
    """Return a standardised difference (Hedges' g) and the two ends of its 95 % interval.

    `t` is the value of a t test with `df` degrees of freedom. `ratio` is the standard error of the difference
    divided by the standard deviation that standardises it.
    """
    scale = small_sample_correction(df) * ratio
    tail = (1 - CONFIDENCE) / 2
    low, high = _noncentrality(t, df, 1 - tail), _noncentrality(t, df, tail)
    return scale * t, scale * low, scale * high


def _noncentrality(t: float, df: int, share: float) -> float:
    """Return the noncentrality parameter for which a noncentral t variable is below `t` with probability
    `share`. `df` are its degrees of freedom."""
    reach = 10 + abs(t)
    return float(brentq(lambda nc: _below(t, df, nc) - share, t - reach, t + reach, xtol=1e-12))


def _below(t: float, df: int, noncentrality: float) -> float:
    """Return the probability that a noncentral t variable is at most `t`.

    It is a normal probability, averaged over the distribution of the standard deviation. scipy's function
    returns NaN for some arguments.
    """
    deviations, weights = _deviations(df)
    return float(weights @ ndtr(t * deviations - noncentrality))


@lru_cache(maxsize=64)
def _deviations(df: int) -> tuple[Array, Array]:
    """Return two arrays for a numerical integral: standard deviations estimated with `df` degrees of
    freedom, and their weights."""
    nodes, weights = roots_legendre(NODES)
    low, high = np.sqrt(chdtri(df, [1 - 1e-16, 1e-18]) / df)
    s = (low + high) / 2 + nodes * (high - low) / 2
    density = chi.pdf(s * math.sqrt(df), df) * math.sqrt(df) * (high - low) / 2
    return s, weights * density


def holm_adjusted(ps: Sequence[float]) -> list[float]:
    """Return Holm's (1979) adjusted p values, in the given order."""
    order = np.argsort(ps)
    steps = np.minimum(1.0, np.arange(len(ps), 0, -1) * np.asarray(ps, dtype=float)[order])
    adjusted = np.empty(len(ps))
    adjusted[order] = np.maximum.accumulate(steps)
    return [float(p) for p in adjusted]


def benjamini_hochberg_adjusted(ps: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's (1995) adjusted p values, in the given order."""
    return [float(p) for p in false_discovery_control(ps)] if ps else []
