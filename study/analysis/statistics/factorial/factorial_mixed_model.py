"""Fit a linear mixed model of a factorial design, which may have gaps, with optional covariates.

The fixed effects are those of the ANOVA: the full factorial in deviation coding, so tests are of type III.
Participants have random intercepts. With two or more factors within participants, so has each participant at
each level of such a factor. Such intercepts are random slopes of equal variance: a participant's deviations
at all levels of the factor have the same variance, and are independent. F tests have Satterthwaite's degrees
of freedom. The numbers are those of R's `lmerTest` for `(1 | person) + (1 | person:factor)`. If cells have no
values, effects are tested by the contrasts that can be estimated, see `estimable_effects`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from study.analysis.statistics.factorial.cell_means import PlannedCellContrast, why_no_contrast
from study.analysis.statistics.factorial.estimable_effects import EstimableDesign, estimable_design
from study.analysis.statistics.factorial.factorial_cases import (
    FEWEST_PER_CELL,
    Cell,
    FactorialRow,
    cells_of,
    check_rows,
    levels_in,
    observed_factors,
)
from study.analysis.statistics.factorial.factorial_results import (
    CovariateEffect,
    MarginalMean,
    Term,
    UntestedEffect,
)
from study.analysis.statistics.factorial.mixed_model_results import (
    FactorialMixedModel,
    MixedContrast,
    MixedEffect,
    RandomIntercept,
)
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.complete_cases import FEWEST, Array, are_equal
from study.analysis.statistics.within.equivalence_results import Equivalence
from study.analysis.statistics.within.paired_contrasts import CONFIDENCE, holm_adjusted
from study.analysis.statistics.within.reml_fit import (
    RemlFit,
    explain_all_values,
    fit_reml,
    leaves_error,
    satterthwaite_df,
    satterthwaite_f_test,
)
from study.analysis.statistics.within.result_types import ExcludedParticipant, UncomputedContrast
from study.analysis.statistics.within.two_one_sided_tests import planned_equivalence
from study.analysis.statistics.within.type_three_sums import (
    Integers,
    Subset,
    factorial_design,
    subsets,
)
from study.design.analysis_plan import MOST_ROWS


@dataclass(frozen=True, slots=True)
class ModelRows:
    """The rows that a model uses: those with a value and all covariates. `people` numbers the participant of
    each row, `levels` (rows x factors) the levels. `covariates` has shape (rows, covariates)."""

    participants: tuple[str, ...]
    between: tuple[AnalysisFactor, ...]
    within: tuple[AnalysisFactor, ...]
    people: Integers
    levels: Integers
    values: Array
    covariates: Array
    left_out: tuple[ExcludedParticipant, ...]

    @property
    def factors(self) -> tuple[AnalysisFactor, ...]:
        """Return all factors: those between participants first."""
        return self.between + self.within

    @property
    def counts(self) -> list[int]:
        """Return the number of levels of each factor."""
        return [len(one.levels) for one in self.factors]

    @property
    def design(self) -> EstimableDesign:
        """Return the design matrix of all factors and their interactions, with what tests each effect."""
        return estimable_design(self.levels, self.counts)

    def term(self, effect: Subset) -> Term:
        """Return the keys of an effect's factors."""
        return tuple(self.factors[number].key for number in effect)


