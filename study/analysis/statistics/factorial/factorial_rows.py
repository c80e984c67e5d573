"""Convert the tests of a factorial design into flat rows for files, and into sentences in APA style."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from kitchen.words.english_text import and_list
from study.analysis.statistics.apa_format import (
    format_bayes_factor,
    format_interval,
    format_number,
    format_p,
    format_share,
)
from study.analysis.statistics.equivalence_rows import equivalence_row, equivalence_sentence
from study.analysis.statistics.factorial.factorial_results import (
    CellContrast,
    FactorialEffect,
    SimpleEffect,
    UntestedEffect,
    UntestedSimpleEffect,
)
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.factorial.mixed_model_results import (
    FactorialMixedModel,
    MixedContrast,
    MixedEffect,
    RandomIntercept,
)
from study.analysis.statistics.factorial.study_factors import StudyFactors, term_key
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.result_types import (
    LEVEL,
    CorrectedP,
    Sphericity,
    UncomputedContrast,
    WithinResult,
)

ANOVA, MIXED_MODEL = "factorial ANOVA", "factorial mixed model"
SIMPLE, CELLS, CELLS_MIXED = "simple effect", "planned contrast of cells", "planned contrast, mixed model"
NONE: Mapping[str, CorrectedP] = MappingProxyType({})


def factorial_rows(label: str, tests: FactorialTests, found: WithinResult) -> Iterator[dict[str, Any]]:
    """Yield one row for each factorial test of a measure, with the columns of `result_rows.TESTS`."""
    yield from _anova_rows(label, tests, found)
    yield from _mixed_rows(tests, found)
    for group in tests.simple:
        for one in group.effects:
            yield _simple_row(tests.factors, group.factor, one)
    for contrast in tests.planned:
        apa = cell_contrast_sentence(contrast)
        test = CELLS_MIXED if tests.contrasts_of_mixed else CELLS
        yield {"role": "planned", "test": test, "term": contrast.name, "apa": apa, **_contrast_row(contrast)}
        if not isinstance(contrast, UncomputedContrast) and contrast.equivalence is not None:
            yield equivalence_row(contrast.name, contrast.equivalence)


def _role(found: WithinResult, test: str, term: str) -> dict[str, Any]:
    if (found.main_test == "mixed") != (test == MIXED_MODEL):
        return {"role": "exploratory"}
    over = found.over_measures.get(term)
    return {"role": "main", **({"p_adjusted": over.p, "adjusted_by": over.correction} if over else {})}


def _anova_rows(label: str, tests: FactorialTests, found: WithinResult) -> Iterator[dict[str, Any]]:
    anova, factors = tests.anova, tests.factors
    if isinstance(anova, NotComputable):
        apa = f"{label}: the factorial ANOVA is {anova}."
        yield {**_role(found, ANOVA, ""), "test": ANOVA, "not_computable": anova.because, "apa": apa}
        return
    for one in anova.effects:
        term = term_key(one.term)
        shared = {**_role(found, ANOVA, term), "test": ANOVA, "term": term, "n": anova.n}
        shared |= {"left_out": len(anova.left_out)}
        over = found.over_measures.get(term) if found.main_test != "mixed" else None
        yield {**shared, **_effect_row(one), "apa": f"{effect_words(factors, one, over)}."}
        correction = one.correction if isinstance(one, FactorialEffect) else None
        if correction and isinstance(correction.sphericity, Sphericity):
            yield {
                "role": "assumption",
                "test": "Mauchly's test",
                "term": term,
                "n": anova.n,
                "statistic_name": "W",
                "statistic": correction.sphericity.w,
                "df1": correction.sphericity.df,
                "p": correction.sphericity.p,
                "effect_name": "epsilon (Greenhouse-Geisser)",
                "effect": correction.epsilon_gg,
                "effect2_name": "epsilon (Huynh-Feldt)",
                "effect2": correction.epsilon_hf,
            }


def _effect_row(one: FactorialEffect | UntestedEffect) -> dict[str, Any]:
    if isinstance(one, UntestedEffect):
        return {"not_computable": one.because.because}
    above, below = one.df_corrected
    name = f"{ANOVA}, {one.correction.name}" if one.correction else ANOVA
    return {
        "test": name,
        "statistic_name": "F",
        "statistic": one.f,
        "df1": above,
        "df2": below,
        "p": one.p_corrected,
        "effect_name": "partial eta squared",
        "effect": one.partial_eta_squared,
        "effect2_name": "generalised eta squared",
        "effect2": one.generalised_eta_squared,
    }


def _mixed_rows(tests: FactorialTests, found: WithinResult) -> Iterator[dict[str, Any]]:
    mixed, factors = tests.mixed, tests.factors
    if isinstance(mixed, NotComputable):
        apa = f"The factorial mixed model is {mixed}."
        yield {
            **_role(found, MIXED_MODEL, ""),
            "test": MIXED_MODEL,
            "not_computable": mixed.because,
            "apa": apa,
        }
        return
    for one in mixed.effects:
        term = term_key(one.term)
        over = found.over_measures.get(term) if found.main_test == "mixed" else None
        yield {
            **_role(found, MIXED_MODEL, term),
            "test": MIXED_MODEL,
            "term": term,
            "n": mixed.n,
            "left_out": len(mixed.left_out),
            **_mixed_row(one),
            "apa": f"{mixed_effect_words(factors, one, over)}.",
        }
    for covariate in mixed.covariates:
        shared: dict[str, Any] = {"role": "exploratory", "test": MIXED_MODEL, "n": mixed.n}
        if isinstance(covariate, UntestedEffect):
            yield {
                **shared,
                "term": term_key(covariate.term),
                "not_computable": covariate.because.because,
            }
        else:
            yield {
                **shared,
                "term": covariate.name,
                "statistic_name": "F",
                "statistic": covariate.f,
                "df1": 1,
                "df2": covariate.df_error,
                "p": covariate.p,
                "difference": covariate.slope,
            }


def _mixed_row(one: MixedEffect | UntestedEffect) -> dict[str, Any]:
    if isinstance(one, UntestedEffect):
        return {"not_computable": one.because.because}
    numbers = {"statistic_name": "F", "statistic": one.f, "df1": one.df, "df2": one.df_error}
    return {**numbers, "p": one.p}


def _simple_row(
    factors: StudyFactors, factor: str, one: SimpleEffect | UntestedSimpleEffect
) -> dict[str, Any]:
    at = ", ".join(f"{key} = {level}" for key, level in one.at)
    shared: dict[str, Any] = {"role": "exploratory", "test": SIMPLE, "term": f"{factor} at {at}"}
    shared["apa"] = f"{simple_words(factors, factor, one)}."
    if isinstance(one, UntestedSimpleEffect):
        return {**shared, "not_computable": one.because.because}
    row = _effect_row(one.effect)
    return {**row, **shared, "p_adjusted": one.p_adjusted, "adjusted_by": "Holm"}


def _contrast_row(one: CellContrast | MixedContrast | UncomputedContrast) -> dict[str, Any]:
    if isinstance(one, UncomputedContrast):
        return {"not_computable": one.because.because}
    numbers = {
        "statistic_name": "t",
        "statistic": one.t,
        "df1": one.df,
        "p": one.p,
        "p_adjusted": one.p_adjusted,
        "adjusted_by": "Holm",
        "difference": one.estimate,
        "difference_low": one.ci_low,
        "difference_high": one.ci_high,
    }
    if isinstance(one, MixedContrast):
        return numbers
    size = {"effect_name": "Hedges' g", "effect": one.g, "effect_low": one.g_low, "effect_high": one.g_high}
    return {**numbers, **size, "bayes_factor": one.bayes_factor}


def _p(p: float, over: CorrectedP | None) -> str:
    return f"{format_p(p)}, after {over.correction} {format_p(over.p)}" if over else format_p(p)


def _df(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 5e-7 else format_number(value)


def effect_words(
    factors: StudyFactors, one: FactorialEffect | UntestedEffect, over: CorrectedP | None = None
) -> str:
    """Return an effect of the ANOVA as text: `Partner x Layout: F(2, 22) = 5.20, p = .014, ηp² = .32, …`.
    `over` is the p value corrected over measures."""
    name = factors.term_words(one.term)
    if isinstance(one, UntestedEffect):
        return f"{name}: {one.because}"
    above, below = one.df_corrected
    epsilon = f", {one.correction.name} ε = {format_share(one.correction.epsilon)}" if one.correction else ""
    return (
        f"{name}: F({_df(above)}, {_df(below)}) = {format_number(one.f)}, {_p(one.p_corrected, over)}, "
        f"ηp² = {format_share(one.partial_eta_squared)}, "
        f"ηG² = {format_share(one.generalised_eta_squared)}{epsilon}"
    )


def mixed_effect_words(
    factors: StudyFactors, one: MixedEffect | UntestedEffect, over: CorrectedP | None = None
) -> str:
    """Return an effect of the mixed model as text: `Partner: F(2, 31.40) = 4.10, p = .026`. `over` is the p
    value corrected over measures."""
    name = factors.term_words(one.term)
    if isinstance(one, UntestedEffect):
        return f"{name}: {one.because}"
    part = f" ({one.df} of {one.df + one.lost} contrasts can be estimated)" if one.lost else ""
    return f"{name}: F({one.df}, {_df(one.df_error)}) = {format_number(one.f)}, {_p(one.p, over)}{part}"


def simple_words(factors: StudyFactors, factor: str, one: SimpleEffect | UntestedSimpleEffect) -> str:
    """Return a simple effect as text: `Partner at Ring: F(1, 11) = 9.00, p = .024`. The p value is corrected
    over the simple effects of the interaction."""
    name = f"{factors.term_words([factor])} at {factors.level_words(one.at)}"
    if isinstance(one, UntestedSimpleEffect):
        return f"{name}: {one.because}"
    above, below = one.effect.df_corrected
    return (
        f"{name}: F({_df(above)}, {_df(below)}) = {format_number(one.effect.f)}, "
        f"{format_p(one.p_adjusted)} (Holm)"
    )


def cell_contrast_sentence(one: CellContrast | MixedContrast | UncomputedContrast) -> str:
    """Return the name of a contrast of cells and its test as text."""
    if isinstance(one, UncomputedContrast):
        return f"{one.name}: {one.because}."
    numbers = (
        f"{one.name}: {format_number(one.estimate)}, 95% CI {format_interval(one.ci_low, one.ci_high)}, "
        f"t({_df(one.df)}) = {format_number(one.t)}, {format_p(one.p_adjusted)} (Holm)"
    )
    if isinstance(one, MixedContrast):
        return f"{numbers}, mixed model."
    size = f"g = {format_number(one.g)} {format_interval(one.g_low, one.g_high)}"
    return f"{numbers}, {size}, BF10 {format_bayes_factor(one.bayes_factor)}."


def decisive_sentence(tests: FactorialTests, main: str, over: Mapping[str, CorrectedP] = NONE) -> str:
    """Return the test that decides as text, with all its effects. `main` is the planned main test. `over` has
    the p values corrected over measures, by the term's key."""
    factors = tests.factors
    if main == "mixed":
        if isinstance(tests.mixed, NotComputable):
            return f"Linear mixed model: {tests.mixed}"
        told = [mixed_effect_words(factors, one, over.get(term_key(one.term))) for one in tests.mixed.effects]
        return f"Linear mixed model: {'; '.join(told)}"
    if isinstance(tests.anova, NotComputable):
        return f"Factorial ANOVA: {tests.anova}"
    words = [effect_words(factors, one, over.get(term_key(one.term))) for one in tests.anova.effects]
    return f"Factorial ANOVA: {'; '.join(words)}"


