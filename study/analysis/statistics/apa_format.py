"""Format numbers, test statistics and Markdown tables in APA style, for pages and reports.

The source is the APA manual (7th edition, sections 6.36 to 6.44). Data files do not use this module, because
they keep full precision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from study.analysis.statistics.anova_and_tukey import Anova, Pair

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
"""Shown in a table for a missing number."""


def format_number(value: float | None, digits: int = 2) -> str:
    """Return the number rounded to `digits` decimals, with a true minus sign and never as negative zero.
    Return a dash for None."""
    if value is None:
        return DASH
    text = f"{value:.{digits}f}"
    return f"{MINUS}{text[1:]}" if text.startswith("-") and float(text) else text.lstrip("-")


def format_df(value: float) -> str:
    """Return degrees of freedom as text: without decimals if they are whole, else with two."""
    return f"{value:.0f}" if abs(value - round(value)) < 5e-7 else format_number(value)


def format_share(value: float | None, digits: int = 2) -> str:
    """Return a statistic that cannot exceed 1 as text, without its leading zero: ".67". None gives a dash."""
    text = format_number(value, digits)
    return text.replace("0.", ".", 1) if text.removeprefix(MINUS).startswith("0.") else text


def format_p(p: float, digits: int = 3) -> str:
    """Return a p value as text: "p = .012", "p < .001", "p > .999".

    The text never shows 0 or 1. A p value below .05 is never shown as .05.
    """
    if p < 0.05 <= round(p, digits):
        return format_p(p, digits + 1)
    least = 10.0**-digits
    if p < least:
        return f"p < {format_share(least, digits)}"
    if p > 1 - least:
        return f"p > {format_share(1 - least, digits)}"
    return f"p = {format_share(p, digits)}"


def format_interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """Return an interval as text: "[0.21, 0.43]". Return a dash if there is none."""
    if low is None or high is None:
        return DASH
    return f"[{format_number(low, digits)}, {format_number(high, digits)}]"


def format_anova_effect(result: Anova) -> str:
    """Return the effect sizes of an ANOVA as text: "η² = .67, ω² = .64"."""
    return f"η² = {format_share(result.eta_squared)}, ω² = {format_share(result.omega_squared)}"


def format_pair(pair: Pair) -> str:
    """Return the comparison of a pair as text: "Team of 2 above Alone by 0.32, 95% CI [0.21, 0.43], p <
    .001, g = 2.10"."""
    low, high, g = pair.ci_low, pair.ci_high, pair.g
    if pair.difference <= 0:
        low, high, g = -high, -low, None if g is None else -g
    parts = [
        f"{pair.higher.label} above {pair.lower.label} by {format_number(abs(pair.difference))}",
        f"95% CI {format_interval(low, high)}",
        format_p(pair.p),
        *([] if g is None else [f"g = {format_number(g)}"]),
    ]
    return ", ".join(parts)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with escaped cells. The first column is left-aligned, the others are
    right-aligned."""
    line = "| {} |".format
    rule = [":--", *("--:" for _ in head[1:])]
    return "\n".join(line(" | ".join(cells)) for cells in (head, rule, *rows))


def escape_markdown(text: str) -> str:
    """Return the text with all Markdown syntax escaped. Intervals and “p < .05” stay readable."""
    return re.sub(r"[\\`*_|~]|<(?=[A-Za-z/!?])|\](?=[(\[:])", r"\\\g<0>", text)


ROUND = 1000.0
"""Larger Bayes factors are shown as "> 1000"."""


def format_bayes_factor(factor: float) -> str:
    """Return a Bayes factor as text: "= 3.21", "> 1000", "< 0.001"."""
    if factor > ROUND:
        return f"> {ROUND:.0f}"
    return (
        f"< {1 / ROUND:.3f}" if factor < 1 / ROUND else f"= {format_number(factor, 3 if factor < 0.1 else 2)}"
    )
