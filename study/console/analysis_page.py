"""The analysis of a study: its page, and its figures as files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from study.analysis import sample
from study.analysis.results import Finished, analysis_ready
from study.analysis.statistics.report import attrition_sentences, exclusion_sentences
from study.design.models import Study
from study.design.versions import frozen_version
from study.people.counts import study_counts
from study.researchers.permissions import study_page

WAIT_SECONDS = 2
"""How often a page that waits for an analysis looks again."""


def _who(request: HttpRequest, study: Study) -> str:
    asked = request.GET.get("who", "")
    return asked if asked in sample.WHO else sample.whose_data(study)


def _only(request: HttpRequest) -> bool:
    """Whether only what was collected as preregistered is asked for."""
    return request.GET.get("only") == "preregistered"


def _ready(study: Study, who: str, preregistered: bool) -> Finished | None:
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return analysis_ready(study, who, preregistered)
    except (RedisError, OSError):
        return Finished(
            problem="Redis, which keeps the results, does not answer. Load this page again later."
        )


@study_page("view")
def analysis(request: HttpRequest, study: Study) -> HttpResponse:
    """Per measure: means, ANOVA, Tukey HSD, the figure. A worker computes them; until then the page waits."""
    who, only = _who(request, study), _only(request)
    finished = _ready(study, who, only)
    computed = finished.analysis if finished else None
    attrition = sample.attrition(sample.Sample(study, who=who, preregistered=only))
    context = {
        "study": study,
        "who": who,
        "only": only,
        "frozen": frozen_version(study),
        "choices": sample.WHO,
        "counts": study_counts(study),
        "waiting": finished is None,
        "analysis": computed,
        "left": attrition_sentences(attrition),
        "completed": attrition.completed,
        "left_out": exclusion_sentences(computed) if computed else [],
        "problem": finished.problem if finished else "",
    }
    response = render(request, "study/console/analysis.html", context)
    if finished is None:
        response["Refresh"] = str(WAIT_SECONDS)
    return response


@study_page("view")
def figure(request: HttpRequest, study: Study, measure: str) -> HttpResponse:
    """One measure's bar chart as SVG."""
    finished = _ready(study, _who(request, study), _only(request))
    if finished is None or finished.problem:
        return HttpResponse("not computed yet", status=503, headers={"Retry-After": str(WAIT_SECONDS)})
    if measure not in finished.figures:
        raise Http404(measure)
    return HttpResponse(finished.figures[measure], content_type="image/svg+xml")
