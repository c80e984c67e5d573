"""Write the results of statistical tests as sentences in APA style, for reports, pages and figures.

The source is the APA manual (7th edition, sections 6.36 to 6.44). The module also chooses the pairs of
conditions that a figure marks with brackets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from kitchen.words.english_text import counted_noun
from study.analysis.statistics.anova_and_tukey import Anova, Description
from study.analysis.statistics.apa_format import (
    DASH,
    format_anova_effect,
    format_bayes_factor,
    format_df,
    format_interval,
    format_number,
    format_p,
    format_pair,
    format_share,
)
from study.analysis.statistics.equivalence_rows import equivalence_sentence
from study.analysis.statistics.factorial.factorial_sentences import decisive_sentence, factorial_sentences
from study.analysis.statistics.observations import AnalysisCondition, Measure, NotComputable
from study.analysis.statistics.run_analysis import DecidedPair, MeasureResult
from study.analysis.statistics.sample_composition import players_sentence
from study.analysis.statistics.within.result_types import (
    LEVEL,
    Contrast,
    CorrectedP,
    CumulativeLink,
    Effect,
    Friedman,
    MixedModel,
    RepeatedMeasures,
    SplitPlot,
    SplitPlotEffect,
    Term,
    UncomputedContrast,
    UnidentifiedEffect,
    WithinResult,
)

TERMS = {"condition": "condition", "position": "position in the order", "carry_over": "carry-over"}
TERMS |= {"group": "group", "level": "level", "interaction": "group \N{MULTIPLICATION SIGN} level"}


def difference_verb(p: float, over: CorrectedP | None = None) -> str:
    """Return “differed” or “did not differ reliably”, the verdict of a main test. The verdict depends on
    `over`, the p value corrected over measures. If `over` is None, it depends on `p`."""
    return "differed" if (over.p if over else p) < LEVEL else "did not differ reliably"


def p_words(p: float, over: CorrectedP | None = None) -> str:
    """Return a p value as text: "p = .011". With `over` (the p value corrected over measures): "p = .011,
    after Holm over measures p = .088"."""
    return f"{format_p(p)}, after {over.correction} {format_p(over.p)}" if over else format_p(p)


def f_test(found: Anova | NotComputable, over: CorrectedP | None = None) -> str:
    """Return the one-way ANOVA as text: "F(4, 55) = 28.11, p < .001". If it was not computed, return why."""
    if isinstance(found, NotComputable):
        return str(found)
    return f"F({found.df_between}, {found.df_within}) = {format_number(found.f)}, {p_words(found.p, over)}"


def repeated_test(found: RepeatedMeasures | NotComputable, over: CorrectedP | None = None) -> str:
    """Return the repeated-measures ANOVA as text, with the sphericity correction that is used. If it was not
    computed, return why.

    Example: "F(1.22, 13.40) = 24.20, p < .001, ηp² = .69, ηG² = .62, ... ε = .30".
    """
    if isinstance(found, NotComputable):
        return str(found)
    above, below = found.df_corrected
    df = f"{format_df(above)}, {format_df(below)}"
    sizes = (
        f"ηp² = {format_share(found.partial_eta_squared)}, ηG² = "
        f"{format_share(found.generalised_eta_squared)}"
    )
    epsilon = f", {found.correction} ε = {format_share(found.epsilon)}" if found.correction else ""
    return f"F({df}) = {format_number(found.f)}, {p_words(found.p_corrected, over)}, {sizes}{epsilon}"


def repeated_sentence(
    label: str,
    found: RepeatedMeasures | NotComputable,
    over: CorrectedP | None = None,
    units: str = "participants",
) -> str:
    """Return a sentence about the repeated-measures ANOVA. `label` is the measure's label, `over` the p value
    corrected over measures, and `units` the noun for the units of the test (`MeasureResult.units`)."""
    if isinstance(found, NotComputable):
        return f"{label}: the repeated-measures ANOVA is {found}."
    return (
        f"{label} {difference_verb(found.p_corrected, over)} between conditions, "
        f"{repeated_test(found, over)} "
        f"(repeated-measures ANOVA of {found.n} {units})."
    )


def uncorrected_test(found: RepeatedMeasures) -> str:
    """Return the repeated-measures ANOVA as text with three p values: uncorrected, Greenhouse-Geisser and
    Huynh-Feldt."""
    return (
        f"F({found.df_condition}, {found.df_error}) = {format_number(found.f)}, uncorrected "
        f"{format_p(found.p)}; "
        f"Greenhouse\N{EN DASH}Geisser ε = {format_share(found.epsilon_gg)}, {format_p(found.p_gg)}; "
        f"Huynh\N{EN DASH}Feldt ε = {format_number(found.epsilon_hf)}, {format_p(found.p_hf)}"
    )