def factorial_sentences(tests: FactorialTests, main: str) -> list[str]:
    """Return the sentences about the other factorial tests of a measure: the model that does not decide, the
    random terms, and the simple effects."""
    other = "repeated" if main == "mixed" else "mixed"
    said = [f"{decisive_sentence(tests, other)}."]
    if not isinstance(tests.mixed, NotComputable):
        said += _model_sentences(tests.factors, tests.mixed)
    said += [
        equivalence_sentence(one.name, one.equivalence)
        for one in tests.planned
        if not isinstance(one, UncomputedContrast) and one.equivalence is not None
    ]
    return said + [
        f"{simple_words(tests.factors, group.factor, one)}."
        for group in tests.simple
        for one in group.effects
    ]


def _model_sentences(factors: StudyFactors, mixed: FactorialMixedModel) -> list[str]:
    """Return what the mixed model was fitted to: the values, the random terms, and the missing cells."""
    kept = [_random_name(factors, one) for one in mixed.random if not one.dropped]
    left = [f"those of {_random_name(factors, one)} are {one.words}" for one in mixed.random if one.dropped]
    terms = f"random intercepts of {and_list(kept)}" if kept else "no random intercepts"
    said = [
        f"The mixed model has {mixed.observations} values of {mixed.n} participants, and "
        f"{'; '.join([terms, *left])}."
    ]
    if mixed.missing_cells:
        keys = [one.key for one in factors.factors]
        named = [factors.level_words(list(zip(keys, cell, strict=True))) for cell in mixed.missing_cells]
        more = f"; and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        said.append(
            f"No participant has a value in {'; '.join(named[:MOST_NAMED])}{more}. Effects are tested by the "
            "contrasts that the other cells allow."
        )
    return said


MOST_NAMED = 5


def _random_name(factors: StudyFactors, one: RandomIntercept) -> str:
    return (
        f"participants within each level of {factors.names.get(one.factor, one.factor)}"
        if one.factor
        else "participants"
    )


def significant_terms(tests: FactorialTests, main: str, over: Mapping[str, CorrectedP] = NONE) -> list[str]:
    """Return the names of the effects that the deciding test finds, after the correction over measures."""
    ps = tests.decisive_ps(main)
    found = [key for key, p in ps.items() if (over[key].p if key in over else p) < LEVEL]
    return [tests.factors.term_words(key.split(":")) for key in found]
