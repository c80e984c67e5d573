"""Serve the analysis and report pages of a study in the researcher's console, and their files.

A worker process computes the results. Until they are ready, a waiting page is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from kitchen.infra.file_downloads import as_attachment
from kitchen.infra.process_pool import ProcessPoolError
from study.analysis import analysis_sample, figure_files
from study.analysis.analysis_results import CachedAnalysis, analysis_ready
from study.analysis.figure_files import FIGURE_TYPES
from study.analysis.statistics import result_files
from study.analysis.statistics.charts_by_measure import (
    INTERACTION,
    MEANS,
    RAINCLOUD,
    RELIABILITY,
    REPLICATION,
    charts_of,
    leading_figure,
)
from study.analysis.statistics.markdown_report import (
    attrition_sentences,
    dependence_sentence,
    exclusion_sentences,
)
from study.analysis.statistics.process_counts import PROCESS_WORDS, process_cells
from study.design.models import Study
from study.design.study_versions import frozen_version
from study.participants.participant_counts import study_counts
from study.reporting.preregistration_deviations import deviations_of
from study.reporting.report_html import fold_sections
from study.reporting.report_output import Report, cached_report
from study.reporting.short_report import APPENDIX_FILE
from study.researchers.permissions import has_right, study_page

WAIT_SECONDS = 2
"""Seconds after which a waiting page reloads."""
AWAY = "Redis, which stores the results, does not answer. Load this page again later."
TITLES = {
    "report": "The report is being made",
    "analysis": "The analysis is being computed",
    "figure": "The figure cannot be drawn now",
    "nothing": "Nothing to download",
}


def waiting_page(request: HttpRequest, study: Study, what: str, problem: str = "") -> HttpResponse:
    """Return a page that says that a result is not ready yet, with status 503. `what` is the key of the
    result in `TITLES`.

    If `problem` is not empty, it says why there is no result. The status is then 409, or 503 if the problem
    is that the cache is `AWAY`.
    """
    is_temporary = problem in ("", AWAY)
    context = {
        "study": study,
        "counts": study_counts(study),
        "title": TITLES["nothing" if problem else what],
        "what": what,
        "problem": problem,
    }
    response = render(request, "study/console/later.html", context, status=503 if is_temporary else 409)
    if is_temporary:
        response["Retry-After"] = str(WAIT_SECONDS)
    response._has_been_logged = not problem  # type: ignore[attr-defined] # Django would log an error
    return response


class RequestedSample(NamedTuple):
    """The choice of participants and episodes that a request asks for."""

    who: str
    """A key of `analysis_sample.WHO`."""
    preregistered: bool
    """Only data collected as preregistered."""
    untouched: bool
    """Without episodes affected by an outage."""

    @property
    def query(self) -> str:
        """Return the query string for the addresses of this sample's figures and report."""
        chosen = {
            "who": self.who,
            "only": "preregistered" if self.preregistered else "",
            "without": "outages" if self.untouched else "",
        }
        return urlencode({name: value for name, value in chosen.items() if value})


def requested_sample(request: HttpRequest, study: Study) -> RequestedSample:
    """Return the sample that the address asks for (`who`, `only`, `without`). If `who` is missing or
    invalid, `default_participants` is used."""
    asked = request.GET.get("who", "")
    who = asked if asked in analysis_sample.WHO else analysis_sample.default_participants(study)
    only, without = request.GET.get("only"), request.GET.get("without")
    return RequestedSample(who, only == "preregistered", without == "outages")


def ready_analysis(study: Study, sample: RequestedSample) -> CachedAnalysis | None:
    """Return the cached analysis of this sample. If it is not ready, queue it and return None. If the cache
    cannot be reached, the result says so."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return analysis_ready(study, *sample)
    except (RedisError, OSError):
        return CachedAnalysis(problem=AWAY)


def _page(
    request: HttpRequest, template: str, study: Study, context: Mapping[str, Any], *, is_ready: bool
) -> HttpResponse:
    """Return one of the study's analysis pages. If its results are not ready (`is_ready` is False), the
    page reloads itself until they are."""
    shared = {"study": study, "counts": study_counts(study)}
    reload_seconds = None if is_ready else WAIT_SECONDS
    return render(request, template, {**shared, "reload_seconds": reload_seconds, **context})


@study_page("results")
def analysis(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the figure and the verdict of the first primary measure, and all other results in folds. If a
    worker has not computed them yet, show the waiting page."""
    sample = requested_sample(request, study)
    finished = ready_analysis(study, sample)
    computed = finished.analysis if finished else None
    lead = leading_figure(computed, study.figure_texts) if computed and computed.participants else None
    attrition = analysis_sample.attrition(
        analysis_sample.Sample(
            study, who=sample.who, preregistered=sample.preregistered, untouched=sample.untouched
        )
    )
    context = {
        "who": sample.who,
        "only": sample.preregistered,
        "untouched": sample.untouched,
        "touched": attrition.touched,
        "choice": sample.query,
        "frozen": frozen_version(study),
        "choices": analysis_sample.WHO,
        "waiting": finished is None,
        "analysis": computed,
        "lead": lead,
        "may_edit": has_right(request.user, study, "edit"),
        "bad_replies": any(one.read.is_bad for one in computed.players) if computed else False,
        "left": attrition_sentences(attrition),
        "dependent": dependence_sentence(attrition),
        "completed": attrition.completed,
        "deviations": deviations_of(study, computed) if computed and computed.participants else (),
        "left_out": exclusion_sentences(computed) if computed else [],
        "process": process_cells(computed.process) if computed and computed.process else (),
        "process_words": PROCESS_WORDS,
        "problem": finished.problem if finished else "",
        "files": [name for name in OFFERED if computed and result_files.has_rows(name, computed)],
    }
    return _page(request, "study/console/analysis.html", study, context, is_ready=finished is not None)


