"""Power in words, as the rest of the analysis writes numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from study.analysis.statistics.format import number, share
from study.planning.power.plan import PATTERNS, PowerPlan

SHORT: Mapping[str, str] = MappingProxyType(
    {
        "repeated": "repeated-measures ANOVA",
        "mixed": "linear mixed model",
        "friedman": "Friedman test",
        "one_way": "one-way ANOVA (rows as if independent)",
    }
)
"""Main tests as sentences call them, after "the"."""
USUAL = (0.8, 0.85, 0.9, 0.95)
"""What power is wanted."""


def power_words(power: float) -> str:
    """Two digits without the zero, rounded. What would be shown as a usual power that it does not reach has
    three, rounded down: .7999 is .799, .5973 is .60."""
    if power > 0.99:
        return "> .99"
    told = round(power, 2)
    short = told in USUAL and power < told - 1e-9
    return share(int(power * 1000 + 1e-9) / 1000, 3) if short else share(told)


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
