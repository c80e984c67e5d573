"""The analysis of a study: its page, and its figures as files."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from kitchen.machine.apart import ApartError
from kitchen.machine.downloads import named
from study.analysis import drawing, sample
from study.analysis.drawing import TYPES
from study.analysis.results import Finished, analysis_ready
from study.analysis.statistics import files
from study.analysis.statistics.charts import MEANS, RELIABILITY, charts_of
from study.analysis.statistics.report import attrition_sentences, dependence_sentence, exclusion_sentences
from study.console.later import WAIT_SECONDS, later
from study.design.models import Study
from study.design.versions import frozen_version
from study.people.counts import study_counts
from study.reporting.deviations import deviations_of
from study.researchers.permissions import study_page


def who_asked(request: HttpRequest, study: Study) -> str:
    """Whose data are asked for; the usual choice where nobody says."""
    asked = request.GET.get("who", "")
    return asked if asked in sample.WHO else sample.whose_data(study)


def only_asked(request: HttpRequest) -> bool:
    """Whether only what was collected as preregistered is asked for."""
    return request.GET.get("only") == "preregistered"


def untouched_asked(request: HttpRequest) -> bool:
    """Whether episodes that an outage touched are to be left out."""
    return request.GET.get("without") == "outages"


def _ready(study: Study, who: str, preregistered: bool, untouched: bool) -> Finished | None:
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return analysis_ready(study, who, preregistered, untouched)
    except (RedisError, OSError):
        return Finished(
            problem="Redis, which keeps the results, does not answer. Load this page again later."
        )


@study_page("view")
def analysis(request: HttpRequest, study: Study) -> HttpResponse:
    """Per measure: means, ANOVA, Tukey HSD, the figure. A worker computes them; until then the page waits."""
    who, only, untouched = who_asked(request, study), only_asked(request), untouched_asked(request)
    finished = _ready(study, who, only, untouched)
    computed = finished.analysis if finished else None
    attrition = sample.attrition(sample.Sample(study, who=who, preregistered=only, untouched=untouched))
    context = {
        "study": study,
        "who": who,
        "only": only,
        "untouched": untouched,
        "touched": attrition.touched,
        "choice": carried(who, only, untouched),
        "frozen": frozen_version(study),
        "choices": sample.WHO,
        "counts": study_counts(study),
        "waiting": finished is None,
        "analysis": computed,
        "left": attrition_sentences(attrition),
        "dependent": dependence_sentence(attrition),
        "completed": attrition.completed,
        "deviations": deviations_of(study, computed) if computed and computed.participants else (),
        "left_out": exclusion_sentences(computed) if computed else [],
        "problem": finished.problem if finished else "",
        "files": [name for name in OFFERED if name != "reliability.csv" or (computed and computed.scales)],
    }
    response = render(request, "study/console/analysis.html", context)
    if finished is None:
        response["Refresh"] = str(WAIT_SECONDS)
    return response


def carried(who: str, only: bool, untouched: bool) -> str:
    """What the addresses of figures and of the report carry on."""
    chosen = {"who": who, "only": "preregistered" if only else "", "without": "outages" if untouched else ""}
    return urlencode({name: value for name, value in chosen.items() if value})


@study_page("view")
def figure(request: HttpRequest, study: Study, measure: str) -> HttpResponse:
    """One measure's bar chart as SVG."""
    return _file(request, study, measure, MEANS, "svg")


@study_page("view")
def figure_file(request: HttpRequest, study: Study, measure: str, name: str) -> HttpResponse:
    """A figure of a measure or scale, as in "participants.pdf", or the table behind it."""
    figure, _, kind = name.partition(".")
    if kind not in TYPES:
        raise Http404(name)
    return _file(request, study, measure, figure, kind)


def _file(request: HttpRequest, study: Study, of: str, figure: str, kind: str) -> HttpResponse:
    finished = _ready(study, who_asked(request, study), only_asked(request), untouched_asked(request))
    if finished is None or finished.analysis is None:
        return later(request, study, "analysis", finished.problem if finished else "")
    try:
        found = drawing.figure_file(finished.figures, finished.analysis, of, figure, kind)
        return HttpResponse(found, content_type=TYPES[kind])
    except KeyError as error:
        raise Http404(of) from error
    except ApartError:
        return later(request, study, "figure")


@study_page("view")
def table_file(request: HttpRequest, study: Study, table: str) -> HttpResponseBase:
    """A table of the analysis, or all of it, as `analyse_study` writes it."""
    make = OFFERED.get(table)
    if make is None:
        raise Http404(table)
    finished = _ready(study, who_asked(request, study), only_asked(request), untouched_asked(request))
    if finished is None or finished.analysis is None:
        return later(request, study, "analysis", finished.problem if finished else "")
    kind = TABLE_TYPES[table.rpartition(".")[2]]
    return named(HttpResponse(make(finished.analysis), content_type=kind), f"{study.slug}_{table}")


OFFERED = files.TABLES | files.WHOLE
"""What can be downloaded beside figures."""

TABLE_TYPES = {
    "csv": TYPES["csv"],
    "json": TYPES["json"],
    "tex": "application/x-tex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}


@study_page("view")
def figures(request: HttpRequest, study: Study, measure: str) -> HttpResponse:
    """All figures of one measure or scale: in the browser, as files, in words and as tables."""
    who, only, untouched = who_asked(request, study), only_asked(request), untouched_asked(request)
    finished = _ready(study, who, only, untouched)
    charts = charts_of(finished.analysis, measure) if finished and finished.analysis else {}
    if finished and not charts:
        raise Http404(measure)
    context = {
        "study": study,
        "of": measure,
        "charts": [(name, chart, TELLS[name]) for name, chart in charts.items()],
        "kinds": drawing.OFFERED,
        "choice": carried(who, only, untouched),
        "counts": study_counts(study),
    }
    response = render(request, "study/console/figures.html", context)
    if finished is None:
        response["Refresh"] = str(WAIT_SECONDS)
    return response


TELLS = {
    MEANS: "Means by condition, as in Figure 5 of the paper",
    "participants": "Each participant over the conditions",
    "positions": "Over the order of play",
    RELIABILITY: "Reliability of the scale",
}
"""What the figures are called on their page."""