def grouped_sentence(
    label: str,
    found: SplitPlot | NotComputable,
    over: Mapping[str, CorrectedP] = MappingProxyType({}),
    units: str = "participants",
) -> str:
    """Return a sentence about the mixed ANOVA, with a verdict for each term. `over` has the p value
    corrected over measures for each term, and `units` is the noun for the units of the test."""
    if isinstance(found, NotComputable):
        return f"{label}: the mixed ANOVA is {found}."
    told = [
        f"{TERM_VERDICTS[one.term].format(difference_verb(found.p_corrected(one), over.get(one.term)))}, "
        f"{grouped_test(found, one, over.get(one.term))}"
        for one in found.effects
    ]
    sizes = ", ".join(f"{group} {size}" for group, size in found.sizes)
    return f"{label} {'; '.join(told)} (mixed ANOVA of {found.n} {units}: {sizes})."


TERM_VERDICTS: Mapping[Term, str] = {
    "group": "{} between groups",
    "level": "it {} between levels within participants",
    "interaction": "the difference between groups {} from level to level",
}


def grouped_test(found: SplitPlot, effect: SplitPlotEffect, over: CorrectedP | None = None) -> str:
    """Return one term of the mixed ANOVA as text, with the sphericity correction that is used: "F(1, 10) =
    5.20, p = .046, …"."""
    epsilon = found.epsilon(effect.term)
    df = f"{format_df(effect.df * epsilon)}, {format_df(effect.df_error * epsilon)}"
    sizes = (
        f"ηp² = {format_share(effect.partial_eta_squared)}, ηG² = "
        f"{format_share(effect.generalised_eta_squared)}"
    )
    corrected = found.correction and effect.term != "group"
    more = f", {found.correction} ε = {format_share(epsilon)}" if corrected else ""
    return f"F({df}) = {format_number(effect.f)}, {p_words(found.p_corrected(effect), over)}, {sizes}{more}"


def effect_test(found: Effect | UnidentifiedEffect, over: CorrectedP | None = None) -> str:
    """Return the test of one term of the mixed model as text: "carry-over F(4, 40.12) = 1.20, p = .330"."""
    if isinstance(found, UnidentifiedEffect):
        return f"{TERMS[found.term]} cannot be told ({found.because.because})"
    numbers = f"F({found.df}, {format_df(found.df_error)}) = {format_number(found.f)}"
    return f"{TERMS[found.term]} {numbers}, {p_words(found.p, over)}"


def mixed_sentence(
    found: MixedModel | NotComputable,
    over: Mapping[str, CorrectedP] = MappingProxyType({}),
    units: str = "participants",
) -> str:
    """Return a sentence about all terms of the linear mixed model. `over` has the p value corrected over
    measures for each term, and `units` is the noun for the units of the test."""
    if isinstance(found, NotComputable):
        return f"The linear mixed model is {found}."
    terms = "; ".join(effect_test(one, over.get(one.term)) for one in found.effects)
    return (
        f"Linear mixed model ({found.observations} values of {found.n} {units}, {units} random, "
        f"REML, Satterthwaite's degrees of freedom): {terms}."
    )


def contrast_test(found: Contrast | UncomputedContrast) -> str:
    """Return a contrast as text: "0.32, 95% CI [0.21, 0.43], t(11) = 6.20, p < .001, g = 1.67 [0.80,
    2.51], BF10 = 393". If it was not computed, return why."""
    if isinstance(found, UncomputedContrast):
        return str(found.because)
    return (
        f"{format_number(found.difference)}, 95% CI {format_interval(found.ci_low, found.ci_high)}, "
        f"t({found.df}) = {format_number(found.t)}, {format_p(found.p_adjusted)}, "
        f"g = {format_number(found.g)} {format_interval(found.g_low, found.g_high)}, BF10 "
        f"{format_bayes_factor(found.bayes_factor)}"
    )


def contrast_sentence(found: Contrast | UncomputedContrast) -> str:
    """Return the name of a contrast and its test as text. The p value is corrected for all contrasts planned
    together. If the test could not be computed, the text says why."""
    return f"{found.name}: {contrast_test(found)}."


def friedman_test(found: Friedman | NotComputable, over: CorrectedP | None = None) -> str:
    """Return Friedman's test as text: "χ²(4) = 30.11, p < .001, W = .63". If it was not computed, return
    why."""
    if isinstance(found, NotComputable):
        return str(found)
    return (
        f"χ²({found.df}) = {format_number(found.chi_squared)}, {p_words(found.p, over)}, W = "
        f"{format_share(found.w)}"
    )


def friedman_sentence(
    found: Friedman | NotComputable, over: CorrectedP | None = None, units: str = "participants"
) -> str:
    """Return a sentence about Friedman's test. `over` is the p value corrected over measures, and `units` the
    noun for the units of the test."""
    people = f" of {found.n} {units}" if isinstance(found, Friedman) else ""
    joined = ": " if people else " is "
    return f"Friedman's test{people}{joined}{friedman_test(found, over)}."


