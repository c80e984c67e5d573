"""Estimate the means of cells and levels in a factorial design, and test planned contrasts of cells.

The covariance of the cells within participants is pooled over the cells between participants. All cells weigh
alike. The numbers are those of R's `emmeans` for the multivariate model of `afex`.
"""

# Cell means of independent people have the covariance S / n, where S is the pooled covariance within cells
# (Morrison 2005, chapter 5). A weighted sum of all cells with the weights w_c in the people's cell c has the
# variance sum_c w_c' S w_c / n_c, with the degrees of freedom of S: people minus cells between people.

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod, sqrt

import numpy as np
from scipy.stats import t as t_distribution

from study.analysis.statistics.factorial.factorial_cases import (
    Cell,
    FactorialCases,
    cells_of,
    select_levels,
    why_not_factorial,
)
from study.analysis.statistics.factorial.factorial_results import CellContrast, MarginalMean
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import DefinitionError, NotComputable
from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.paired_contrasts import (
    CONFIDENCE,
    bayes_factor,
    holm_adjusted,
    standardised_size,
)
from study.analysis.statistics.within.result_types import UncomputedContrast
from study.analysis.statistics.within.two_one_sided_tests import planned_equivalence
from study.analysis.statistics.within.type_three_sums import regress_contrasts, subsets
from study.design.analysis_plan import EquivalenceMargin

FLAT = NotComputable("no_variance_within", "participants do not differ from one another in it")
NO_VALUES = NotComputable("no_data", "a cell of it has no values")
ROUNDING = 1e-9
"""Weights that sum to less than this share of the largest weight sum to 0."""


@dataclass(frozen=True, slots=True)
class PlannedCellContrast:
    """A named contrast of cells. `weights` maps cells to weights that sum to 0. A cell is one level of each
    factor: factors between participants first. With a `margin`, equivalence to 0 is tested too."""

    name: str
    weights: Mapping[Cell, float]
    margin: EquivalenceMargin | None = None


@dataclass(frozen=True, slots=True)
class _CellModel:
    """Cell means, of shape (between cells, within cells); `sizes` of the between cells; the pooled covariance
    of the within cells, with `df` degrees of freedom."""

    means: Array
    sizes: Array
    covariance: Array
    df: int

    def estimate(self, weights: Array) -> tuple[float, float]:
        """Return the weighted sum of the means, and its standard error."""
        return float((weights * self.means).sum()), sqrt(float((self.variances(weights) / self.sizes).sum()))

    def variances(self, weights: Array) -> Array:
        """Return the variance of a participant's weighted sum, for each between cell."""
        return np.asarray(np.maximum(np.einsum("bi,ij,bj->b", weights, self.covariance, weights), 0.0))


def _cell_model(cases: FactorialCases) -> _CellModel:
    numbers, sizes = cases.cell_numbers, cases.cell_sizes
    members = np.eye(len(sizes))[numbers]
    found = regress_contrasts(cases.values, np.eye(cases.values.shape[1]), members)
    means = members.T @ cases.values / sizes[:, None]
    return _CellModel(means, sizes.astype(float), found.covariance, found.df)


def marginal_means(cases: FactorialCases) -> dict[Cell, tuple[MarginalMean, ...]] | NotComputable:
    """Return the estimated marginal means of every effect, by the effect's factor keys. Return NotComputable
    if the data do not allow it."""
    problem = why_not_factorial(cases)
    if problem:
        return problem
    model = _cell_model(cases)
    terms = [[cases.factors[number] for number in one] for one in subsets(len(cases.factors)) if one]
    return {
        tuple(factor.key for factor in term): tuple(
            _marginal_mean(model, cases.factors, tuple(zip((f.key for f in term), cell, strict=True)), cases)
            for cell in cells_of(term)
        )
        for term in terms
    }


def _marginal_mean(
    model: _CellModel,
    factors: Sequence[AnalysisFactor],
    levels: tuple[tuple[str, str], ...],
    cases: FactorialCases,
) -> MarginalMean:
    weights = product_weights(factors, {key: {level: 1.0} for key, level in levels})
    mean, se = model.estimate(_weight_matrix(cases, weights))
    return MarginalMean(levels, mean, se, model.df, *_interval(mean, se, model.df))


def person_means(cases: FactorialCases, at: Mapping[str, str]) -> dict[str, float]:
    """Return each participant's mean at some levels, given by factor key, over all other factors within
    participants. Participants without these levels are left out."""
    part = select_levels(cases, at)
    return dict(zip(part.participants, part.values.mean(axis=1).tolist(), strict=True))


def _interval(estimate: float, se: float, df: float) -> tuple[float, float]:
    half = se * float(t_distribution.ppf((1 + CONFIDENCE) / 2, df))
    return estimate - half, estimate + half