def model_rows(
    rows: Sequence[FactorialRow],
    between: Sequence[AnalysisFactor],
    within: Sequence[AnalysisFactor],
    covariates: Sequence[str] = (),
) -> ModelRows:
    """Return the rows that have a value and every covariate, for a model with gaps. Levels without any value
    are left out of their factor. Raises the errors of `check_rows`."""
    check_rows(rows, between, within)
    used = [row for row in rows if row.value is not None and set(covariates) <= set(row.covariates)]
    used.sort(key=lambda row: row.participant)
    between, within = observed_factors(used, between), observed_factors(used, within)
    factors = [*between, *within]
    participants = sorted({row.participant for row in used})
    numbers = {who: number for number, who in enumerate(participants)}
    levels = [[f.levels.index(v) for f, v in zip(factors, levels_in(r, factors), strict=True)] for r in used]
    lost = sorted({row.participant for row in rows} - set(participants))
    return ModelRows(
        tuple(participants),
        between,
        within,
        np.array([numbers[row.participant] for row in used], dtype=int),
        np.array(levels, dtype=int).reshape(len(used), len(factors)),
        np.array([row.value for row in used], dtype=float),
        np.array([[row.covariates[name] for name in covariates] for row in used], dtype=float).reshape(
            len(used), len(covariates)
        ),
        tuple(ExcludedParticipant(who, ("any cell", *covariates)) for who in lost),
    )


def why_not_modelled(data: ModelRows) -> NotComputable | None:
    """Return why a mixed model of these rows cannot be fitted. Return None if nothing speaks against it."""
    if not data.factors:
        return NotComputable("no_data", "no cell of the design has a value")
    for factor in data.factors:
        if len(factor.levels) < 2:
            return NotComputable("one_condition", f"{factor.key} has values at {factor.levels[0]} only")
    if len(data.participants) < FEWEST:
        return NotComputable("too_few", "fewer than three participants have values")
    if len(data.values) > MOST_ROWS:
        return NotComputable("too_many", f"there are more than {MOST_ROWS} values")
    if are_equal(data.values):
        return NotComputable("no_variance", "all values are the same")
    return _why_thin_cells(data)


def _why_thin_cells(data: ModelRows) -> NotComputable | None:
    """Return why the cells between participants have too few participants. Return None if they have
    enough."""
    own = {who: tuple(row[: len(data.between)]) for who, row in zip(data.people, data.levels, strict=True)}
    sizes = np.unique(np.array(list(own.values())).reshape(len(own), -1), axis=0, return_counts=True)[1]
    if data.between and sizes.min() < FEWEST_PER_CELL:
        return NotComputable("too_few", "a cell has fewer than two participants")
    return None


def linear_mixed_model(
    rows: Sequence[FactorialRow],
    between: Sequence[AnalysisFactor],
    within: Sequence[AnalysisFactor] = (),
    covariates: Sequence[str] = (),
    planned: Sequence[PlannedCellContrast] = (),
) -> FactorialMixedModel | NotComputable:
    """Fit a linear mixed model with all effects of the design and the named covariates of the rows. Test the
    planned contrasts, and correct their p values together after Holm.

    Everybody with at least one value is included. A random term that is estimated as 0 or that does not
    converge is dropped; the result says so. Return NotComputable if the data do not allow the model. Raises
    the errors of `check_rows`, and DefinitionError for a contrast whose weights do not sum to 0.
    """
    data = model_rows(rows, between, within, covariates)
    problem = why_not_modelled(data)
    if problem:
        return problem
    design = data.design
    kept = independent_covariates(design.x, data.covariates)
    x = np.column_stack([design.x, centred(data.covariates)[:, kept]])
    terms = _nested(data)
    nested = list(terms.values())
    if len(data.values) <= x.shape[1] + 1 or not leaves_error(data.values, x, data.people.tolist(), nested):
        return NotComputable("no_variance_within", "the model leaves no variance within participants")
    fit = fit_reml(data.values, x, data.people.tolist(), nested)
    return FactorialMixedModel(
        n=len(data.participants),
        observations=len(data.values),
        effects=_effects(data, design, fit),
        covariates=_covariate_effects(fit, covariates, kept, design.x.shape[1]),
        random=_random(data, fit, list(terms)),
        variance_error=fit.variance_error,
        log_likelihood=fit.log_likelihood,
        means=_means(data, design, fit),
        contrasts=_contrasts(data, design, fit, planned),
        left_out=data.left_out,
        missing_cells=_missing_cells(data, design),
    )


