"""The researcher's pages: studies, one study, its analysis. For staff who are members of it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from study.analysis import sample
from study.analysis.results import Finished, analysis_ready
from study.analysis.statistics.report import attrition_sentences, exclusion_sentences
from study.analysis.who_played import players
from study.design.models import Study, SurveyItem
from study.design.versions import frozen_version
from study.people.counts import participants_with_progress, studies_with_counts, study_counts
from study.planning.forecast import MOST_PARTICIPANTS, PARTICIPANTS, forecast
from study.researchers.frame import participant_link
from study.researchers.permissions import staff_page, studies_for, study_page

NEWEST = 20
"""Participants on the page of a study; all of them have a page of their own."""
WAIT_SECONDS = 2
"""How often a page that waits for an analysis looks again."""


@staff_page()
def index(request: HttpRequest) -> HttpResponse:
    """Every study that is this person's business, with how far it is."""
    with_counts = studies_with_counts(studies_for(request.user))
    studies = [{"study": study, "counts": counts} for study, counts in with_counts]
    mine = studies_for(request.user).values("pk")
    shared = studies_for(request.user, "copy").exclude(pk__in=mine)
    return render(request, "study/console/index.html", {"studies": studies, "shared": shared})


@study_page("view")
def detail(request: HttpRequest, study: Study) -> HttpResponse:
    """One study: its link, conditions, participants."""
    context = {
        "study": study,
        "participant_link": participant_link(request, study),
        "conditions": study.conditions.all(),
        "items": study.items.filter(place=SurveyItem.Place.SURVEY, enabled=True),
        "counts": study_counts(study),
        "players": players(study),
        **_forecast(request, study),
        "participants": participants_with_progress(study)[:NEWEST],
    }
    return render(request, "study/console/study.html", context, status=422 if context["wrong"] else 200)


def _forecast(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Money, for as many participants to come as were asked for; `wrong` says what is not understood."""
    asked = request.GET.get("participants", str(PARTICIPANTS)).strip()
    good = asked.isascii() and asked.isdigit() and len(asked) < 7 and int(asked) <= MOST_PARTICIPANTS
    wrong = "" if good else f"Give a whole number of participants from 0 to {MOST_PARTICIPANTS}."
    number = int(asked) if good else PARTICIPANTS
    return {"forecast": forecast(study, number), "asked": asked, "wrong": wrong}


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
    response = render(request, "study/analysis/analysis.html", context)
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
