"""Numbers of the analysis on pages, written as the report writes them."""

from __future__ import annotations

from django import template

from kitchen.charts.behind import shown
from study.analysis.statistics import format as written
from study.analysis.statistics.analyse import MeasureResult
from study.analysis.statistics.within.sentences import bayes_words, f_test
from study.analysis.statistics.words import design_sentences, main_words, within_words
from study.design.testing import CORRECTIONS, MAIN_TESTS, AnalysisPlan
from study.planning.power.words import pattern_words, power_words

register = template.Library()
register.filter("number", written.number)
register.filter("cell", shown)
register.filter("p_value", written.p_value)
register.filter("f_test", f_test)
register.filter("effect", written.effect)
register.filter("share", written.share)
register.filter("main_words", main_words)
register.filter("bayes_words", bayes_words)
register.filter("power", power_words)
register.simple_tag(within_words, name="within_interval")
register.filter("pattern_words", pattern_words)


@register.simple_tag
def interval(low: float | None, high: float | None) -> str:
    """An interval in brackets, or a dash where there is none."""
    return written.interval(low, high)


@register.filter
def main_test(plan: AnalysisPlan) -> str:
    """Which test decides on a measure."""
    return MAIN_TESTS[plan.main]


@register.filter
def measures_correction(plan: AnalysisPlan) -> str:
    """What p is corrected for beyond its own measure."""
    return CORRECTIONS[plan.correction]


@register.filter
def more_sentences(result: MeasureResult, plan: AnalysisPlan) -> list[str]:
    """What the page says of a measure beside its main test and its cautions."""
    told = result.within.cautions if result.within else ()
    said = design_sentences(result)
    return [one for one in said[plan.main == "repeated" :] if one not in told]
