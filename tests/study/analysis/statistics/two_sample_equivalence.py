"""Feed two samples to the app's equivalence test and Bayes factor, for the comparison with R.

Equivalence uses two one-sided t tests (Schuirmann 1987): the difference is above the lower bound, and below
the upper bound. Groups of different people are compared after Welch. The Bayes factor for two groups follows
Rouder et al. (2009), as that for pairs in `paired_contrasts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.complete_cases import Array, are_equal
from study.analysis.statistics.within.equivalence_results import Equivalence, EquivalenceBounds
from study.analysis.statistics.within.paired_contrasts import bayes_factor
from study.analysis.statistics.within.two_one_sided_tests import two_one_sided_tests

FLAT = NotComputable("no_variance_within", "the values do not vary")


def paired_equivalence(
    first: Sequence[float], second: Sequence[float], bounds: EquivalenceBounds
) -> Equivalence | NotComputable:
    """Test whether the means of two values of the same participants are equivalent. Both sequences are in
    the order of participants. Return NotComputable if the data do not allow it."""
    differences = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    n = len(differences)
    if n < 2:
        return NotComputable("too_few", "fewer than two participants have both values")
    if are_equal(differences):
        return NotComputable("no_variance_within", "the difference is the same for every participant")
    sd = float(differences.std(ddof=1))
    return two_one_sided_tests((n,), float(differences.mean()), sd / sqrt(n), n - 1, bounds, sd)


def independent_equivalence(
    first: Sequence[float], second: Sequence[float], bounds: EquivalenceBounds
) -> Equivalence | NotComputable:
    """Test whether the means of two groups of different participants are equivalent, with Welch's degrees of
    freedom. Return NotComputable if the data do not allow it."""
    groups = [np.asarray(first, dtype=float), np.asarray(second, dtype=float)]
    problem = _why_not(groups)
    if problem:
        return problem
    variances = [float(one.var(ddof=1)) for one in groups]
    parts = [variance / len(one) for variance, one in zip(variances, groups, strict=True)]
    df = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, groups, strict=True))
    difference = float(groups[1].mean() - groups[0].mean())
    sizes = len(groups[0]), len(groups[1])
    return two_one_sided_tests(sizes, difference, sqrt(sum(parts)), df, bounds, sqrt(sum(variances) / 2))


def _why_not(groups: Sequence[Array]) -> NotComputable | None:
    if min(map(len, groups)) < 2:
        return NotComputable("too_few", "a group has fewer than two values")
    return FLAT if all(are_equal(one) for one in groups) else None


def independent_bayes_factor(first: Sequence[float], second: Sequence[float]) -> float | NotComputable:
    """Return the Bayes factor BF10 of a difference between two groups, from the t test with equal variances.

    The prior of the standardised difference is a Cauchy distribution of scale .707. Return NotComputable if
    the data do not allow it.
    """
    groups = [np.asarray(first, dtype=float), np.asarray(second, dtype=float)]
    problem = _why_not(groups)
    if problem:
        return problem
    n, m = map(len, groups)
    df, effective = n + m - 2, n * m / (n + m)
    pooled = sum(float(((one - one.mean()) ** 2).sum()) for one in groups) / df
    t = float(groups[1].mean() - groups[0].mean()) / sqrt(pooled / effective)
    return bayes_factor(t, effective, df=df)
