"""Define template filters that format the numbers and sentences of an analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django import template

from kitchen.charts.chart_data import cell_text
from study.analysis.statistics import apa_format
from study.analysis.statistics.charts_by_measure import main_figure
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.factorial.study_factors import term_key
from study.analysis.statistics.result_sentences import (
    BOOTSTRAP_WORDS,
    describe_bootstrap_interval,
    describe_within_interval,
    design_sentences,
    f_test,
    main_test_sentence,
)
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.verdicts import short_verdict, verdict_sentences
from study.design.analysis_plan import CORRECTIONS, AnalysisPlan, main_test_label
from study.planning.power.power_formulas import pattern_words, power_words

register = template.Library()
register.filter("number", apa_format.format_number)
register.filter("cell", cell_text)
register.filter("p_value", apa_format.format_p)
register.filter("f_test", f_test)
register.filter("effect", apa_format.format_anova_effect)
register.filter("share", apa_format.format_share)
register.filter("main_figure", main_figure)
register.filter("short_verdict", short_verdict)
register.filter("verdict_sentences", verdict_sentences)
register.filter("main_words", main_test_sentence)
register.filter("bayes_words", apa_format.format_bayes_factor)
register.filter("power", power_words)
register.simple_tag(describe_within_interval, name="within_interval")
register.simple_tag(describe_bootstrap_interval, name="bootstrap_interval")
register.simple_tag(lambda: BOOTSTRAP_WORDS, name="bootstrap_words")
register.filter("pattern_words", pattern_words)


@register.simple_tag
def interval(low: float | None, high: float | None) -> str:
    """Return an interval in brackets, or a dash if a bound is missing."""
    return apa_format.format_interval(low, high)


@register.simple_tag
def effect_name(tests: FactorialTests, term: tuple[str, ...]) -> str:
    """Return the names of an effect's factors."""
    return tests.factors.term_words(term)


@register.simple_tag
def level_names(tests: FactorialTests, levels: tuple[tuple[str, str], ...]) -> str:
    """Return the names of levels, which are given as (factor, level) pairs."""
    return tests.factors.level_words(levels)


class OverMeasures(NamedTuple):
    """The p values of the deciding test after the correction over measures, by term, with its name."""

    name: str
    ps: Mapping[str, float]


@register.simple_tag
def over_measures(result: MeasureResult, test: str) -> OverMeasures | None:
    """Return the p values corrected over measures. Return None if there is no such correction, or if `test`
    (a result of `FactorialTests.deciding_test`) does not decide."""
    found, tests = result.within, result.factorial
    if found is None or tests is None or not found.over_measures:
        return None
    if tests.deciding_test(found.main_test) != test:
        return None
    name = next(one.correction for one in found.over_measures.values())
    return OverMeasures(name, {term: one.p for term, one in found.over_measures.items()})


@register.simple_tag
def corrected_p(over: OverMeasures, term: tuple[str, ...]) -> str:
    """Return the corrected p value of a term as text, or a dash if it has none."""
    p = over.ps.get(term_key(term))
    return apa_format.DASH if p is None else apa_format.format_p(p)


@register.filter
def main_test(analysis: Analysis) -> str:
    """Return the label of the planned main test."""
    factorial = analysis.factors is not None
    return main_test_label(analysis.plan.main, grouped=analysis.between is not None, factorial=factorial)


@register.filter
def measures_correction(plan: AnalysisPlan) -> str:
    """Return the label of the plan's correction for testing several measures."""
    return CORRECTIONS[plan.correction]


@register.filter
def more_sentences(result: MeasureResult, plan: AnalysisPlan) -> list[str]:
    """Return the sentences about a measure's tests that the page does not show elsewhere. The main
    repeated-measures test and the cautions are shown elsewhere."""
    told = result.within.cautions if result.within else ()
    said = design_sentences(result)
    if result.factorial is not None:
        return [one for one in said[1:] if one not in told]
    return [one for one in said[plan.main == "repeated" :] if one not in told]
