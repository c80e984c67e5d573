"""Run all tests of a study with named factors on one measure, and return the results as one object.

The tests are the ANOVA and the linear mixed model of the design, marginal means, simple effects of
significant interactions, and planned contrasts of cells. `AnalysisPlan.main` chooses the test that decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

from study.analysis.statistics.factorial.cell_means import (
    PlannedCellContrast,
    cell_contrasts,
    marginal_means,
)
from study.analysis.statistics.factorial.covariance_analysis import ancova
from study.analysis.statistics.factorial.factorial_anova import factorial_anova, simple_effects
from study.analysis.statistics.factorial.factorial_assumptions import factorial_assumptions
from study.analysis.statistics.factorial.factorial_cases import (
    CROSS,
    FactorialCases,
    FactorialRow,
    factorial_cases,
)
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import (
    Ancova,
    CellContrast,
    FactorialAnova,
    MarginalMean,
    Term,
)
from study.analysis.statistics.factorial.factorial_tests import FactorialTests, SimpleEffects
from study.analysis.statistics.factorial.mixed_model_results import (
    FactorialMixedModel,
    MixedContrast,
    OrdinalMixedModel,
)
from study.analysis.statistics.factorial.ordinal_mixed_model import cumulative_link_mixed_model
from study.analysis.statistics.factorial.study_factors import StudyFactors, term_key
from study.analysis.statistics.observations import MeasureTable, NotComputable
from study.analysis.statistics.within.result_types import LEVEL, UncomputedContrast
from study.design.analysis_plan import POSITION, AnalysisPlan, PlannedContrast


def run_factorial_tests(
    table: MeasureTable,
    whole: MeasureTable,
    factors: StudyFactors,
    plan: AnalysisPlan,
    covariates: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> FactorialTests:
    """Run all tests of one measure. `table` has the participants who played everything. `whole` has all
    participants, for the mixed models. `covariates` has each participant's planned covariates."""
    names = [key for key in plan.covariates if any(key in own for own in covariates.values())]
    part, every = _rows(table, factors, covariates), _rows(whole, factors, covariates)
    between, within = factors.between, factors.within
    cases = factorial_cases(part, between, within)
    planned = [_planned(one, factors) for one in plan.contrasts if one.is_about(table.measure.key)]
    mixed = linear_mixed_model(every, between, within, [POSITION, *names], planned)
    anova = _missing_cell(factorial_anova(cases), mixed)
    adjusted = ancova(factorial_cases(part, between, (), names), planned) if names and not within else None
    rated = table.measure.kind == "likert"
    ordinal = cumulative_link_mixed_model(every, between, within, names) if rated else None
    leads = plan.main == "mixed" or isinstance(anova, NotComputable)
    model = mixed if leads and isinstance(mixed, FactorialMixedModel) else None
    tests = FactorialTests(
        factors=factors,
        anova=anova,
        mixed=mixed if isinstance(mixed, NotComputable) else replace(mixed, means={}, contrasts=()),
        means=_means(cases, model, adjusted),
        simple=(),
        planned=_contrasts(cases, planned, model, adjusted),
        contrasts_of_mixed=model is not None,
        ancova=replace(adjusted, means={}, contrasts=()) if isinstance(adjusted, Ancova) else adjusted,
        ordinal=replace(ordinal, means={}) if isinstance(ordinal, OrdinalMixedModel) else ordinal,
    )
    found = {term for term, p in tests.decisive_ps(plan.main).items() if p < LEVEL}
    return replace(
        tests,
        simple=tuple(_simple_effects(cases, found)),
        assumptions=factorial_assumptions(table, cases, tests),
    )


def _means(
    cases: FactorialCases, model: FactorialMixedModel | None, adjusted: Ancova | NotComputable | None
) -> tuple[MarginalMean, ...]:
    """Return the marginal means of the test that decides; none if it cannot be computed."""
    if model is None and isinstance(adjusted, NotComputable):
        return ()
    means = model.means if model else marginal_means(cases)
    if model is None and isinstance(adjusted, Ancova):
        means = adjusted.means
    return () if isinstance(means, NotComputable) else tuple(one for own in means.values() for one in own)


def _contrasts(
    cases: FactorialCases,
    planned: Sequence[PlannedCellContrast],
    model: FactorialMixedModel | None,
    adjusted: Ancova | NotComputable | None,
) -> tuple[CellContrast | MixedContrast | UncomputedContrast, ...]:
    """Return the planned contrasts of the test that decides. If none has covariates, it is the ANOVA."""
    if model:
        return model.contrasts
    if isinstance(adjusted, NotComputable):
        return tuple(UncomputedContrast(one.name, adjusted) for one in planned)
    return adjusted.contrasts if adjusted else cell_contrasts(cases, planned)


def _missing_cell(
    anova: FactorialAnova | NotComputable, mixed: FactorialMixedModel | NotComputable
) -> FactorialAnova | NotComputable:
    """Return the ANOVA, or why it cannot be computed: the first cell without a value."""
    if isinstance(mixed, NotComputable) or not mixed.missing_cells:
        return anova
    cell = CROSS.join(mixed.missing_cells[0])
    return NotComputable(
        "no_data", f"no participant has a value in {cell}; the mixed model does not need this cell"
    )


def _rows(
    table: MeasureTable, factors: StudyFactors, covariates: Mapping[str, Mapping[str, float]]
) -> list[FactorialRow]:
    """Return the table's values with their levels and covariates.

    Rounds in conditions without a cell are left out, and participants whose group plays none.
    """
    return [
        FactorialRow(
            row.participant,
            factors.cells[row.condition],
            row.value,
            {**covariates.get(row.participant, {}), POSITION: float(row.order_position)},
        )
        for row in table.observations
        if row.condition in factors.cells
    ]


def _simple_effects(cases: FactorialCases, terms: Collection[str]) -> Iterator[SimpleEffects]:
    """Yield the simple effects of both factors of each interaction of two factors among `terms`."""
    for pair in combinations([one.key for one in cases.factors], 2):
        if term_key(pair) in terms:
            for factor, other in (pair, pair[::-1]):
                yield SimpleEffects(term_key(pair), factor, simple_effects(cases, factor, [other]))


def _planned(contrast: PlannedContrast, factors: StudyFactors) -> PlannedCellContrast:
    """Return a contrast of conditions as a contrast of cells. A condition without a cell stays in it by its
    key, so that the contrast cannot be computed."""
    weights: dict[Term, float] = {}
    for key, weight in contrast.weights.items():
        levels = factors.cells.get(key)
        cell = tuple(levels[one.key] for one in factors.factors) if levels else (key,)
        weights[cell] = weights.get(cell, 0.0) + weight
    return PlannedCellContrast(contrast.name, weights, contrast.margin)
