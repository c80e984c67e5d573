"""Play: the practice episode and those of the rounds."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from kitchen.play.models import Episode
from kitchen.play.selectors import seat_view
from kitchen.play.views import play_page
from kitchen.registry.worlds import get_page
from study.design import page_order
from study.design.team import is_apart
from study.people import flow
from study.people.models import Participant
from study.taking_part.going_on import may_practise_again, page_done, practice_again
from study.taking_part.idling import idle_clock
from study.taking_part.pages.common import part_context, sent, team_label


def play(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """One round's episode."""
    if request.method == "POST":
        return redirect(person)
    assert place.round and place.round.episode  # noqa: S101 - the flow leads here with an episode only
    episode, position = place.round.episode, place.round.position
    progress = page_order.progress(
        person.design, "play", position=position, label=(label := team_label(person, place.round))
    )
    more = {"page_kind": "play", "progress": progress, "label": label}
    return _play_page(request, person, episode, place.round.seat, **more)


def practice(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """The practice episode; when it is over, a page to go on from."""
    if sent(request, "practice"):
        if "again" in request.POST:
            practice_again(participant_id=person.pk)
        else:
            page_done(participant_id=person.pk, page="practice")
        return redirect(person)
    if request.method == "POST":
        return redirect(person)
    assert person.practice  # noqa: S101 - made before the flow leads here
    if person.practice.status == Episode.Status.PLAYING:
        progress = page_order.progress(person.design, "practice")
        more = {"page_kind": "practice", "progress": progress, "label": gettext("Practice")}
        return _play_page(request, person, person.practice, 0, **more)
    context = part_context(person, "practice") | _practised(person, place)
    return render(request, "study/taking_part/practised.html", context)


def _practised(person: Participant, place: flow.CurrentPage) -> dict[str, Any]:
    """How practice went, and what comes next."""
    assert person.practice  # noqa: S101 - as above
    design, view = person.version.blueprint, seat_view(person.practice.seats.get(number=0))
    page = get_page(person.practice.world)
    first = design.condition(place.rounds[0].condition.key) if place.rounds else None
    return {
        "figures": view.achieved,
        "reached": page.reached(view) if view.reached else "",
        "missed": page.missed if may_practise_again(person) else "",
        "questions": page_order.is_shown(design, "check"),
        "hints": person.practice.hints,
        "teammates": first.teammates if first else 0,
        "leads": bool(first and is_apart(first.organisation)),
    }


def _play_page(
    request: HttpRequest, person: Participant, episode: Episode, seat: int, **more: Any
) -> HttpResponse:
    return play_page(
        request,
        seat=episode.seats.get(number=seat),
        continue_url=person.get_absolute_url(),
        leave_url=reverse("study:withdraw", args=[person.shown_key]),
        participant=person,
        study=person.study,
        idle=idle_clock(person),
        notice_template="study/taking_part/preview.html",
        languages_template="study/taking_part/languages.html",
        extra_templates=["study/taking_part/idle.html", "study/taking_part/device.html"],
        **more,
    )
