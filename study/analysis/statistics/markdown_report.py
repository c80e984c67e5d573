"""Write the report of an analysis in Markdown: participants, methods, and each measure with its tables.

It covers the replicated tests and the within-subject tests.
"""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.words.english_text import counted_noun
from study.analysis.statistics.anova_and_tukey import Description, Pair
from study.analysis.statistics.apa_format import (
    escape_markdown,
    format_interval,
    format_number,
    format_p,
    format_share,
    markdown_table,
)
from study.analysis.statistics.observations import AnalysisCondition
from study.analysis.statistics.result_sentences import (
    anova_sentence,
    bayes_words,
    describe_within_interval,
    design_sentences,
    list_labels,
    tukey_sentence,
)
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.sample_composition import Attrition, ConditionPlayers, Exclusion
from study.analysis.statistics.within.result_types import Contrast, Family, Reliability, ScaleResult
from study.design.analysis_plan import CORRECTIONS, MAIN_TESTS

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
    """Return the tables of planned contrasts, if there are any, and of all pairs within participants."""
    if result.within is None:
        return []
    named = (
        ("Planned contrasts", result.within.planned),
        ("Pairs, within participants", result.within.pairs),
    )
    return [f"{name}:\n\n{contrasts_table(family)}" for name, family in named if family.contrasts]


def contrasts_table(family: Family) -> str:
    """Return a table of the contrasts that are corrected together, one line each."""
    head = ("Contrast", "n", "Difference", "95% CI", "t", "p (Holm)", "Hedges' g", "95% CI of g", "BF10")
    computed = (
        [markdown_table(head, [_contrast_cells(one) for one in family.computed])] if family.computed else []
    )
    return "\n\n".join([*computed, *_not_computed(family)])


def _not_computed(family: Family) -> list[str]:
    rest = [one for one in family.contrasts if not isinstance(one, Contrast)]
    return [f"{escape_markdown(one.name)}: {one.because}." for one in rest]


def _contrast_cells(one: Contrast) -> list[str]:
    return [
        escape_markdown(one.name),
        str(one.n),
        format_number(one.difference),
        format_interval(one.ci_low, one.ci_high),
        f"t({one.df}) = {format_number(one.t)}",
        escape_markdown(format_p(one.p_adjusted).removeprefix("p = ").removeprefix("p ")),
        format_number(one.g),
        format_interval(one.g_low, one.g_high),
        escape_markdown(bayes_words(one.bayes_factor).removeprefix("= ")),
    ]


RELIABILITY_HEAD = "## Reliability of scales"


def scales_table(scales: Sequence[ScaleResult]) -> str:
    """Return the table of reliability: each scale in each condition, and over all."""
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
    return markdown_table(head, [_scale_cells(one) for one in scales])


def _scale_cells(one: ScaleResult) -> list[str]:
    named = [escape_markdown(one.label), escape_markdown(one.place)]
    found = one.found
    if not isinstance(found, Reliability):
        return [*named, escape_markdown(str(found)), "", "", "", "", ""]
    item, lowest = min(found.item_rest, key=lambda pair: pair[1])
    return [
        *named,
        str(found.n),
        str(found.items),
        format_share(found.alpha),
        f"[{format_share(found.alpha_low)}, {format_share(found.alpha_high)}]",
        format_share(found.omega),
        f"{format_share(lowest)} ({escape_markdown(item)})",
    ]


PARTICIPANTS_FIGURE = "each participant over the conditions, means with 95% intervals within participants"
"""Caption of the figure of participants."""
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
        DESIGN_METHOD.replace("\n", " "),
        METHOD.replace("\n", " "),
        plan_sentence(analysis),
        *map(measure_section, analysis.measures),
        *([RELIABILITY_HEAD, scales_table(analysis.scales)] if analysis.scales else []),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def synthetic_banner(analysis: Analysis) -> str:
    """Return one line that states how many participants are synthetic; empty if none is."""
    if not analysis.synthetic:
        return ""
    bots, everybody = len(analysis.synthetic_participants), len(analysis.participants)
    return (
        f"> **Synthetic data.** {bots} of {counted_noun(everybody, 'participant')} analysed here are bots. "
        "These numbers are no findings about people."
    )


def version_banner(analysis: Analysis) -> str:
    """Return one line for each reason not to read the data as one preregistered sample."""
    return "\n>\n".join(f"> {escape_markdown(sentence)}" for sentence in analysis.warnings)


