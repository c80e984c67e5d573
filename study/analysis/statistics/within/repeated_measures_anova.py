"""Compute the ANOVA of a within-subject design: repeated measures, or mixed (split-plot) with groups.

Mauchly's test checks sphericity (equal variances of all differences between conditions). Two epsilons correct
the degrees of freedom: those of Greenhouse and Geisser, and of Huynh and Feldt. With groups, the latter is
corrected as by Lecoutre. The effect size is generalised eta squared. Within-participant intervals follow
Cousineau (2005) with Morey's (2008) correction.

In the mixed ANOVA, each participant belongs to one group, and everybody plays all levels of the
within-subjects factor. Groups of different size have equal weight (type III sums of squares, as in R's
`afex`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from scipy.linalg import helmert
from scipy.stats import chi2
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from study.analysis.statistics.observations import SAME, MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import (
    Array,
    CompleteCases,
    are_equal,
    complete_cases,
    why_not_within,
)
from study.analysis.statistics.within.result_types import (
    ExcludedParticipant,
    GroupTerm,
    RepeatedMeasures,
    Sphericity,
    SplitPlot,
    SplitPlotEffect,
    WithinInterval,
)
from study.analysis.statistics.within.type_three_sums import (
    ContrastRegression,
    Integers,
    factorial_design,
    orthonormal_contrasts,
    regress_contrasts,
)

# Sphericity is tested with Mauchly (1940) and the second-order approximation of its chi-squared (Anderson
# 2003, section 10.7.4). The corrections use epsilon of Greenhouse and Geisser (1959) and of Huynh and Feldt
# (1976). Generalised eta squared follows Olejnik and Algina (2003), in the form of Bakeman (2005) for one
# factor measured within participants. Intervals are those of Cousineau (2005) with Morey's (2008) correction:
# each value is centred on its participant's mean, and the variance is widened by k / (k - 1).


def repeated_measures(table: MeasureTable) -> RepeatedMeasures | NotComputable:
    """Compare the conditions' means with a repeated-measures ANOVA. Participants without a value in every
    condition are left out and listed in the result. Return NotComputable if the data do not allow it."""
    cells = complete_cases(table)
    return why_not_within(cells) or _repeated(cells)


def _repeated(cells: CompleteCases) -> RepeatedMeasures:
    n, k = cells.values.shape
    everybody = np.ones((n, 1))
    within = regress_contrasts(cells.values, orthonormal_contrasts((k,), (0,)), everybody)
    condition, error = float(np.trace(within.hypothesis([0]))), float(np.trace(within.error))
    participant = float(
        regress_contrasts(cells.values, orthonormal_contrasts((k,), ()), everybody).error[0, 0]
    )
    df, df_error = k - 1, (k - 1) * (n - 1)
    f = condition / df / (error / df_error)
    gg, hf = epsilons_of(within.covariance, within.df)
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
        sphericity=mauchly_of(within.covariance, within.df),
        partial_eta_squared=condition / (condition + error),
        generalised_eta_squared=condition / (condition + participant + error),
        left_out=cells.left_out,
    )


def f_tail(f: float, df: float, df_error: float) -> float:
    """Return the p value of an F ratio `f` with the degrees of freedom `df` and `df_error`."""
    return float(f_distribution.sf(f, df, df_error))


def epsilons_of(covariance: Array, df: int) -> tuple[float, float]:
    """Return epsilon (the correction of degrees of freedom for violated sphericity) of Greenhouse and
    Geisser, and of Huynh and Feldt.

    `covariance` is the covariance matrix of orthonormal contrasts, and `df` its degrees of freedom.
    """
    p = len(covariance)
    gg = float(np.trace(covariance) ** 2 / (p * (covariance**2).sum()))
    below = p * (df - p * gg)
    return gg, ((df + 1) * p * gg - 2) / below if below > 1e-9 else 1.0


def mauchly_of(covariance: Array, df: int) -> Sphericity | NotComputable | None:
    """Return Mauchly's test of sphericity. Return None for a single contrast. `covariance` (p x p) is the
    covariance matrix of p orthonormal contrasts, and `df` its degrees of freedom."""
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


CONFIDENCE = 0.95


def within_intervals(table: MeasureTable) -> tuple[WithinInterval, ...]:
    """Return the within-participant interval of each condition. Only participants with a value in every
    condition are used.

    With between-subjects groups, the participants of the group that plays the condition are used. A condition
    that several groups play has no interval. There are no intervals with fewer than two participants or
    conditions.
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


#
# In the mixed ANOVA, the group is tested on participants' means. Level and interaction are tested on
# contrasts within participants, which are compared over the groups. With groups of different size, the
# level's test weighs all groups equally (type III), as R's `afex` does. The corrections for sphericity use
# the covariance of the contrasts within groups. Huynh and Feldt's epsilon is that of Lecoutre (1991).
# Generalised eta squared follows Olejnik and Algina (2003) for manipulated factors.


FEWEST = 2
"""Minimum number of participants in each group."""


@dataclass(frozen=True, slots=True)
class GroupedCases:
    """The values of the participants who have a value in every level, with their groups. `values` has shape
    (participants, levels), without gaps. `members` is the number of each participant's group.

    `left_out` lists participants who lack a value in a level of their group.
    """

    participants: tuple[str, ...]
    groups: tuple[str, ...]
    levels: tuple[str, ...]
    members: Integers
    values: Array
    left_out: tuple[ExcludedParticipant, ...]


