"""Fit a linear mixed model of a measure on condition, position in the order of play, and carry-over.

Carry-over is the effect of the condition that was played just before. It has deviation coding (the effects
sum to 0). Each participant has a random intercept. The model is estimated by restricted maximum likelihood
(REML), and includes all participants with at least one value. Terms that the orders of play cannot separate
are left out, and the result names them. F tests have Satterthwaite's degrees of freedom, as in R's lmerTest.
"""

# Participants are random intercepts; estimation is by restricted maximum likelihood (REML). The model suits
# data with gaps: everybody with at least one value is included. Position is a slope over the positions 1, 2,
# …. Carry-over is the condition played just before, coded as deviations from their mean, and 0 in the first
# position (Jones and Kenward 2014, section 5). Terms that the orders of play cannot separate are left out and
# named.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from study.analysis.statistics.observations import AnalysisCondition, MeasureTable, NotComputable, Observation
from study.analysis.statistics.within.complete_cases import FEWEST, Array
from study.analysis.statistics.within.reml_fit import RemlFit, fit_reml, leaves_error, satterthwaite_f_test
from study.analysis.statistics.within.result_types import Effect, MixedModel, Term, UnidentifiedEffect
from study.design.analysis_plan import MOST_ROWS

TERMS: tuple[Term, ...] = ("condition", "position", "carry_over")
GROUP_TERMS: tuple[Term, ...] = ("group", "level", "interaction", "position", "carry_over")
"""The terms of a design with groups between people; the interaction is that of group and level."""
UNTOLD = {
    "position": "the position in the order follows from the condition",
    "carry_over": "the condition before follows from condition and position",
    "condition": "only one condition has values",
    "group": "only one group has values",
    "level": "only one level has values",
    "interaction": "the groups do not share two levels",
}


@dataclass(frozen=True, slots=True)
class DesignMatrix:
    """The design matrix, and the term of each column. `lost` counts, by term, the columns that were left
    out because they are linear combinations of others."""

    x: Array
    terms: tuple[str, ...]
    lost: dict[str, int]


def mixed_model(table: MeasureTable, terms: Sequence[Term] = ()) -> MixedModel | NotComputable:
    """Fit the mixed model with these terms; by default with all terms of the design. Return NotComputable if
    the data do not allow it.

    The condition is always in the model. In a design with groups, the terms group, level and interaction
    replace the condition.
    """
    terms = terms or (GROUP_TERMS if table.between else TERMS)
    rows = [row for row in table.observations if row.value is not None and _has_place(table, row)]
    known = [c for c in table.conditions if table.values(c.key)]
    people = sorted({row.participant for row in rows})
    problem = _why_not(rows, known, people)
    if problem:
        return problem
    y = np.array([row.value for row in rows], dtype=float)
    design = _design(table, rows, known, terms)
    if len(y) <= design.x.shape[1] + len(people):
        return NotComputable("too_few", "there are no more values than the model has parts")
    groups = [people.index(row.participant) for row in rows]
    if not leaves_error(y, design.x, groups):
        return NotComputable("no_variance_within", "no variance is left within participants")
    found = fit_reml(y, design.x, groups)
    return MixedModel(
        n=len(people),
        observations=len(rows),
        effects=tuple(_effect(found, design, term) for term in terms),
        variance_participant=found.variances[0],
        variance_error=found.variance_error,
        log_likelihood=found.log_likelihood,
        means=_means(found, design, table, known),
        singular=found.singular,
    )


def _has_place(table: MeasureTable, row: Observation) -> bool:
    """Return True if the participant of this row can be used in the model. In a design with
    between-subjects groups, the participant needs a group."""
    return table.between is None or row.group in table.between.groups


def _why_not(
    rows: Sequence[Observation], known: Sequence[AnalysisCondition], people: Sequence[str]
) -> NotComputable | None:
    if not rows:
        return NotComputable("no_data", "no condition has a value")
    if len(known) < 2:
        return NotComputable("one_condition", f"only {known[0].label} has values")
    if len(people) < FEWEST or len(rows) == len(people):
        return NotComputable("too_few", "fewer than three participants have values, or each has one only")
    if len(rows) > MOST_ROWS:
        return NotComputable("too_many", f"there are more than {MOST_ROWS} values")
    return None


