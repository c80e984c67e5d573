"""The report of an analysis in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.words.counting import counted
from study.analysis.statistics.analyse import Analysis, MeasureResult
from study.analysis.statistics.describe import Description
from study.analysis.statistics.exclusions import Attrition, Exclusion
from study.analysis.statistics.format import interval, number, p_value
from study.analysis.statistics.markdown import escaped, table
from study.analysis.statistics.players import Players
from study.analysis.statistics.report_design import (
    DESIGN_METHOD,
    RELIABILITY_HEAD,
    family_tables,
    scales_table,
)
from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.tukey import Pair
from study.analysis.statistics.words import (
    anova_sentence,
    design_sentences,
    listed,
    tukey_sentence,
    within_words,
)
from study.design.testing import CORRECTIONS, MAIN_TESTS

THREADS = "each participant over the conditions, means with 95% intervals within participants"
"""What that figure shows."""
METHOD = """\
The replication: each measure was compared between conditions by a one-way analysis of variance, and all pairs
of conditions by Tukey's HSD at a family-wise level of .05, with simultaneous 95% confidence intervals.
This replicates the analysis of the human study of MindAgent (arXiv 2309.09971, section 5.3): the
observations are treated as independent, although every participant played every condition, and ratings
are treated as numbers. Its pairs are corrected within each measure, not over measures. Intervals of
means are 95% by Student's t within each condition. η² and ω² are effect sizes of the analysis of
variance, Hedges' g of a pair over the pooled standard deviation of its two conditions."""