def participants_section(analysis: Analysis) -> str:
    """Return a list of who entered, completed and was analysed, the conditions, and all exclusions."""
    dependent = dependence_sentence(analysis.attrition) if analysis.attrition else ""
    lines = [
        *([dependent] if dependent else ()),
        *(attrition_sentences(analysis.attrition) if analysis.attrition else ()),
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
    return [
        f"{counted_noun(attrition.entered, 'participant')} entered and did not withdraw: "
        f"{attrition.completed} completed the study, {attrition.unfinished} did not "
        f"({how or 'dropped out, or still taking part'}) and "
        f"{'is' if attrition.unfinished == 1 else 'are'} left out.",
        *_left_out(attrition),
        *_otherwise(attrition),
        *_touched(attrition),
        f"{counted_noun(attrition.withdrew, 'participant')} of the study withdrew; their data are erased.",
    ]


def _left_out(attrition: Attrition) -> list[str]:
    """Return one sentence per reason why participants who completed the study are excluded."""
    by_staff = counted_noun(attrition.excluded, "participant")
    by_checks = counted_noun(attrition.failed_checks, "participant")
    said = [f"{by_staff} who completed the study left out: excluded by staff."] if attrition.excluded else []
    if attrition.failed_checks:
        said.append(f"{by_checks} who completed the study left out: attention checks.")
    return said


def _otherwise(attrition: Attrition) -> list[str]:
    number = counted_noun(attrition.otherwise, "more participant")
    return [f"{number} left out: not collected as preregistered."] if attrition.otherwise else []


def _touched(attrition: Attrition) -> list[str]:
    """Return a sentence about episodes that an outage affected; none if there are none."""
    if not attrition.touched:
        return []
    what = "left out" if attrition.touched_left_out else "not left out"
    return [f"{counted_noun(attrition.touched, 'episode')} {what}: an outage of the server touched them."]


def dependence_sentence(attrition: Attrition) -> str:
    """Warn that rows of participants who played together are dependent; empty if nobody did."""
    if not attrition.shared:
        return ""
    people, episodes = (
        counted_noun(attrition.together, "participant"),
        counted_noun(attrition.shared, "episode"),
    )
    return (
        f"{people} analysed here played {episodes} together: what they did and answered there is not "
        "independent, although the tests here take it so. Their p-values may be too small and their "
        "intervals too narrow; a model with the group (`group` in episodes.csv) allows for it."
    )


def exclusion_sentences(analysis: Analysis) -> list[str]:
    """Return one sentence per reason why rows were excluded."""
    whose = " of those who completed the study" if analysis.attrition else ""
    return [exclusion_sentence(one) for one in analysis.exclusions] or [f"No row{whose} was left out."]


def exclusion_sentence(exclusion: Exclusion) -> str:
    """Return the sentence about the rows excluded for one reason."""
    rows, people = (
        counted_noun(exclusion.rows, "row"),
        counted_noun(len(exclusion.participants), "participant"),
    )
    if exclusion.reason == "no value":
        return f"{rows} of {people} without a value left out."
    return f"{people} left out ({rows}): no value in every condition, counted as drop-outs."


def plan_sentence(analysis: Analysis) -> str:
    """State the main test and its correction."""
    main, correction = MAIN_TESTS[analysis.plan.main], CORRECTIONS[analysis.plan.correction]
    return f"The main test of each measure: {escape_markdown(main)}, {correction}."


def measure_section(result: MeasureResult) -> str:
    """Return the section of one measure: sentences, figures, means and pairs."""
    label = escape_markdown(result.measure.label)
    parts = [
        f"## {label}",
        f"Scale: {escape_markdown(result.measure.scale)}.",
        "Exploratory: no test of it decides on anything." if result.measure.exploratory else "",
        *map(escape_markdown, design_sentences(result)),
        *family_tables(result),
        f"*The replication.* {escape_markdown(anova_sentence(result))}",
        escape_markdown(tukey_sentence(result)),
        f"![{label}: means by condition with 95% confidence intervals]({result.figure_name})",
        f"![{label}: {PARTICIPANTS_FIGURE}]({result.threads_name})" if result.threads_name else "",
        means_table(result),
        pairs_table(result.pairs) if result.pairs else "",
    ]
    return "\n\n".join(filter(None, parts))


def means_table(result: MeasureResult) -> str:
    """Return the table of descriptive statistics, one line per condition."""
    head = (
        "Condition",
        "n",
        "Missing",
        "Mean",
        "SD",
        "SE",
        "95% CI",
        "95% CI within",
        "Median",
        "Min",
        "Max",
    )
    return markdown_table(head, [_means_cells(one, result) for one in result.descriptions])


def _means_cells(description: Description, result: MeasureResult) -> list[str]:
    return [
        _name(description.condition),
        str(description.n),
        str(description.missing),
        *map(format_number, (description.mean, description.sd, description.se)),
        format_interval(description.ci_low, description.ci_high),
        describe_within_interval(result, description.condition),
        *map(format_number, (description.median, description.minimum, description.maximum)),
    ]


def players_table(players: Sequence[ConditionPlayers]) -> str:
    """Return the table of co-players, models, fallbacks and parsed replies, one line per condition.

    Warnings about badly parsed replies follow below it.
    """
    head = ("Condition", "Co-player", "Language model", "Decided by", "Fallbacks", "Replies")
    warnings = [
        f"Warning: {escape_markdown(f'{one.condition.label}: {one.read.warning}')}"
        for one in players
        if one.read.is_bad
    ]
    return "\n\n".join([markdown_table(head, [_players_cells(one) for one in players]), *warnings])


def _players_cells(players: ConditionPlayers) -> list[str]:
    words = (players.kind_words, players.model_words, players.chosen_words)
    told = (players.fallback_words, players.read_words)
    return [_name(players.condition), *map(escape_markdown, (*words, *told))]


def pairs_table(pairs: Sequence[Pair]) -> str:
    """Return the table of all pairs, one line each; the difference is the second mean minus the first."""
    head = ("First", "Second", "Second less first", "95% CI", "p (adjusted)", "Hedges' g", "p < .05")
    return markdown_table(head, [_pair_cells(pair) for pair in pairs])


def _pair_cells(pair: Pair) -> list[str]:
    return [
        _name(pair.first),
        _name(pair.second),
        format_number(pair.difference),
        format_interval(pair.ci_low, pair.ci_high),
        escape_markdown(format_p(pair.p).removeprefix("p = ").removeprefix("p ")),
        format_number(pair.g),
        "yes" if pair.significant else "no",
    ]


def _name(condition: AnalysisCondition) -> str:
    return escape_markdown(condition.label)