def grouped_cases(table: MeasureTable) -> GroupedCases:
    """Return the participants who have a value in every level that has values, with their groups."""
    assert table.between is not None  # noqa: S101 - only tables with groups are asked
    between, people, group_of = table.between, dict[str, dict[str, float]](), dict[str, str]()
    for row in table.observations:
        if row.value is not None and row.group in between.groups:
            people.setdefault(row.participant, {})[between.levels[row.condition]] = row.value
            group_of[row.participant] = row.group
    known = dict.fromkeys(between.levels[one.key] for one in table.conditions)
    levels = tuple(level for level in known if any(level in values for values in people.values()))
    whole = [who for who, values in people.items() if all(level in values for level in levels)]
    gaps = [
        ExcludedParticipant(who, tuple(level for level in levels if level not in values))
        for who, values in people.items()
        if who not in whole
    ]
    rows = [[people[who][level] for level in levels] for who in whole]
    return GroupedCases(
        tuple(whole),
        between.groups,
        levels,
        np.array([between.groups.index(group_of[who]) for who in whole], dtype=int),
        np.array(rows, dtype=float).reshape(len(whole), len(levels)),
        tuple(gaps),
    )


def split_plot(table: MeasureTable) -> SplitPlot | NotComputable:
    """Test group, level and their interaction with a mixed ANOVA. Participants without a value in every
    level are left out and listed in the result. Return NotComputable if the data do not allow it."""
    cases = grouped_cases(table)
    return why_not_grouped(cases) or _split_plot(cases)


def why_not_grouped(cases: GroupedCases) -> NotComputable | None:
    """Return why the groups cannot be compared. Return None if they can."""
    if not cases.levels:
        return NotComputable("no_data", "no condition has a value")
    sizes = [int((cases.members == number).sum()) for number in range(len(cases.groups))]
    few = [group for group, size in zip(cases.groups, sizes, strict=True) if size < FEWEST]
    if few:
        return NotComputable(
            "too_few", f"fewer than two participants of the group {few[0]} have all their values"
        )
    left = centred(cases)
    spreads = [left.mean(axis=1), *([left @ helmert(left.shape[1]).T] if len(cases.levels) > 1 else [])]
    rounding = 16 * SAME * float(np.abs(cases.values).max())
    if any(are_equal(np.where(np.abs(one) <= rounding, 0.0, one)) for one in spreads):
        return NotComputable("no_variance_within", "participants of a group do not differ from one another")
    return None


def centred(cases: GroupedCases) -> Array:
    """Return the values minus the mean of their group and level. The shape is (participants, levels)."""
    return np.asarray(cases.values - _group_means(cases.values, cases.members)[cases.members])


def group_residuals(cases: GroupedCases) -> Array:
    """Return what remains of the values without the effects of participant, group and level. The shape is
    (participants, levels)."""
    left = centred(cases)
    return np.asarray(left - left.mean(axis=1, keepdims=True))


def _group_means(values: Array, members: Integers) -> Array:
    """Return the mean of each column in each group, as an array of shape (groups, columns)."""
    return np.array([values[members == number].mean(axis=0) for number in range(int(members.max()) + 1)])


def _split_plot(cases: GroupedCases) -> SplitPlot:
    n, levels = cases.values.shape
    design = factorial_design(cases.members[:, None], [len(cases.groups)])
    intercept, groups = design.places[()], design.places[(0,)]
    people = regress_contrasts(cases.values, orthonormal_contrasts((levels,), ()), design.x)
    within = regress_contrasts(cases.values, orthonormal_contrasts((levels,), (0,)), design.x)
    gg, hf = epsilons_of(within.covariance, within.df) if levels > 2 else (1.0, 1.0)
    noise = float(np.trace(people.error) + np.trace(within.error))
    effects = [_effect("group", people, groups, noise)]
    if levels > 1:
        effects += [
            _effect("level", within, intercept, noise, gg, hf),
            _effect("interaction", within, groups, noise, gg, hf),
        ]
    return SplitPlot(
        n=n,
        sizes=tuple(zip(cases.groups, map(int, np.bincount(cases.members)), strict=True)),
        levels=cases.levels,
        effects=tuple(effects),
        epsilon_gg=gg,
        epsilon_hf=hf,
        sphericity=mauchly_of(within.covariance, within.df),
        left_out=cases.left_out,
    )


def _effect(
    term: GroupTerm, stratum: ContrastRegression, places: Sequence[int], noise: float, *epsilons: float
) -> SplitPlotEffect:
    """Return the F test of one term of the mixed ANOVA. If `epsilons` is not given, its p values are not
    corrected for sphericity. `noise` is the sum of squares of both error terms."""
    squares, error = float(np.trace(stratum.hypothesis(places))), float(np.trace(stratum.error))
    df, df_error = len(places) * len(stratum.error), stratum.df * len(stratum.error)
    f = squares / df / (error / df_error)
    ps = [f_tail(f, min(each, 1.0) * df, min(each, 1.0) * df_error) for each in (1.0, *epsilons)]
    p, p_gg, p_hf = ps if epsilons else ps * 3
    return SplitPlotEffect(
        term=term,
        f=f,
        df=df,
        df_error=df_error,
        p=p,
        p_gg=p_gg,
        p_hf=p_hf,
        partial_eta_squared=squares / (squares + error),
        generalised_eta_squared=squares / (squares + noise),
    )
