"""Numbers and statistics in words, after the APA's manual (7th edition, sections 6.36 to 6.44).

Everything here takes numbers and gives short text for pages and reports; files keep full precision.
"""

from __future__ import annotations

from study.analysis.statistics.anova import Anova
from study.analysis.statistics.tukey import Pair

MINUS = "\N{MINUS SIGN}"
NOTHING = "\N{EN DASH}"
"""Stands in a table where there is no number."""


def number(value: float | None, digits: int = 2) -> str:
    """Rounded, with a true minus sign and never a negative zero; a dash for None."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return f"{MINUS}{text[1:]}" if text.startswith("-") and float(text) else text.lstrip("-")


def share(value: float | None, digits: int = 2) -> str:
    """A statistic that cannot exceed 1, without its leading zero: ".67"."""
    text = number(value, digits)
    return text.replace("0.", ".", 1) if text.removeprefix(MINUS).startswith("0.") else text


def p_value(p: float, digits: int = 3) -> str:
    """As in "p = .012", "p < .001", "p > .999": never rounded to 0 or 1, nor from below .05 to .05."""
    if p < 0.05 <= round(p, digits):
        return p_value(p, digits + 1)
    least = 10.0**-digits
    if p < least:
        return f"p < {share(least, digits)}"
    if p > 1 - least:
        return f"p > {share(1 - least, digits)}"
    return f"p = {share(p, digits)}"


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """As in "[0.21, 0.43]"; a dash where there is none."""
    if low is None or high is None:
        return NOTHING
    return f"[{number(low, digits)}, {number(high, digits)}]"


def effect(result: Anova) -> str:
    """As in "η² = .67, ω² = .64"."""
    return f"η² = {share(result.eta_squared)}, ω² = {share(result.omega_squared)}"


def contrast(pair: Pair) -> str:
    """As in "Team of 2 above Alone by 0.32, 95% CI [0.21, 0.43], p < .001, g = 2.10"."""
    low, high, g = pair.ci_low, pair.ci_high, pair.g
    if pair.difference <= 0:
        low, high, g = -high, -low, None if g is None else -g
    parts = [
        f"{pair.higher.label} above {pair.lower.label} by {number(abs(pair.difference))}",
        f"95% CI {interval(low, high)}",
        p_value(pair.p),
        *([] if g is None else [f"g = {number(g)}"]),
    ]
    return ", ".join(parts)