def cumulative_sentence(found: CumulativeLink | NotComputable) -> str:
    """Return a sentence about the cumulative-link model and its test of the conditions."""
    if isinstance(found, NotComputable):
        return f"The cumulative-link model is {found}."
    return (
        f"Cumulative-link model (proportional odds, clustered by participant): χ²({found.df}) = "
        f"{format_number(found.chi_squared)}, {format_p(found.p)}."
    )


MOST = 10
"""Maximum number of bracketed pairs: as many as five conditions have."""
T = TypeVar("T")


def bracketed_pairs(pairs: Sequence[T]) -> tuple[T, ...]:
    """Return the pairs of conditions if a figure has room to mark them all with brackets. The result is
    empty if they are too many."""
    return tuple(pairs) if len(pairs) <= MOST else ()


def bracket_note(pairs: Sequence[object], means: str) -> str:
    """Return the note below a figure that explains its brackets. `means` is the meaning of a bracket.

    If there are too many pairs for brackets, the note says so. Return an empty string without pairs.
    """
    if len(pairs) > MOST:
        return (
            f"{counted_noun(len(pairs), 'pair')} differ ({means}): too many to bracket, a table lists them."
        )
    return f"Brackets: {means}." if pairs else ""


def unbracketed_note(pairs: Sequence[object], table: str) -> str:
    """Return a text that replaces the list of pairs in a figure's description if they are too many to list.
    `table` names the table that lists them. Return an empty string if they are few."""
    return f"{counted_noun(len(pairs), 'pair')}, all of them in {table}" if len(pairs) > MOST else ""


def value_axis_title(measure: Measure) -> str:
    """Return the title of the value axis: the measure's scale as text."""
    if measure.kind == "likert":
        return f"Rating ({measure.scale})"
    if measure.kind == "score":
        return f"Score ({measure.scale})"
    if measure.kind == "number":
        return measure.unit.capitalize() or "Value"
    return "Rate" if measure.kind == "rate" else "Count"


def describe_within_interval(result: MeasureResult, condition: AnalysisCondition) -> str:
    """Return a condition's within-participant interval as text. Return a dash if there is none.

    If some participants with a value are not part of the interval, its mean and its number of participants
    are added.
    """
    found = result.interval(condition)
    if not found:
        return DASH
    ends = format_interval(found.low, found.high)
    fewer = found.n < len(result.table.values(condition.key))
    return f"{ends} around {format_number(found.mean)} (n = {found.n})" if fewer else ends


BOOTSTRAP_WORDS = (
    "95% CI, bootstrap: percentiles of the mean over 1,000 samples of the participants, drawn with "
    "replacement. Shown for shares, which are rarely normal."
)
"""The meaning of the bootstrap intervals, below a table."""


def describe_bootstrap_interval(result: MeasureResult, condition: AnalysisCondition) -> str:
    """Return the bootstrap interval of a condition's mean as text. Return a dash if there is none."""
    found = result.bootstrap_interval(condition)
    return format_interval(*found) if found else DASH


def describe_participants(result: MeasureResult) -> str:
    """Return how many participants (or teams) and observations have values: "12 participants, 60
    observations"."""
    rows = [row for row in result.table.observations if row.value is not None]
    people = len({row.participant for row in rows})
    return f"{counted_noun(people, result.units.removesuffix('s'))}, {counted_noun(len(rows), 'observation')}"


def describe_figure(result: MeasureResult, differing: Sequence[DecidedPair], verdict: str = "") -> str:
    """Return a description of the figure for people who cannot see it. `differing` are the pairs of
    conditions that the figure marks. A `verdict` stands in their place if the deciding test compares no
    pairs."""
    means = "; ".join(_mean(d) for d in result.descriptions)
    many = unbracketed_note(differing, "the tables of pairs, in tests.csv and tukey.csv")
    told = (f"{one.second.label} and {one.first.label}, {format_p(one.p)}" for one in differing)
    pairs = f"Pairs that differ, p < .05: {many or '; '.join(told) or 'none'}."
    played = ". ".join(map(players_sentence, result.players))
    mark = "Synthetic data. " if result.synthetic else ""
    found = f"The deciding test: {verdict}." if verdict else pairs
    text = f"{mark}Means of {result.measure.label} by condition: {means}. {found}"
    return f"{text} Co-players: {played}." if played else text


def _mean(description: Description) -> str:
    if description.mean is None:
        return f"{description.condition.label} no values"
    text = f"{description.condition.label} {format_number(description.mean)}"
    ci = format_interval(description.ci_low, description.ci_high)
    return text if description.ci_low is None else f"{text}, 95% CI {ci}"