def report(analysis: Analysis) -> str:
    """The whole report in Markdown: who took part, what was done, and each measure with its tables."""
    parts = [
        "# Analysis of the study",
        banner(analysis),
        version_banner(analysis),
        "## Participants",
        participants(analysis),
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


def banner(analysis: Analysis) -> str:
    """One line that says how many participants are synthetic; empty where none is."""
    if not analysis.synthetic:
        return ""
    bots, everybody = len(analysis.synthetic_participants), len(analysis.participants)
    return (
        f"> **Synthetic data.** {bots} of {counted(everybody, 'participant')} analysed here are bots. "
        "These numbers are no findings about people."
    )


def version_banner(analysis: Analysis) -> str:
    """A line for each thing that stands against reading the data as one preregistered sample."""
    return "\n>\n".join(f"> {escaped(sentence)}" for sentence in analysis.warnings)


def participants(analysis: Analysis) -> str:
    """Who entered and stayed, how many were analysed, in which conditions, what was left out and why."""
    dependent = dependence_sentence(analysis.attrition) if analysis.attrition else ""
    lines = [
        *([dependent] if dependent else ()),
        *(attrition_sentences(analysis.attrition) if analysis.attrition else ()),
        f"{counted(len(analysis.participants), 'participant')} analysed, "
        f"of whom {len(analysis.synthetic_participants)} synthetic.",
        f"{counted(len(analysis.conditions), 'condition')}: {escaped(listed(analysis.conditions))}.",
        *exclusion_sentences(analysis),
    ]
    return "\n".join(f"- {line}" for line in lines)


def attrition_sentences(attrition: Attrition) -> list[str]:
    """How many entered, completed, dropped out and how, were excluded, withdrew."""
    how = ", ".join(f"{number} {words}" for words, number in attrition.ends if number)
    return [
        f"{counted(attrition.entered, 'participant')} entered and did not withdraw: "
        f"{attrition.completed} completed the study, {attrition.unfinished} did not "
        f"({how or 'dropped out, or still taking part'}) and "
        f"{'is' if attrition.unfinished == 1 else 'are'} left out.",
        *_left_out(attrition),
        *_otherwise(attrition),
        *_touched(attrition),
        f"{counted(attrition.withdrew, 'participant')} of the study withdrew; their data are erased.",
    ]


def _left_out(attrition: Attrition) -> list[str]:
    """Who completed the study and is left out all the same, a sentence a reason."""
    by_staff = counted(attrition.excluded, "participant")
    by_checks = counted(attrition.failed_checks, "participant")
    said = [f"{by_staff} who completed the study left out: excluded by staff."] if attrition.excluded else []
    if attrition.failed_checks:
        said.append(f"{by_checks} who completed the study left out: attention checks.")
    return said


def _otherwise(attrition: Attrition) -> list[str]:
    number = counted(attrition.otherwise, "more participant")
    return [f"{number} left out: not collected as preregistered."] if attrition.otherwise else []


def _touched(attrition: Attrition) -> list[str]:
    """What outages touched; nothing where none did."""
    if not attrition.touched:
        return []
    what = "left out" if attrition.touched_left_out else "not left out"
    return [f"{counted(attrition.touched, 'episode')} {what}: an outage of the server touched them."]


def dependence_sentence(attrition: Attrition) -> str:
    """That rows of those who played together depend on each other; empty where nobody did."""
    if not attrition.shared:
        return ""
    people, episodes = counted(attrition.together, "participant"), counted(attrition.shared, "episode")
    return (
        f"{people} analysed here played {episodes} together: what they did and answered there is not "
        "independent, although the tests here take it so. Their p-values may be too small and their "
        "intervals too narrow; a model with the group (`group` in episodes.csv) allows for it."
    )


def exclusion_sentences(analysis: Analysis) -> list[str]:
    """What was left out of the rows that there are, a sentence a reason."""
    whose = " of those who completed the study" if analysis.attrition else ""
    return [exclusion_sentence(one) for one in analysis.exclusions] or [f"No row{whose} was left out."]


def exclusion_sentence(exclusion: Exclusion) -> str:
    """What was left out for one reason."""
    rows, people = counted(exclusion.rows, "row"), counted(len(exclusion.participants), "participant")
    if exclusion.reason == "no value":
        return f"{rows} of {people} without a value left out."
    return f"{people} left out ({rows}): no value in every condition, counted as drop-outs."


def plan_sentence(analysis: Analysis) -> str:
    """Which test decides, and what it is corrected for."""
    main, correction = MAIN_TESTS[analysis.plan.main], CORRECTIONS[analysis.plan.correction]
    return f"The main test of each measure: {escaped(main)}, {correction}."


def measure_section(result: MeasureResult) -> str:
    """One measure: the sentences, the figure, the means and the pairs."""
    label = escaped(result.measure.label)
    parts = [
        f"## {label}",
        f"Scale: {escaped(result.measure.scale)}.",
        "Exploratory: no test of it decides on anything." if result.measure.exploratory else "",
        *map(escaped, design_sentences(result)),
        *family_tables(result),
        f"*The replication.* {escaped(anova_sentence(result))}",
        escaped(tukey_sentence(result)),
        f"![{label}: means by condition with 95% confidence intervals]({result.figure_name})",
        f"![{label}: {THREADS}]({result.threads_name})" if result.threads_name else "",
        means_table(result),
        pairs_table(result.pairs) if result.pairs else "",
    ]
    return "\n\n".join(filter(None, parts))


def means_table(result: MeasureResult) -> str:
    """The descriptive statistics, one line per condition."""
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
    return table(head, [_means_cells(one, result) for one in result.descriptions])


def _means_cells(description: Description, result: MeasureResult) -> list[str]:
    return [
        _name(description.condition),
        str(description.n),
        str(description.missing),
        *map(number, (description.mean, description.sd, description.se)),
        interval(description.ci_low, description.ci_high),
        within_words(result, description.condition),
        *map(number, (description.median, description.minimum, description.maximum)),
    ]


def players_table(players: Sequence[Players]) -> str:
    """Co-players, models, fallbacks and how replies were read, one line per condition; below it what there is
    a warning about."""
    head = ("Condition", "Co-player", "Language model", "Decided by", "Fallbacks", "Replies")
    warnings = [
        f"Warning: {escaped(f'{one.condition.label}: {one.read.warning}')}"
        for one in players
        if one.read.is_bad
    ]
    return "\n\n".join([table(head, [_players_cells(one) for one in players]), *warnings])


def _players_cells(players: Players) -> list[str]:
    words = (players.kind_words, players.model_words, players.chosen_words)
    told = (players.fallback_words, players.read_words)
    return [_name(players.condition), *map(escaped, (*words, *told))]


def pairs_table(pairs: Sequence[Pair]) -> str:
    """All pairs compared, one line each; the difference is the second mean less the first."""
    head = ("First", "Second", "Second less first", "95% CI", "p (adjusted)", "Hedges' g", "p < .05")
    return table(head, [_pair_cells(pair) for pair in pairs])


def _pair_cells(pair: Pair) -> list[str]:
    return [
        _name(pair.first),
        _name(pair.second),
        number(pair.difference),
        interval(pair.ci_low, pair.ci_high),
        escaped(p_value(pair.p).removeprefix("p = ").removeprefix("p ")),
        number(pair.g),
        "yes" if pair.significant else "no",
    ]


def _name(condition: AnalysisCondition) -> str:
    return escaped(condition.label)