@study_page("results")
def figure(request: HttpRequest, study: Study, measure: str) -> HttpResponse:
    """Return one measure's main figure as SVG."""
    return _file(request, study, measure, "", "svg")


@study_page("results")
def figure_file(request: HttpRequest, study: Study, measure: str, name: str) -> HttpResponse:
    """Return one figure of a measure or scale as a file, or the table of the numbers in that figure. `name`
    is a file name such as "participants.pdf"."""
    figure, _, kind = name.partition(".")
    if kind not in FIGURE_TYPES:
        raise Http404(name)
    return _file(request, study, measure, figure, kind)


def _file(request: HttpRequest, study: Study, of: str, figure: str, kind: str) -> HttpResponse:
    finished = ready_analysis(study, requested_sample(request, study))
    if finished is None or finished.analysis is None:
        return waiting_page(request, study, "analysis", finished.problem if finished else "")
    try:
        found = figure_files.figure_file(
            finished.figures, finished.analysis, of, figure, kind, study.figure_texts
        )
        return HttpResponse(found, content_type=FIGURE_TYPES[kind])
    except KeyError as error:
        raise Http404(of) from error
    except ProcessPoolError:
        return waiting_page(request, study, "figure")


@study_page("results")
def table_file(request: HttpRequest, study: Study, table: str) -> HttpResponseBase:
    """Return one table of the analysis, or the complete analysis, as a file. The command `analyse_study`
    writes the same files."""
    make = OFFERED.get(table)
    if make is None:
        raise Http404(table)
    finished = ready_analysis(study, requested_sample(request, study))
    if finished is None or finished.analysis is None:
        return waiting_page(request, study, "analysis", finished.problem if finished else "")
    kind = TABLE_TYPES[table.rpartition(".")[2]]
    return as_attachment(HttpResponse(make(finished.analysis), content_type=kind), f"{study.slug}_{table}")


OFFERED = result_files.TABLES | result_files.ROWS | result_files.WHOLE
"""Files other than figures that can be downloaded."""

TABLE_TYPES = {
    "csv": FIGURE_TYPES["csv"],
    "json": FIGURE_TYPES["json"],
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "py": "text/x-python; charset=utf-8",
    "R": "text/plain; charset=utf-8",
}


@study_page("results")
def figures(request: HttpRequest, study: Study, measure: str) -> HttpResponse:
    """Show all figures of one measure or scale, with their files, descriptions and tables."""
    sample = requested_sample(request, study)
    finished = ready_analysis(study, sample)
    analysis = finished.analysis if finished else None
    charts = charts_of(analysis, measure, study.figure_texts) if analysis else {}
    if finished and not charts:
        raise Http404(measure)
    context = {
        "of": measure,
        "charts": [(name, chart, FIGURE_MEANINGS[name]) for name, chart in charts.items()],
        "kinds": figure_files.OFFERED,
        "may_edit": has_right(request.user, study, "edit"),
        "choice": sample.query,
    }
    return _page(request, "study/console/figures.html", study, context, is_ready=finished is not None)


FIGURE_MEANINGS = {
    RAINCLOUD: "Values, quartiles, means and densities by condition",
    MEANS: "Means by condition",
    "participants": "Each participant over the conditions",
    "positions": "Over the order of play",
    INTERACTION: "Means by the factors of the design",
    REPLICATION: "The replication of the paper's analysis, as in its Figure 5",
    RELIABILITY: "Reliability of the scale",
}
"""The title of each figure on its page."""


def _report_ready(request: HttpRequest, study: Study) -> Report | None:
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return cached_report(study, *requested_sample(request, study))
    except (RedisError, OSError):
        return Report(study.title, problem=AWAY)


@study_page("results")
def report(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the report, with links to download it. If a worker has not made it yet, show the waiting page."""
    found = _report_ready(request, study)
    context = {
        "report": found,
        "body": fold_sections(found.fragment) if found else "",
        "choice": requested_sample(request, study).query,
    }
    return _page(request, "study/console/report.html", study, context, is_ready=found is not None)


@study_page("results")
def report_html(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Download the report as one HTML file that needs no other file."""
    return _report_file(request, study, "report.html", _report_ready(request, study))


@study_page("results")
def report_pdf(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Download the short report as a PDF file."""
    return _report_file(request, study, "report.pdf", _report_ready(request, study))


@study_page("results")
def report_appendix(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Download the appendix of the report as a PDF file."""
    return _report_file(request, study, APPENDIX_FILE, _report_ready(request, study))


def _report_file(request: HttpRequest, study: Study, name: str, found: Report | None) -> HttpResponseBase:
    """Return a report file as a download, or the waiting page. Browsers do not show the file as a page: this
    server forbids styles inside pages."""
    if found is None or found.problem:
        return waiting_page(request, study, "report", found.problem if found else "")
    files = {"report.pdf": found.pdf, APPENDIX_FILE: found.appendix}
    data = files[name] if name in files else found.html.encode()
    response = HttpResponse(data, content_type="application/octet-stream")
    return as_attachment(response, f"{study.slug}_{name}")
