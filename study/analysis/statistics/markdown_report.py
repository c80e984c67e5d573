"""Write the report of an analysis in Markdown: participants, methods, and the results of each measure.

The report has two kinds of statistical tests. Within-subject tests fit the study's design. One-way ANOVA and
Tukey's HSD replicate the MindAgent paper (arXiv 2309.09971).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from kitchen.words.english_text import counted_noun
from study.analysis.statistics.anova_and_tukey import Description, Pair
from study.analysis.statistics.apa_format import (
    escape_markdown,
    format_bayes_factor,
    format_interval,
    format_number,
    format_p,
    format_share,
    markdown_table,
)
from study.analysis.statistics.interaction_chart import has_interaction_chart
from study.analysis.statistics.observations import AnalysisCondition
from study.analysis.statistics.process_counts import PROCESS_WORDS, process_cells
from study.analysis.statistics.raincloud_chart import raincloud_name
from study.analysis.statistics.result_sentences import (
    BOOTSTRAP_WORDS,
    anova_sentence,
    describe_bootstrap_interval,
    describe_within_interval,
    design_sentences,
    list_labels,
    tukey_sentence,
)
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.sample_composition import Attrition, ConditionPlayers, Exclusion
from study.analysis.statistics.within.result_types import Contrast, Family, Reliability, ScaleResult
from study.design.analysis_plan import CORRECTIONS, main_test_label

DESIGN_METHOD = """\
Every participant played every condition, so conditions were compared within participants. Whether they
differ was tested by a repeated-measures analysis of variance, corrected after Greenhouse and Geisser, or
after Huynh and Feldt where epsilon is above .75 (Girden 1992), and by a linear mixed model of condition,
position in the order and carry-over, participants random, for those with gaps too (REML, Satterthwaite's
degrees of freedom). Pairs and planned contrasts were tested by paired t tests with Holm's correction within
each family; Hedges' g is over the standard deviation of the differences, and Bayes factors have a Cauchy
prior of scale .707. Ranks were compared by Friedman's test with Kendall's W, ratings also by a cumulative-
link model clustered by participant. Intervals for comparing conditions are those of Cousineau and Morey."""


GROUPED_METHOD = """\
Every participant belonged to one group and played the conditions of that group only. So group was compared
between participants and level within them, by a mixed (split-plot) analysis of variance of group, level and
their interaction (type III; level and interaction corrected after Greenhouse and Geisser, or after Huynh and
Feldt where epsilon is above .75), and by a linear mixed model of group, level, their interaction, position in
the order and carry-over, participants random, for those with gaps too (REML, Satterthwaite's degrees of
freedom). Pairs of conditions were compared within each group only, by paired t tests with Holm's correction;
Hedges' g is over the standard deviation of the differences, and Bayes factors have a Cauchy prior of scale
.707. Ratings were also compared by a cumulative-link model clustered by participant. With a correction over
measures, the tests of group, of level and of the interaction are three families. Intervals for comparing
conditions are those of Cousineau and Morey, within each group."""


def design_method(analysis: Analysis) -> str:
    """Return the paragraph of the method section about the tests that fit the study's design."""
    return (GROUPED_METHOD if analysis.between else DESIGN_METHOD).replace("\n", " ")


def replication_method(analysis: Analysis) -> str:
    """Return the paragraph of the method section about the tests of the MindAgent paper."""
    played = "all conditions of their group" if analysis.between else "every condition"
    return METHOD.replace(
        "every participant played every condition", f"every participant played {played}"
    ).replace("\n", " ")


T = TypeVar("T")
Columns = Mapping[str, Callable[[T], str]]
"""Head of a column → function that makes a cell of it in Markdown."""


def _table(columns: Columns[T], rows: Iterable[T]) -> str:
    return markdown_table(tuple(columns), [[cell(row) for cell in columns.values()] for row in rows])


def _adjusted_p(p: float) -> str:
    return escape_markdown(format_p(p).removeprefix("p = ").removeprefix("p "))


CONTRAST_COLUMNS: Columns[Contrast] = {
    "Contrast": lambda one: escape_markdown(one.name),
    "n": lambda one: str(one.n),
    "Difference": lambda one: format_number(one.difference),
    "95% CI": lambda one: format_interval(one.ci_low, one.ci_high),
    "t": lambda one: f"t({one.df}) = {format_number(one.t)}",
    "p (Holm)": lambda one: _adjusted_p(one.p_adjusted),
    "Hedges' g": lambda one: format_number(one.g),
    "95% CI of g": lambda one: format_interval(one.g_low, one.g_high),
    "BF10": lambda one: escape_markdown(format_bayes_factor(one.bayes_factor).removeprefix("= ")),
}


