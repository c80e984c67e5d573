"""Results in sentences, for reports, pages and the text behind a figure."""

from __future__ import annotations

from kitchen.words.counting import counted
from study.analysis.statistics.analyse import MeasureResult
from study.analysis.statistics.anova import Anova
from study.analysis.statistics.bracketing import many_words
from study.analysis.statistics.describe import Description
from study.analysis.statistics.format import NOTHING, contrast, effect, interval, number, p_value
from study.analysis.statistics.players import sentence
from study.analysis.statistics.rows import AnalysisCondition, Measure
from study.analysis.statistics.table import NotComputable
from study.analysis.statistics.within.results import Mixed, OverMeasures, Repeated
from study.analysis.statistics.within.sentences import (
    cumulative_sentence,
    effect_test,
    f_test,
    friedman_sentence,
    friedman_test,
    mixed_sentence,
    repeated_sentence,
    repeated_test,
    uncorrected,
    verb,
)

TUKEYS_TABLE = "the table of the replication and in tukey.csv"


def y_title(measure: Measure) -> str:
    """The title of the value axis: the scale in words."""
    if measure.kind == "likert":
        return f"Rating ({measure.scale})"
    if measure.kind == "score":
        return f"Score ({measure.scale})"
    if measure.kind == "number":
        return measure.unit.capitalize() or "Value"
    return "Rate" if measure.kind == "rate" else "Count"


def within_words(result: MeasureResult, condition: AnalysisCondition) -> str:
    """A condition's interval within participants, with its mean where that is of fewer people than have a
    value; a dash where there is none."""
    found = result.interval(condition)
    if not found:
        return NOTHING
    ends = interval(found.low, found.high)
    fewer = found.n < len(result.table.values(condition.key))
    return f"{ends} around {number(found.mean)} (n = {found.n})" if fewer else ends


def participants_in(result: MeasureResult) -> str:
    """As in "12 participants, 60 observations": those with a value on this measure."""
    rows = [row for row in result.table.observations if row.value is not None]
    people = len({row.participant for row in rows})
    return f"{counted(people, 'participant')}, {counted(len(rows), 'observation')}"


def in_words(result: MeasureResult) -> str:
    """What the figure shows, for those who do not see it."""
    means = "; ".join(_mean(d) for d in result.descriptions)
    pairs = many_words(result.brackets, TUKEYS_TABLE) or "; ".join(map(contrast, result.brackets)) or "none"
    mark = "Synthetic data. " if result.synthetic else ""
    text = (
        f"{mark}Means of {result.measure.label} by condition: {means}. Pairs that differ, p < .05: {pairs}."
    )
    return f"{text} {players_in(result)}".strip()


def players_in(result: MeasureResult) -> str:
    """Who played beside the participants; empty where it is not known."""
    played = ". ".join(sentence(players) for players in result.players)
    return f"Co-players: {played}." if played else ""


def _mean(description: Description) -> str:
    if description.mean is None:
        return f"{description.condition.label} no values"
    ci = "" if description.ci_low is None else f", 95% CI {interval(description.ci_low, description.ci_high)}"
    return f"{description.condition.label} {number(description.mean)}{ci}"


def anova_sentence(result: MeasureResult) -> str:
    """One sentence in the manner of the APA, or why there is no test."""
    anova, label = result.anova, result.measure.label
    if isinstance(anova, NotComputable):
        return f"{label}: the one-way ANOVA is {anova}."
    over = result.within.over("one_way") if result.within else None
    text = f"{label} {verb(anova.p, over)} between conditions, {f_test(anova, over)}, {effect(anova)}."
    return text + _took_no_part(anova)


def _took_no_part(anova: Anova) -> str:
    names = listed(anova.without_data)
    return f" {names} had no values on this measure and took no part." if names else ""


def tukey_sentence(result: MeasureResult) -> str:
    """The significant pairs in full and the smallest p of the others, or why there is no test."""
    if isinstance(result.tukey, NotComputable):
        return f"Tukey's HSD is {result.tukey}."
    others = [pair.p for pair in result.pairs if not pair.significant]
    if not result.brackets:
        return f"Tukey's HSD found no pair that differed (smallest {p_value(min(others))})."
    rest = f" The other pairs did not differ (smallest {p_value(min(others))})." if others else ""
    return f"Tukey's HSD: {'; '.join(contrast(pair) for pair in result.brackets)}.{rest}"


def listed(conditions: tuple[AnalysisCondition, ...]) -> str:
    """As in "Alone", "Alone and Random team", "Alone, Team of 2 and Random team"."""
    labels = [condition.label for condition in conditions]
    return " and ".join(filter(None, [", ".join(labels[:-1]), *labels[-1:]]))


def main_words(result: MeasureResult) -> str:
    """The test that decides on the measure, with its numbers; that of the replication where there is no
    other."""
    found = result.within
    if found is None or found.main_test == "one_way":
        return f"One-way ANOVA: {f_test(result.anova, found.over_measures if found else None)}"
    if found.main_test == "mixed":
        return f"Linear mixed model: {_of_condition(found.mixed, found.over_measures)}"
    if found.main_test == "friedman":
        return f"Friedman's test: {friedman_test(found.friedman, found.over_measures)}"
    return f"Repeated-measures ANOVA: {repeated_test(found.repeated, found.over_measures)}"


def _of_condition(found: Mixed | NotComputable, over: OverMeasures | None) -> str:
    if isinstance(found, NotComputable):
        return str(found)
    return next(effect_test(one, over) for one in found.effects if one.term == "condition")


def design_sentences(result: MeasureResult) -> list[str]:
    """All that the design asks of a measure, a sentence each; none where it was not computed."""
    found, label = result.within, result.measure.label
    if found is None:
        return []
    said = [repeated_sentence(label, found.repeated, found.over("repeated"))]
    if isinstance(found.repeated, Repeated):
        said.append(f"{uncorrected(found.repeated)}.")
    said += [
        mixed_sentence(found.mixed, found.over("mixed")),
        friedman_sentence(found.friedman, found.over("friedman")),
    ]
    if found.cumulative is not None:
        said.append(cumulative_sentence(found.cumulative))
    return [*said, *(one.words for one in found.assumptions)]
