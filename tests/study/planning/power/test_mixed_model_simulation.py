"""The mixed model in simulated studies: the very test of the analysis, and the power that is told."""

from __future__ import annotations

import numpy as np
import pytest

from study.analysis.statistics.observations import MeasureTable
from study.analysis.statistics.within.mixed_model import mixed_model
from study.analysis.statistics.within.result_types import Effect, MixedModel
from study.planning.power.main_test_power import Array, main_power
from study.planning.power.mixed_model_simulation import (
    MOST_STEPS,
    Strata,
    Sums,
    f_tests,
    mixed_model_power,
    simulate_upwards,
    strata,
    strata_from_information,
)
from study.planning.power.power_formulas import PowerPlan, means_of
from study.planning.power.sample_size_answer import PowerQuestion, sample_size_answer
from study.planning.power.simulated_studies import simulated_study


def sums_of(table: MeasureTable, told: Strata, x: Array) -> Sums:
    """Those of one study's values, by participant and condition; x are its directions, row by row."""
    y = np.array([row.value for row in table.observations])
    means = np.repeat(y.reshape(told.people, -1).mean(axis=1), told.conditions)
    within, between, d = x.T @ (y - means), x.T @ means, told.within
    left = ((y - means) ** 2).sum() - (within[d > 0] ** 2 / d[d > 0]).sum()
    others = (means**2).sum() - (between[d < 1] ** 2 / (1 - d[d < 1])).sum()
    return Sums(within[None], between[None], np.array([left]), np.array([others]))


def columns_of(table: MeasureTable, k: int) -> Array:
    """Intercept, conditions, position and the condition before, of every value."""
    deviations = np.vstack([np.eye(k - 1), -np.ones(k - 1), np.zeros(k - 1)])
    at = {(row.participant, row.order_position): int(row.condition[1:]) for row in table.observations}
    return np.array(
        [
            [
                1.0,
                *deviations[int(row.condition[1:])],
                row.order_position - (k + 1) / 2,
                *deviations[at.get((row.participant, row.order_position - 1), k)],
            ]
            for row in table.observations
        ]
    )


@pytest.mark.parametrize(
    ("plan", "people"),
    [
        (PowerPlan(2, 0.4), 9),
        (PowerPlan(2, 0.4, -0.5), 9),
        (PowerPlan(3, 0.4, 0.0), 7),
        (PowerPlan(4, 0.4), 8),
    ],
)
def test_every_study_gets_the_f_and_degrees_of_freedom_of_the_analysis(plan: PowerPlan, people: int) -> None:
    k, rng = plan.conditions, np.random.default_rng(5)
    for _ in range(4):
        table = simulated_study(plan, people, np.array(means_of(plan, "even")), rng)
        x = columns_of(table, k)
        sums = x.reshape(people, k, -1).sum(axis=1)
        told = strata_from_information(x.T @ x, sums.T @ sums, k, people)
        f, df = f_tests(told, sums_of(table, told, x @ told.columns))
        effect = effect_of(table)
        assert (f[0], df[0]) == pytest.approx((effect.f, effect.df_error), rel=1e-8)


def effect_of(table: MeasureTable) -> Effect:
    fitted = mixed_model(table)
    assert isinstance(fitted, MixedModel)
    effect = fitted.effect("condition")
    assert isinstance(effect, Effect)
    return effect


@pytest.mark.parametrize(
    ("plan", "people", "scheme"),
    [
        (PowerPlan(5, 0.25), 20, "balanced"),
        (PowerPlan(3, 0.3), 20, "random"),
        (PowerPlan(4, 0.2, 0.7), 24, "balanced"),
    ],
)
def test_the_simulated_power_is_that_of_the_formula(plan: PowerPlan, people: int, scheme: str) -> None:
    told = main_power(plan, people, test="mixed", pattern="one", scheme=scheme)
    assert mixed_model_power(plan, people, pattern="one", scheme=scheme).found == pytest.approx(
        told, abs=0.03
    )


@pytest.mark.parametrize(
    ("plan", "people", "found"),
    [
        (PowerPlan(3, 0.3), 20, 0.687),
        (PowerPlan(2, 0.4), 24, 0.477),
        (PowerPlan(3, 0.3, 0.2), 24, 0.563),
        (PowerPlan(4, 0.35, 0.4), 12, 0.610),
    ],
)
def test_the_simulated_power_is_that_of_whole_studies_as_docs_statistics_has_it(
    plan: PowerPlan, people: int, found: float
) -> None:
    """`simulate_studies --test mixed`, 300 of each: known to 5.6 points."""
    assert mixed_model_power(plan, people, pattern="even", scheme="random").found == pytest.approx(
        found, abs=0.056
    )


@pytest.mark.parametrize(("k", "people"), [(2, 12), (3, 12), (5, 20)])
def test_without_an_effect_alpha_is_kept(k: int, people: int) -> None:
    runs = mixed_model_power(PowerPlan(k, 0.0), people, pattern="one", scheme="balanced")
    assert runs.found == pytest.approx(0.05, abs=0.012)
    assert runs.margin == pytest.approx(0.0068, abs=0.001)
    assert runs == mixed_model_power(PowerPlan(k, 0.0), people, pattern="one", scheme="balanced")


@pytest.mark.parametrize("people", [1, 2])
def test_no_study_finds_anything_where_people_are_too_few_for_the_model(people: int) -> None:
    assert mixed_model_power(PowerPlan(5, 2.0), people, pattern="one", scheme="balanced").found == 0.0


def test_people_are_added_until_simulated_studies_have_the_power_or_there_were_many_steps() -> None:
    enough = simulate_upwards(PowerPlan(5, 1.5), 0.8, 2, 1, pattern="one", scheme="fixed")
    assert [runs.people for runs in enough] == [2, 3]
    tried = simulate_upwards(PowerPlan(3, 0.01), 0.8, 6, 6, pattern="one", scheme="balanced")
    assert [runs.people for runs in tried] == [6 * (1 + step) for step in range(MOST_STEPS + 1)]
    assert not tried[-1].reaches(0.8)


def test_what_is_recommended_has_the_power_in_simulated_studies_too() -> None:
    wish = PowerQuestion(PowerPlan(5, 1.5), 0.8, 1, 0.0, "one", "holm", test="mixed", scheme="fixed")
    found = sample_size_answer(wish)  # the formula needs two people, the analysis three
    assert (found.needed, found.best.people, found.short) == (2, 3, False)
    assert [runs.people for runs in found.runs] == [2, 3]


def test_directions_of_a_scheme_tell_all_that_its_orders_do() -> None:
    told = strata(4, "balanced", 8)
    assert (len(told.within), told.free) == (8, 24)
    assert told.within.min() == 0.0  # the intercept
    assert told.within.max() == pytest.approx(1.0)
