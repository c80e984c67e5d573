"""The report's part on the tests that the design asks for, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from study.analysis.statistics.analyse import MeasureResult
from study.analysis.statistics.format import interval, number, p_value, share
from study.analysis.statistics.markdown import escaped, table
from study.analysis.statistics.scales import Reliability, ScaleResult
from study.analysis.statistics.within.results import Contrast, Family
from study.analysis.statistics.within.sentences import bayes_words

DESIGN_METHOD = """\
Every participant played every condition, so conditions were compared within participants. Whether they
differ was tested by a repeated-measures analysis of variance, corrected after Greenhouse and Geisser, or
after Huynh and Feldt where epsilon is above .75 (Girden 1992), and by a linear mixed model of condition,
position in the order and carry-over, participants random, for those with gaps too (REML, Satterthwaite's
degrees of freedom). Pairs and planned contrasts were tested by paired t tests with Holm's correction within
each family; Hedges' g is over the standard deviation of the differences, and Bayes factors have a Cauchy
prior of scale .707. Ranks were compared by Friedman's test with Kendall's W, ratings also by a cumulative-
link model clustered by participant. Intervals for comparing conditions are those of Cousineau and Morey."""


def family_tables(result: MeasureResult) -> list[str]:
    """Planned contrasts, if there are any, and all pairs within participants."""
    if result.within is None:
        return []
    named = (
        ("Planned contrasts", result.within.planned),
        ("Pairs, within participants", result.within.pairs),
    )
    return [f"{name}:\n\n{contrasts_table(family)}" for name, family in named if family.contrasts]


def contrasts_table(family: Family) -> str:
    """Contrasts that are corrected together, one line each."""
    head = ("Contrast", "n", "Difference", "95% CI", "t", "p (Holm)", "Hedges' g", "95% CI of g", "BF10")
    computed = [table(head, [_contrast_cells(one) for one in family.computed])] if family.computed else []
    return "\n\n".join([*computed, *_not_computed(family)])


def _not_computed(family: Family) -> list[str]:
    rest = [one for one in family.contrasts if not isinstance(one, Contrast)]
    return [f"{escaped(one.name)}: {one.because}." for one in rest]


def _contrast_cells(one: Contrast) -> list[str]:
    return [
        escaped(one.name),
        str(one.n),
        number(one.difference),
        interval(one.ci_low, one.ci_high),
        f"t({one.df}) = {number(one.t)}",
        escaped(p_value(one.p_adjusted).removeprefix("p = ").removeprefix("p ")),
        number(one.g),
        interval(one.g_low, one.g_high),
        escaped(bayes_words(one.bayes_factor).removeprefix("= ")),
    ]


RELIABILITY_HEAD = "## Reliability of scales"


def scales_table(scales: Sequence[ScaleResult]) -> str:
    """Each scale in each condition, and over all."""
    head = (
        "Scale",
        "Condition",
        "n",
        "Items",
        "Cronbach's \N{GREEK SMALL LETTER ALPHA}",
        "95% CI",
        "McDonald's ω",
        "Lowest item-rest r",
    )
    return table(head, [_scale_cells(one) for one in scales])


def _scale_cells(one: ScaleResult) -> list[str]:
    named = [escaped(one.label), escaped(one.place)]
    found = one.found
    if not isinstance(found, Reliability):
        return [*named, escaped(str(found)), "", "", "", "", ""]
    item, lowest = min(found.item_rest, key=lambda pair: pair[1])
    return [
        *named,
        str(found.n),
        str(found.items),
        share(found.alpha),
        f"[{share(found.alpha_low)}, {share(found.alpha_high)}]",
        share(found.omega),
        f"{share(lowest)} ({escaped(item)})",
    ]
