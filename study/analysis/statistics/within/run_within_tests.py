"""Run all within-subject statistical tests on all measures, and check the assumptions of these tests.

Checks of assumptions are unreliable in small samples. So a failed check removes no test. It only adds a
sentence that recommends another test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np
from scipy.stats import f_oneway, shapiro

from kitchen.words.english_text import counted_noun, percent_text
from study.analysis.statistics.anova_and_tukey import Anova, one_way_anova
from study.analysis.statistics.apa_format import format_number, format_p, format_share
from study.analysis.statistics.observations import AnalysisCondition, Measure, MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import (
    Array,
    CompleteCases,
    are_equal,
    complete_cases,
    residuals,
)
from study.analysis.statistics.within.mixed_model import mixed_model
from study.analysis.statistics.within.ordinal_tests import cumulative_link, friedman
from study.analysis.statistics.within.paired_contrasts import (
    all_pairs_within,
    benjamini_hochberg_adjusted,
    contrast_family,
    holm_adjusted,
)
from study.analysis.statistics.within.repeated_measures_anova import (
    GroupedCases,
    group_residuals,
    grouped_cases,
    repeated_measures,
    split_plot,
    within_intervals,
)
from study.analysis.statistics.within.result_types import (
    LEVEL,
    Assumption,
    CorrectedP,
    Effect,
    Friedman,
    MixedModel,
    RepeatedMeasures,
    Sphericity,
    SplitPlot,
    Term,
    UnidentifiedEffect,
    WithinResult,
)
from study.design.analysis_plan import CORRECTIONS, PRIMARY, SECONDARY, AnalysisPlan

AT_THE_END = 0.5
"""Share of values at an end of the scale that is reported."""
FAR = 3.0
"""Standard deviations beyond which a residual is an outlier."""
MOST_NAMED = 5
MIXED_ANOVA = "mixed ANOVA"
Cases: TypeAlias = CompleteCases | GroupedCases
NAMES = {"condition": "condition", "position": "position in the order", "carry_over": "carry-over"}


def check_assumptions(table: MeasureTable, repeated: object, mixed: object) -> tuple[Assumption, ...]:
    """Return the checked assumptions of the tests, violated ones first. `repeated` is the result of the
    ANOVA, and `mixed` the result of the linear mixed model. Assumptions of a test that was not computed
    are left out."""
    cells = grouped_cases(table) if table.between else complete_cases(table)
    found = [*check_variance(table), *check_ends(table), *_missing(cells)]
    if isinstance(repeated, RepeatedMeasures | SplitPlot):
        found += [*_sphericity(repeated), *_residuals(cells)]
    if isinstance(mixed, MixedModel):
        found += _order(mixed)
    return tuple(sorted(found, key=lambda one: one.holds))


def check_variance(table: MeasureTable) -> Iterator[Assumption]:
    """Yield the conditions in which all values are equal. If there are none, yield a test of equal
    variances."""
    groups = {c: np.array(values) for c, values in table.groups().items() if len(values) > 1}
    flat = [c for c, values in groups.items() if are_equal(values)]
    if flat and len(flat) == len(groups):
        yield Assumption("variance", False, "Values do not vary within any condition.")
    elif flat:
        where = "; ".join(
            f"{c.label}: all {len(groups[c])} values are {format_number(groups[c][0])}" for c in flat
        )
        yield Assumption(
            "variance",
            False,
            f"Values do not vary ({where}). F and p of every analysis of variance lean on the other "
            "conditions alone; do not rest a claim on them.",
        )
    elif len(groups) > 1:
        p = brown_forsythe(list(groups.values()))
        told = "no sign that spreads differ" if p >= LEVEL else "spreads differ between conditions"
        words = f"Brown\N{EN DASH}Forsythe {format_p(p)}"
        yield Assumption(
            "homogeneity", p >= LEVEL, f"Homogeneity: {told} ({words}). Paired contrasts do not need it."
        )


def brown_forsythe(groups: Sequence[Array]) -> float:
    """Return the p value of the Brown-Forsythe test of equal variances. It is an ANOVA of the values'
    distances from their group's median.

    If these distances do not vary within the conditions, p is 1 or 0.
    """
    apart = [np.abs(values - np.median(values)) for values in groups]
    if all(are_equal(values) for values in apart):
        return float(are_equal(np.array([values.mean() for values in apart])))
    return float(f_oneway(*apart).pvalue)


def check_ends(table: MeasureTable) -> Iterator[Assumption]:
    """Yield the conditions in which many values are at an end of the scale."""
    for end, name in ((table.measure.high, "highest"), (table.measure.low, "lowest")):
        told = [_at(condition, values, end) for condition, values in table.groups().items()]
        if said := "; ".join(filter(None, told)):
            word = "ceiling" if name == "highest" else "floor"
            yield Assumption(word, False, f"A {word}: values are the {name} that the scale has ({said}).")


def _at(condition: AnalysisCondition, values: tuple[float, ...], end: float | None) -> str:
    there = sum(value == end for value in values) / len(values)
    return f"{percent_text(there)} in {condition.label}" if there >= AT_THE_END else ""


def _missing(cells: Cases) -> Iterator[Assumption]:
    if not cells.values.shape[1]:
        return
    if not cells.left_out:
        yield Assumption("missing", True, "Nobody lacks a value in any condition that is compared.")
        return
    grouped = isinstance(cells, GroupedCases)
    tests = MIXED_ANOVA if grouped else "repeated-measures ANOVA, Friedman's test and the contrasts"
    named = [
        f"{one.participant} (no value in {', '.join(one.lacking)})" for one in cells.left_out[:MOST_NAMED]
    ]
    more = len(cells.left_out) - len(named)
    who = "; ".join(named) + (f"; and {more} more" if more else "")
    yield Assumption(
        "missing",
        False,
        f"{counted_noun(len(cells.left_out), 'participant')} left out of the {tests} "
        f"that need{'s' if grouped else ''} what is missing: {who}. The mixed model uses what they gave.",
    )


def _sphericity(repeated: RepeatedMeasures | SplitPlot) -> Iterator[Assumption]:
    found = repeated.sphericity
    if isinstance(found, Sphericity):
        holds = found.p >= LEVEL
        told = "no sign against it" if holds else "it does not hold; read the corrected p"
        words = f"Mauchly's W = {format_share(found.w, 3)}, {format_p(found.p)}"
        yield Assumption("sphericity", holds, f"Sphericity: {told} ({words}).")
    elif found is not None:
        yield Assumption("sphericity", False, f"Sphericity: Mauchly's test is {found}. Read the corrected p.")


def _residuals(cells: Cases) -> Iterator[Assumption]:
    left = group_residuals(cells) if isinstance(cells, GroupedCases) else residuals(cells.values)
    if left.shape[1] < 2:
        return
    found = shapiro(left.ravel())
    holds = not found.pvalue < LEVEL
    told = "look normal" if holds else "are not normal; Friedman's test does not need that"
    words = (
        f"Shapiro\N{EN DASH}Wilk W = {format_share(float(found.statistic), 3)}, "
        f"{format_p(float(found.pvalue))}"
    )
    yield Assumption("normality", holds, f"Residuals {told} ({words}).")
    yield from _outliers(cells, left)


def _outliers(cells: Cases, left: Array) -> Iterator[Assumption]:
    n, k = left.shape
    labels = cells.levels if isinstance(cells, GroupedCases) else [one.label for one in cells.conditions]
    free = n - (len(cells.groups) if isinstance(cells, GroupedCases) else 1)
    far = left / np.sqrt((left**2).sum() / (free * (k - 1)))
    places = [(i, j) for i, j in np.argwhere(np.abs(far) > FAR)]
    named = [
        f"{cells.participants[i]} in {labels[j]} ({format_number(float(far[i, j]), 1)} SD)"
        for i, j in places[:MOST_NAMED]
    ]
    if places:
        more = f"; and {len(places) - len(named)} more" if len(places) > len(named) else ""
        words = (
            f"{counted_noun(len(places), 'value')} far from the rest: {'; '.join(named)}{more}. "
            f"None was left out."
        )
        yield Assumption("outliers", False, words)
    else:
        yield Assumption(
            "outliers", True, f"No value lies more than {FAR:g} standard deviations from the rest."
        )


def _order(mixed: MixedModel) -> Iterator[Assumption]:
    for one in mixed.effects:
        if one.decides:
            continue
        name = NAMES[one.term].capitalize()
        if isinstance(one, UnidentifiedEffect):
            yield Assumption(one.term, False, f"{name} cannot be told: {one.because.because}.")
        elif one.p < LEVEL:
            yield Assumption(
                one.term, False, f"{name} made a difference ({format_p(one.p)}); see the mixed model."
            )
    if mixed.singular:
        words = (
            "Participants do not differ from one another more than chance: their variance is estimated as 0."
        )
        yield Assumption("singular", False, words)


CORRECT = {"holm": holm_adjusted, "fdr": benjamini_hochberg_adjusted}


def run_within_tests(
    tables: Sequence[MeasureTable],
    plan: AnalysisPlan,
    replicated: Sequence[float | None],
    whole: Sequence[MeasureTable] = (),
    mains: Sequence[Mapping[str, float] | None] = (),
) -> tuple[WithinResult, ...]:
    """Run all within-subject tests, and return the results in the order of `tables`.

    `replicated` holds the p values of the one-way ANOVAs, one for each table. `whole` holds the tables for
    the mixed models, with incomplete participants; by default `tables`. `mains` holds the p values of
    factorial tests, which then decide; None for a measure without. The p values of primary measures
    are corrected together, and so are those of secondary measures.
    """
    given = zip(tables, whole or tables, replicated, strict=True)
    found = [_one(table, every, plan, p) for table, every, p in given]
    for number, main in enumerate(mains):
        found[number] = found[number] if main is None else replace(found[number], main=main)
    if plan.correction not in CORRECT:
        return tuple(found)
    families = [_family(table.measure) for table in tables]
    terms = dict.fromkeys(term for one in found for term in one.main)
    for family, term in product(dict.fromkeys(filter(None, families)), terms):
        ps = [one.main.get(term) if own == family else None for one, own in zip(found, families, strict=True)]
        adjusted = iter(CORRECT[plan.correction]([p for p in ps if p is not None]))
        words = CORRECTIONS[plan.correction]
        found = [
            one
            if p is None
            else replace(one, over_measures={**one.over_measures, term: CorrectedP(words, next(adjusted))})
            for one, p in zip(found, ps, strict=True)
        ]
    return tuple(found)


def _family(measure: Measure) -> str:
    """Return the role of the measures over whose p values this measure's are corrected. Return an empty
    string if they are not corrected: for exploratory measures, and for items whose scale is analysed."""
    if measure.exploratory or measure.in_scale:
        return ""
    return PRIMARY if measure.primary else SECONDARY


def _one(
    table: MeasureTable, whole: MeasureTable, plan: AnalysisPlan, replicated: float | None
) -> WithinResult:
    grouped = split_plot(table) if table.between else None
    repeated, mixed, ranks = repeated_measures(table), mixed_model(whole), friedman(table)
    if table.between:
        repeated, ranks = NOT_WITHIN, NOT_WITHIN
    main = {"repeated": _decisive_ps(grouped or repeated), "mixed": _decisive_ps(mixed)}
    main |= {"friedman": _decisive_ps(ranks), "one_way": {"condition": replicated}}
    return WithinResult(
        repeated=repeated,
        mixed=mixed,
        pairs=all_pairs_within(table),
        planned=contrast_family(table, [c for c in plan.contrasts if c.is_about(table.measure.key)]),
        friedman=ranks,
        cumulative=cumulative_link(table) if table.measure.kind == "likert" else None,
        intervals=within_intervals(table),
        assumptions=check_assumptions(table, grouped or repeated, mixed),
        main_test=plan.main,
        main={term: p for term, p in main[plan.main].items() if p is not None},
        grouped=grouped,
    )


NOT_WITHIN = NotComputable("groups", "participants of different groups play different conditions")
Tested: TypeAlias = RepeatedMeasures | SplitPlot | MixedModel | Friedman | Anova | NotComputable


def _decisive_ps(found: Tested) -> dict[Term, float | None]:
    """Return the p values that decide whether the conditions differ, by term. Empty if they cannot be
    computed.

    The term is the condition or, with between-subjects groups, there are three: group, level and interaction.
    """
    if isinstance(found, RepeatedMeasures):
        return {"condition": found.p_corrected}
    if isinstance(found, SplitPlot):
        return {one.term: found.p_corrected(one) for one in found.effects}
    if isinstance(found, MixedModel):
        return {one.term: one.p for one in found.effects if isinstance(one, Effect) and one.decides}
    return {} if isinstance(found, NotComputable) else {"condition": found.p}


MAIN_TEST_FUNCTIONS: dict[
    str, Callable[[MeasureTable], RepeatedMeasures | MixedModel | Friedman | Anova | NotComputable]
] = {
    "repeated": repeated_measures,
    "mixed": mixed_model,
    "friedman": friedman,
    "one_way": one_way_anova,
}


def main_test_p(table: MeasureTable, test: str) -> float | None:
    """Run one main test (a key of `MAIN_TESTS`) on one measure. Return the p value of the conditions'
    effect, not corrected over measures. Return None if it cannot be computed."""
    return _decisive_ps(MAIN_TEST_FUNCTIONS[test](table)).get("condition")