def centred(covariates: Array) -> Array:
    """Return covariates (rows x covariates) minus their means."""
    return np.asarray(covariates - covariates.mean(axis=0, keepdims=True))


def independent_covariates(x: Array, covariates: Array) -> list[int]:
    """Return the numbers of the covariates that do not depend linearly on the columns of `x` and earlier
    covariates."""
    kept: list[int] = []
    for number in range(covariates.shape[1]):
        known = np.column_stack([x, centred(covariates)[:, kept]])
        column = centred(covariates)[:, number]
        left = column - known @ np.linalg.lstsq(known, column, rcond=None)[0]
        if float(np.linalg.norm(left)) > 1e-8 * max(float(np.linalg.norm(column)), 1e-8):
            kept.append(number)
    return kept


def _nested(data: ModelRows) -> dict[str, list[int]]:
    """Return the level numbers of each factor within participants that has random intercepts, by key: of all,
    if there are two or more such factors.

    If these intercepts explain every possible value, the factor with the most of them has none.
    """
    first, people = len(data.between), data.people.tolist()
    if len(data.within) < 2:
        return {}
    found = {one.key: data.levels[:, first + i].tolist() for i, one in enumerate(data.within)}
    while found and explain_all_values(people, list(found.values())):
        del found[max(found, key=lambda key: len(set(zip(people, found[key], strict=True))))]
    return found


def _random(data: ModelRows, fit: RemlFit, nested: Sequence[str]) -> tuple[RandomIntercept, ...]:
    why = dict(fit.dropped)
    found = {
        name: RandomIntercept(name, variance, why.get(number, ""))
        for number, (name, variance) in enumerate(zip(["", *nested], fit.variances, strict=True))
    }
    names = ["", *(one.key for one in data.within if len(data.within) > 1)]
    return tuple(found.get(name) or RandomIntercept(name, 0.0, "unidentified") for name in names)


def _effects(
    data: ModelRows, design: EstimableDesign, fit: RemlFit
) -> tuple[MixedEffect | UntestedEffect, ...]:
    found: list[MixedEffect | UntestedEffect] = []
    for effect, weights in design.tests.items():
        if not len(weights):
            found.append(UntestedEffect(data.term(effect), NOT_ESTIMABLE))
            continue
        rows = np.hstack([weights, np.zeros((len(weights), len(fit.estimates) - weights.shape[1]))])
        found.append(
            MixedEffect(data.term(effect), *satterthwaite_f_test(fit, rows), lost=design.lost[effect])
        )
    return tuple(found)


NOT_ESTIMABLE = NotComputable(
    "confounded", "cells of the design have no values, so it cannot be separated from other effects"
)


def _missing_cells(data: ModelRows, design: EstimableDesign) -> tuple[Cell, ...]:
    """Return the cells of the design without a value."""
    places = np.ndindex(*data.counts)
    return tuple(
        cell for cell, place in zip(cells_of(data.factors), places, strict=True) if place not in design.cells
    )


def _covariate_effects(
    fit: RemlFit, names: Sequence[str], kept: Sequence[int], first: int
) -> tuple[CovariateEffect | UntestedEffect, ...]:
    """Return the tests of the covariates. The columns of those in `kept` begin at `first`."""
    found: list[CovariateEffect | UntestedEffect] = []
    for number, name in enumerate(names):
        if number not in kept:
            found.append(UntestedEffect((name,), CONFOUNDED))
            continue
        place = first + kept.index(number)
        slope, variance = float(fit.estimates[place]), float(fit.covariance[place, place])
        f, df = slope**2 / variance, satterthwaite_df(fit, np.eye(len(fit.estimates))[place], variance)
        p = float(f_distribution.sf(f, 1, df))
        found.append(CovariateEffect(name, slope, variance**0.5, f, df, p))
    return tuple(found)


CONFOUNDED = NotComputable("confounded", "it does not vary, or follows from the factors and other covariates")