def product_weights(
    factors: Sequence[AnalysisFactor], weights: Mapping[str, Mapping[str, float]]
) -> dict[Cell, float]:
    """Return the weights of all cells, from weights of the levels of some factors.

    The weight of a cell is the product of its levels' weights. Levels without a weight have 0. Factors that
    are not named are averaged over. With two named factors the result is a contrast of their interaction.
    Raises DefinitionError for an unknown factor or level.
    """
    known = {factor.key: factor.levels for factor in factors}
    for key, own in weights.items():
        if not set(own) <= set(known.get(key, ())):
            raise DefinitionError(f"unknown factor {key!r}, or a level of it: {', '.join(own)}")
    parts = [
        [
            weights[one.key].get(level, 0.0) if one.key in weights else 1 / len(one.levels)
            for level in one.levels
        ]
        for one in factors
    ]
    return {cell: prod(found) for cell, found in zip(cells_of(factors), _combined(parts), strict=True)}


def _combined(parts: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    found: list[tuple[float, ...]] = [()]
    for part in parts:
        found = [(*before, one) for before in found for one in part]
    return found


def _weight_matrix(cases: FactorialCases, weights: Mapping[Cell, float]) -> Array:
    """Return weights of cells as an array of shape (between cells, within cells)."""
    shape = len(cells_of(cases.between)), len(cells_of(cases.within))
    return np.array([weights.get(cell, 0.0) for cell in cells_of(cases.factors)]).reshape(shape)


def cell_contrasts(
    cases: FactorialCases, planned: Sequence[PlannedCellContrast]
) -> tuple[CellContrast | UncomputedContrast, ...]:
    """Test planned contrasts of cells in order, and correct their p values together after Holm.

    A contrast with a cell that has no values is not computed. Raises DefinitionError for weights that do not
    sum to 0, or are all 0.
    """
    problem = why_not_factorial(cases)
    if problem:
        return tuple(UncomputedContrast(one.name, problem) for one in planned)
    model = _cell_model(cases)
    return correct_contrasts([_contrast(cases, model, one) for one in planned])


def correct_contrasts(
    found: Sequence[CellContrast | UncomputedContrast],
) -> tuple[CellContrast | UncomputedContrast, ...]:
    """Correct the p values of contrasts together after Holm."""
    adjusted = iter(holm_adjusted([one.p for one in found if isinstance(one, CellContrast)]))
    return tuple(
        replace(one, p_adjusted=next(adjusted)) if isinstance(one, CellContrast) else one for one in found
    )


def why_no_contrast(planned: PlannedCellContrast, cells: Collection[Cell]) -> UncomputedContrast | None:
    """Return why the contrast cannot be computed: a cell of it is none of `cells`, those with values. Return
    None if it can. Raises DefinitionError for weights that do not sum to 0, or are all 0."""
    values = list(planned.weights.values())
    if not any(values) or abs(sum(values)) > ROUNDING * max(map(abs, values)):
        raise DefinitionError(f"contrast {planned.name!r}: the weights do not sum to 0, or are all 0")
    used = {cell for cell, weight in planned.weights.items() if weight}
    return None if used <= set(cells) else UncomputedContrast(planned.name, NO_VALUES)


def _contrast(
    cases: FactorialCases, model: _CellModel, planned: PlannedCellContrast
) -> CellContrast | UncomputedContrast:
    problem = why_no_contrast(planned, cells_of(cases.factors))
    if problem:
        return problem
    weights = _weight_matrix(cases, planned.weights)
    estimate, se = model.estimate(weights)
    if se <= 0:
        return UncomputedContrast(planned.name, FLAT)
    return t_test_of_contrast(planned, estimate, se, model.df, _standard_deviation(model, weights))


def t_test_of_contrast(
    planned: PlannedCellContrast, estimate: float, se: float, df: int, sd: float
) -> CellContrast:
    """Test an estimate with the standard error `se` against zero. `sd` standardises it."""
    t = estimate / se
    p = float(2 * t_distribution.sf(abs(t), df))
    return CellContrast(
        planned.name,
        estimate,
        se,
        t,
        df,
        p,
        p,
        *_interval(estimate, se, df),
        *standardised_size(t, df, se / sd),
        bayes_factor=bayes_factor(t, (sd / se) ** 2, df=df),
        equivalence=planned_equivalence((), estimate, se, df, planned.margin, sd),
    )


def _standard_deviation(model: _CellModel, weights: Array) -> float:
    """Return the standard deviation that standardises a contrast: that of the participants' weighted sums.

    The weights of each between cell are scaled so that positive ones sum to 1, and negative ones to at most
    1, over these cells. Without factors between participants, it is the denominator of d_z. Without factors
    within them, it is the pooled standard deviation.
    """
    spreads = np.sqrt(model.variances(weights))
    first = weights[int(np.argmax(spreads))]
    positive = weights @ first >= 0
    return float(max(spreads[positive].sum(), spreads[~positive].sum()))
