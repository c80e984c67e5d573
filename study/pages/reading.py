"""Pages that are read and left by a button: the guide and the debriefing."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.worlds.base import Json
from kitchen.worlds.registry import get_page, get_world
from study import flow
from study.blueprint import ConditionPlan
from study.models import Participant
from study.pages.common import part_context, sent
from study.services.going_on import page_done


def guide(request: HttpRequest, person: Participant, place: flow.Place) -> HttpResponse:
    """How to play, for the world of the condition that comes first."""
    if request.method == "POST":
        return _left(request, person, "guide")
    context = part_context(person, "guide") | guide_context(person) | {"teams": place.total}
    return render(request, "study/guide.html", context)


def guide_context(person: Participant) -> dict[str, Any]:
    """What the guide says about the world that this person plays first, and whether it holds for all."""
    design = person.version.blueprint
    first = design.condition(person.rounds.select_related("condition")[0].condition.key)
    page, brief = get_page(first.world), _brief(first)
    others = any((one.world, one.settings) != (first.world, first.settings) for one in design.conditions)
    return {
        "world_guide": page.guide,
        "brief": brief,
        "handbook": page.handbook(brief),
        "kitchens_differ": others,
        "clocked": any(one.step_seconds for one in design.conditions),
    }


def _brief(plan: ConditionPlan) -> Json:
    return get_world(plan.world).create(seats=plan.teammates + 1, settings=plan.settings).brief(0)


def debriefing(request: HttpRequest, person: Participant, place: flow.Place) -> HttpResponse:
    """What the study was about."""
    if request.method == "POST":
        return _left(request, person, "debriefing")
    return render(request, "study/debriefing.html", part_context(person, "debriefing"))


def _left(request: HttpRequest, person: Participant, page: str) -> HttpResponse:
    if sent(request, page):
        page_done(participant_id=person.pk, page=page)
    return redirect(person)
