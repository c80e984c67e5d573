"""The analysis of a study: its page, and its figures as files."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from study.analysis import sample
from study.analysis.results import Finished, analysis_ready
from study.analysis.statistics.report import attrition_sentences, dependence_sentence, exclusion_sentences
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


def _untouched(request: HttpRequest) -> bool:
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
    who, only, untouched = _who(request, study), _only(request), _untouched(request)
    finished = _ready(study, who, only, untouched)
    computed = finished.analysis if finished else None
    attrition = sample.attrition(sample.Sample(study, who=who, preregistered=only, untouched=untouched))
    context = {
        "study": study,
        "who": who,
        "only": only,
        "untouched": untouched,
        "touched": attrition.touched,
        "choice": _choice(who, only, untouched),
        "frozen": frozen_version(study),
        "choices": sample.WHO,
        "counts": study_counts(study),
        "waiting": finished is None,
        "analysis": computed,
        "left": attrition_sentences(attrition),
        "dependent": dependence_sentence(attrition),
        "completed": attrition.completed,
        "left_out": exclusion_sentences(computed) if computed else [],
        "problem": finished.problem if finished else "",
    }
    response = render(request, "study/console/analysis.html", context)
    if finished is None:
        response["Refresh"] = str(WAIT_SECONDS)
    return response


def _choice(who: str, only: bool, untouched: bool) -> str:
    """What the address of a figure carries on."""
    chosen = {"who": who, "only": "preregistered" if only else "", "without": "outages" if untouched else ""}
    return urlencode({name: value for name, value in chosen.items() if value})


@study_page("view")
def figure(request: HttpRequest, study: Study, measure: str) -> HttpResponse:
    """One measure's bar chart as SVG."""
    finished = _ready(study, _who(request, study), _only(request), _untouched(request))
    if finished is None or finished.problem:
        return HttpResponse("not computed yet", status=503, headers={"Retry-After": str(WAIT_SECONDS)})
    if measure not in finished.figures:
        raise Http404(measure)
    return HttpResponse(finished.figures[measure], content_type="image/svg+xml")