def contrasts_table(family: Family) -> str:
    """Return the table of a family of contrasts, whose p values are corrected together. Below the table,
    one line for each contrast that could not be computed says why."""
    computed = [_table(CONTRAST_COLUMNS, family.computed)] if family.computed else []
    rest = [one for one in family.contrasts if not isinstance(one, Contrast)]
    return "\n\n".join([*computed, *(f"{escape_markdown(one.name)}: {one.because}." for one in rest)])


def scales_table(scales: Sequence[ScaleResult]) -> str:
    """Return the reliability table. It has one row for each scale and condition, and one row for each scale
    over all conditions."""
    head = ("Scale", "Condition", "n", "Items", "Cronbach's \N{GREEK SMALL LETTER ALPHA}", "95% CI")
    return markdown_table(
        (*head, "McDonald's ω", "Lowest item-rest r"), [_scale_cells(one) for one in scales]
    )


def _scale_cells(one: ScaleResult) -> list[str]:
    named = [escape_markdown(one.label), escape_markdown(one.place)]
    found = one.found
    if not isinstance(found, Reliability):
        return [*named, escape_markdown(str(found)), "", "", "", "", ""]
    item, lowest = min(found.item_rest, key=lambda pair: pair[1])
    interval = f"[{format_share(found.alpha_low)}, {format_share(found.alpha_high)}]"
    numbers = (str(found.n), str(found.items), format_share(found.alpha), interval, format_share(found.omega))
    return [*named, *numbers, f"{format_share(lowest)} ({escape_markdown(item)})"]


def process_section(analysis: Analysis) -> list[str]:
    """Return the lines of the section on process counts: heading, explanation and table. The result is empty
    if there are no counts."""
    if not analysis.process:
        return []
    head, *rows = [[escape_markdown(cell) for cell in row] for row in process_cells(analysis.process)]
    return ["## Process counts", PROCESS_WORDS, markdown_table(head, rows)]


METHOD = """\
The replication: each measure was compared between conditions by a one-way analysis of variance, and all pairs
of conditions by Tukey's HSD at a family-wise level of .05, with simultaneous 95% confidence intervals.
This replicates the analysis of the human study of MindAgent (arXiv 2309.09971, section 5.3): the
observations are treated as independent, although every participant played every condition, and ratings
are treated as numbers. Its pairs are corrected within each measure, not over measures. Intervals of
means are 95% by Student's t within each condition. η² and ω² are effect sizes of the analysis of
variance, Hedges' g of a pair over the pooled standard deviation of its two conditions."""


