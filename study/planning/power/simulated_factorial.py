"""Simulate complete studies of a factorial design and analyse them as planned, to check the computed power.

Values are normal with equal correlations. Without an effect, the share of p values below alpha is the rate of
false positives of each effect. With one effect, the share of its p values below alpha is the power.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from study.analysis.statistics.factorial.factorial_anova import factorial_anova
from study.analysis.statistics.factorial.factorial_cases import FactorialRow, cells_of, factorial_cases
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import FactorialAnova, FactorialEffect
from study.analysis.statistics.factorial.mixed_model_results import FactorialMixedModel, MixedEffect
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.planning.power.factorial_power import cell_coding, effect_columns, effect_power
from study.planning.power.main_test_power import Array
from study.planning.power.planned_factors import FactorialDesignPlan, PlannedFactor, Term

TESTS = ("mixed", "repeated")
"""Main tests of factorial designs: the linear mixed model, and the ANOVA."""


@dataclass(frozen=True, slots=True)
class FactorialOutcome:
    """Results of simulated studies: the share of significant results of each effect without any effect
    (`false_positives`), and of the planned `effect` with it (`power`). `planned` is the computed power."""

    studies: int
    false_positives: Mapping[Term, float]
    effect: Term
    power: float
    planned: float


def simulate_factorial(
    design: FactorialDesignPlan,
    effect: Term,
    f: float,
    people: int,
    *,
    alpha: float,
    studies: int,
    seed: int,
    test: str = "repeated",
) -> FactorialOutcome:
    """Simulate `studies` studies without an effect and as many with `effect` of size `f`. `people` is the
    number of participants in each cell of the between factors."""
    rng = np.random.default_rng(seed)
    columns, coding = effect_columns(design)[effect], cell_coding(design)
    found: dict[Term, int] = dict.fromkeys(design.effects, 0)
    hits = 0
    for _ in range(studies):
        for term, p in _p_values(design, np.zeros(len(coding)), people, rng, test).items():
            found[term] += p < alpha
        direction = rng.standard_normal(len(columns))
        means = coding[:, columns] @ (direction / np.linalg.norm(direction)) * f
        hits += _p_values(design, means, people, rng, test).get(effect, 1.0) < alpha
    planned = effect_power(design, effect, f, people, alpha=alpha)
    shares = {term: count / studies for term, count in found.items()}
    return FactorialOutcome(studies, shares, effect, hits / studies, planned)


def _p_values(
    design: FactorialDesignPlan, means: Array, people: int, rng: np.random.Generator, test: str
) -> dict[Term, float]:
    """Simulate one study with these true means of the cells. Return the p value of each tested effect."""
    rows = simulated_rows(design, means, people, rng)
    between, within = (
        [_factor(one) for one in design.factors if one.is_within == is_within] for is_within in (False, True)
    )
    if test == "mixed":
        model = linear_mixed_model(rows, between, within)
        effects = model.effects if isinstance(model, FactorialMixedModel) else ()
        return {_in_order(design, one.term): one.p for one in effects if isinstance(one, MixedEffect)}
    anova = factorial_anova(factorial_cases(rows, between, within))
    effects_tested = anova.effects if isinstance(anova, FactorialAnova) else ()
    tested = (one for one in effects_tested if isinstance(one, FactorialEffect))
    return {_in_order(design, one.term): one.p_corrected for one in tested}


def simulated_rows(
    design: FactorialDesignPlan, means: Array, people: int, rng: np.random.Generator
) -> list[FactorialRow]:
    """Return the values of one simulated study. `means` are the true means of all cells, between cells
    first. Subsets of within cells are played in turn."""
    between = [_factor(one) for one in design.factors if not one.is_within]
    within = [_factor(one) for one in design.factors if one.is_within]
    subsets = design.subsets or (tuple(range(design.cells)),)
    keys, inner = [one.key for one in (*between, *within)], cells_of(within)
    shared = np.full((design.cells, design.cells), design.correlation)
    root = np.linalg.cholesky(shared + (1 - design.correlation) * np.eye(design.cells))
    centres = means.reshape(design.groups, design.cells)
    rows = []
    for group, outer in enumerate(cells_of(between)):
        values = centres[group] + rng.standard_normal((people, design.cells)) @ root.T
        for who in range(people):
            for cell in subsets[who % len(subsets)]:
                levels = dict(zip(keys, (*outer, *inner[cell]), strict=True))
                rows.append(FactorialRow(f"g{group}p{who:04}", levels, float(values[who, cell])))
    return rows


def _factor(planned: PlannedFactor) -> AnalysisFactor:
    return AnalysisFactor(
        planned.key, tuple(f"{planned.key}{number + 1}" for number in range(planned.levels))
    )


def _in_order(design: FactorialDesignPlan, term: Term) -> Term:
    """Return the term with its factors in the order of the design."""
    return tuple(one.key for one in design.factors if one.key in term)
