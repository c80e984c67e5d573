"""Pages made of items: about the person, after each episode, at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.play.models import Episode
from kitchen.registry.figures import achieved
from kitchen.words.speech import gettext
from study.design import item_order
from study.design.blueprint import Blueprint
from study.design.page_order import progress
from study.design.questions.fields import ItemPlan
from study.people import flow
from study.people.models import Participant
from study.taking_part.answering import answers_submit
from study.taking_part.idling import idle_clock
from study.taking_part.item_forms import ItemsForm
from study.taking_part.pages.common import part_context, sent, team_label
from study.taking_part.reminding import Team, teams


def items_for(person: Participant, place: flow.CurrentPage) -> list[ItemPlan]:
    """The items of a page in the order that this participant reads them."""
    condition = place.round.condition.key if place.round else ""
    return item_order.items_for(person.design, place.page, person.number, condition)


def about(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """Questions about the person."""
    return _ask(request, person, place, partial(part_context, person, "about"))


def survey(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """The survey after one episode."""
    return _ask(request, person, place, partial(_survey_context, person, place))


def _survey_context(person: Participant, place: flow.CurrentPage) -> dict[str, Any]:
    assert place.round and place.round.episode  # noqa: S101 - the flow leads here after an episode only
    episode, label = place.round.episode, team_label(person, place.round)
    design, score = person.design, episode.score
    return {
        "participant": person,
        "study": person.study,
        "idle": idle_clock(person),
        "heading": _how(design, place.round.condition.key, label),
        "progress": progress(design, "survey", position=place.position, label=label),
        "ended_by_staff": episode.status == Episode.Status.ABORTED,
        "given_up": place.round.is_given_up,
        "abandoned_because": _why_abandoned(episode),
        "figures": achieved(episode.world, score) if design.meant("scores_above_surveys") else (),
    }


def _why_abandoned(episode: Episode) -> str:
    """In their language; empty if it was not, or nobody said why."""
    why = episode.ended_because if episode.status == Episode.Status.ABANDONED else ""
    return gettext(why) if why else ""


def _how(design: Blueprint, condition: str, label: str) -> str:
    """Who played alone is not asked about a team."""
    if not design.condition(condition).teammates:
        return gettext("How was it this time?")
    return gettext("How was it with {team}?").format(team=label)


def final(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """The comparison of the conditions."""
    played = teams(person.design, place.rounds)
    return _ask(request, person, place, partial(part_context, person, "final"), played)


def _ask(
    request: HttpRequest,
    person: Participant,
    place: flow.CurrentPage,
    context: Callable[[], dict[str, Any]],
    played: Sequence[Team] = (),
) -> HttpResponse:
    """The items of the page, under what `context` says; what was sent rightly is stored."""
    is_sent = sent(request, place.page) and request.POST.get("position") == str(place.position)
    form = ItemsForm(request.POST if is_sent else None, items=items_for(person, place), teams=played)
    if is_sent and form.is_valid():
        answers_submit(
            participant_id=person.pk, page=place.page, position=place.position, values=form.values()
        )
        return redirect(person)
    if request.method == "POST" and not is_sent:
        return redirect(person)
    shown = {**context(), "form": form, "page": place.page, "position": place.position}
    return render(request, f"study/taking_part/{place.page}.html", shown, status=422 if form.errors else 200)
