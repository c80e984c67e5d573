"""The lobby: a page that says who is awaited, and leads on when all have come."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from kitchen.words.speech import gettext, ngettext
from study.design import page_order
from study.people import flow
from study.people.models import Participant
from study.taking_part.going_on import is_waiting
from study.taking_part.idling import idle_clock
from study.taking_part.lobby import Waiting, lobby_loads, lobby_look
from study.taking_part.pages.waiting import break_page


def lobby(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """Somebody waits for those who play with them, and all of them where the study's money is spent."""
    if is_waiting(person):
        return break_page(request, person, place)
    waiting = None if request.method == "POST" else lobby_look(participant_id=person.pk)
    if waiting is None:
        return redirect(person)
    assert place.round  # noqa: S101 - the flow leads here with a round only
    label = person.design.condition(place.round.condition.key).label
    context = {
        "participant": person,
        "study": person.study,
        "idle": idle_clock(person),
        "progress": page_order.progress(person.design, "play", position=place.position, label=label),
        "label": label,
        "leaves": waiting.leaves,
        "loads": lobby_loads(person),
        **_said(waiting),
    }
    return render(request, "study/taking_part/lobby.html", context)


def lobby_stands(person: Participant) -> JsonResponse:
    """For the page's script: how it stands now, in words; `on` says that another page is."""
    if is_waiting(person):
        return JsonResponse({"on": True})
    waiting = lobby_look(participant_id=person.pk)
    return JsonResponse({"on": True} if waiting is None else {"on": False, **_said(waiting)})


def _said(waiting: Waiting) -> dict[str, Any]:
    """`come` changes with those who come, `left` each minute, and in the last one every ten seconds."""
    missing = waiting.awaited - waiting.come
    come = ngettext("{come} of {awaited} is here.", "{come} of {awaited} are here.", waiting.come).format(
        come=waiting.come, awaited=waiting.awaited
    )
    others = ngettext(
        "Waiting for {number} more person.", "Waiting for {number} more people.", missing
    ).format(number=missing)
    return {"come": f"{come} {others}", "left": _left(waiting)}


def _left(waiting: Waiting) -> str:
    if waiting.plays:
        return gettext(
            "Somebody in your group is still playing. The time to wait begins when they have finished."
        )
    seconds = max(0.0, waiting.seconds_left)
    if seconds > 60:
        minutes = round(seconds / 60)
        return ngettext("At most {number} more minute.", "At most {number} more minutes.", minutes).format(
            number=minutes
        )
    tens = 10 * max(1, -int(-seconds // 10))
    return gettext("At most {number} more seconds.").format(number=tens)
