"""Write the results of factorial tests as clauses and sentences in APA style."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kitchen.words.english_text import and_list
from study.analysis.statistics.apa_format import (
    format_bayes_factor,
    format_df,
    format_interval,
    format_number,
    format_p,
    format_share,
)
from study.analysis.statistics.equivalence_rows import equivalence_sentence
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
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.factorial.mixed_model_results import (
    FactorialMixedModel,
    MixedContrast,
    MixedEffect,
    OrdinalEffect,
    OrdinalMixedModel,
    RandomIntercept,
)
from study.analysis.statistics.factorial.study_factors import StudyFactors, term_key
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.result_types import CorrectedP, UncomputedContrast

NONE: Mapping[str, CorrectedP] = MappingProxyType({})


def _p(p: float, over: CorrectedP | None) -> str:
    return f"{format_p(p)}, after {over.correction} {format_p(over.p)}" if over else format_p(p)


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
        f"{name}: F({format_df(above)}, {format_df(below)}) = {format_number(one.f)}, "
        f"{_p(one.p_corrected, over)}, ηp² = {format_share(one.partial_eta_squared)}, "
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
    return f"{name}: F({one.df}, {format_df(one.df_error)}) = {format_number(one.f)}, {_p(one.p, over)}{part}"


def ancova_effect_words(factors: StudyFactors, one: AncovaEffect, over: CorrectedP | None = None) -> str:
    """Return an effect of the analysis of covariance as text: `Partner: F(1, 21) = 4.10, p = .056, ηp² =
    .16`. `over` is the p value corrected over measures."""
    numbers = f"F({one.df}, {one.df_error}) = {format_number(one.f)}, {_p(one.p, over)}"
    return f"{factors.term_words(one.term)}: {numbers}, ηp² = {format_share(one.partial_eta_squared)}"


def ordinal_effect_words(factors: StudyFactors, one: OrdinalEffect | UntestedEffect) -> str:
    """Return an effect of the cumulative-link mixed model as text: `Partner: χ²(2) = 9.10, p = .011`."""
    name = factors.term_words(one.term)
    if isinstance(one, UntestedEffect):
        return f"{name}: {one.because}"
    return f"{name}: χ²({one.df}) = {format_number(one.chi_squared)}, {format_p(one.p)}"


def covariate_words(one: CovariateEffect | UntestedEffect) -> str:
    """Return the slope of a covariate as text: `age: slope 0.12, F(1, 20) = 4.10, p = .056`."""
    if isinstance(one, UntestedEffect):
        return f"{term_key(one.term)}: {one.because}"
    numbers = f"F(1, {format_df(one.df_error)}) = {format_number(one.f)}, {format_p(one.p)}"
    return f"{one.name}: slope {format_number(one.slope)}, {numbers}"


def simple_words(factors: StudyFactors, factor: str, one: SimpleEffect | UntestedSimpleEffect) -> str:
    """Return a simple effect as text: `Partner at Ring: F(1, 11) = 9.00, p = .024`. The p value is corrected
    over the simple effects of the interaction."""
    name = f"{factors.term_words([factor])} at {factors.level_words(one.at)}"
    if isinstance(one, UntestedSimpleEffect):
        return f"{name}: {one.because}"
    above, below = one.effect.df_corrected
    return (
        f"{name}: F({format_df(above)}, {format_df(below)}) = {format_number(one.effect.f)}, "
        f"{format_p(one.p_adjusted)} (Holm)"
    )


def cell_contrast_sentence(one: CellContrast | MixedContrast | UncomputedContrast) -> str:
    """Return the name of a contrast of cells and its test as text."""
    if isinstance(one, UncomputedContrast):
        return f"{one.name}: {one.because}."
    numbers = (
        f"{one.name}: {format_number(one.estimate)}, 95% CI {format_interval(one.ci_low, one.ci_high)}, "
        f"t({format_df(one.df)}) = {format_number(one.t)}, {format_p(one.p_adjusted)} (Holm)"
    )
    if isinstance(one, MixedContrast):
        return f"{numbers}, mixed model."
    size = f"g = {format_number(one.g)} {format_interval(one.g_low, one.g_high)}"
    return f"{numbers}, {size}, BF10 {format_bayes_factor(one.bayes_factor)}."


def decisive_sentence(tests: FactorialTests, main: str, over: Mapping[str, CorrectedP] = NONE) -> str:
    """Return the test that decides as text, with all its effects. `main` is the planned main test. `over` has
    the p values corrected over measures, by the term's key."""
    return _test_sentence(tests, tests.deciding_test(main), over)


def _test_sentence(tests: FactorialTests, test: str, over: Mapping[str, CorrectedP] = NONE) -> str:
    """Return the test named by `deciding_test` as text, with all its effects."""
    factors = tests.factors
    if test == "mixed":
        if isinstance(tests.mixed, NotComputable):
            return f"Linear mixed model: {tests.mixed}"
        told = [mixed_effect_words(factors, one, over.get(term_key(one.term))) for one in tests.mixed.effects]
        return f"Linear mixed model: {'; '.join(told)}"
    if test == "ancova" and tests.ancova is not None:
        if isinstance(tests.ancova, NotComputable):
            return f"Analysis of covariance: {tests.ancova}"
        told = [ancova_effect_words(factors, e, over.get(term_key(e.term))) for e in tests.ancova.effects]
        return f"Analysis of covariance: {'; '.join(told)}"
    if isinstance(tests.anova, NotComputable):
        return f"Factorial ANOVA: {tests.anova}"
    words = [effect_words(factors, one, over.get(term_key(one.term))) for one in tests.anova.effects]
    return f"Factorial ANOVA: {'; '.join(words)}"


def factorial_sentences(tests: FactorialTests, main: str) -> list[str]:
    """Return the sentences about the other factorial tests of a measure: the model that does not decide, the
    random terms, and the simple effects."""
    decides = tests.deciding_test(main)
    others = ["anova", "mixed"] if tests.ancova is None else ["ancova", "anova", "mixed"]
    said = [f"{_test_sentence(tests, one)}." for one in others if one != decides]
    said += _covariate_sentences(tests)
    if tests.ordinal is not None:
        said.append(ordinal_sentence(tests.factors, tests.ordinal))
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


def _covariate_sentences(tests: FactorialTests) -> list[str]:
    """Return the slopes of the covariates in the tests that have some. The position counts as one."""
    models = (("analysis of covariance", tests.ancova), ("linear mixed model", tests.mixed))
    return [
        f"Covariates of the {name}: {'; '.join(map(covariate_words, one.covariates))}."
        for name, one in models
        if isinstance(one, Ancova | FactorialMixedModel) and one.covariates
    ]


def ordinal_sentence(factors: StudyFactors, one: OrdinalMixedModel | NotComputable) -> str:
    """Return a sentence about the cumulative-link mixed model and its tests of the effects."""
    if isinstance(one, NotComputable):
        return f"The cumulative-link mixed model is {one}."
    told = "; ".join(ordinal_effect_words(factors, effect) for effect in one.effects)
    return f"Cumulative-link mixed model (random intercepts of participants, likelihood ratios): {told}."


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
