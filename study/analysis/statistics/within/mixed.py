"""The linear mixed model of a measure: condition, position in the order and carry-over, participant random.

For data with gaps: everybody with at least one value counts. Position is a slope over the order from 1.
Carry-over is the condition played just before, in deviations from their mean, 0 in the first place (Jones and
Kenward 2014, section 5). What an order does not tell apart is left out, and named: conditions that all played
in one order cannot be told from their positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from study.analysis.statistics.rows import AnalysisCondition, Observation
from study.analysis.statistics.table import MeasureTable, NotComputable
from study.analysis.statistics.within.cells import FEWEST, Array
from study.analysis.statistics.within.reml import Fit, f_test, fit
from study.analysis.statistics.within.results import Effect, Mixed, NoEffect, Term
from study.design.testing import MOST_ROWS

TERMS: tuple[Term, ...] = ("condition", "position", "carry_over")
UNTOLD = {
    "position": "the position in the order follows from the condition",
    "carry_over": "the condition before follows from condition and position",
    "condition": "only one condition has values",
}


@dataclass(frozen=True, slots=True)
class Design:
    """Columns with the term each belongs to; `lost` counts those that followed from others."""

    x: Array
    terms: tuple[str, ...]
    lost: dict[str, int]


def mixed_model(table: MeasureTable, terms: Sequence[Term] = TERMS) -> Mixed | NotComputable:
    """Fit the model with these terms; the condition is always among them."""
    rows = [row for row in table.observations if row.value is not None]
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
    whole = np.column_stack([design.x, np.eye(len(people))[groups]])
    left = y - whole @ np.linalg.lstsq(whole, y, rcond=None)[0]
    if float(left @ left) <= 1e-20 * max(float(y @ y), 1e-280):
        return NotComputable("no_variance_within", "no variance is left within participants")
    found = fit(y, design.x, groups)
    return _result(found, design, known, len(people), len(rows), terms)


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
) -> Design:
    """Intercept, conditions, position around its middle, carry-over: independent columns."""
    before = _before(table)
    blocks: dict[str, Array] = {
        "intercept": np.ones((len(rows), 1)),
        "condition": _deviations([row.condition for row in rows], known),
    }
    if "position" in terms:
        places = np.array([[row.order_position] for row in rows], dtype=float)
        blocks["position"] = places - (places.min() + places.max()) / 2
    if "carry_over" in terms:
        blocks["carry_over"] = _deviations(
            [before.get((row.participant, row.order_position), "") for row in rows], table.conditions
        )
    return _independent(blocks)


def _before(table: MeasureTable) -> dict[tuple[str, int], str]:
    """By participant and position, the condition played in the position before, whether it has a value on
    this measure or not."""
    return {(row.participant, row.order_position + 1): row.condition for row in table.observations}


def _deviations(keys: Sequence[str], known: Sequence[AnalysisCondition]) -> Array:
    """A column for each condition but the last, which is minus 1 in all; no condition is 0 in all."""
    last = known[-1].key
    return np.array(
        [[float(key == one.key) - float(key == last) for one in known[:-1]] for key in keys], dtype=float
    ).reshape(len(keys), len(known) - 1)


def _independent(blocks: dict[str, Array]) -> Design:
    """The columns one after the other, without those that follow from the ones before."""
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
    return Design(np.column_stack(columns), tuple(terms), lost)


def _result(
    found: Fit,
    design: Design,
    known: Sequence[AnalysisCondition],
    people: int,
    rows: int,
    terms: Sequence[Term],
) -> Mixed:
    return Mixed(
        n=people,
        observations=rows,
        effects=tuple(_effect(found, design, term) for term in terms),
        variance_participant=found.variance_group,
        variance_error=found.variance_error,
        log_likelihood=found.log_likelihood,
        means=_means(found, design, known),
        singular=found.singular,
    )


def _effect(found: Fit, design: Design, term: Term) -> Effect | NoEffect:
    rows = np.eye(len(design.terms))[[place for place, one in enumerate(design.terms) if one == term]]
    if not len(rows):
        return NoEffect(term, NotComputable("confounded", UNTOLD[term]))
    f, df, df_error, p = f_test(found, rows)
    return Effect(term, f, df, df_error, p, design.lost.get(term, 0))


def _means(
    found: Fit, design: Design, known: Sequence[AnalysisCondition]
) -> tuple[tuple[str, float, float], ...]:
    """The estimated mean of every condition at the middle position, with its standard error."""
    places = [i for i, one in enumerate(design.terms) if one == "condition"]
    means = []
    for condition, weights in zip(known, _deviations([c.key for c in known], known), strict=True):
        row = np.zeros(len(design.terms))
        row[0], row[places] = 1.0, weights
        error = float(np.sqrt(row @ found.covariance @ row))
        means.append((condition.key, float(row @ found.estimates), error))
    return tuple(means)
