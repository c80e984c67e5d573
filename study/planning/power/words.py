"""Power in words, as the rest of the analysis writes numbers."""

from __future__ import annotations

from study.analysis.statistics.format import number, share
from study.planning.power.plan import PATTERNS, PowerPlan


def power_words(power: float) -> str:
    """Two digits without the zero, rounded down: what is not reached is not shown as reached."""
    if power > 0.99:
        return "> .99"
    return share(int(power * 100 + 1e-9) / 100)


def pattern_words(pattern: str) -> str:
    """How the means lie, after "so that"."""
    return PATTERNS[pattern]


def plan_words(plan: PowerPlan) -> str:
    """As in "5 conditions, f = 0.25, correlation .50, alpha .05, epsilon 1"."""
    parts = [
        f"{plan.conditions} conditions",
        f"f = {number(plan.f, 3).rstrip('0')}",
        f"correlation {share(plan.correlation)}",
        f"alpha {share(plan.alpha, 3).rstrip('0')}",
        f"epsilon {plan.epsilon:.3g}",
    ]
    return ", ".join(parts)
