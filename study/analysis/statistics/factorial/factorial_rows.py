"""Convert the tests of a factorial design into flat rows for files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from study.analysis.statistics.equivalence_rows import equivalence_row
from study.analysis.statistics.factorial.factorial_results import (
    Ancova,
    AncovaEffect,
    CellContrast,
    CovariateEffect,
    FactorialEffect,
    SimpleEffect,
    UntestedEffect,
    UntestedSimpleEffect,
)
from study.analysis.statistics.factorial.factorial_sentences import (
    NONE,
    ancova_effect_words,
    cell_contrast_sentence,
    effect_words,
    mixed_effect_words,
    ordinal_effect_words,
    simple_words,
)
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.factorial.mixed_model_results import (
    MixedContrast,
    MixedEffect,
    OrdinalMixedModel,
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
CELLS_ADJUSTED = "planned contrast, analysis of covariance"
ANCOVA, ORDINAL = "analysis of covariance", "cumulative-link mixed model"
DECIDING = {"anova": ANOVA, "mixed": MIXED_MODEL, "ancova": ANCOVA}


def factorial_rows(label: str, tests: FactorialTests, found: WithinResult) -> Iterator[dict[str, Any]]:
    """Yield one row for each factorial test of a measure, with the columns of `result_rows.TESTS`."""
    if tests.ancova is not None:
        yield from _ancova_rows(label, tests, tests.ancova, found)
    yield from _anova_rows(label, tests, found)
    yield from _mixed_rows(tests, found)
    if tests.ordinal is not None:
        yield from _ordinal_rows(tests.factors, tests.ordinal)
    for group in tests.simple:
        for one in group.effects:
            yield _simple_row(tests.factors, group.factor, one)
    for contrast in tests.planned:
        apa = cell_contrast_sentence(contrast)
        unadjusted = CELLS if tests.ancova is None else CELLS_ADJUSTED
        test = CELLS_MIXED if tests.contrasts_of_mixed else unadjusted
        yield {"role": "planned", "test": test, "term": contrast.name, "apa": apa, **_contrast_row(contrast)}
        if not isinstance(contrast, UncomputedContrast) and contrast.equivalence is not None:
            yield equivalence_row(contrast.name, contrast.equivalence)


def _role(tests: FactorialTests, found: WithinResult, test: str, term: str) -> dict[str, Any]:
    if DECIDING[tests.deciding_test(found.main_test)] != test:
        return {"role": "exploratory"}
    over = found.over_measures.get(term)
    return {"role": "main", **({"p_adjusted": over.p, "adjusted_by": over.correction} if over else {})}


def _anova_rows(label: str, tests: FactorialTests, found: WithinResult) -> Iterator[dict[str, Any]]:
    anova, factors = tests.anova, tests.factors
    if isinstance(anova, NotComputable):
        apa = f"{label}: the factorial ANOVA is {anova}."
        yield {**_role(tests, found, ANOVA, ""), "test": ANOVA, "not_computable": anova.because, "apa": apa}
        return
    for one in anova.effects:
        term = term_key(one.term)
        shared = {**_role(tests, found, ANOVA, term), "test": ANOVA, "term": term, "n": anova.n}
        shared |= {"left_out": len(anova.left_out)}
        decides = tests.deciding_test(found.main_test) == "anova"
        over = found.over_measures.get(term) if decides else None
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
            **_role(tests, found, MIXED_MODEL, ""),
            "test": MIXED_MODEL,
            "not_computable": mixed.because,
            "apa": apa,
        }
        return
    for one in mixed.effects:
        term = term_key(one.term)
        over = found.over_measures.get(term) if found.main_test == "mixed" else None
        yield {
            **_role(tests, found, MIXED_MODEL, term),
            "test": MIXED_MODEL,
            "term": term,
            "n": mixed.n,
            "left_out": len(mixed.left_out),
            **_mixed_row(one),
            "apa": f"{mixed_effect_words(factors, one, over)}.",
        }
    for covariate in mixed.covariates:
        yield _covariate_row(MIXED_MODEL, mixed.n, covariate)


def _covariate_row(test: str, n: int, one: CovariateEffect | UntestedEffect) -> dict[str, Any]:
    shared: dict[str, Any] = {"role": "exploratory", "test": test, "n": n}
    if isinstance(one, UntestedEffect):
        return {**shared, "term": term_key(one.term), "not_computable": one.because.because}
    return {
        **shared,
        "term": one.name,
        "statistic_name": "F",
        "statistic": one.f,
        "df1": 1,
        "df2": one.df_error,
        "p": one.p,
        "difference": one.slope,
    }


def _ancova_rows(
    label: str, tests: FactorialTests, one: Ancova | NotComputable, found: WithinResult
) -> Iterator[dict[str, Any]]:
    if isinstance(one, NotComputable):
        apa = f"{label}: the analysis of covariance is {one}."
        yield {**_role(tests, found, ANCOVA, ""), "test": ANCOVA, "not_computable": one.because, "apa": apa}
        return
    for effect in one.effects:
        term = term_key(effect.term)
        over = found.over_measures.get(term) if tests.deciding_test(found.main_test) == "ancova" else None
        yield {
            **_role(tests, found, ANCOVA, term),
            "test": ANCOVA,
            "term": term,
            "n": one.n,
            "left_out": len(one.left_out),
            **_ancova_row(effect),
            "apa": f"{ancova_effect_words(tests.factors, effect, over)}.",
        }
    for covariate in one.covariates:
        yield _covariate_row(ANCOVA, one.n, covariate)
    shared = {"role": "assumption", "test": "equal slopes of covariates", "n": one.n}
    if isinstance(one.unequal_slopes, UntestedEffect):
        yield {**shared, "not_computable": one.unequal_slopes.because.because}
    else:
        yield {**shared, **_ancova_row(one.unequal_slopes)}


def _ancova_row(one: AncovaEffect) -> dict[str, Any]:
    numbers = {"statistic_name": "F", "statistic": one.f, "df1": one.df, "df2": one.df_error, "p": one.p}
    return {**numbers, "effect_name": "partial eta squared", "effect": one.partial_eta_squared}


def _ordinal_rows(factors: StudyFactors, one: OrdinalMixedModel | NotComputable) -> Iterator[dict[str, Any]]:
    shared: dict[str, Any] = {"role": "exploratory", "test": ORDINAL}
    if isinstance(one, NotComputable):
        apa = f"The cumulative-link mixed model is {one}."
        yield {**shared, "not_computable": one.because, "apa": apa}
        return
    for effect in one.effects:
        row = {**shared, "term": term_key(effect.term), "n": one.n, "left_out": len(one.left_out)}
        if isinstance(effect, UntestedEffect):
            yield {**row, "not_computable": effect.because.because}
            continue
        numbers = {"statistic_name": "chi squared", "statistic": effect.chi_squared, "df1": effect.df}
        apa = f"Cumulative-link mixed model, {ordinal_effect_words(factors, effect)}."
        yield {**row, **numbers, "p": effect.p, "apa": apa}


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


def significant_terms(tests: FactorialTests, main: str, over: Mapping[str, CorrectedP] = NONE) -> list[str]:
    """Return the names of the effects that the deciding test finds, after the correction over measures."""
    ps = tests.decisive_ps(main)
    found = [key for key, p in ps.items() if (over[key].p if key in over else p) < LEVEL]
    return [tests.factors.term_words(key.split(":")) for key in found]
