"""Write the two texts of the report as PDF, in Markdown: a short report, and an appendix with the rest.

The short report has what decides: the main result, design, participants, deviations, and the deciding test of
each measure. The appendix has every other test, table and figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from study.analysis.statistics.anova_and_tukey import Description
from study.analysis.statistics.apa_format import (
    escape_markdown,
    format_interval,
    format_number,
    markdown_table,
)
from study.analysis.statistics.markdown_report import (
    design_method,
    exclusion_sentences,
    image_file,
    interaction_figure,
    main_figure_image,
    means_figure,
    means_table,
    participants_figure,
    players_table,
    process_section,
    raincloud_figure,
    replication_method,
    sample_sentences,
    scales_table,
    synthetic_banner,
)
from study.analysis.statistics.result_rows import Row
from study.analysis.statistics.result_sentences import main_test_sentence
from study.analysis.statistics.run_analysis import MeasureResult
from study.analysis.statistics.verdicts import leading_result, short_verdict
from study.reporting.report_text import (
    FLOW,
    ReportContents,
    about_pairs,
    analysed_rows_line,
    bold_list,
    bullet_list,
    caution_parts,
    design_parts,
    deviations_list,
    exploratory_parts,
    flow_table,
    lead_parts,
    plan_parts,
    planned_mark,
    planned_parts,
    replication_parts,
    rows_by_measure,
    said_table,
)

APPENDIX_FILE = "appendix.pdf"
MOST_FIGURES = 10
"""Most measures that the short report shows with figure and tables. The table of results has all of them."""


def short_report_text(contents: ReportContents) -> str:
    """Return the short report as Markdown. It begins with the title of the study."""
    analysis, by_measure = contents.analysis, rows_by_measure(contents.analysis)
    parts = [
        f"# {escape_markdown(contents.title)}",
        synthetic_banner(analysis),
        bold_list(about_pairs(contents)),
        *_lead(contents, by_measure),
        *design_parts(contents),
        "## Participants",
        f"![{escape_markdown(contents.flow_words)}]({FLOW})",
        said_table(contents.answer_summaries),
        bullet_list([*sample_sentences(analysis), *exclusion_sentences(analysis)]),
        "## Deviations from the preregistration",
        deviations_list(contents.deviations),
        "## Results of all measures",
        *plan_parts(contents),
        verdicts_table(analysis.measures),
        *_measures(contents, by_measure),
        "## How it was computed",
        design_method(analysis),
        "## Software and data",
        bold_list(contents.software),
        analysed_rows_line(contents),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def appendix_text(contents: ReportContents) -> str:
    """Return the appendix as Markdown: everything that the short report leaves out."""
    analysis, by_measure = contents.analysis, rows_by_measure(contents.analysis)
    parts = [
        f"# {escape_markdown(f'Appendix: {contents.title}')}",
        synthetic_banner(analysis),
        bold_list(about_pairs(contents)),
        "## Participants in numbers",
        flow_table(contents.flow),
        *(["## Who really played", players_table(analysis.players)] if analysis.players else []),
        "## All tests",
        *(
            part
            for one in analysis.measures
            for part in _appendix_parts(contents, one, by_measure.get(one.measure.key, []))
        ),
        *(["## Reliability of scales", scales_table(analysis.scales)] if analysis.scales else []),
        *process_section(analysis),
        "## How the replication was computed",
        replication_method(analysis),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def verdicts_table(results: Sequence[MeasureResult]) -> str:
    """Return the table of all measures: role, deciding test and verdict."""
    rows = [[one.measure.label, _role(one), short_verdict(one), main_test_sentence(one)] for one in results]
    cells = [[escape_markdown(cell) for cell in row] for row in rows]
    return markdown_table(("Measure", "Role", "Verdict", "The deciding test"), cells)


def _role(result: MeasureResult) -> str:
    if result.measure.primary:
        return "primary"
    return "exploratory" if result.measure.exploratory else "secondary"


def _lead(contents: ReportContents, by_measure: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Yield the parts about the leading measure, with its figure and its numbers. `by_measure` has the rows
    of all tests by the key of their measure."""
    lead = leading_result(contents.analysis)
    if lead is None:
        return
    yield from lead_parts(contents.analysis)
    yield main_figure_image(lead)
    yield from _numbers(contents, lead, by_measure, "")


def main_figure_name(contents: ReportContents) -> str:
    """Return the file name of the leading measure's figure. Return an empty string without measures."""
    lead = leading_result(contents.analysis)
    return image_file(main_figure_image(lead)) if lead else ""


def _shown(contents: ReportContents) -> list[MeasureResult]:
    """Return the measures with a section in the short report, without the leading one."""
    lead = leading_result(contents.analysis)
    rest = (one for one in contents.analysis.measures if one is not lead)
    return [one for one in rest if not one.measure.exploratory][: MOST_FIGURES - 1]


def _measures(contents: ReportContents, by_measure: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    shown = _shown(contents)
    if len(shown) + 1 < len(contents.analysis.measures):
        yield f"The appendix ({APPENDIX_FILE}) has figures and tables of the other measures."
    for one in shown:
        yield f"### {escape_markdown(one.measure.label)}"
        yield from _numbers(contents, one, by_measure, main_figure_image(one))


def _numbers(
    contents: ReportContents, result: MeasureResult, by_measure: Mapping[str, Sequence[Row]], figure: str
) -> Iterator[str]:
    """Yield a measure's figure and means, its planned tests, and reasons for caution."""
    rows = by_measure.get(result.measure.key, [])
    yield figure
    yield short_means_table(result.descriptions)
    yield from planned_parts(result, rows, planned_mark(contents))
    yield from caution_parts(result)


def short_means_table(descriptions: Sequence[Description]) -> str:
    """Return the table of a measure's means with their 95 % intervals, one row for each condition."""
    rows = [
        [
            escape_markdown(one.condition.label),
            str(one.n),
            format_number(one.mean),
            format_number(one.sd),
            format_interval(one.ci_low, one.ci_high),
        ]
        for one in descriptions
    ]
    return markdown_table(("Condition", "n", "Mean", "SD", "95% CI"), rows)


def _appendix_parts(
    contents: ReportContents, result: MeasureResult, rows: Sequence[dict[str, object]]
) -> Iterator[str]:
    """Yield what the short report leaves out of one measure. `rows` are the rows of its tests."""
    lead = leading_result(contents.analysis)
    yield f"### {escape_markdown(result.measure.label)}"
    if result is not lead and result not in _shown(contents):
        yield from planned_parts(result, rows, planned_mark(contents))
        yield from caution_parts(result)
    if interaction_figure(result):
        yield raincloud_figure(result)
    yield means_figure(result)
    yield participants_figure(result)
    yield means_table(result)
    yield from exploratory_parts(result, rows)
    yield from replication_parts(result, rows)
