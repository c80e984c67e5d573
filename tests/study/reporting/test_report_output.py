"""The report: one text, and its forms as HTML and PDF."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from study.analysis.statistics.apa_format import escape_markdown, format_p
from study.analysis.statistics.charts_by_measure import report_charts
from study.analysis.statistics.result_files import analysed_rows_digest
from study.analysis.statistics.result_rows import test_rows as lines_of
from study.analysis.statistics.run_analysis import analyse
from study.analysis.statistics.sample_composition import DesignVersion, VersionUsed
from study.design.analysis_plan import AnalysisPlan, PlannedContrast
from study.reporting.consort_diagram import FlowDiagram, FlowStage, describe_diagram, diagram_of, to_svg
from study.reporting.preregistration_deviations import Deviation
from study.reporting.report_html import embed_figures, fold_sections, parse_report, to_html
from study.reporting.report_pdf import to_pdf
from study.reporting.report_text import FLOW, ReportContents, report_text
from study.reporting.short_report import appendix_text, main_figure_name, short_report_text
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo, paper_like, rows_of

FLOWED = (
    FlowStage("opened the study", 14, (("withdrew <soon>", 1),)),
    FlowStage("analysed", 13),
)
AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def told() -> ReportContents:
    weights = {FIVE[0].key: -1.0, FIVE[1].key: 1.0}
    plan = AnalysisPlan(contrasts=(PlannedContrast("H1", weights),))
    versions = [DesignVersion(1, frozen=True)]
    analysis = analyse(rows_of(paper_like(), RATE), FIVE, [RATE], plan=plan, versions=versions)
    return ReportContents(
        title="A *study* of 团队",
        slug="small",
        sample_words="people only",
        known_effects="",
        made_at=AT,
        design=[("Hypotheses", "> # Loud\n> <script>alert(1)</script> **more** helps")],
        conditions=[["Alone", "Team A", "Cuisine", "nobody", "0"]],
        frozen=[("Preregistered", "version 1")],
        analysis=analysis,
        flow=FLOWED,
        flow_words=describe_diagram(FLOWED),
        deviations=[Deviation("sample", "12 participants analysed: 8 fewer than planned (20).")],
        software=[("Brigade", "1.0")],
        rows_sha256=analysed_rows_digest(analysis),
    )


def test_what_was_planned_what_was_not_and_the_replication_are_told_apart(told: ReportContents) -> None:
    text = report_text(told)
    planned, explored, replicated = (
        text.index(mark)
        for mark in ("*Planned.* Success rate", "*Exploratory: not planned.*", "*The replication of")
    )
    assert planned < text.index("H1", planned) < explored < replicated
    assert "F(4, 55) = 28.11" in text[replicated:]
    assert "8 fewer than planned" in text
    assert told.rows_sha256 in text
    unplanned = report_text(replace(told, frozen=[], deviations=[]))
    assert "Nothing was preregistered, so all results are exploratory." in unplanned
    assert "*Planned.*" not in unplanned


def test_what_was_planned_later_than_the_data_is_not_called_planned(told: ReportContents) -> None:
    first, second = DesignVersion(1, frozen=True, planned_later=True), DesignVersion(2, frozen=True)
    for versions, mark in (
        ((VersionUsed(first, 12),), "*Planned after the data were collected.*"),
        ((VersionUsed(first, 6), VersionUsed(second, 6)), "*Planned, but some of the analysed"),
        ((VersionUsed(second, 12, early=12),), "*Planned after the data were collected.*"),
    ):
        text = report_text(replace(told, analysis=replace(told.analysis, versions=versions)))
        assert f"{mark}" in text
        assert "*Planned.*" not in text


def test_a_correction_over_measures_stands_in_the_main_test_s_sentence_and_row(
    told: ReportContents,
) -> None:
    plan = AnalysisPlan(correction="holm")
    rows = [row for one in demo().measures for row in one.table.observations]
    analysis = analyse(rows, FIVE, [one.measure for one in demo().measures], plan=plan)
    text = report_text(replace(told, analysis=analysis))
    over = [one.within.over_measures for one in analysis.measures if one.within]
    corrected = [one["condition"].p for one in over if one]
    assert len(corrected) == len(analysis.measures)
    for p in corrected:
        assert f", after Holm over measures {escape_markdown(format_p(p))}, " in text
    assert "after Holm over measures" not in report_text(told)
    main = [row for row in lines_of(analysis) if row["role"] == "main"]
    assert [(row["p_adjusted"], row["adjusted_by"]) for row in main] == [
        (p, "Holm over measures") for p in corrected
    ]


def test_what_researchers_wrote_is_no_markup_of_the_page_and_no_style_is_inline(told: ReportContents) -> None:
    html = to_html(report_text(told), embed_figures({FLOW: to_svg(diagram_of(FLOWED))}))
    assert "<script>" not in html
    assert "style=" not in html
    assert "A *study* of" in html
    assert "data:image/svg+xml;base64," in html
    assert "withdrew &lt;soon&gt;" in html
    assert '<td class="number">12</td>' in html


def test_on_a_page_what_was_not_planned_is_folded_below_each_measure(told: ReportContents) -> None:
    html = to_html(report_text(told), embed_figures({}))
    page = fold_sections(html)
    assert page.count("<details>") == page.count("</details>") == len(told.analysis.measures)
    inside = page.partition("<details>")[2].partition("</details>")[0]
    assert "<em>The replication of" in inside
    assert "<em>Planned.</em>" not in inside
    assert "Who really played" not in inside
    assert re.sub("<details><summary>[^<]*</summary>|</details>", "", page) == html


def test_columns_of_words_stand_left_and_columns_of_numbers_right() -> None:
    cells = parse_report("| a | b |\n|:--|--:|\n| Alone | [1.2, 3] |\n")
    found = [(one.type, one.attrs.get("class")) for one in cells if one.type in ("th_open", "td_open")]
    assert found == [("th_open", None), ("th_open", "number"), ("td_open", None), ("td_open", "number")]


def test_the_pdf_is_marked_on_every_page_and_always_the_same(told: ReportContents) -> None:
    text = report_text(told) + "\n\nMore." * 60
    made = [to_pdf(text, {FLOW: diagram_of(FLOWED)}, title=told.title, mark="Synthetic data") for _ in "ab"]
    assert made[0] == made[1]
    pages = [page for page in _streams(made[0]) if b" Tf " in page]
    assert len(pages) > 3
    assert all(b"1 .945098 .8 rg" in page for page in pages)
    assert made[0] != to_pdf(text, {FLOW: diagram_of(FLOWED)}, title=told.title)


def blank_png(width: int, height: int) -> bytes:
    """A white picture of this size."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress((b"\0" + b"\xff" * width) * height)),
        (b"IEND", b""),
    )
    made = (
        struct.pack(">I", len(one)) + name + one + struct.pack(">I", zlib.crc32(name + one))
        for name, one in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def test_nine_measures_fit_on_twelve_pages_and_the_appendix_has_the_rest(told: ReportContents) -> None:
    several = [
        replace(
            one, table=replace(one.table, measure=replace(one.table.measure, key=f"m{n}", label=f"M {n}"))
        )
        for n, one in enumerate(demo().measures * 3)
    ]
    contents = replace(told, analysis=replace(demo(), measures=tuple(several)))
    charts = report_charts(several)
    figures: dict[str, bytes | FlowDiagram] = {name: blank_png(1050, 1000) for name in charts}
    figures[FLOW] = diagram_of(FLOWED)
    short, rest = short_report_text(contents), appendix_text(contents)
    small = {*charts} - {main_figure_name(contents)}
    assert 6 <= _pages(to_pdf(short, figures, title="Short", small=small)) <= 12
    assert all(one.measure.label in short and f"### {one.measure.label}" in rest for one in several)
    for words in ("*The replication", "Tukey", "_replication.svg", "All pairs"):
        assert words in rest and words not in short
    assert short.index("## The main result: M 0") < short.index("## Design")


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", pdf))


def test_two_reports_of_the_same_data_differ_by_their_date_alone(told: ReportContents) -> None:
    later = replace(told, made_at=datetime(2027, 5, 6, 7, 8, tzinfo=UTC))
    first, second = report_text(told).splitlines(), report_text(later).splitlines()
    differing = [one for one in zip(first, second, strict=True) if one[0] != one[1]]
    assert differing == [("- **Created**: 2026-01-02 03:04 UTC", "- **Created**: 2027-05-06 07:08 UTC")]


def _streams(pdf: bytes) -> list[bytes]:
    """What stands on the pages, and the letters."""
    packed = re.finditer(rb"/FlateDecode \] /Length (\d+)[^>]*>>\nstream\n", pdf)
    return [zlib.decompress(pdf[one.end() :][: int(one[1])]) for one in packed]