def _design(
    table: MeasureTable,
    rows: Sequence[Observation],
    known: Sequence[AnalysisCondition],
    terms: Sequence[Term],
) -> DesignMatrix:
    """Return the linearly independent columns of the design matrix: intercept, conditions, centred
    position, and carry-over. With between-subjects groups, the conditions are coded by group, level and
    their products."""
    cells = [(row.group, row.condition) for row in rows]
    blocks: dict[str, Array] = {"intercept": np.ones((len(rows), 1)), **_compared(table, cells, known)}
    if "position" in terms:
        places = np.array([[row.order_position] for row in rows], dtype=float)
        blocks["position"] = places - (places.min() + places.max()) / 2
    if "carry_over" in terms:
        before, between = _before(table), table.between
        came = [before.get((row.participant, row.order_position), "") for row in rows]
        if between:
            came = [between.levels.get(key, "") for key in came]
            blocks["carry_over"] = _deviations(came, list(dict.fromkeys(between.levels.values())))
        else:
            blocks["carry_over"] = _deviations(came, [one.key for one in table.conditions])
    return _independent(blocks)


def _compared(
    table: MeasureTable, cells: Sequence[tuple[str, str]], known: Sequence[AnalysisCondition]
) -> dict[str, Array]:
    """Return the columns of the design matrix that code the conditions. With between-subjects groups, they
    code group, level and interaction instead.

    Each of the `cells` is a pair: a group and the key of a condition.
    """
    between = table.between
    if between is None:
        return {"condition": _deviations([key for _, key in cells], [one.key for one in known])}
    there = {row.group for row in table.observations if row.value is not None}
    group = _deviations([whose for whose, _ in cells], [one for one in between.groups if one in there])
    levels = list(dict.fromkeys(between.levels[one.key] for one in known))
    level = _deviations([between.levels[key] for _, key in cells], levels)
    products = (group[:, :, None] * level[:, None, :]).reshape(len(cells), -1)
    return {"group": group, "level": level, "interaction": products}


def _before(table: MeasureTable) -> dict[tuple[str, int], str]:
    """Return which condition each participant played directly before each position, by (participant,
    position). That condition may have no value."""
    return {(row.participant, row.order_position + 1): row.condition for row in table.observations}


def _deviations(keys: Sequence[str], known: Sequence[str]) -> Array:
    """Return the keys in deviation coding, as an array of shape (values, number of known keys - 1).

    The last known key is coded as -1 in all columns. A key that is not known is coded as 0 in all columns.
    """
    last = known[-1]
    return np.array(
        [[float(key == one) - float(key == last) for one in known[:-1]] for key in keys], dtype=float
    ).reshape(len(keys), len(known) - 1)


def _independent(blocks: dict[str, Array]) -> DesignMatrix:
    """Return the columns of these blocks that do not depend linearly on earlier columns."""
    columns: list[Array] = []
    basis: list[Array] = []
    terms: list[str] = []
    lost: dict[str, int] = {}
    for term, block in blocks.items():
        for column in block.T:
            left = column.astype(float)
            for direction in [*basis, *basis]:
                left = left - (direction @ left) * direction
            size = float(np.linalg.norm(left))
            if size <= 1e-8 * max(float(np.linalg.norm(column)), 1e-8):
                lost[term] = lost.get(term, 0) + 1
                continue
            basis.append(left / size)
            columns.append(column)
            terms.append(term)
    return DesignMatrix(np.column_stack(columns), tuple(terms), lost)


def _effect(found: RemlFit, design: DesignMatrix, term: Term) -> Effect | UnidentifiedEffect:
    rows = np.eye(len(design.terms))[[place for place, one in enumerate(design.terms) if one == term]]
    if not len(rows):
        return UnidentifiedEffect(term, NotComputable("confounded", UNTOLD[term]))
    f, df, df_error, p = satterthwaite_f_test(found, rows)
    return Effect(term, f, df, df_error, p, design.lost.get(term, 0))


def _means(
    found: RemlFit, design: DesignMatrix, table: MeasureTable, known: Sequence[AnalysisCondition]
) -> tuple[tuple[str, float, float], ...]:
    """Return (condition key, estimated mean, standard error) for each condition, at the middle position.

    For a condition that all groups play, the mean is taken over the groups. If a group lacks a level, the
    result is empty.
    """
    played_by = table.between.played_by if table.between else {}
    blocks = _compared(table, [(played_by.get(c.key, ""), c.key) for c in known], known)
    columns = np.column_stack([np.ones(len(known)), *blocks.values()])
    places = [i for i, one in enumerate(design.terms) if one == "intercept" or one in blocks]
    if len(places) < columns.shape[1]:
        return ()
    means = []
    for condition, weights in zip(known, columns, strict=True):
        row = np.zeros(len(design.terms))
        row[places] = weights
        error = float(np.sqrt(row @ found.covariance @ row))
        means.append((condition.key, float(row @ found.estimates), error))
    return tuple(means)
