"""Fit a linear mixed model of a factorial design, which may have gaps, with optional covariates.

The fixed effects are those of the ANOVA: the full factorial in deviation coding, so tests are of type III.
Participants have random intercepts. With two or more factors within participants, so has each participant at
each level of such a factor. Such intercepts are random slopes of equal variance: a participant's deviations
at all levels of the factor have the same variance, and are independent. F tests have Satterthwaite's degrees
of freedom. The numbers are those of R's `lmerTest` for `(1 | person) + (1 | person:factor)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from study.analysis.statistics.factorial.cell_means import PlannedCellContrast, why_no_contrast
from study.analysis.statistics.factorial.factorial_cases import (
    CROSS,
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
from study.analysis.statistics.within.paired_contrasts import CONFIDENCE, holm_adjusted
from study.analysis.statistics.within.reml_fit import (
    RemlFit,
    fit_reml,
    leaves_error,
    satterthwaite_df,
    satterthwaite_f_test,
)
from study.analysis.statistics.within.result_types import ExcludedParticipant, UncomputedContrast
from study.analysis.statistics.within.type_three_sums import (
    FactorialDesign,
    Integers,
    deviation_codes,
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
    def design(self) -> FactorialDesign:
        """Return the design matrix of all factors and their interactions."""
        return factorial_design(self.levels, [len(one.levels) for one in self.factors])


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
    """Return the first cell without a value, or with too few participants between them."""
    played = {tuple(row) for row in data.levels.tolist()}
    for place in np.ndindex(*(len(one.levels) for one in data.factors)):
        if place not in played:
            names = CROSS.join(one.levels[at] for one, at in zip(data.factors, place, strict=True))
            return NotComputable("no_data", f"no participant has a value in {names}")
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
    nested = _nested(data)
    if len(data.values) <= x.shape[1] + 1 or not leaves_error(data.values, x, data.people.tolist(), nested):
        return NotComputable("no_variance_within", "the model leaves no variance within participants")
    fit = fit_reml(data.values, x, data.people.tolist(), nested)
    return FactorialMixedModel(
        n=len(data.participants),
        observations=len(data.values),
        effects=_effects(data, design, fit),
        covariates=_covariate_effects(fit, covariates, kept, design.x.shape[1]),
        random=_random(data, fit),
        variance_error=fit.variance_error,
        log_likelihood=fit.log_likelihood,
        means=_means(data, fit),
        contrasts=_contrasts(data, fit, planned),
        left_out=data.left_out,
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


def _nested(data: ModelRows) -> list[list[int]]:
    """Return the level numbers of each factor within participants, if there are two or more such factors."""
    first = len(data.between)
    return (
        [data.levels[:, first + i].tolist() for i in range(len(data.within))] if len(data.within) > 1 else []
    )


def _random(data: ModelRows, fit: RemlFit) -> tuple[RandomIntercept, ...]:
    why = dict(fit.dropped)
    names = ["", *(one.key for one in data.within)][: len(fit.variances)]
    return tuple(
        RandomIntercept(name, variance, why.get(number, ""))
        for number, (name, variance) in enumerate(zip(names, fit.variances, strict=True))
    )


def _effects(data: ModelRows, design: FactorialDesign, fit: RemlFit) -> tuple[MixedEffect, ...]:
    found = []
    for effect, places in design.places.items():
        if effect:
            factors = [data.factors[number] for number in effect]
            tested = satterthwaite_f_test(fit, _differences(factors) @ np.eye(len(fit.estimates))[places])
            found.append(MixedEffect(tuple(one.key for one in factors), *tested))
    return tuple(found)


def _differences(factors: Sequence[AnalysisFactor]) -> Array:
    """Return what tests an effect: for each factor its levels minus the first, as weights of its columns.

    F is the same for other weights that test the effect. The denominator's degrees of freedom are not; these
    are the weights of lmerTest.
    """
    found = np.ones((1, 1))
    for factor in factors:
        codes = deviation_codes(np.arange(len(factor.levels)), len(factor.levels))
        found = np.kron(found, codes[1:] - codes[0])
    return found


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


def _means(data: ModelRows, fit: RemlFit) -> dict[Term, tuple[MarginalMean, ...]]:
    terms = [one for one in subsets(len(data.factors)) if one]
    weights = marginal_weights(data.factors, terms)
    found = {}
    for term in terms:
        factors = [data.factors[number] for number in term]
        keys = tuple(one.key for one in factors)
        cells = cells_of(factors)
        found[keys] = tuple(
            _mean(fit, row, tuple(zip(keys, cell, strict=True)))
            for cell, row in zip(cells, weights[term], strict=True)
        )
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
    data: ModelRows, fit: RemlFit, planned: Sequence[PlannedCellContrast]
) -> tuple[MixedContrast | UncomputedContrast, ...]:
    whole = tuple(range(len(data.factors)))
    cells = dict(zip(cells_of(data.factors), marginal_weights(data.factors, [whole])[whole], strict=True))
    found: list[MixedContrast | UncomputedContrast] = []
    for one in planned:
        problem = why_no_contrast(one, data.factors)
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
    return MixedContrast(planned.name, estimate, se, t, df, p, p, estimate - half, estimate + half)