def _means(data: ModelRows, design: EstimableDesign, fit: RemlFit) -> dict[Term, tuple[MarginalMean, ...]]:
    """Return the marginal means of every effect. A mean over a cell without values is left out."""
    found = {}
    for term in subsets(len(data.factors))[1:]:
        factors, keys, means = [data.factors[number] for number in term], data.term(term), []
        for cell in cells_of(factors):
            places = [one.levels.index(level) for one, level in zip(factors, cell, strict=True)]
            weights = design.mean_weights(data.counts, term, places)
            if weights is not None:
                means.append(_mean(fit, weights, tuple(zip(keys, cell, strict=True))))
        found[keys] = tuple(means)
    return found


def marginal_weights(
    factors: Sequence[AnalysisFactor], terms: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Array]:
    """Return the weights of the design's columns for the marginal means of each term, by the term.

    Each array has shape (cells of the term, columns). A term is the numbers of its factors.
    """
    counts = [len(one.levels) for one in factors]
    places = np.array(list(np.ndindex(*counts)), dtype=int)
    whole = factorial_design(places, counts).x.reshape(*counts, -1)
    return {
        term: whole.mean(axis=tuple(i for i in range(len(counts)) if i not in term)).reshape(
            -1, whole.shape[-1]
        )
        for term in terms
    }


def _mean(fit: RemlFit, weights: Array, levels: tuple[tuple[str, str], ...]) -> MarginalMean:
    mean, se, df, half = _weighted_sum(fit, weights)
    return MarginalMean(levels, mean, se, df, mean - half, mean + half)


def _weighted_sum(fit: RemlFit, weights: Array) -> tuple[float, float, float, float]:
    """Return a weighted sum of the estimates: its value, standard error, degrees of freedom, and half the
    width of its 95 % interval. Estimates without a weight have 0."""
    row = np.concatenate([weights, np.zeros(len(fit.estimates) - len(weights))])
    variance = float(row @ fit.covariance @ row)
    df = satterthwaite_df(fit, row, variance)
    reach = float(t_distribution.ppf((1 + CONFIDENCE) / 2, df))
    return float(row @ fit.estimates), variance**0.5, df, reach * variance**0.5


def _contrasts(
    data: ModelRows, design: EstimableDesign, fit: RemlFit, planned: Sequence[PlannedCellContrast]
) -> tuple[MixedContrast | UncomputedContrast, ...]:
    places = zip(cells_of(data.factors), np.ndindex(*data.counts), strict=True)
    cells = {cell: design.cells[place] for cell, place in places if place in design.cells}
    found: list[MixedContrast | UncomputedContrast] = []
    for one in planned:
        problem = why_no_contrast(one, cells)
        found.append(problem or _contrast(fit, one, cells))
    adjusted = iter(holm_adjusted([one.p for one in found if isinstance(one, MixedContrast)]))
    return tuple(
        replace(one, p_adjusted=next(adjusted)) if isinstance(one, MixedContrast) else one for one in found
    )


def _contrast(fit: RemlFit, planned: PlannedCellContrast, cells: Mapping[Cell, Array]) -> MixedContrast:
    used = [weight * cells[cell] for cell, weight in planned.weights.items() if weight]
    estimate, se, df, half = _weighted_sum(fit, np.sum(used, axis=0))
    t = estimate / se
    p = float(2 * t_distribution.sf(abs(t), df))
    equivalence: Equivalence | NotComputable | None = NO_DEVIATION
    if planned.margin is None or planned.margin.unit == "raw":
        equivalence = planned_equivalence((), estimate, se, df, planned.margin, 1.0)
    return MixedContrast(
        planned.name, estimate, se, t, df, p, p, estimate - half, estimate + half, equivalence
    )


NO_DEVIATION = NotComputable(
    "no_fit", "a mixed model has no single standard deviation for d; plan a margin in the measure's unit"
)
