"""Show participants the pages that mainly have text: the consent, the guide, and the debriefing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from kitchen.contract.page_view import DRAWING_TABLES
from kitchen.contract.world import Json
from kitchen.forms.setting_fields import readable_name
from kitchen.play.live import render_page
from kitchen.registry.world_registry import get_page, get_world
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_seats import reads_sentences, seats_of
from study.design.team_organisation import is_apart, people_of
from study.participants import next_page
from study.participants.models import Participant
from study.participation.enter_study import ConsentForm, consent_given, consent_refused
from study.participation.page_progress import finish_page
from study.participation.pages.end_and_privacy_pages import remember_label
from study.participation.pages.page_context import (
    folded_html,
    form_response,
    guest_reminder,
    media_for,
    page_response,
    part_context,
)
from study.participation.pages.practice_length import practice_length_note


def consent(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the consent text, its statements, and the buttons to agree and refuse."""
    if "refuse" in request.POST:
        if person.as_guest:
            return guest_reminder(request, person)
        consent_refused(participant_id=person.pk)
        return remember_label(redirect(person), person)
    statements = person.design.part("consent").settings["statements"]
    form = ConsentForm(request.POST if request.method == "POST" else None, statements=statements)
    if form.is_valid():
        consent_given(participant_id=person.pk)
        return redirect(person)
    short, more = folded_html(person.design.part("consent").text, media_for(person))
    context = part_context(person, "consent") | {"part_html": short, "more_html": more}
    context["think_aloud"] = person.version.blueprint.meant("think_aloud")
    return form_response(request, person, "consent", form, **context)


def guide(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the guide, which explains how to play the world of each condition."""
    if request.method == "POST":
        finish_page(participant_id=person.pk, page="guide")
        return redirect(person)
    conditions = [person.design.condition(one.condition.key) for one in place.rounds]
    together = sum(bool(one.teammates) for one in conditions)
    context = part_context(person, "guide") | guide_context(person, place)
    context |= {"teams": place.total, "together": together, "teams_differ": _teams_differ(conditions)}
    return page_response(request, person, "guide", **context)


def _teams_differ(plans: Sequence[ConditionPlan]) -> bool:
    """Return True if no two conditions have the same label or the same players."""
    named = [plan.label for plan in plans]
    playing = [
        (plan.world, plan.teammates, plan.coplayer, plan.coplayer_settings, plan.organisation)
        for plan in plans
    ]
    return not any(one in those[:at] for those in (named, playing) for at, one in enumerate(those))


def guide_context(person: Participant, place: next_page.CurrentPage) -> dict[str, Any]:
    """Return the template context with the guides of all worlds that this participant plays, in order of
    play. A world played only in practice comes last."""
    design = person.design
    plans = [design.condition(one.condition.key) for one in place.rounds]
    if design.has("practice") and design.practice.world not in {plan.world for plan in plans}:
        plans.append(design.practice)
    guides = [_guide(design, plans, world) for world in dict.fromkeys(plan.world for plan in plans)]
    return {"guides": guides, "references": [guide["reference"] for guide in guides if guide["reference"]]}


def _guide(design: Blueprint, plans: Sequence[ConditionPlan], world: str) -> dict[str, Any]:
    """Return the template context for the guide of one world. The world's page chooses the facts for it,
    usually those of the first condition. The context also says whether the guide holds for all conditions of
    the world."""
    of_world = [plan for plan in plans if plan.world == world]
    page, clocked = get_page(world), any(plan.step_seconds for plan in of_world)
    drawn = any(page.shown(design.shown_in(plan)) != DRAWING_TABLES for plan in of_world)
    seats = max(map(seats_of, of_world))
    brief = page.brief_before_games([_brief(plan, seats) for plan in of_world])
    asks, leads = bool(design.meant("asks_first")), all(is_apart(plan.organisation) for plan in of_world)
    heard = any(reads_sentences(plan) for plan in of_world)
    how = {"leads": leads, "heard": heard, "marked": not all(plan.hides_dots for plan in of_world)}
    how["plans"] = all(plan.offers_plans for plan in of_world)
    how["order_choices"] = how["plans"] and all(plan.order_choices for plan in of_world)
    return {
        "title": page.title or readable_name(world),
        "html": render_page.render_guide(page, brief, clocked=clocked, drawn=drawn, asks_first=asks, **how),
        "styles": page.styles,
        "differs": page.settings_differ
        if any(plan.settings != of_world[0].settings for plan in of_world)
        else "",
        "reference": page.reference_title,
        "leads": any(is_apart(plan.organisation) for plan in of_world),
        "length_note": practice_length_note(design, [plan for plan in of_world if plan.key != "practice"]),
    }


def _brief(plan: ConditionPlan, seats: int) -> Json:
    """Return the brief of the participant's seat (the facts known before the game), for a world with this
    many seats.

    If the seat is unknown, or the participant has none, return the public brief, which has no seat's secret
    information.
    """
    world = get_world(plan.world).create(seats=seats, settings=plan.settings)
    own = people_of(plan.organisation)
    if is_apart(plan.organisation) or len(own) != 1:
        return world.public_brief()
    return world.brief(own[0])


def debriefing(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the debriefing, or continue to the next page when the participant is done with it."""
    if request.method == "POST":
        finish_page(participant_id=person.pk, page="debriefing")
        return redirect(person)
    return page_response(request, person, "debriefing", **part_context(person, "debriefing"))