def anova_sentence(result: MeasureResult) -> str:
    """Return a sentence about the one-way ANOVA in APA style. If it was not computed, return why."""
    anova, label = result.anova, result.measure.label
    if isinstance(anova, NotComputable):
        return f"{label}: the one-way ANOVA is {anova}."
    over = result.within.over("one_way") if result.within else None
    names = list_labels(anova.without_data)
    text = (
        f"{label} {difference_verb(anova.p, over)} between conditions, {f_test(anova, over)}, "
        f"{format_anova_effect(anova)}."
    )
    return f"{text} {names} had no values on this measure and took no part." if names else text


def tukey_sentence(result: MeasureResult) -> str:
    """Return sentences about the result of Tukey's test: the significant pairs, and the smallest p value
    of the other pairs. If the pairs were not compared, return why."""
    if isinstance(result.tukey, NotComputable):
        return f"Tukey's HSD is {result.tukey}."
    others = [pair.p for pair in result.pairs if not pair.significant]
    if not result.tukey_pairs:
        return f"Tukey's HSD found no pair that differed (smallest {format_p(min(others))})."
    rest = f" The other pairs did not differ (smallest {format_p(min(others))})." if others else ""
    return f"Tukey's HSD: {'; '.join(format_pair(pair) for pair in result.tukey_pairs)}.{rest}"


def list_labels(conditions: tuple[AnalysisCondition, ...]) -> str:
    """Return the labels as a list in words: "Alone", "Alone and Random team", "Alone, Team of 2 and Random
    team"."""
    labels = [condition.label for condition in conditions]
    return " and ".join(filter(None, [", ".join(labels[:-1]), *labels[-1:]]))


def main_test_sentence(result: MeasureResult) -> str:
    """Return the main test of the measure as text. If no within-subject tests were computed, return the
    one-way ANOVA."""
    found = result.within
    if found is not None and result.factorial is not None:
        return decisive_sentence(result.factorial, found.main_test, found.over_measures)
    if found is None or found.main_test == "one_way":
        return f"One-way ANOVA: {f_test(result.anova, found.over('one_way') if found else None)}"
    if found.main_test == "mixed":
        return f"Linear mixed model: {_mixed_terms(found)}"
    if found.main_test == "friedman":
        return f"Friedman's test: {friedman_test(found.friedman, found.over('friedman'))}"
    if found.grouped is not None:
        return f"Mixed ANOVA: {_grouped_terms(found.grouped, found.over_measures)}"
    return f"Repeated-measures ANOVA: {repeated_test(found.repeated, found.over('repeated'))}"


def _mixed_terms(found: WithinResult) -> str:
    """Return the mixed model's tests of conditions, groups and their interaction, as text.

    Tests of position and carry-over are left out, because they do not decide whether conditions differ. If
    the model could not be computed, return why.
    """
    if isinstance(found.mixed, NotComputable):
        return str(found.mixed)
    decisive = (one for one in found.mixed.effects if one.decides)
    return "; ".join(effect_test(one, found.over_measures.get(one.term)) for one in decisive)


def _grouped_terms(found: SplitPlot | NotComputable, over: Mapping[str, CorrectedP]) -> str:
    if isinstance(found, NotComputable):
        return str(found)
    return "; ".join(
        f"{TERMS[one.term]} {grouped_test(found, one, over.get(one.term))}" for one in found.effects
    )


TEAM_UNIT = (
    "These tests count teams. Members of a group share one value of this measure, so each group counts once "
    "in each condition."
)
"""The sentence about the unit of tests for a measure that people of a group share."""


def design_sentences(result: MeasureResult) -> list[str]:
    """Return one sentence for each within-subject test of this measure. The result is empty if none was
    computed."""
    found, label = result.within, result.measure.label
    if found is None:
        return []
    if result.factorial is not None:
        first = f"{main_test_sentence(result)}."
        return [first, *factorial_sentences(result.factorial, found.main_test), *found.cautions]
    if found.grouped is not None:
        said = [grouped_sentence(label, found.grouped, found.corrections("repeated"), result.units)]
    else:
        said = [repeated_sentence(label, found.repeated, found.over("repeated"), result.units)]
    if isinstance(found.repeated, RepeatedMeasures):
        said.append(f"{uncorrected_test(found.repeated)}.")
    said.append(mixed_sentence(found.mixed, found.corrections("mixed"), result.units))
    if found.grouped is None:
        said.append(friedman_sentence(found.friedman, found.over("friedman"), result.units))
    if found.cumulative is not None:
        said.append(cumulative_sentence(found.cumulative))
    said += [
        equivalence_sentence(one.name, one.equivalence)
        for one in found.planned.computed
        if one.equivalence is not None
    ]
    if result.units.endswith("teams"):
        said.append(TEAM_UNIT)
    return [*said, *(one.words for one in found.assumptions)]
