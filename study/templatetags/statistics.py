"""Numbers of the analysis on pages, written as the report writes them."""

from __future__ import annotations

from django import template

from study.analysis.statistics import format as written
from study.planning.power.words import pattern_words, power_words

register = template.Library()
register.filter("number", written.number)
register.filter("p_value", written.p_value)
register.filter("f_test", written.f_test)
register.filter("effect", written.effect)
register.filter("share", written.share)
register.filter("power", power_words)
register.filter("pattern_words", pattern_words)


@register.simple_tag
def interval(low: float | None, high: float | None) -> str:
    """An interval in brackets, or a dash where there is none."""
    return written.interval(low, high)
