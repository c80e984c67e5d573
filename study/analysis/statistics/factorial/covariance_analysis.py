"""Compute the analysis of covariance (ANCOVA) of a design between participants.

All cells have the same slopes of the covariates. Sums of squares are of type III. Adjusted means and
contrasts are at the mean of each covariate. The numbers are those of R's `car::Anova` and `emmeans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.stats import t as t_distribution

from study.analysis.statistics.factorial.cell_means import (
    PlannedCellContrast,
    correct_contrasts,
    t_test_of_contrast,
    why_no_contrast,
)
from study.analysis.statistics.factorial.factorial_cases import FactorialCases, cells_of, why_not_factorial
from study.analysis.statistics.factorial.factorial_mixed_model import (
    CONFOUNDED,
    centred,
    independent_covariates,
    marginal_weights,
)
from study.analysis.statistics.factorial.factorial_results import (
    Ancova,
    AncovaEffect,
    CellContrast,
    CovariateEffect,
    MarginalMean,
    Term,
    UntestedEffect,
)
from study.analysis.statistics.observations import DefinitionError, NotComputable
from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.paired_contrasts import CONFIDENCE
from study.analysis.statistics.within.repeated_measures_anova import f_tail
from study.analysis.statistics.within.result_types import UncomputedContrast
from study.analysis.statistics.within.type_three_sums import (
    ContrastRegression,
    factorial_design,
    regress_contrasts,
    subsets,
)

SLOPES: Term = ("slopes",)
"""The name of the test whether slopes differ between cells."""
ONE_CELL = np.ones((1, 1))


def ancova(cases: FactorialCases, planned: Sequence[PlannedCellContrast] = ()) -> Ancova | NotComputable:
    """Test all effects of the factors and the covariates of the cases, and planned contrasts of the adjusted
    means of cells. Return NotComputable if the data do not allow it. Raises DefinitionError for a design with
    factors within participants."""
    if cases.within:
        raise DefinitionError("an analysis of covariance has factors between participants only")
    problem = why_not_factorial(cases)
    if problem:
        return problem
    design = factorial_design(cases.members, [len(factor.levels) for factor in cases.between])
    kept = independent_covariates(design.x, cases.covariates)
    slopes = centred(cases.covariates)[:, kept]
    x = np.column_stack([design.x, slopes])
    if len(x) <= x.shape[1]:
        return NotComputable("too_few", "there are no more participants than cells and covariates")
    found = regress_contrasts(cases.values, ONE_CELL, x)
    if not found.error[0, 0] > 0:
        return NotComputable(
            "no_variance_within", "participants of a cell do not differ beyond the covariates"
        )
    terms = {one: tuple(cases.between[number].key for number in one) for one in subsets(len(cases.between))}
    return Ancova(
        n=len(x),
        effects=tuple(_effect(found, terms[one], places) for one, places in design.places.items() if one),
        covariates=_covariates(found, cases.covariate_names, kept, design.x.shape[1]),
        unequal_slopes=_unequal_slopes(cases, found, x, slopes, design.x),
        ss_error=float(found.error[0, 0]),
        df_error=found.df,
        means=_adjusted_means(cases, found),
        left_out=cases.left_out,
        contrasts=correct_contrasts([_adjusted_contrast(cases, found, one) for one in planned]),
    )


def _adjusted_contrast(
    cases: FactorialCases, found: ContrastRegression, planned: PlannedCellContrast
) -> CellContrast | UncomputedContrast:
    """Return a contrast of the cells' means at the mean of each covariate. The standard deviation of the
    residuals standardises it."""
    cells = cells_of(cases.between)
    problem = why_no_contrast(planned, cells)
    if problem:
        return problem
    every = tuple(range(len(cases.between)))
    weights = np.array([planned.weights.get(cell, 0.0) for cell in cells])
    own = weights @ marginal_weights(cases.between, [every])[every]
    estimate, se = _weighted_sum(found, own)
    sd = sqrt(float(found.covariance[0, 0])) * float(abs(weights).sum()) / 2
    return t_test_of_contrast(planned, estimate, se, found.df, sd)


def _weighted_sum(found: ContrastRegression, own: Array) -> tuple[float, float]:
    """Return a weighted sum of the estimates, and its standard error. Estimates without a weight have 0."""
    row = np.concatenate([own, np.zeros(len(found.estimates) - len(own))])
    variance = float(row @ found.unscaled @ row) * float(found.covariance[0, 0])
    return float(row @ found.estimates[:, 0]), sqrt(variance)


def _effect(found: ContrastRegression, term: Term, places: Sequence[int]) -> AncovaEffect:
    return _f_test(term, float(found.hypothesis(places)[0, 0]), len(places), found)


def _f_test(term: Term, ss: float, df: int, found: ContrastRegression) -> AncovaEffect:
    """Return the F test of a sum of squares against the error of a regression."""
    error = float(found.error[0, 0])
    f = ss / df / (error / found.df)
    return AncovaEffect(term, ss, f, df, found.df, f_tail(f, df, found.df), ss / (ss + error))


def _covariates(
    found: ContrastRegression, names: Sequence[str], kept: Sequence[int], first: int
) -> tuple[CovariateEffect | UntestedEffect, ...]:
    """Return the tests of the covariates. The columns of those in `kept` begin at `first`."""
    tests: list[CovariateEffect | UntestedEffect] = []
    for number, name in enumerate(names):
        if number not in kept:
            tests.append(UntestedEffect((name,), CONFOUNDED))
            continue
        place = first + kept.index(number)
        slope = float(found.estimates[place, 0])
        se = sqrt(float(found.unscaled[place, place] * found.covariance[0, 0]))
        f = (slope / se) ** 2
        tests.append(CovariateEffect(name, slope, se, f, found.df, f_tail(f, 1, found.df)))
    return tuple(tests)


def _unequal_slopes(
    cases: FactorialCases, found: ContrastRegression, x: Array, slopes: Array, cells: Array
) -> AncovaEffect | UntestedEffect:
    """Test whether slopes differ between cells: compare the model with one that has a slope for each cell.

    `x` are the columns of the model, `slopes` those of the covariates, and `cells` those of the factors.
    """
    products = (slopes[:, :, None] * cells[:, None, 1:]).reshape(len(x), -1)
    whole = np.column_stack([x, products])
    if not products.shape[1]:
        return UntestedEffect(SLOPES, CONFOUNDED)
    if np.linalg.matrix_rank(whole) < whole.shape[1] or len(whole) <= whole.shape[1]:
        return UntestedEffect(SLOPES, NotComputable("too_few", "there are too few participants in the cells"))
    larger = regress_contrasts(cases.values, ONE_CELL, whole)
    if not larger.error[0, 0] > 0:
        return UntestedEffect(SLOPES, NotComputable("no_variance_within", "slopes by cell leave no error"))
    return _f_test(SLOPES, float(found.error[0, 0] - larger.error[0, 0]), products.shape[1], larger)


def _adjusted_means(cases: FactorialCases, found: ContrastRegression) -> dict[Term, tuple[MarginalMean, ...]]:
    terms = [one for one in subsets(len(cases.between)) if one]
    weights = marginal_weights(cases.between, terms)
    reach = float(t_distribution.ppf((1 + CONFIDENCE) / 2, found.df))
    grand = float(cases.values.mean())  # the regression is that of values minus their mean
    means: dict[Term, tuple[MarginalMean, ...]] = {}
    for term in terms:
        factors = [cases.between[number] for number in term]
        keys = tuple(one.key for one in factors)
        rows = []
        for cell, own in zip(cells_of(factors), weights[term], strict=True):
            estimate, se = _weighted_sum(found, own)
            mean = grand + estimate
            levels = tuple(zip(keys, cell, strict=True))
            rows.append(MarginalMean(levels, mean, se, found.df, mean - reach * se, mean + reach * se))
        means[keys] = tuple(rows)
    return means
