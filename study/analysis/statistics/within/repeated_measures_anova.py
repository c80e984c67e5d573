"""Compute the repeated-measures ANOVA with corrections for sphericity, and within-participant intervals.

Sphericity is tested with Mauchly (1940) and the second-order approximation of its chi-squared (Anderson 2003,
section 10.7.4). The corrections use epsilon of Greenhouse and Geisser (1959) and of Huynh and Feldt (1976).
Generalised eta squared follows Olejnik and Algina (2003), in the form of Bakeman (2005) for one factor
measured within participants. Intervals are those of Cousineau (2005) with Morey's (2008) correction: each
value is centred on its participant's mean, and the variance is widened by k / (k - 1).
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from scipy.linalg import helmert
from scipy.stats import chi2
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from study.analysis.statistics.observations import MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import (
    Array,
    CompleteCases,
    complete_cases,
    residuals,
    why_not_within,
)
from study.analysis.statistics.within.result_types import RepeatedMeasures, Sphericity, WithinInterval


def repeated_measures(table: MeasureTable) -> RepeatedMeasures | NotComputable:
    """Compare the conditions' means with a repeated-measures ANOVA. Participants without a value in every
    condition are left out and listed in the result. Return NotComputable if the data do not allow it."""
    cells = complete_cases(table)
    return why_not_within(cells) or _repeated(cells)


def _repeated(cells: CompleteCases) -> RepeatedMeasures:
    n, k = cells.values.shape
    condition, participant, error = sums_of_squares(cells.values)
    df, df_error = k - 1, (k - 1) * (n - 1)
    f = condition / df / (error / df_error)
    gg, hf = epsilons(cells.values)
    return RepeatedMeasures(
        n=n,
        conditions=cells.conditions,
        f=f,
        df_condition=df,
        df_error=df_error,
        p=f_tail(f, df, df_error),
        ss_condition=condition,
        ss_participant=participant,
        ss_error=error,
        epsilon_gg=gg,
        p_gg=f_tail(f, gg * df, gg * df_error),
        epsilon_hf=hf,
        p_hf=f_tail(f, min(hf, 1.0) * df, min(hf, 1.0) * df_error),
        sphericity=mauchly(cells.values),
        partial_eta_squared=condition / (condition + error),
        generalised_eta_squared=condition / (condition + participant + error),
        left_out=cells.left_out,
    )


def f_tail(f: float, df: float, df_error: float) -> float:
    """Return the p value of an F ratio `f` with the degrees of freedom `df` and `df_error`."""
    return float(f_distribution.sf(f, df, df_error))


def sums_of_squares(values: Array) -> tuple[float, float, float]:
    """Return the sums of squares of conditions, participants and error. `values` has shape (participants,
    conditions)."""
    n, k = values.shape
    grand = values.mean()
    condition = n * float(((values.mean(axis=0) - grand) ** 2).sum())
    participant = k * float(((values.mean(axis=1) - grand) ** 2).sum())
    return condition, participant, float((residuals(values) ** 2).sum())


def epsilons(values: Array) -> tuple[float, float]:
    """Return epsilon, the correction for sphericity, of Greenhouse and Geisser, and of Huynh and Feldt
    (which may be above 1). `values` has shape (participants, conditions)."""
    return epsilons_of(_contrasted(values), len(values) - 1)


def epsilons_of(covariance: Array, df: int) -> tuple[float, float]:
    """Return epsilon, the correction for sphericity, of Greenhouse and Geisser, and of Huynh and Feldt.
    `covariance` is that of orthonormal contrasts, and `df` its degrees of freedom."""
    p = len(covariance)
    gg = float(np.trace(covariance) ** 2 / (p * (covariance**2).sum()))
    below = p * (df - p * gg)
    return gg, ((df + 1) * p * gg - 2) / below if below > 1e-9 else 1.0


def mauchly(values: Array) -> Sphericity | NotComputable | None:
    """Return Mauchly's test of sphericity for values of shape (participants, conditions). None for two
    conditions, which need no test."""
    return mauchly_of(_contrasted(values), len(values) - 1) if values.shape[1] > 2 else None


def mauchly_of(covariance: Array, df: int) -> Sphericity | NotComputable | None:
    """Return Mauchly's test of sphericity. `covariance` (p x p) is that of orthonormal contrasts, and `df`
    its degrees of freedom. None for a single contrast."""
    p, s = len(covariance), covariance
    if p < 2:
        return None
    if df < p:
        return NotComputable("too_few", f"{p + 1} conditions need more than {p} participants for it")
    sign, determinant = np.linalg.slogdet(s)
    if sign <= 0 or np.linalg.cond(s) > 1e12:
        return NotComputable("no_variance_within", "some differences between conditions do not vary")
    log_w = float(determinant) - p * log(float(np.trace(s)) / p)
    steps = p * (p + 1) // 2 - 1
    return _approximated(log_w, p, df, steps)


def _approximated(log_w: float, p: int, df: int, steps: int) -> Sphericity:
    rho = 1 - (2 * p**2 + p + 2) / (6 * p * df)
    more = (p + 2) * (p - 1) * (p - 2) * (2 * p**3 + 6 * p**2 + 3 * p + 2) / (288 * (df * p * rho) ** 2)
    z = -df * rho * log_w
    first, second = float(chi2.sf(z, steps)), float(chi2.sf(z, steps + 4))
    return Sphericity(float(np.exp(log_w)), z, steps, min(max(first + more * (second - first), 0.0), 1.0))


def _contrasted(values: Array) -> Array:
    """Return the covariance of orthonormal contrasts between conditions."""
    h = helmert(values.shape[1])
    return np.asarray(h @ np.atleast_2d(np.cov(values, rowvar=False)) @ h.T)


CONFIDENCE = 0.95


def within_intervals(table: MeasureTable) -> tuple[WithinInterval, ...]:
    """Return the within-participant interval of each condition, over the participants with a value in every
    condition.

    With between-subjects groups, participants are those of the group that plays the condition. There is no
    interval with fewer than two participants or conditions, nor for a condition that several groups play.
    """
    if table.between is None:
        return _intervals(complete_cases(table))
    own = (
        [key for key, whose in table.between.played_by.items() if whose == group]
        for group in table.between.groups
    )
    found = (
        [c.key for c in table.conditions if c.key in keys and table.values(c.key)] for keys in map(set, own)
    )
    return tuple(one for keys in found if keys for one in _intervals(complete_cases(table, keys)))


def _intervals(cells: CompleteCases) -> tuple[WithinInterval, ...]:
    n, k = cells.values.shape
    if n < 2 or k < 2:
        return ()
    centred = cells.values - cells.values.mean(axis=1, keepdims=True) + cells.values.mean()
    reach = float(t_distribution.ppf((1 + CONFIDENCE) / 2, n - 1)) * sqrt(k / (k - 1) / n)
    rows = zip(cells.conditions, cells.values.mean(axis=0), centred.std(axis=0, ddof=1), strict=True)
    return tuple(
        WithinInterval(c, float(m), float(m - reach * s), float(m + reach * s), n) for c, m, s in rows
    )
