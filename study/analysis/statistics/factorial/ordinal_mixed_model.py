"""Test ratings of a factorial design with a cumulative-link mixed model (ordinal logistic regression).

Participants have random intercepts. The model has proportional odds: an effect shifts all thresholds between
ratings alike. Each effect is tested by a likelihood ratio: the model against the one in which the effect's
contrasts are 0 (type III).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import null_space
from scipy.stats import chi2, norm

from study.analysis.statistics.factorial.estimable_effects import EstimableDesign
from study.analysis.statistics.factorial.factorial_cases import FactorialRow, cells_of
from study.analysis.statistics.factorial.factorial_mixed_model import (
    CONFOUNDED,
    NOT_ESTIMABLE,
    ModelRows,
    centred,
    independent_covariates,
    model_rows,
    why_not_modelled,
)
from study.analysis.statistics.factorial.factorial_results import Term, UntestedEffect
from study.analysis.statistics.factorial.mixed_model_results import (
    LatentMean,
    OrdinalEffect,
    OrdinalMixedModel,
)
from study.analysis.statistics.factorial.ordinal_likelihood import (
    OrdinalFit,
    Ratings,
    fit_ordinal,
    highest_log_likelihood,
)
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.ordinal_tests import FEWEST_STEPS, MOST_STEPS
from study.analysis.statistics.within.paired_contrasts import CONFIDENCE
from study.analysis.statistics.within.type_three_sums import subsets

NODES = 15
"""Quadrature points for each participant's random intercept."""
NO_PEAK = NotComputable("no_fit", "the model found no best estimate: ratings of some cells hardly overlap")


def cumulative_link_mixed_model(
    rows: Sequence[FactorialRow],
    between: Sequence[AnalysisFactor],
    within: Sequence[AnalysisFactor] = (),
    covariates: Sequence[str] = (),
    nodes: int = NODES,
) -> OrdinalMixedModel | NotComputable:
    """Test all effects of the design, and the named covariates of the rows, on ordinal ratings.

    Everybody with at least one rating is included. `nodes` is the number of quadrature points; 1 is Laplace's
    approximation. Return NotComputable if the data do not allow the model. Raises the errors of `check_rows`.
    """
    data = model_rows(rows, between, within, covariates)
    problem = why_not_modelled(data) or _why_not_ordinal(data)
    if problem:
        return problem
    design = data.design
    kept = independent_covariates(design.x, data.covariates)
    x = np.column_stack([design.x[:, 1:], centred(data.covariates)[:, kept]])
    steps, y = np.unique(data.values, return_inverse=True)
    ratings = Ratings(y, x, data.people, len(steps))
    fit = fit_ordinal(ratings, nodes)
    if not fit.converged:
        return NO_PEAK
    first, width = design.x.shape[1] - 1, x.shape[1]
    tests: dict[Term, Array] = {
        data.term(effect): np.hstack([weights[:, 1:], np.zeros((len(weights), width - first))])
        for effect, weights in design.tests.items()
    }
    tests |= {(covariates[number],): np.eye(width)[[first + i]] for i, number in enumerate(kept)}
    lost = [UntestedEffect((name,), CONFOUNDED) for i, name in enumerate(covariates) if i not in kept]
    return OrdinalMixedModel(
        n=len(data.participants),
        observations=len(y),
        nodes=nodes,
        effects=(*(_effect(ratings, fit, nodes, *one) for one in tests.items()), *lost),
        sd_participant=fit.sd,
        log_likelihood=fit.log_likelihood,
        thresholds=tuple(map(float, fit.thresholds)),
        means=_latent_means(data, design, fit),
        left_out=data.left_out,
    )


def _why_not_ordinal(data: ModelRows) -> NotComputable | None:
    steps = len(np.unique(data.values))
    if not FEWEST_STEPS <= steps <= MOST_STEPS:
        return NotComputable(
            "no_variance", f"there are {steps} different values; it takes {FEWEST_STEPS} to {MOST_STEPS}"
        )
    if len(data.values) == len(data.participants):
        return NotComputable("too_few", "each participant has one value only")
    return None


def _effect(
    ratings: Ratings, fit: OrdinalFit, nodes: int, term: Term, weights: Array
) -> OrdinalEffect | UntestedEffect:
    """Compare the model with the one in which `weights` (contrasts x columns) times the coefficients is 0."""
    if not len(weights):
        return UntestedEffect(term, NOT_ESTIMABLE)
    smaller = highest_log_likelihood(replace(ratings, x=ratings.x @ null_space(weights)), nodes)
    if smaller is None:
        return UntestedEffect(term, NO_PEAK)
    chi_squared = max(2 * (fit.log_likelihood - smaller), 0.0)
    return OrdinalEffect(term, chi_squared, len(weights), float(chi2.sf(chi_squared, len(weights))))


def _latent_means(
    data: ModelRows, design: EstimableDesign, fit: OrdinalFit
) -> dict[Term, tuple[LatentMean, ...]]:
    average = np.mean(list(design.cells.values()), axis=0)
    found: dict[Term, tuple[LatentMean, ...]] = {}
    for term in subsets(len(data.factors))[1:]:
        factors, keys, means = [data.factors[number] for number in term], data.term(term), []
        for cell in cells_of(factors):
            places = [one.levels.index(level) for one, level in zip(factors, cell, strict=True)]
            weights = design.mean_weights(data.counts, term, places)
            if weights is not None:
                means.append(_latent_mean(fit, (weights - average)[1:], tuple(zip(keys, cell, strict=True))))
        found[keys] = tuple(means)
    return found


def _latent_mean(fit: OrdinalFit, weights: Array, levels: tuple[tuple[str, str], ...]) -> LatentMean:
    row = np.concatenate([weights, np.zeros(len(fit.coefficients) - len(weights))])
    log_odds, se = float(row @ fit.coefficients), float(np.sqrt(row @ fit.covariance @ row))
    half = se * float(norm.ppf((1 + CONFIDENCE) / 2))
    return LatentMean(levels, log_odds, se, log_odds - half, log_odds + half)
