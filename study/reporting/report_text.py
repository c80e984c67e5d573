"""Write a study's complete report as one Markdown text. The console page, HTML file and PDF are made from it.

Participants' answers about themselves are summarised. No single answer and no free text is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from statistics import mean, median

from kitchen.contract.world import Json
from kitchen.words.english_text import counted_noun
from study.analysis.analysis_sample import Sample
from study.analysis.statistics.apa_format import escape_markdown, markdown_table
from study.analysis.statistics.equivalence_rows import EQUIVALENCE
from study.analysis.statistics.figure_texts import FigureTexts
from study.analysis.statistics.markdown_report import (
    contrasts_table,
    design_method,
    exclusion_sentences,
    main_figure_image,
    means_table,
    pairs_table,
    participants_figure,
    plan_sentence,
    players_table,
    process_section,
    replication_figure,
    replication_method,
    sample_sentences,
    scales_table,
    synthetic_banner,
)
from study.analysis.statistics.result_files import ANALYSED_FILE
from study.analysis.statistics.result_rows import Row, test_rows
from study.analysis.statistics.result_sentences import tukey_sentence
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.verdicts import leading_result, verdict_sentences
from study.design.models import SurveyItem
from study.design.questions.choice_item_kinds import BEST, WORST
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.design.questions.item_kinds import SCALED
from study.design.questions.item_numbers import format_number
from study.participants.models import Answer
from study.reporting.consort_diagram import FlowStage
from study.reporting.preregistration_deviations import Deviation

OTHER = "another answer"
NOT_APPLICABLE = "does not apply"
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ItemSummary:
    """The summary of the answers to one question."""

    question: str
    """Label of the question in tables."""
    answered: int
    """Number of analysed participants who answered, or said that the question does not apply."""
    lines: tuple[Line, ...]
    """(option, how many chose it); for numbers their n, median and range."""


def about_summaries(sample: Sample, analysis: Analysis) -> tuple[ItemSummary, ...]:
    """Return a summary of each question that the analysed participants answered about themselves, in the
    study's order.

    Questions with free texts or with a correct answer are left out.
    """
    people = sample.people.filter(code__in=analysis.participants)
    answers = Answer.objects.filter(
        participant__in=people.values("pk"), round=None, item__place=SurveyItem.Place.ABOUT
    )
    values: dict[int, list[Json]] = {}
    for item, value in answers.order_by("id").values_list("item_id", "value"):
        values.setdefault(item, []).append(value)
    items = SurveyItem.objects.filter(pk__in=values).order_by("position", "pk")
    return tuple(
        summarise_item(one, values[one.pk]) for one in items if one.kind in _LINES and one.correct is None
    )


def summarise_item(item: SurveyItem, values: Sequence[Json]) -> ItemSummary:
    """Return the summary of the answers to one question with options or numbers."""
    given = [value for value in values if value != DOES_NOT_APPLY]
    lines = [*_LINES[item.kind](item, given)]
    if gone := len(values) - len(given):
        lines.append((NOT_APPLICABLE, str(gone)))
    return ItemSummary(item.measure, len(values), tuple(lines))


def _chosen(item: SurveyItem, values: Sequence[Json]) -> Iterator[Line]:
    counted = Counter(one for value in values for one in (value if isinstance(value, list) else [value]))
    for option in item.options:
        yield option, str(counted.pop(option, 0))
    if counted:
        yield OTHER, str(counted.total())


def _places(item: SurveyItem, values: Sequence[Json]) -> Iterator[Line]:
    """Yield the mean place of each option of a ranking."""
    for option in item.options:
        places = [value.index(option) + 1 for value in values if option in value]
        yield option, f"mean place {mean(places):.2f}" if places else "-"


def _best_and_worst(item: SurveyItem, values: Sequence[Json]) -> Iterator[Line]:
    """Yield how often each option was chosen as the best and as the worst."""
    for option in item.options:
        best, worst = (sum(value.get(which) == option for value in values) for which in (BEST, WORST))
        yield option, f"best {best}, worst {worst}"


def _numbers(item: SurveyItem, values: Sequence[Json]) -> Iterator[Line]:
    if values:
        yield "numbers", str(len(values))
        yield "median", format_number(median(values))
        yield "range", f"{format_number(min(values))} to {format_number(max(values))}"


_LINES = {
    **dict.fromkeys(SCALED, _numbers),
    "single": _chosen,
    "multiple": _chosen,
    "ranking": _places,
    "best_worst": _best_and_worst,
}
"""How the answers of a kind of question are summarised. Texts, dates and teams have no summary."""

FLOW = "flow.svg"
"""Name of the flow diagram among the figures."""
PLANNED = "*Planned.*"
PARTLY = "*Planned, but some of the analysed participants took part before that.*"
FROZEN_LATER = "*Planned after the data were collected.*"
EXPLORATORY = "*Exploratory: not planned.*"
EXPLORED = "*Exploratory.*"
"""Mark before planned contrasts of an exploratory measure."""
OTHER_TERMS = ("position", "carry_over")
"""Terms of the mixed model that the sentence about the condition includes, too."""


@dataclass(frozen=True, slots=True)
class ReportContents:
    """Everything that a report shows, before it is rendered."""

    title: str
    slug: str
    sample_words: str
    known_effects: str
    """Known effects given to simulated participants; empty if none."""
    made_at: datetime
    design: Sequence[tuple[str, str]]
    """Name and Markdown of each part of the design."""
    conditions: Sequence[Sequence[str]]
    """Name, label for participants, world, co-player and teammates of each condition."""
    frozen: Sequence[tuple[str, str]]
    """Name and value of facts about the preregistration; empty if there is none."""
    analysis: Analysis
    flow: Sequence[FlowStage]
    flow_words: str
    deviations: Sequence[Deviation]
    software: Sequence[tuple[str, str]]
    rows_sha256: str
    """SHA-256 of `analysed.csv`."""
    answer_summaries: Sequence[ItemSummary] = ()
    """Summaries of the analysed participants' answers about themselves."""
    figure_texts: FigureTexts = field(default_factory=dict)
    """Titles and notes of figures that the researchers wrote."""