def markdown_report(analysis: Analysis) -> str:
    """Return the whole report in Markdown: participants, methods, and each measure with its tables."""
    parts = [
        "# Analysis of the study",
        synthetic_banner(analysis),
        version_banner(analysis),
        "## Participants",
        participants_section(analysis),
        "## Who played" if analysis.players else "",
        players_table(analysis.players) if analysis.players else "",
        "## What was done",
        design_method(analysis),
        replication_method(analysis),
        plan_sentence(analysis),
        *map(measure_section, analysis.measures),
        *(["## Reliability of scales", scales_table(analysis.scales)] if analysis.scales else []),
        *process_section(analysis),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def synthetic_banner(analysis: Analysis) -> str:
    """Return one line that states how many participants are synthetic (programs). Return an empty string if
    none is."""
    if not analysis.synthetic:
        return ""
    bots, everybody = len(analysis.synthetic_participants), len(analysis.participants)
    return (
        f"> **Synthetic data.** {bots} of {counted_noun(everybody, 'participant')} analysed here are bots. "
        "These numbers are no findings about people."
    )


def version_banner(analysis: Analysis) -> str:
    """Return a line for each reason why the data are not from one preregistered design. Return an empty
    string if there is no reason."""
    return "\n>\n".join(f"> {escape_markdown(sentence)}" for sentence in analysis.warnings)


def participants_section(analysis: Analysis) -> str:
    """Return the section about participants: who entered, completed and was analysed, the conditions, and
    all exclusions."""
    lines = [
        *sample_sentences(analysis),
        f"{counted_noun(len(analysis.participants), 'participant')} analysed, "
        f"of whom {len(analysis.synthetic_participants)} synthetic.",
        f"{counted_noun(len(analysis.conditions), 'condition')}: "
        f"{escape_markdown(list_labels(analysis.conditions))}.",
        *exclusion_sentences(analysis),
    ]
    return "\n".join(f"- {line}" for line in lines)


def attrition_sentences(attrition: Attrition) -> list[str]:
    """Return sentences about how many participants entered, completed, dropped out, were excluded or
    withdrew."""
    how = ", ".join(f"{number} {words}" for words, number in attrition.ends if number)
    unfinished, completed = attrition.unfinished, "who completed the study left out"
    touched = "left out" if attrition.touched_left_out else "not left out"
    said = (
        (attrition.excluded, "participant", f"{completed}: excluded by staff."),
        (attrition.failed_checks, "participant", f"{completed}: attention checks."),
        (attrition.otherwise, "more participant", "left out: not collected as preregistered."),
        (attrition.touched, "episode", f"{touched}: an outage of the server touched them."),
    )
    return [
        f"{counted_noun(attrition.entered, 'participant')} entered and did not withdraw: "
        f"{attrition.completed} completed the study, {unfinished} did not "
        f"({how or 'dropped out, or still taking part'}) and {'is' if unfinished == 1 else 'are'} left out.",
        *(f"{counted_noun(number, noun)} {words}" for number, noun, words in said if number),
        f"{counted_noun(attrition.withdrew, 'participant')} of the study withdrew; their data are erased.",
    ]


def dependence_sentence(attrition: Attrition) -> str:
    """Return a warning that rows of participants who played together are not independent. Return an empty
    string if nobody played together."""
    if not attrition.shared:
        return ""
    people, episodes = (
        counted_noun(attrition.together, "participant"),
        counted_noun(attrition.shared, "episode"),
    )
    return (
        f"{people} analysed here played {episodes} together: what they did and answered there is not "
        "independent, although the tests here take it so. Their p-values may be too small and their "
        "intervals too narrow; a model with the group (`group` in episodes.csv) allows for it. Only "
        "measures of teams (“Team: …”) count each group once."
    )


def exclusion_sentences(analysis: Analysis) -> list[str]:
    """Return one sentence for each reason why rows were excluded. If none were, return one sentence that
    says so."""
    whose = " of those who completed the study" if analysis.attrition else ""
    return [_exclusion_sentence(one) for one in analysis.exclusions] or [f"No row{whose} was left out."]


def _exclusion_sentence(exclusion: Exclusion) -> str:
    rows, people = (
        counted_noun(exclusion.rows, "row"),
        counted_noun(len(exclusion.participants), "participant"),
    )
    if exclusion.reason == "no value":
        return f"{rows} of {people} without a value left out."
    return f"{people} left out ({rows}): no value in every condition, counted as drop-outs."


def sample_sentences(analysis: Analysis) -> list[str]:
    """Return sentences about who entered, completed and was excluded. The result is empty if that is
    unknown."""
    found = analysis.attrition
    return list(filter(None, [dependence_sentence(found), *attrition_sentences(found)])) if found else []


def plan_sentence(analysis: Analysis) -> str:
    """Return a sentence that names the main test and its correction for several measures."""
    main = main_test_label(
        analysis.plan.main, grouped=analysis.between is not None, factorial=analysis.factors is not None
    )
    correction = CORRECTIONS[analysis.plan.correction]
    return f"The main test of each measure: {escape_markdown(main)}, {correction}."


def measure_section(result: MeasureResult) -> str:
    """Return the section of one measure: test results as sentences, figures, and tables of means and
    pairs."""
    label, within = escape_markdown(result.measure.label), result.within
    families = (
        ("Planned contrasts", within.planned if within else Family(())),
        ("Pairs, within participants", within.pairs if within else Family(())),
    )
    parts = [
        f"## {label}",
        f"Scale: {escape_markdown(result.measure.scale)}.",
        "Exploratory: no test of it decides on anything." if result.measure.exploratory else "",
        *map(escape_markdown, design_sentences(result)),
        *(f"{name}:\n\n{contrasts_table(family)}" for name, family in families if family.contrasts),
        means_figure(result),
        interaction_figure(result),
        raincloud_figure(result),
        participants_figure(result),
        means_table(result),
        f"*The replication.* {escape_markdown(anova_sentence(result))}",
        escape_markdown(tukey_sentence(result)),
        replication_figure(result),
        pairs_table(result.pairs),
    ]
    return "\n\n".join(filter(None, parts))


def means_figure(result: MeasureResult) -> str:
    """Return the Markdown of the image that shows the means of a measure by condition with 95% confidence
    intervals."""
    label = escape_markdown(result.measure.label)
    return f"![{label}: means by condition with 95% confidence intervals]({result.figure_name})"


def participants_figure(result: MeasureResult) -> str:
    """Return the Markdown of the image that shows each participant's values over the conditions. Return an
    empty string if the report has no such image file."""
    words = "each participant over the conditions, means with 95% intervals within participants"
    name = result.threads_name
    return f"![{escape_markdown(result.measure.label)}: {words}]({name})" if name else ""


def replication_figure(result: MeasureResult) -> str:
    """Return the Markdown of the image that shows the means with the pairs of the replication. Return an
    empty string if the report has no such image file."""
    words = "means, and pairs that differ in the replication of the paper's analysis"
    label = escape_markdown(result.measure.label)
    return "" if result.measure.exploratory else f"![{label}: {words}]({result.replication_name})"


def raincloud_figure(result: MeasureResult) -> str:
    """Return the Markdown of the image that shows the values of each condition with box and half violin.
    Return an empty string if the report has no such image file."""
    words, name = (
        "values of participants, quartiles, means and densities by condition",
        raincloud_name(result),
    )
    return f"![{escape_markdown(result.measure.label)}: {words}]({name})" if name else ""


def main_figure_image(result: MeasureResult) -> str:
    """Return the Markdown of a measure's main figure: means by factors, else the raincloud figure, else the
    means by condition."""
    return interaction_figure(result) or raincloud_figure(result) or means_figure(result)


def image_file(image: str) -> str:
    """Return the file name in the Markdown of an image."""
    return image.rpartition("(")[2].rstrip(")")


def interaction_figure(result: MeasureResult) -> str:
    """Return the Markdown of the image that shows the means by the factors of the design. Return an empty
    string if the report has no such image file."""
    if result.measure.exploratory or not has_interaction_chart(result):
        return ""
    label = escape_markdown(result.measure.label)
    return f"![{label}: means by the factors of the design](figure_{result.measure.key}_interaction.svg)"


BOOTSTRAP_HEAD = "95% CI, bootstrap"


def means_table(result: MeasureResult) -> str:
    """Return the table of descriptive statistics, one row for each condition. If the measure is a share, a
    sentence below the table explains the bootstrap intervals."""

    def bootstrap(one: Description) -> str:
        return describe_bootstrap_interval(result, one.condition)

    columns: Columns[Description] = {
        "Condition": lambda one: _name(one.condition),
        "n": lambda one: str(one.n),
        "Missing": lambda one: str(one.missing),
        "Mean": lambda one: format_number(one.mean),
        "SD": lambda one: format_number(one.sd),
        "SE": lambda one: format_number(one.se),
        "95% CI": lambda one: format_interval(one.ci_low, one.ci_high),
        "95% CI within": lambda one: describe_within_interval(result, one.condition),
        **({BOOTSTRAP_HEAD: bootstrap} if result.has_bootstrap else {}),
        "Median": lambda one: format_number(one.median),
        "Min": lambda one: format_number(one.minimum),
        "Max": lambda one: format_number(one.maximum),
    }
    table = _table(columns, result.descriptions)
    return f"{table}\n\n{BOOTSTRAP_WORDS}" if result.has_bootstrap else table


PLAYER_COLUMNS: Columns[ConditionPlayers] = {
    "Condition": lambda one: _name(one.condition),
    "Co-player": lambda one: escape_markdown(one.kind_words),
    "Language model": lambda one: escape_markdown(one.model_words),
    "Decided by": lambda one: escape_markdown(one.chosen_words),
    "Fallbacks": lambda one: escape_markdown(one.fallback_words),
    "Replies": lambda one: escape_markdown(one.read_words),
}


def players_table(players: Sequence[ConditionPlayers]) -> str:
    """Return the table of co-players, models, fallbacks and parsed replies, one row for each condition.
    Below the table are warnings about models whose replies often could not be parsed."""
    warnings = [
        f"Warning: {escape_markdown(f'{one.condition.label}: {one.read.warning}')}"
        for one in players
        if one.read.is_bad
    ]
    return "\n\n".join([_table(PLAYER_COLUMNS, players), *warnings])


PAIR_COLUMNS: Columns[Pair] = {
    "First": lambda pair: _name(pair.first),
    "Second": lambda pair: _name(pair.second),
    "Second less first": lambda pair: format_number(pair.difference),
    "95% CI": lambda pair: format_interval(pair.ci_low, pair.ci_high),
    "p (adjusted)": lambda pair: _adjusted_p(pair.p),
    "Hedges' g": lambda pair: format_number(pair.g),
    "p < .05": lambda pair: "yes" if pair.significant else "no",
}


def pairs_table(pairs: Sequence[Pair]) -> str:
    """Return the table of all pairs of conditions, one row for each. Return an empty string without pairs.

    The difference is the second condition's mean minus the first's.
    """
    return _table(PAIR_COLUMNS, pairs) if pairs else ""


def _name(condition: AnalysisCondition) -> str:
    return escape_markdown(condition.label)
