"""Simulate studies and compute their ANOVA, to check the power formula."""

from __future__ import annotations

import numpy as np
from scipy.special import fdtri

from study.planning.power import main_test_power
from study.planning.power.main_test_power import Array, SimulatedSamples
from study.planning.power.power_formulas import PowerPlan, means_of


def f_values(samples: SimulatedSamples) -> Array:
    """Return the F value of the repeated-measures ANOVA of every simulated study."""
    k = samples.means.shape[1]
    effect = samples.people * samples.means.var(axis=1, ddof=1)
    return np.asarray(effect / main_test_power.within_error(samples, k))


def anova_share(plan: PowerPlan, people: int, *, seed: int, covariance: Array | None = None) -> float:
    """Return the share of simulated studies whose ANOVA is significant.

    The degrees of freedom are multiplied by the plan's epsilon. Correlations are equal unless a covariance is
    given.
    """
    spread = main_test_power.equal_correlations(plan) if covariance is None else covariance
    samples = main_test_power.draw_samples(means_of(plan, "one"), spread, people, seed=seed)
    steps = plan.epsilon * (plan.conditions - 1)
    critical = fdtri(steps, steps * (people - 1), 1 - plan.alpha)
    return float((f_values(samples) > critical).mean())
