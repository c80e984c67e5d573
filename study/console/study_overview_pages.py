"""Serve two pages of the researcher's console: the list of all studies, and the overview of one study."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from study.analysis.analysis_results import coplayers_by_condition
from study.design.demo_study_files import READY_STUDIES
from study.design.models import Study, SurveyItem, conditions_with_unmeasured
from study.participants.entry_limits import current_pause
from study.participants.participant_counts import (
    order_balance,
    participants_with_progress,
    studies_with_counts,
    study_counts,
)
from study.participation.round_planning import is_budget_spent
from study.planning.bonus_forecast import forecast_bonuses
from study.planning.study_cost_forecast import MOST_PARTICIPANTS, PARTICIPANTS, forecast_costs
from study.researchers.form_and_button_pages import participant_link
from study.researchers.permissions import has_right, staff_page, studies_for, study_page

NEWEST = 20
"""The number of newest participants on a study's page. Another page lists all of them."""


@staff_page()
def index(request: HttpRequest) -> HttpResponse:
    """List the studies that this user may see, with their progress. Also list the studies that are shared
    and the designs with which a new study can begin."""
    with_counts = studies_with_counts(studies_for(request.user))
    studies = [{"study": study, "counts": counts} for study, counts in with_counts]
    mine = studies_for(request.user).values("pk")
    shared = studies_for(request.user, "copy").exclude(pk__in=mine)
    ready = [(name, words) for name, (words, _) in READY_STUDIES.items()]
    return render(request, "study/console/index.html", {"studies": studies, "shared": shared, "ready": ready})


@study_page("view")
def detail(request: HttpRequest, study: Study) -> HttpResponse:
    """Show one study: its link, conditions, participants and costs."""
    sees_results = has_right(request.user, study, "results")
    warned = conditions_with_unmeasured(study)
    context = {
        "study": study,
        "participant_link": participant_link(request, study),
        "conditions": [row for row, _ in warned],
        "warned": warned,
        "items": study.items.filter(place=SurveyItem.Place.SURVEY, enabled=True),
        "counts": study_counts(study),
        "pause": current_pause(study),
        "waits_for_money": is_budget_spent(study),
        "balance": order_balance(study) if sees_results else None,
        "players": coplayers_by_condition(study) if sees_results else (),
        **_forecast(request, study),
        "participants": participants_with_progress(study)[:NEWEST],
    }
    return render(request, "study/console/study.html", context, status=422 if context["wrong"] else 200)


def _forecast(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return the cost forecast for the number of participants in the request. If that number is invalid,
    the result contains an error message, `wrong`."""
    asked = request.GET.get("participants", str(PARTICIPANTS)).strip()
    good = asked.isascii() and asked.isdigit() and len(asked) < 7 and int(asked) <= MOST_PARTICIPANTS
    wrong = "" if good else f"Give a whole number of participants from 0 to {MOST_PARTICIPANTS}."
    number = int(asked) if good else PARTICIPANTS
    bonuses = forecast_bonuses(study, number)
    return {"forecast": forecast_costs(study, number), "bonuses": bonuses, "asked": asked, "wrong": wrong}
