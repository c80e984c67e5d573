"""The researcher's home: studies, and one study. For staff who are members of it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from study.analysis.who_played import players
from study.design.demo import READY
from study.design.models import Study, SurveyItem
from study.people.balance import balance_of
from study.people.counts import participants_with_progress, studies_with_counts, study_counts
from study.people.pauses import pause_on
from study.planning.forecast import MOST_PARTICIPANTS, PARTICIPANTS, forecast
from study.researchers.frame import participant_link
from study.researchers.permissions import staff_page, studies_for, study_page
from study.taking_part.money import waits_for_money

NEWEST = 20
"""Participants on the page of a study; all of them have a page of their own."""


@staff_page()
def index(request: HttpRequest) -> HttpResponse:
    """Every study that is this person's business, with how far it is."""
    with_counts = studies_with_counts(studies_for(request.user))
    studies = [{"study": study, "counts": counts} for study, counts in with_counts]
    mine = studies_for(request.user).values("pk")
    shared = studies_for(request.user, "copy").exclude(pk__in=mine)
    ready = [(name, words) for name, (words, _) in READY.items()]
    return render(request, "study/console/index.html", {"studies": studies, "shared": shared, "ready": ready})


@study_page("view")
def detail(request: HttpRequest, study: Study) -> HttpResponse:
    """One study: its link, conditions, participants."""
    context = {
        "study": study,
        "participant_link": participant_link(request, study),
        "conditions": study.conditions.all(),
        "items": study.items.filter(place=SurveyItem.Place.SURVEY, enabled=True),
        "counts": study_counts(study),
        "pause": pause_on(study),
        "waits_for_money": waits_for_money(study),
        "balance": balance_of(study),
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
