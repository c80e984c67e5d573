"""Render a report as Markdown, HTML and PDF, write all its files, and cache the report for the console.

A worker makes the cached report. It is stored beside the analysis it belongs to, and erased with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from django.db.models import Count
from django.template.loader import render_to_string
from django.utils import timezone
from pydantic import ConfigDict, TypeAdapter

from kitchen.charts import chart_drawing
from kitchen.contract.world import canonical_hash
from kitchen.infra.file_writing import write_atomically
from study.analysis.analysis_results import (
    analyse_present_data,
    analysis_cache_key,
    cache_result,
    cached_result,
    data_stamp,
    is_first_request,
    report_cache_key,
)
from study.analysis.analysis_sample import Sample
from study.analysis.statistics.observations import AnalysisError
from study.analysis.statistics.result_charts import report_charts
from study.analysis.statistics.result_files import ANALYSED_FILE, analysed_rows, file_contents, to_csv
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import program
from study.design.study_versions import frozen_version
from study.participants.models import Participant
from study.reporting.consort_diagram import diagram_of, to_svg
from study.reporting.report_contents import collect_report
from study.reporting.report_html import embed_figures, to_html
from study.reporting.report_text import FLOW, ReportContents, report_text
from study.task_queue import ask_report


@dataclass(frozen=True, slots=True)
class Report:
    """A whole rendered report, or the problem that prevented it."""

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    title: str
    mark: str = ""
    """Text that is shown on every page."""
    fragment: str = ""
    """HTML for the console page, without the title, with embedded figures."""
    pdf: bytes = field(default=b"", repr=False)
    problem: str = ""

    @property
    def html(self) -> str:
        """The report as one HTML file without external resources."""
        context = {"title": self.title, "body": self.fragment, "mark": self.mark}
        return render_to_string("study/reporting/file.html", context)


MARK = "Synthetic data: no findings about people"
"""Mark on every page of a report in which any number comes from a program."""


def rendered(contents: ReportContents, drawn: Mapping[str, bytes] | None = None) -> Report:
    """Render the report in every format.

    `drawn` are figures as SVG by file name; missing ones are drawn here.
    """
    from study.reporting.report_pdf import DPI, to_pdf  # slow to import

    diagram, given, draw = diagram_of(contents.flow), drawn or {}, chart_drawing.draw_chart
    charts = report_charts(contents.analysis.measures)
    svg = {name: given.get(name) or draw(chart) for name, chart in charts.items()}
    png = {name: draw(chart, "png", dpi=DPI) for name, chart in charts.items()}
    text, mark = report_text(contents), MARK if contents.analysis.synthetic else ""
    return Report(
        title=contents.title,
        mark=mark,
        fragment=to_html(text.partition("\n")[2], embed_figures({**svg, FLOW: to_svg(diagram)})),
        pdf=to_pdf(text, {**png, FLOW: diagram}, title=contents.title, mark=mark),
    )


def report_files(contents: ReportContents) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of all files of an analysis and its report, the report last."""
    drawn = {}
    for name, data in file_contents(contents.analysis):
        yield name, data
        if name.endswith(".svg"):
            drawn[name] = data
    yield ANALYSED_FILE, analysed_rows(contents.analysis)
    yield FLOW, to_svg(diagram_of(contents.flow))
    yield "flow.csv", to_csv(["station", "left_because", "n"], list(_flow_rows(contents)))
    yield "deviations.csv", to_csv(["kind", "deviation"], list(_deviation_rows(contents)))
    report = rendered(contents, drawn)
    yield "report.html", report.html.encode()
    yield "report.pdf", report.pdf


def _flow_rows(contents: ReportContents) -> Iterator[dict[str, object]]:
    """Yield one row per stage, and one per reason why participants left there."""
    for one in contents.flow:
        yield {"station": one.words, "n": one.number}
        for words, number in one.left:
            yield {"station": one.words, "left_because": words, "n": number}


def _deviation_rows(contents: ReportContents) -> Iterator[dict[str, object]]:
    for one in contents.deviations:
        yield {"kind": one.kind, "deviation": one.words}


def write_report(contents: ReportContents, directory: Path) -> tuple[Path, ...]:
    """Write every file into the directory, each whole or not at all; return their paths.

    The directory is created if needed. Raises OSError if the disk refuses.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return tuple(write_atomically(directory / name, data) for name, data in report_files(contents))


LAYOUT = 3
"""Version of the cache format and of the report's content; raised when either changes."""


def cached_report(
    study: Study, who: str, preregistered: bool = False, untouched: bool = False
) -> Report | None:
    """Return the cached report of the present data and design. If there is none, queue it and return None.

    Participants who arrive meanwhile appear in the next report.
    """
    stamp = _stamp(study, who)
    key = report_cache_key(analysis_cache_key(study.pk, who, preregistered, untouched))
    report = cached_result(_adapter(), key, stamp)
    if report is None and is_first_request(key, stamp):
        ask_report(study.pk, who, preregistered, untouched)
    return report


def make_cached_report(study: Study, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """Analyse the data, render the report and cache it. A result that is outdated by then is not cached."""
    sample = Sample(study, who=who, preregistered=preregistered, untouched=untouched)
    key = report_cache_key(analysis_cache_key(study.pk, who, preregistered, untouched))
    cache_result(_adapter(), key, lambda: _stamp(study, who), lambda: _made(sample))


@lru_cache
def _adapter() -> TypeAdapter[Report]:
    """Return the converter between reports and JSON, created at first use."""
    return TypeAdapter(Report)


def _made(sample: Sample) -> Report:
    study = sample.study
    try:
        analysis = analyse_present_data(study, sample.who, sample.preregistered, sample.untouched)
    except AnalysisError as error:
        return Report(study.title, problem=str(error))
    if not analysis.participants:
        return Report(study.title, problem="Nobody in this choice of data is analysed.")
    return rendered(collect_report(study, sample, analysis, made_at=timezone.now()))


def _stamp(study: Study, who: str) -> str:
    """Return a hash that changes with everything in a report; participants still playing do not count."""
    ended = study.participants.filter(preview=False).exclude(status=Participant.Status.ACTIVE).order_by()
    counted = ended.values_list("status", "synthetic").annotate(n=Count("pk"))
    frozen = frozen_version(study)
    now = [study.title, blueprint_of(study).digest, frozen.pk if frozen else None, program()]
    return canonical_hash([LAYOUT, data_stamp(study, who), sorted(map(list, counted)), now])
