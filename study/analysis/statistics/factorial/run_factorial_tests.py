"""Run all tests of a study with named factors on one measure, and return the results as one object.

The tests are the ANOVA and the linear mixed model of the design, marginal means, simple effects of
significant interactions, and planned contrasts of cells. `AnalysisPlan.main` chooses the test that decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from study.analysis.statistics.factorial.cell_means import (
    PlannedCellContrast,
    cell_contrasts,
    marginal_means,
)
from study.analysis.statistics.factorial.factorial_anova import factorial_anova, simple_effects
from study.analysis.statistics.factorial.factorial_cases import (
    AnalysisFactor,
    FactorialCases,
    FactorialRow,
    factorial_cases,
)
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import (
    CellContrast,
    FactorialAnova,
    FactorialEffect,
    FactorialMixedModel,
    MarginalMean,
    SimpleEffect,
    Term,
    UntestedSimpleEffect,
)
from study.analysis.statistics.observations import MeasureTable, NotComputable
from study.analysis.statistics.within.result_types import LEVEL, UncomputedContrast
from study.design.analysis_plan import AnalysisPlan, PlannedContrast

POSITION = "position"
"""The covariate of the mixed model: the position of the round in the participant's order."""


@dataclass(frozen=True, slots=True)
class StudyFactors:
    """The factors of a study with the cells of its conditions. Factors and levels are named by their keys.

    `cells` has each condition's levels, by the condition's key. `names` has the name of each factor, and
    `level_names` the name of each level by (factor, level). `rounds` is the number of conditions that each
    participant plays, or 0 if everybody plays all conditions of their group.
    """

    between: tuple[AnalysisFactor, ...]
    within: tuple[AnalysisFactor, ...]
    cells: Mapping[str, Mapping[str, str]]
    names: Mapping[str, str]
    level_names: Mapping[str, Mapping[str, str]]
    rounds: int = 0

    @property
    def factors(self) -> tuple[AnalysisFactor, ...]:
        """Return all factors: those between participants first."""
        return self.between + self.within

    def term_words(self, term: Sequence[str]) -> str:
        """Return the names of a term's factors: `Partner x Layout`."""
        return " \N{MULTIPLICATION SIGN} ".join(self.names.get(key, key) for key in term)

    def level_words(self, levels: Sequence[tuple[str, str]]) -> str:
        """Return the names of levels, given as (factor, level) pairs: `Planner, Ring`."""
        return ", ".join(self.level_names.get(key, {}).get(level, level) for key, level in levels)


def term_key(term: Sequence[str]) -> str:
    """Return the key of a term in files, written as in R: `partner:layout`."""
    return ":".join(term)


@dataclass(frozen=True, slots=True)
class SimpleEffects:
    """The simple effects of one factor, at the levels of the other factors of an interaction."""

    factor: str
    effects: tuple[SimpleEffect | UntestedSimpleEffect, ...]


@dataclass(frozen=True, slots=True)
class FactorialTests:
    """The tests of one measure in a study with named factors.

    `means` are the marginal means of all effects: those of the ANOVA or, if it could not be computed, those
    of the mixed model. `simple` are the simple effects of significant interactions.
    """

    factors: StudyFactors
    anova: FactorialAnova | NotComputable
    mixed: FactorialMixedModel | NotComputable
    means: tuple[MarginalMean, ...]
    simple: tuple[SimpleEffects, ...]
    planned: tuple[CellContrast | UncomputedContrast, ...]

    def decisive_ps(self, main: str) -> dict[str, float]:
        """Return the p values of the test that decides, by the term's key. `main` is the main test: for
        `mixed` the mixed model, otherwise the ANOVA. The result is empty if it could not be computed."""
        if main == "mixed":
            found = () if isinstance(self.mixed, NotComputable) else self.mixed.effects
            return {term_key(one.term): one.p for one in found}
        if isinstance(self.anova, NotComputable):
            return {}
        tested = (one for one in self.anova.effects if isinstance(one, FactorialEffect))
        return {term_key(one.term): one.p_corrected for one in tested}

    def means_of(self, term: Sequence[str]) -> list[MarginalMean]:
        """Return the marginal means at all levels of a term's factors."""
        wanted = set(term)
        return [one for one in self.means if {key for key, _ in one.levels} == wanted]


def run_factorial_tests(
    table: MeasureTable, whole: MeasureTable, factors: StudyFactors, plan: AnalysisPlan
) -> FactorialTests:
    """Run all tests of one measure. `table` has the participants who played everything. `whole` has all
    participants, for the mixed model."""
    cases = factorial_cases(_rows(table, factors), factors.between, factors.within)
    anova = factorial_anova(cases)
    mixed = linear_mixed_model(_rows(whole, factors), factors.between, factors.within, [POSITION])
    means = marginal_means(cases)
    if isinstance(means, NotComputable):
        means = {} if isinstance(mixed, NotComputable) else mixed.means
    contrasts = [one for one in plan.contrasts if one.is_about(table.measure.key)]
    return FactorialTests(
        factors=factors,
        anova=anova,
        mixed=mixed if isinstance(mixed, NotComputable) else replace(mixed, means={}),
        means=tuple(one for found in means.values() for one in found),
        simple=tuple(_simple(cases, anova)),
        planned=cell_contrasts(cases, [_planned(one, factors) for one in contrasts]),
    )


def _rows(table: MeasureTable, factors: StudyFactors) -> list[FactorialRow]:
    """Return the table's values with their levels. Rounds in conditions without a cell are left out, and
    participants whose group plays none."""
    return [
        FactorialRow(
            row.participant,
            factors.cells[row.condition],
            row.value,
            {POSITION: float(row.order_position)},
        )
        for row in table.observations
        if row.condition in factors.cells
    ]


def _simple(cases: FactorialCases, anova: FactorialAnova | NotComputable) -> list[SimpleEffects]:
    """Return the simple effects of both factors of each significant interaction of two factors."""
    keys = [one.key for one in cases.factors]
    found = []
    for pair in combinations(keys, 2):
        effect = None if isinstance(anova, NotComputable) else anova.effect(*pair)
        if effect is not None and effect.p_corrected < LEVEL:
            found += [
                SimpleEffects(factor, simple_effects(cases, factor, [other]))
                for factor, other in (pair, pair[::-1])
            ]
    return found


def _planned(contrast: PlannedContrast, factors: StudyFactors) -> PlannedCellContrast:
    """Return a contrast of conditions as a contrast of cells. Weights of conditions without a cell are
    dropped."""
    weights: dict[Term, float] = {}
    for key, weight in contrast.weights.items():
        if key in factors.cells:
            cell = tuple(factors.cells[key][one.key] for one in factors.factors)
            weights[cell] = weights.get(cell, 0.0) + weight
    return PlannedCellContrast(contrast.name, weights)
