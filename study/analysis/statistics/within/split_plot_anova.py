"""Compute the mixed (split-plot) ANOVA: between-subjects groups, and levels that everybody plays.

The group is tested on participants' means. Level and interaction are tested on contrasts within participants,
which are compared over the groups. With groups of different size, the level's test weighs all groups equally
(type III), as R's `afex` does. The corrections for sphericity use the covariance of the contrasts within
groups. Huynh and Feldt's epsilon is that of Lecoutre (1991). Generalised eta squared follows Olejnik and
Algina (2003) for manipulated factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from study.analysis.statistics.observations import SAME, MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import Array, are_equal
from study.analysis.statistics.within.repeated_measures_anova import (
    epsilons_of,
    f_tail,
    mauchly_of,
)
from study.analysis.statistics.within.result_types import (
    ExcludedParticipant,
    GroupTerm,
    SplitPlot,
    SplitPlotEffect,
)

FEWEST = 2
"""Minimum number of participants in each group."""


@dataclass(frozen=True, slots=True)
class GroupedCases:
    """The values of participants who have one in every level, with their groups. `values` has shape
    (participants, levels), without gaps. `members` is the number of each participant's group.

    `left_out` lists participants who lack a value in a level of their group.
    """

    participants: tuple[str, ...]
    groups: tuple[str, ...]
    levels: tuple[str, ...]
    members: Array
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
    """Return why the groups cannot be compared; None if they can."""
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


def _group_means(values: Array, members: Array) -> Array:
    """Return the means by group: groups x columns."""
    return np.array([values[members == number].mean(axis=0) for number in range(int(members.max()) + 1)])


def _split_plot(cases: GroupedCases) -> SplitPlot:
    n, levels = cases.values.shape
    a, free = len(cases.groups), n - len(cases.groups)
    sizes = np.bincount(cases.members)
    averages = cases.values.mean(axis=1, keepdims=True) * np.sqrt(levels)
    between, people = _between(averages, cases.members)
    contrasts = cases.values @ helmert(levels).T
    interaction, error = _between(contrasts, cases.members)
    means = _group_means(contrasts, cases.members).mean(axis=0)
    level = float((means**2).sum() * a**2 / (1 / sizes).sum())
    covariance = centred(cases) @ helmert(levels).T
    covariance = covariance.T @ covariance / free
    gg, hf = epsilons_of(covariance, free) if levels > 2 else (1.0, 1.0)
    noise = people + error
    effects = [_effect("group", between, a - 1, people, free, noise)]
    if levels > 1:
        within = (free * (levels - 1), noise, gg, hf)
        effects += [
            _effect("level", level, levels - 1, error, *within),
            _effect("interaction", interaction, (levels - 1) * (a - 1), error, *within),
        ]
    return SplitPlot(
        n=n,
        sizes=tuple(zip(cases.groups, map(int, sizes), strict=True)),
        levels=cases.levels,
        effects=tuple(effects),
        epsilon_gg=gg,
        epsilon_hf=hf,
        sphericity=mauchly_of(covariance, free),
        left_out=cases.left_out,
    )


def _between(columns: Array, members: Array) -> tuple[float, float]:
    """Return the sums of squares between groups and within them, over all columns."""
    means = _group_means(columns, members)
    within = float(((columns - means[members]) ** 2).sum())
    return float(((means[members] - columns.mean(axis=0)) ** 2).sum()), within


def _effect(
    term: GroupTerm,
    squares: float,
    df: int,
    error: float,
    df_error: int,
    noise: float,
    *epsilons: float,
) -> SplitPlotEffect:
    """Return one test; without epsilons nothing is corrected."""
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