def report_text(contents: ReportContents) -> str:
    """Return the report as Markdown. It begins with the title of the study, its only first-level heading."""
    analysis = contents.analysis
    parts = [
        f"# {escape_markdown(contents.title)}",
        synthetic_banner(analysis),
        bold_list(about_pairs(contents)),
        *lead_parts(analysis),
        *design_parts(contents),
        "## Participants",
        f"![{escape_markdown(contents.flow_words)}]({FLOW})",
        flow_table(contents.flow),
        said_table(contents.answer_summaries),
        bullet_list([*sample_sentences(analysis), *exclusion_sentences(analysis)]),
        "## Deviations from the preregistration",
        deviations_list(contents.deviations),
        "## Results",
        *_results(contents),
        *(["## Reliability of scales", scales_table(analysis.scales)] if analysis.scales else []),
        *process_section(analysis),
        *(["## Who really played", players_table(analysis.players)] if analysis.players else []),
        "## How it was computed",
        design_method(analysis),
        replication_method(analysis),
        "## Software and data",
        bold_list(contents.software),
        analysed_rows_line(contents),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def lead_parts(analysis: Analysis) -> Iterator[str]:
    """Yield a heading and the verdict about the leading measure, as Markdown parts."""
    result = leading_result(analysis)
    if result is not None:
        yield f"## {escape_markdown(f'The main result: {result.measure.label}')}"
        yield escape_markdown(" ".join(verdict_sentences(result)))


def about_pairs(contents: ReportContents) -> list[tuple[str, str]]:
    """Return (name, value) pairs about the report: the study, whose data, and when it was created."""
    made = f"{contents.made_at:%Y-%m-%d %H:%M} UTC"
    known = [("Effects given to the programs", contents.known_effects)] if contents.known_effects else []
    return [("Study", contents.slug), ("Data", contents.sample_words), *known, ("Created", made)]


def design_parts(contents: ReportContents) -> Iterator[str]:
    """Yield the Markdown parts about the preregistration, the conditions and the design."""
    yield "## Design"
    frozen = contents.frozen or [("Preregistered", "no: nothing was frozen")]
    yield bold_list(frozen)
    yield markdown_table(
        ("Condition", "Participants read", "World", "Co-player", "Teammates"),
        [[escape_markdown(cell) for cell in row] for row in contents.conditions],
    )
    for name, text in contents.design:
        yield f"### {escape_markdown(name)}"
        yield text


def flow_table(flow: Sequence[FlowStage]) -> str:
    """Return the numbers of the flow diagram as a Markdown table."""
    rows = []
    for one in flow:
        rows.append([f"**{escape_markdown(one.words)}**", str(one.number)])
        rows += [[f"left: {escape_markdown(words)}", str(number)] for words, number in one.left]
    return markdown_table(("Participants who …", "n"), rows)


def said_table(summaries: Sequence[ItemSummary]) -> str:
    """Return a Markdown table of participants' answers about themselves. Return an empty string if there
    are no summaries."""
    if not summaries:
        return ""
    rows = []
    for one in summaries:
        rows.append([f"**{escape_markdown(one.question)}**", f"{one.answered} answered"])
        rows += [[escape_markdown(words), number] for words, number in one.lines]
    return markdown_table(("Answers of the analysed participants about themselves", "n"), rows)


def deviations_list(deviations: Sequence[Deviation]) -> str:
    """Return a Markdown list of the deviations. If there are none, return a sentence that says so."""
    if not deviations:
        return "None: design, program, sample and tests are as preregistered."
    lines = [f"*{one.kind.capitalize()}.* {escape_markdown(one.words)}" for one in deviations]
    return bullet_list(lines, safe=True)


def _results(contents: ReportContents) -> Iterator[str]:
    mark, by_measure = planned_mark(contents), rows_by_measure(contents.analysis)
    yield from plan_parts(contents)
    for result in contents.analysis.measures:
        yield from measure_parts(result, by_measure.get(result.measure.key, []), mark)


def plan_parts(contents: ReportContents) -> Iterator[str]:
    """Yield the sentences about the planned main test, and whether it was preregistered."""
    yield plan_sentence(contents.analysis)
    if not contents.frozen:
        yield "Nothing was preregistered, so all results are exploratory."
    elif planned_mark(contents) == FROZEN_LATER:
        yield "All data were collected before the preregistration, so all results are exploratory."


def rows_by_measure(analysis: Analysis) -> dict[str, list[Row]]:
    """Return the rows of all tests by the key of their measure."""
    return {key: list(rows) for key, rows in groupby(test_rows(analysis), lambda row: row["measure"])}


def planned_mark(contents: ReportContents) -> str:
    """Return the text that marks the decisive tests in the report. It says whether they were preregistered
    before data collection."""
    if not contents.frozen:
        return "*As the design says.*"
    planned = contents.analysis.as_planned
    return PLANNED if planned == len(contents.analysis.participants) else PARTLY if planned else FROZEN_LATER


def measure_parts(result: MeasureResult, rows: Sequence[Row], mark: str) -> Iterator[str]:
    """Yield the Markdown parts of one measure's section: planned tests, numbers, exploratory tests, and
    the replication. `mark` labels a planned test."""
    yield f"### {escape_markdown(result.measure.label)}"
    yield from planned_parts(result, rows, mark)
    yield main_figure_image(result)
    yield participants_figure(result)
    yield means_table(result)
    yield from caution_parts(result)
    yield from exploratory_parts(result, rows)
    yield from replication_parts(result, rows)


def planned_parts(result: MeasureResult, rows: Sequence[Row], mark: str) -> Iterator[str]:
    """Yield the sentence of the deciding test of a measure, and its planned contrasts, as Markdown parts.
    The arguments are those of `measure_parts`."""
    planned = EXPLORED if result.measure.exploratory else mark
    yield from apa_paragraphs(rows, "main", planned)
    equivalences = [row for row in rows if row["test"] == EQUIVALENCE]
    if result.factorial is not None:
        contrasts = [row for row in rows if row["test"] != EQUIVALENCE]
        yield from apa_paragraphs(contrasts, "planned", f"{planned} Contrasts with Holm's correction:")
    elif result.within and result.within.planned.contrasts:
        yield f"{planned} Contrasts with Holm's correction:"
        yield contrasts_table(result.within.planned)
    yield from apa_paragraphs(equivalences, "planned", f"{planned} Tests of equivalence, each for itself:")


def caution_parts(result: MeasureResult) -> Iterator[str]:
    """Yield the assumptions of a measure's tests that do not hold, as Markdown parts."""
    if result.within and result.within.cautions:
        yield "Reasons for caution with these tests:"
        yield bullet_list(list(result.within.cautions))


def replication_parts(result: MeasureResult, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the replication of the paper's analysis for a measure, as Markdown parts."""
    yield from apa_paragraphs(rows, "replication", "*The replication of the paper's analysis.*")
    yield escape_markdown(tukey_sentence(result))
    yield replication_figure(result)
    yield pairs_table(result.pairs)


def exploratory_parts(result: MeasureResult, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the exploratory tests of a measure and the table of all pairs, as Markdown parts."""
    pairs = result.within.pairs if result.within else None
    yield from apa_paragraphs(
        [row for row in rows if row["test"] != "paired t test"], "exploratory", EXPLORATORY
    )
    if pairs and pairs.contrasts:
        yield f"{EXPLORATORY} All pairs: paired t tests with Holm's correction:"
        yield contrasts_table(pairs)


def apa_paragraphs(rows: Sequence[Row], role: str, mark: str) -> Iterator[str]:
    """Yield a paragraph with the sentences of all tests that have this role, after the text `mark`. Yield
    nothing if there are none."""
    rows = [row for row in rows if row["role"] == role and row.get("term") not in OTHER_TERMS]
    said = dict.fromkeys(str(row["apa"]) for row in rows if row.get("apa"))
    if said:
        yield " ".join([mark, *(escape_markdown(_whole(one)) for one in said)])


def _whole(words: str) -> str:
    sentence = f"{words[:1].upper()}{words[1:]}" if words[:1].islower() and words[1:2] != "(" else words
    return sentence if sentence.endswith(".") else f"{sentence}."


def analysed_rows_line(contents: ReportContents) -> str:
    """Return the sentence about the analysed rows and their hash."""
    rows = sum(len(one.table.observations) + len(one.set_aside) for one in contents.analysis.measures)
    return (
        f"{counted_noun(rows, 'row')} analysed, `{ANALYSED_FILE}`, SHA-256 `{contents.rows_sha256}`. "
        "`analyse_study` writes that file beside this report. The same data give the same hash."
    )


def bold_list(pairs: Sequence[tuple[str, str]]) -> str:
    """Return (name, value) pairs as a Markdown list with bold names."""
    return bullet_list(
        [f"**{escape_markdown(name)}**: {escape_markdown(value)}" for name, value in pairs], safe=True
    )


def bullet_list(lines: Sequence[str], *, safe: bool = False) -> str:
    """Return the lines as a Markdown list. They are escaped unless `safe` says that they are Markdown."""
    return "\n".join(f"- {line if safe else escape_markdown(line)}" for line in lines)
