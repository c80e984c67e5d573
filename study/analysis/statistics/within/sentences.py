"""Results within participants as sentences, after the APA's manual (7th edition, sections 6.36 to 6.44)."""

from __future__ import annotations

from study.analysis.statistics.anova import Anova
from study.analysis.statistics.format import interval, number, p_value, share
from study.analysis.statistics.table import NotComputable
from study.analysis.statistics.within.results import (
    LEVEL,
    Contrast,
    Cumulative,
    Effect,
    Friedman,
    Mixed,
    NoContrast,
    NoEffect,
    OverMeasures,
    Repeated,
)

TERMS = {"condition": "condition", "position": "position in the order", "carry_over": "carry-over"}
ROUND = 1000.0
"""Bayes factors beyond are told by their size only."""


def verb(p: float, over: OverMeasures | None = None) -> str:
    """What conditions did, by the p that decides: the one after a correction over measures, where there is
    one. The only place that draws a verdict on a main test."""
    return "differed" if (over.p if over else p) < LEVEL else "did not differ reliably"


def p_words(p: float, over: OverMeasures | None = None) -> str:
    """As in "p = .011", or "p = .011, after Holm over measures p = .088"."""
    return f"{p_value(p)}, after {over.correction} {p_value(over.p)}" if over else p_value(p)


def f_test(found: Anova | NotComputable, over: OverMeasures | None = None) -> str:
    """As in "F(4, 55) = 28.11, p < .001" of the one-way ANOVA, or why there is none."""
    if isinstance(found, NotComputable):
        return str(found)
    return f"F({found.df_between}, {found.df_within}) = {number(found.f)}, {p_words(found.p, over)}"


def repeated_test(found: Repeated | NotComputable, over: OverMeasures | None = None) -> str:
    """As in "F(1.22, 13.40) = 24.20, p < .001, ηp² = .69, ηG² = .62, ... ε = .30", by the
    correction that decides; or why there is none."""
    if isinstance(found, NotComputable):
        return str(found)
    above, below = found.df_corrected
    df = f"{_df(above)}, {_df(below)}"
    sizes = f"ηp² = {share(found.partial_eta_squared)}, ηG² = {share(found.generalised_eta_squared)}"
    epsilon = f", {found.correction} ε = {share(found.epsilon)}" if found.correction else ""
    return f"F({df}) = {number(found.f)}, {p_words(found.p_corrected, over)}, {sizes}{epsilon}"


def repeated_sentence(label: str, found: Repeated | NotComputable, over: OverMeasures | None = None) -> str:
    """The main test in a sentence."""
    if isinstance(found, NotComputable):
        return f"{label}: the repeated-measures ANOVA is {found}."
    return (
        f"{label} {verb(found.p_corrected, over)} between conditions, {repeated_test(found, over)} "
        f"(repeated-measures ANOVA of {found.n} participants)."
    )


def uncorrected(found: Repeated) -> str:
    """The same without a correction, and after either."""
    return (
        f"F({found.df_condition}, {found.df_error}) = {number(found.f)}, uncorrected {p_value(found.p)}; "
        f"Greenhouse\N{EN DASH}Geisser ε = {share(found.epsilon_gg)}, {p_value(found.p_gg)}; "
        f"Huynh\N{EN DASH}Feldt ε = {number(found.epsilon_hf)}, {p_value(found.p_hf)}"
    )


def effect_test(found: Effect | NoEffect, over: OverMeasures | None = None) -> str:
    """As in "carry-over F(4, 40.12) = 1.20, p = .330"."""
    if isinstance(found, NoEffect):
        return f"{TERMS[found.term]} cannot be told ({found.because.because})"
    numbers = f"F({found.df}, {_df(found.df_error)}) = {number(found.f)}"
    return f"{TERMS[found.term]} {numbers}, {p_words(found.p, over)}"


def mixed_sentence(found: Mixed | NotComputable, over: OverMeasures | None = None) -> str:
    """All terms in a sentence; what is corrected over measures is the condition."""
    if isinstance(found, NotComputable):
        return f"The linear mixed model is {found}."
    terms = "; ".join(effect_test(one, over if one.term == "condition" else None) for one in found.effects)
    return (
        f"Linear mixed model ({found.observations} values of {found.n} participants, participants random, "
        f"REML, Satterthwaite's degrees of freedom): {terms}."
    )


def contrast_test(found: Contrast | NoContrast) -> str:
    """As in "0.32, 95% CI [0.21, 0.43], t(11) = 6.20, p < .001, g = 1.67 [0.80, 2.51], BF10 = 393"."""
    if isinstance(found, NoContrast):
        return str(found.because)
    return (
        f"{number(found.difference)}, 95% CI {interval(found.ci_low, found.ci_high)}, "
        f"t({found.df}) = {number(found.t)}, {p_value(found.p_adjusted)}, "
        f"g = {number(found.g)} {interval(found.g_low, found.g_high)}, BF10 {bayes_words(found.bayes_factor)}"
    )


def contrast_sentence(found: Contrast | NoContrast) -> str:
    """With its name; p is adjusted over its family."""
    return f"{found.name}: {contrast_test(found)}."


def bayes_words(factor: float) -> str:
    """As in "= 3.21", "> 1000", "< 0.001"."""
    if factor > ROUND:
        return f"> {ROUND:.0f}"
    return f"< {1 / ROUND:.3f}" if factor < 1 / ROUND else f"= {number(factor, 3 if factor < 0.1 else 2)}"


def friedman_test(found: Friedman | NotComputable, over: OverMeasures | None = None) -> str:
    """As in "χ²(4) = 30.11, p < .001, W = .63"."""
    if isinstance(found, NotComputable):
        return str(found)
    return f"χ²({found.df}) = {number(found.chi_squared)}, {p_words(found.p, over)}, W = {share(found.w)}"


def friedman_sentence(found: Friedman | NotComputable, over: OverMeasures | None = None) -> str:
    """Friedman's test in a sentence."""
    people = f" of {found.n} participants" if isinstance(found, Friedman) else ""
    joined = ": " if people else " is "
    return f"Friedman's test{people}{joined}{friedman_test(found, over)}."


def cumulative_sentence(found: Cumulative | NotComputable) -> str:
    """Wald's test of the conditions in a sentence."""
    if isinstance(found, NotComputable):
        return f"The cumulative-link model is {found}."
    return (
        f"Cumulative-link model (proportional odds, clustered by participant): χ²({found.df}) = "
        f"{number(found.chi_squared)}, {p_value(found.p)}."
    )


def _df(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 5e-7 else number(value)
