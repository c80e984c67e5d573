"""The report of a study: its page, and the files to download."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from kitchen.machine.downloads import named
from study.console.analysis_page import carried, only_asked, untouched_asked, who_asked
from study.console.later import WAIT_SECONDS, later
from study.design.models import Study
from study.people.counts import study_counts
from study.reporting.html import folded
from study.reporting.kept import report_ready
from study.reporting.report import Report
from study.researchers.permissions import study_page

AWAY = "Redis, which keeps the results, does not answer. Load this page again later."


def _ready(request: HttpRequest, study: Study) -> Report | None:
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return report_ready(study, who_asked(request, study), only_asked(request), untouched_asked(request))
    except (RedisError, OSError):
        return Report(study.title, problem=AWAY)


@study_page("view")
def report(request: HttpRequest, study: Study) -> HttpResponse:
    """All of it, to read and to download. A worker makes it; until then the page waits."""
    found = _ready(request, study)
    choice = carried(who_asked(request, study), only_asked(request), untouched_asked(request))
    context = {
        "study": study,
        "counts": study_counts(study),
        "report": found,
        "body": folded(found.fragment) if found else "",
        "choice": choice,
    }
    response = render(request, "study/console/report.html", context)
    if found is None:
        response["Refresh"] = str(WAIT_SECONDS)
    return response


@study_page("view")
def report_html(request: HttpRequest, study: Study) -> HttpResponseBase:
    """The file that needs nothing else."""
    return _file(request, study, "html", _ready(request, study))


@study_page("view")
def report_pdf(request: HttpRequest, study: Study) -> HttpResponseBase:
    """The same, to print."""
    return _file(request, study, "pdf", _ready(request, study))


def _file(request: HttpRequest, study: Study, form: str, found: Report | None) -> HttpResponseBase:
    """To be saved and not shown: a page's own styles are not let in here."""
    if found is None or found.problem:
        return later(request, study, "nothing" if found else "report", found.problem if found else "")
    data = found.pdf if form == "pdf" else found.html.encode()
    response = HttpResponse(data, content_type="application/octet-stream")
    return named(response, f"{study.slug}_report.{form}")
