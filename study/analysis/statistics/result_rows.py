"""Convert each statistical test of an analysis into one flat row, for CSV, JSON and LaTeX files.

A row maps column names to values. One value is a sentence about the result in APA style.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from study.analysis.statistics import result_sentences
from study.analysis.statistics.equivalence_rows import equivalence_row
from study.analysis.statistics.factorial.factorial_rows import factorial_rows
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.result_sentences import anova_sentence
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.within.result_types import (
    Contrast,
    CumulativeLink,
    Effect,
    Family,
    Friedman,
    RepeatedMeasures,
    ScaleResult,
    Sphericity,
    SplitPlot,
    Term,
    UncomputedContrast,
    UnidentifiedEffect,
    WithinResult,
)

Row = dict[str, Any]

TESTS = ["measure", "measure_label", "role", "test", "term", "n", "left_out", "statistic_name", "statistic"]
TESTS += ["df1", "df2", "p", "p_adjusted", "adjusted_by", "effect_name", "effect", "effect_low"]
TESTS += ["effect_high"]
TESTS += ["effect2_name", "effect2", "difference", "difference_low", "difference_high", "bayes_factor"]
TESTS += ["not_computable", "apa", "synthetic"]
"""Columns of tests. `role` is `main`, `planned`, `exploratory`, `assumption` or `replication`."""
RELIABILITY = ["scale", "scale_label", "condition", "n", "items", "alpha", "alpha_low", "alpha_high", "omega"]
RELIABILITY += ["item", "item_rest", "incomplete", "not_computable", "synthetic"]


def test_rows(analysis: Analysis) -> list[Row]:
    """Return one row for each test of each measure, in the order of the measures."""
    return [
        {
            "measure": result.measure.key,
            "measure_label": result.measure.label,
            "synthetic": result.synthetic,
            **row,
            **({"role": "exploratory"} if _decided(result, row) else {}),
        }
        for result in analysis.measures
        for row in _measure(result)
    ]


def _decided(result: MeasureResult, row: Row) -> bool:
    """Return True if the row is a main or planned test of an exploratory measure. This test decides nothing
    about the hypotheses."""
    return result.measure.exploratory and row["role"] in ("main", "planned")


def _measure(result: MeasureResult) -> Iterator[Row]:
    found = result.within
    if found is None:
        return
    label = result.measure.label
    if result.factorial is not None:
        yield from factorial_rows(label, result.factorial, found)
        yield from _contrasts(found.pairs, "paired t test", "exploratory")
        yield _replication(result)
        return
    if found.grouped is None:
        yield from _repeated(label, found, result.units)
    else:
        yield from _grouped(label, found, found.grouped, result.units)
    yield from _mixed(found, result.units)
    yield from _contrasts(found.planned, "planned contrast", "planned")
    yield from _contrasts(found.pairs, "paired t test", "exploratory")
    if found.grouped is None:
        yield from _ranks(found, result.units)
    if found.cumulative is not None:
        yield _cumulative(found, found.cumulative)
    yield _replication(result)


def _role(found: WithinResult, test: str, term: Term = "condition") -> Row:
    """Return the cell with the role of a test, `main` or `exploratory`. The main test also gets its p value
    corrected over all measures, and the name of the correction."""
    if found.main_test != test:
        return {"role": "exploratory"}
    over = found.over_measures.get(term)
    return {"role": "main", **({"p_adjusted": over.p, "adjusted_by": over.correction} if over else {})}


def _repeated(label: str, found: WithinResult, units: str) -> Iterator[Row]:
    one, role = found.repeated, _role(found, "repeated")
    apa = result_sentences.repeated_sentence(label, one, found.over("repeated"), units)
    if isinstance(one, NotComputable):
        yield {**role, "test": "repeated-measures ANOVA", "not_computable": one.because, "apa": apa}
        return
    shared = {"n": one.n, "left_out": len(one.left_out), **_f(one.f), "term": "condition"}
    sizes = {"effect_name": "partial eta squared", "effect": one.partial_eta_squared}
    sizes |= {"effect2_name": "generalised eta squared", "effect2": one.generalised_eta_squared}
    for name, epsilon, p in _corrections(one):
        decides = name == (one.correction or "uncorrected")
        yield {
            **(role if decides else {"role": "exploratory"}),
            **shared,
            **sizes,
            "test": f"repeated-measures ANOVA, {name}",
            "df1": epsilon * one.df_condition,
            "df2": epsilon * one.df_error,
            "p": p,
            "apa": apa if decides else result_sentences.uncorrected_test(one),
        }
    yield from _sphericity(one)


def _grouped(label: str, found: WithinResult, one: SplitPlot | NotComputable, units: str) -> Iterator[Row]:
    apa = result_sentences.grouped_sentence(label, one, found.corrections("repeated"), units)
    if isinstance(one, NotComputable):
        yield {**_role(found, "repeated"), "test": "mixed ANOVA", "not_computable": one.because, "apa": apa}
        return
    for effect in one.effects:
        corrected = one.correction if effect.term != "group" else ""
        epsilon = one.epsilon(effect.term)
        yield {
            **_role(found, "repeated", effect.term),
            **_f(effect.f),
            "test": f"mixed ANOVA, {corrected}" if corrected else "mixed ANOVA",
            "term": effect.term,
            "n": one.n,
            "left_out": len(one.left_out),
            "df1": epsilon * effect.df,
            "df2": epsilon * effect.df_error,
            "p": one.p_corrected(effect),
            "effect_name": "partial eta squared",
            "effect": effect.partial_eta_squared,
            "effect2_name": "generalised eta squared",
            "effect2": effect.generalised_eta_squared,
            "apa": apa,
        }
    yield from _sphericity(one)


def _corrections(one: RepeatedMeasures) -> list[tuple[str, float, float]]:
    """Return (name, epsilon, p) for each sphericity correction of a repeated-measures ANOVA, the one in use
    first. Empty for two conditions, which need no correction."""
    none = ("uncorrected", 1.0, one.p)
    if not one.correction:
        return [none]
    gg = ("Greenhouse\N{EN DASH}Geisser", one.epsilon_gg, one.p_gg)
    hf = ("Huynh\N{EN DASH}Feldt", min(one.epsilon_hf, 1.0), one.p_hf)
    return [hf, gg, none] if one.mild else [gg, hf, none]


def _sphericity(one: RepeatedMeasures | SplitPlot) -> Iterator[Row]:
    shared = {"role": "assumption", "test": "Mauchly's test", "term": "sphericity", "n": one.n}
    shared |= {"effect_name": "epsilon (Greenhouse-Geisser)", "effect": one.epsilon_gg}
    shared |= {"effect2_name": "epsilon (Huynh-Feldt)", "effect2": one.epsilon_hf}
    if isinstance(one.sphericity, Sphericity):
        numbers = {"statistic_name": "W", "statistic": one.sphericity.w, "df1": one.sphericity.df}
        yield {**shared, **numbers, "p": one.sphericity.p}
    elif one.sphericity is not None:
        yield {**shared, "not_computable": one.sphericity.because}


def _mixed(found: WithinResult, units: str) -> Iterator[Row]:
    one = found.mixed
    if isinstance(one, NotComputable):
        why = {"not_computable": one.because, "apa": result_sentences.mixed_sentence(one)}
        yield {**_role(found, "mixed"), "test": "linear mixed model", **why}
        return
    for effect in one.effects:
        role = _role(found, "mixed", effect.term) if effect.decides else {"role": "exploratory"}
        apa = (
            result_sentences.mixed_sentence(one, found.corrections("mixed"), units)
            if effect.decides
            else result_sentences.effect_test(effect)
        )
        shared = {**role, "test": "linear mixed model", "term": effect.term, "n": one.n, "left_out": 0}
        yield {**shared, **_effect(effect), "apa": apa}


def _effect(one: Effect | UnidentifiedEffect) -> Row:
    if isinstance(one, UnidentifiedEffect):
        return {"not_computable": one.because.because}
    return {**_f(one.f), "df1": one.df, "df2": one.df_error, "p": one.p}


def _contrasts(family: Family, test: str, role: str) -> Iterator[Row]:
    for one in family.contrasts:
        apa = result_sentences.contrast_sentence(one)
        yield {"role": role, "test": test, "term": one.name, "apa": apa, **_contrast(one)}
        if isinstance(one, Contrast) and one.equivalence is not None:
            yield equivalence_row(one.name, one.equivalence)


def _contrast(one: Contrast | UncomputedContrast) -> Row:
    if isinstance(one, UncomputedContrast):
        return {"not_computable": one.because.because}
    return {
        "n": one.n,
        "left_out": len(one.left_out),
        "statistic_name": "t",
        "statistic": one.t,
        "df1": one.df,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "adjusted_by": "Holm",
        "effect_name": "Hedges' g (paired)",
        "effect": one.g,
        "effect_low": one.g_low,
        "effect_high": one.g_high,
        "difference": one.difference,
        "difference_low": one.ci_low,
        "difference_high": one.ci_high,
        "bayes_factor": one.bayes_factor,
    }


def _ranks(found: WithinResult, units: str) -> Iterator[Row]:
    shared: Row = {**_role(found, "friedman"), "test": "Friedman's test", "term": "condition"}
    one = found.friedman
    apa = result_sentences.friedman_sentence(one, found.over("friedman"), units)
    if isinstance(one, NotComputable):
        yield {**shared, "not_computable": one.because, "apa": apa}
        return
    sizes = {"effect_name": "Kendall's W", "effect": one.w, "n": one.n, "left_out": len(one.left_out)}
    yield {**shared, **_chi_squared(one), **sizes, "apa": apa}
    yield from _rank_pairs(one)


def _rank_pairs(one: Friedman) -> Iterator[Row]:
    for pair in one.pairs:
        term = f"{pair.second.label} \N{MINUS SIGN} {pair.first.label}"
        shared = {"role": "exploratory", "term": term, "n": one.n, "left_out": len(one.left_out)}
        shared |= {"statistic_name": "difference of mean ranks", "statistic": pair.rank_difference}
        yield {**shared, "test": "Nemenyi", "p_adjusted": pair.p_nemenyi, "adjusted_by": "studentised range"}
        yield {**shared, "test": "Conover", "p_adjusted": pair.p_conover, "adjusted_by": "Holm"}


def _cumulative(found: WithinResult, one: CumulativeLink | NotComputable) -> Row:
    shared = {"role": "exploratory", "test": "cumulative-link model", "term": "condition"}
    shared["apa"] = result_sentences.cumulative_sentence(one)
    if isinstance(one, NotComputable):
        return {**shared, "not_computable": one.because}
    return {**shared, **_chi_squared(one), "n": one.n, "left_out": 0}


def _replication(result: MeasureResult) -> Row:
    one, found = result.anova, result.within
    shared: Row = {"role": "replication", "test": "one-way ANOVA", "term": "condition"}
    shared["apa"] = anova_sentence(result)
    if found and found.main_test == "one_way":
        shared |= _role(found, "one_way")
    if isinstance(one, NotComputable):
        return {**shared, "not_computable": one.because}
    numbers = {**_f(one.f), "df1": one.df_between, "df2": one.df_within, "p": one.p}
    sizes = {"effect_name": "eta squared", "effect": one.eta_squared}
    return {**shared, **numbers, **sizes, "effect2_name": "omega squared", "effect2": one.omega_squared}


def _f(value: float) -> Row:
    return {"statistic_name": "F", "statistic": value}


def _chi_squared(one: Friedman | CumulativeLink) -> Row:
    return {"statistic_name": "chi squared", "statistic": one.chi_squared, "df1": one.df, "p": one.p}


def reliability_rows(analysis: Analysis) -> list[Row]:
    """Return one row per item, scale and condition, and over all conditions. If a reliability cannot be
    computed, it has one row with the reason."""
    return [
        {"scale": one.scale, "scale_label": one.label, "condition": one.where, "synthetic": synthetic} | row
        for synthetic in [analysis.synthetic]
        for one in analysis.scales
        for row in _reliability(one)
    ]


def _reliability(one: ScaleResult) -> list[Row]:
    found = one.found
    if isinstance(found, NotComputable):
        return [{"not_computable": found.because}]
    shared = {"n": found.n, "items": found.items, "incomplete": found.incomplete, "omega": found.omega}
    shared |= {"alpha": found.alpha, "alpha_low": found.alpha_low, "alpha_high": found.alpha_high}
    return [{**shared, "item": item, "item_rest": value} for item, value in found.item_rest]
