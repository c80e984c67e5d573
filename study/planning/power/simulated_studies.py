"""Simulate complete studies and analyse them with the planned test, to check the power that was computed.

The sample-size page shows the computed power. Simulated values are normal with equal correlations, and orders
are random. Without an effect, the share of p values below alpha is the rate of false positives. With an
effect, this share is the power.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from study.analysis.statistics.observations import (
    AnalysisCondition,
    Measure,
    MeasureTable,
    Observation,
    table_of,
)
from study.analysis.statistics.within.run_within_tests import main_test_p
from study.planning.power.main_test_power import Array, equal_correlations, main_power
from study.planning.power.power_formulas import PowerPlan, means_of

MEASURE = Measure.number("value", "Value", None, None)
PATTERN = "even"


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """Results of the simulated studies: the shares of significant results without an effect
    (`false_positives`) and with it (`power`). `planned` is the power shown on the sample-size page."""

    studies: int
    false_positives: float
    power: float
    planned: float


def simulate_studies(
    plan: PowerPlan, people: int, *, studies: int, seed: int, test: str = "repeated"
) -> SimulationOutcome:
    """Simulate `studies` studies without an effect and as many with the plan's effect. Analyse each with
    the main test `test`, and return the shares of significant results."""
    rng = np.random.default_rng(seed)
    nothing, means = np.zeros(plan.conditions), np.array(means_of(plan, PATTERN))
    shares = [_share(plan, people, centres, studies, rng, test) for centres in (nothing, means)]
    planned = main_power(plan, people, test=test, pattern=PATTERN, scheme="random")
    return SimulationOutcome(studies, shares[0], shares[1], planned)


def _share(
    plan: PowerPlan, people: int, means: Array, studies: int, rng: np.random.Generator, test: str
) -> float:
    """Return the share of `studies` simulated studies in which the test finds a difference. `means` are the
    true means of the conditions."""
    ps = (main_test_p(simulated_study(plan, people, means, rng), test) for _ in range(studies))
    return sum(p is not None and p < plan.alpha for p in ps) / studies


def simulated_study(plan: PowerPlan, people: int, means: Array, rng: np.random.Generator) -> MeasureTable:
    """Return the values of one simulated study. Every participant plays every condition, in a random
    order."""
    root = np.linalg.cholesky(equal_correlations(plan))
    values = means + rng.standard_normal((people, plan.conditions)) @ root.T
    conditions = [AnalysisCondition(f"c{i}", f"Condition {i + 1}", i) for i in range(plan.conditions)]
    rows = []
    for who in range(people):
        places = rng.permutation(plan.conditions)
        rows += [
            Observation(f"p{who}", c.key, MEASURE.key, float(values[who, i]), int(places[i]) + 1, True)
            for i, c in enumerate(conditions)
        ]
    return table_of(MEASURE, conditions, rows)
