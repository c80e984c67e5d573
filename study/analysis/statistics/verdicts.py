"""Say what the deciding test of a measure found: its verdict, the pairs that differ, and a short paragraph.

Page, report and figures all read these functions. So they never show a difference that the deciding test
does not carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.words.english_text import and_list, counted_noun
from study.analysis.statistics.apa_format import format_interval, format_number, format_p
from study.analysis.statistics.factorial.factorial_rows import significant_terms
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.result_sentences import main_test_sentence
from study.analysis.statistics.run_analysis import Analysis, DecidedPair, MeasureResult
from study.analysis.statistics.within.result_types import Contrast, UncomputedContrast, WithinResult

GROUP, REPLICATION_TEST = "group", "one_way"
GROUPED_EFFECTS = {
    "group": "between groups",
    "level": "between levels within participants",
    "interaction": "from group to group in how levels differ",
}
"""Each term of a design with groups, as the end of the sentence “The measure differed …”."""
FEW = 4
"""Most pairs of conditions that a paragraph names."""


def leading_result(analysis: Analysis) -> MeasureResult | None:
    """Return the result that page and report show first. It is the first primary measure, else the first
    measure that is not exploratory, else the first one. Return None without measures."""
    ordered = sorted(analysis.measures, key=lambda one: (not one.measure.primary, one.measure.exploratory))
    return ordered[0] if ordered else None


def decisive_ps(result: MeasureResult) -> dict[str, float]:
    """Return the p values of the deciding test by term, after the correction over measures. The result is
    empty if the test could not be computed."""
    return result.within.decisive_ps if result.within else {}


def found_terms(result: MeasureResult) -> set[str]:
    """Return the keys of the terms that the deciding test finds, p < .05."""
    return result.within.found_terms if result.within else set()


def carried_pairs(result: MeasureResult) -> tuple[DecidedPair, ...]:
    """Return the pairs of conditions that differ, if the deciding test carries such pairs.

    With named factors there are none: effects and simple effects are tested, not pairs of conditions. With
    groups between people, pairs lie within groups. They count only if levels or the interaction differ.
    """
    return result.decided_pairs if carries_pairs(result) else ()


def carries_pairs(result: MeasureResult) -> bool:
    """Return whether pairs of conditions can follow from the deciding test (`carried_pairs`)."""
    return result.factorial is None and not (_is_grouped(result) and not found_terms(result) - {GROUP})


def short_verdict(result: MeasureResult) -> str:
    """Return the verdict of the deciding test without the measure's label: `differed between conditions`."""
    if not decisive_ps(result):
        return "could not be tested"
    terms = found_terms(result)
    if result.factorial is not None and result.within is not None:
        names = _factorial_terms(result.factorial, result.within)
        return f"effects found: {', '.join(names)}" if names else "no effect was found"
    if _is_grouped(result):
        ends = [words for term, words in GROUPED_EFFECTS.items() if term in terms]
        return f"differed {and_list(ends)}" if ends else "no difference was found"
    return "differed between conditions" if terms else "did not differ reliably between conditions"


def verdict_sentences(result: MeasureResult) -> list[str]:
    """Return two to four sentences: verdict, deciding test, means with pairs, and planned contrasts."""
    told = [
        f"{result.measure.label}: {short_verdict(result)}.",
        f"{main_test_sentence(result)}.",
        _means_and_pairs(result),
        _contrasts(result),
    ]
    return [one for one in told if one]


def _is_grouped(result: MeasureResult) -> bool:
    found = result.within
    return bool(found and found.grouped is not None and found.main_test != REPLICATION_TEST)


def _factorial_terms(tests: FactorialTests, found: WithinResult) -> list[str]:
    return significant_terms(tests, found.main_test, found.over_measures)


def _means_and_pairs(result: MeasureResult) -> str:
    """Return the sentence about the lowest and the highest mean, and about pairs that differ. Return an empty
    string if fewer than two conditions have values."""
    means = [(one.mean, one.condition.label) for one in result.descriptions if one.mean is not None]
    if len(means) < 2:
        return ""
    ends = min(means, key=lambda one: one[0]), max(means, key=lambda one: one[0])
    low, high = (format_number(mean) for mean, _ in ends)
    told = f"Means range from {low} ({ends[0][1]}) to {high} ({ends[1][1]})"
    if low == high:
        told = f"{'Both' if len(means) == 2 else 'All'} means are {low}"
    return "; ".join([told, *_pair_words(result)]) + "."


def _pair_words(result: MeasureResult) -> Iterator[str]:
    if not carries_pairs(result) or not found_terms(result) or result.measure.exploratory:
        return
    pairs = carried_pairs(result)
    if not pairs:
        yield f"no pair of conditions differed ({result.decided_by})"
        return
    told = f"{counted_noun(len(pairs), 'pair')} of conditions differed ({result.decided_by})"
    if len(pairs) <= FEW:
        named = "; ".join(f"{one.first.label} and {one.second.label}, {format_p(one.p)}" for one in pairs)
        told = f"{told}: {named}"
    yield told


def planned_ps(result: MeasureResult) -> Mapping[str, float | None]:
    """Return the corrected p value of each planned contrast by its name; None if it was not computed."""
    if result.factorial is not None:
        planned = result.factorial.planned
        return {one.name: getattr(one, "p_adjusted", None) for one in planned}
    found = result.within.planned.contrasts if result.within else ()
    return {one.name: one.p_adjusted if isinstance(one, Contrast) else None for one in found}


def _contrasts(result: MeasureResult) -> str:
    """Return the sentence about planned contrasts: estimate, interval and corrected p value. Return an empty
    string without contrasts."""
    if not planned_ps(result) or result.measure.exploratory:
        return ""
    found = result.within.planned.contrasts if result.within and result.factorial is None else ()
    told = [
        _contrast_words(one.name, one.difference, (one.ci_low, one.ci_high), one.p_adjusted)
        if isinstance(one, Contrast)
        else f"{one.name} not computable"
        for one in found
    ]
    for each in result.factorial.planned if result.factorial else ():
        if isinstance(each, UncomputedContrast):
            told.append(f"{each.name} not computable")
        else:
            told.append(
                _contrast_words(each.name, each.estimate, (each.ci_low, each.ci_high), each.p_adjusted)
            )
    return f"Planned contrasts after Holm: {'; '.join(told)}."


def _contrast_words(name: str, estimate: float, interval: tuple[float, float], p: float) -> str:
    return f"{name} {format_number(estimate)}, 95% CI {format_interval(*interval)}, {format_p(p)}"
