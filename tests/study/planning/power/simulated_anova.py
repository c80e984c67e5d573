"""The ANOVA of simulated studies, to hold the formula against."""

from __future__ import annotations

import numpy as np
from scipy.special import fdtri

from study.planning.power import simulate
from study.planning.power.plan import PowerPlan, means_of
from study.planning.power.simulate import Array, Samples


def f_values(samples: Samples) -> Array:
    """F of the repeated-measures ANOVA of every simulated study."""
    k = samples.means.shape[1]
    effect = samples.people * samples.means.var(axis=1, ddof=1)
    return np.asarray(effect / simulate.error_of(samples, k))


def anova_share(plan: PowerPlan, people: int, *, seed: int, covariance: Array | None = None) -> float:
    """The share of simulated studies whose ANOVA is significant.

    Its degrees of freedom are times the plan's epsilon. Equal correlations unless a covariance is given.
    """
    spread = simulate.equal_correlations(plan) if covariance is None else covariance
    samples = simulate.draw(means_of(plan, "one"), spread, people, seed=seed)
    steps = plan.epsilon * (plan.conditions - 1)
    critical = fdtri(steps, steps * (people - 1), 1 - plan.alpha)
    return float((f_values(samples) > critical).mean())
