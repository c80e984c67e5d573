"""Power of the mixed model by simulation: studies made up, and the model fitted in each (`mixed_fits.py`).

No single value is drawn. Of normal values the sums that the model needs have known distributions (normal and
chi squared, all independent), so drawing them is exact and takes as long for ten people as for a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from study.planning.power.mixed_fits import Strata, Sums, f_tests, strata
from study.planning.power.plan import PowerPlan, means_of
from study.planning.power.simulate import RUNS

SEED = 20231
FEWEST = 3
"""People that the analysis fits the model with."""
MOST_STEPS = 8
"""Numbers of people above the first that are tried."""


@dataclass(frozen=True, slots=True)
class MixedRuns:
    """The share of so many simulated studies of so many people that found the effect."""

    people: int
    found: float
    runs: int

    @property
    def margin(self) -> float:
        """Half of the share's 95 % interval."""
        return float(1.96 * (self.found * (1 - self.found) / self.runs) ** 0.5)

    def reaches(self, power: float) -> bool:
        """Whether it is this power, or less by no more than chance may be."""
        return self.found + self.margin >= power


def upwards(
    plan: PowerPlan, power: float, people: int, step: int, *, pattern: str, scheme: str
) -> tuple[MixedRuns, ...]:
    """Simulated with so many people, and with a step more until the wanted power is reached; the last one has
    it, unless there were MOST_STEPS."""
    tried: list[MixedRuns] = []
    for steps in range(MOST_STEPS + 1):
        tried.append(mixed_runs(plan, people + steps * step, pattern=pattern, scheme=scheme))
        if tried[-1].reaches(power):
            break
    return tuple(tried)


def mixed_runs(
    plan: PowerPlan, people: int, *, pattern: str, scheme: str, seed: int = SEED, runs: int = RUNS
) -> MixedRuns:
    """Simulate so many studies of so many complete participants. Where they are too few for the model, none
    finds anything."""
    from scipy.special import fdtrc  # slow to import, so not before it is needed

    told = strata(plan.conditions, scheme, people)
    if people < FEWEST or told.free <= people:
        return MixedRuns(people, 0.0, runs)
    f, df = f_tests(told, drawn(told, plan, means_of(plan, pattern), seed=seed, runs=runs))
    found = fdtrc(plan.conditions - 1, df, f) < plan.alpha
    return MixedRuns(people, float(found.mean()), runs)


def drawn(told: Strata, plan: PowerPlan, means: Sequence[float], *, seed: int, runs: int) -> Sums:
    """Studies of normal values with these means, without effects of position and carry-over."""
    rng, k, n, d = np.random.default_rng(seed), told.conditions, told.people, told.within
    within, between = 1 - plan.correlation, 1 + (k - 1) * plan.correlation
    estimated = np.array([0.0, *means[:-1], *[0.0] * (len(d) - k)])
    true = np.linalg.solve(told.columns, estimated)
    noise = rng.standard_normal((2, runs, len(d)))
    left = (n * (k - 1) - np.count_nonzero(d > 0), n - np.count_nonzero(d < 1))
    return Sums(
        d * true + noise[0] * np.sqrt(within * d),
        (1 - d) * true + noise[1] * np.sqrt(between * (1 - d)),
        2 * within * rng.standard_gamma(left[0] / 2, runs),
        2 * between * rng.standard_gamma(left[1] / 2, runs),
    )
