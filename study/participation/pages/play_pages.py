"""Show participants the pages around play: practice, episodes (games), and the lobby before shared play.

If the study's budget is spent, a round cannot begin. Another page then tells this to the participant.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from kitchen.play.live.render_page import PERMISSIONS_WITH_MICROPHONE, play_page_response
from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import gettext, ngettext
from study.design.blueprint import ConditionPlan
from study.design.condition_seats import is_shared
from study.design.page_and_item_order import LOBBY, READY, WAITING, is_shown, progress
from study.design.part_order import plays_first
from study.design.team_organisation import is_apart
from study.participants import next_page
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant
from study.participants.staff_messages import unread_messages
from study.participation.group_lobby import LobbyState, lobby_loads, look_at_lobby
from study.participation.idle_timeout import idle_clock
from study.participation.lobby_practice import begin_kitchen, end_kitchen, offers_kitchen, own_seat
from study.participation.page_progress import (
    begin_round,
    finish_page,
    finish_ready_card,
    is_waiting,
    may_practise_again,
    practice_again,
)
from study.participation.pages.end_and_privacy_pages import withdrawal_terms
from study.participation.pages.end_card_page import end_card_address
from study.participation.pages.microphone_page import MICROPHONE, microphone_page
from study.participation.pages.page_context import (
    guest_reminder,
    media_for,
    page_response,
    part_context,
    plays_with_people,
    team_label,
    text_html,
)
from study.participation.pages.practice_length import practice_length_note
from study.participation.pages.ready_page import is_ready_card_due, ready_page
from study.participation.sound_uploads import is_microphone_page_due, recording_context


def play(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the episode of one round, or before it the card that says who plays."""
    if request.method == "POST":
        if request.POST.get("page") == MICROPHONE and is_microphone_page_due(person, place):
            return microphone_page(request, person)
        if request.POST.get("page") == READY:
            finish_ready_card(participant_id=person.pk)
        return redirect(person)
    if is_microphone_page_due(person, place):
        return microphone_page(request, person)
    if is_ready_card_due(person, place):
        return ready_page(request, person, place)
    assert place.round and place.round.episode  # noqa: S101 - the flow leads here with an episode only
    episode, label = place.round.episode, team_label(person, place.round)
    plan = person.version.blueprint.condition(place.round.condition.key)
    if plan.lobby_practice:
        end_kitchen(person)
    # where steps have a time limit, it would run meanwhile
    counts_down = plan.ready_card and not episode.step and episode.step_seconds is None
    result = {"result_url": end_card_address(person, place), "result_position": place.position}
    more = {"counts_down": counts_down, **result, **recording_context(person, episode)}
    response = _play_page(
        request, person, episode, place.round.seat, "play", place.round.position, label, **more
    )
    if "sound_url" in more:
        response["Permissions-Policy"] = PERMISSIONS_WITH_MICROPHONE
    return response


def practice(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the practice episode. Once the episode has ended, show the page that follows it. Also handle
    the forms of both pages."""
    if request.method == "POST":
        if "again" in request.POST:
            practice_again(participant_id=person.pk)
        else:
            finish_page(participant_id=person.pk, page="practice")
        return redirect(person)
    assert person.practice  # noqa: S101 - made before the flow leads here
    if person.practice.status == Episode.Status.PLAYING:
        label, is_first = gettext("Practice"), plays_first(person.version.blueprint)
        more = {"plays_first": is_first and person.practice.hints}
        return _play_page(
            request, person, person.practice, person.practice_seat, "practice", 0, label, **more
        )
    context = part_context(person, "practice") | _practised(person, place)
    return page_response(request, person, "practised", **context)


def _practised(person: Participant, place: next_page.CurrentPage) -> dict[str, Any]:
    """Return the template context for the page after practice: what comes next. The card at the end of
    practice has shown its results."""
    assert person.practice  # noqa: S101 - as above
    design = person.version.blueprint
    page = get_page(person.practice.world)
    first = design.condition(place.rounds[0].condition.key) if place.rounds else None
    return {
        "missed": page.missed if may_practise_again(person) else "",
        "questions": is_shown(design, "check"),
        "hints": person.practice.hints,
        "marks": _marks_after(person.practice, first) if page.marks else "",
        "marks_mean": page.marks,
        "teammates": first.teammates if first else 0,
        "shared": bool(first and is_shared(first)),
        "leads": bool(first and is_apart(first.organisation)),
        "introduces_others": plays_first(design) and plays_with_people(person),
    }


def _marks_after(practice: Episode, first: ConditionPlan | None) -> str:
    """Return whether the marks at useful actions `stay` or `come` after practice. Practice has none if any
    condition hides them. Empty if the first game has none, by its condition or its nature."""
    if first is None or first.hides_dots or first.world != practice.world or is_apart(first.organisation):
        return ""
    return "come" if practice.hides_dots else "stay"


def _play_page(
    request: HttpRequest,
    person: Participant,
    episode: Episode,
    seat: int,
    page: str,
    position: int,
    label: str,
    **more: Any,
) -> HttpResponse:
    usual = {
        "continue_url": person.get_absolute_url(),
        "leave_url": reverse("study:withdraw", args=[person.shown_key]),
        "leave_template": "" if person.as_guest else "study/participation/leave_dialog.html",
        "leaving": withdrawal_terms(person),
        "participant": person,
        "study": person.study,
        "idle": idle_clock(person),
        "notice_template": "study/participation/play_notice.html",
        "languages_template": "study/participation/languages.html",
        "extra_templates": EXTRA_TEMPLATES,
        "page_kind": page,
        "progress": progress(person.design, page, position=position, label=label),
        "label": label,
        "guide_text": text_html(person.design.part("guide").text, media_for(person))
        if person.design.has("guide")
        else "",
        "length_note": _length_note(person, page),
    }
    return play_page_response(request, seat=episode.seats.get(number=seat), **{**usual, **more})


EXTRA_TEMPLATES = ("study/participation/idle.html", "study/participation/device.html")
"""Further templates at the end of a play page."""


def _length_note(person: Participant, page: str) -> str:
    """Return the sentence for the guide beside practice, whose length differs from that of the games."""
    if page != "practice":
        return ""
    design = person.design
    keys = dict.fromkeys(person.rounds.order_by("position").values_list("condition__key", flat=True))
    return practice_length_note(design, [design.condition(key) for key in keys])


WHY = "the budget was spent"
"""Reason for leaving, as stored in the data."""


def waiting(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Begin the round and redirect, if the budget allows it now. Otherwise show the page for a round that
    waits for the budget."""
    if request.method != "POST" and begin_round(participant_id=person.pk):
        return redirect(person)
    return break_page(request, person, place)


def break_page(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the page for a round that cannot begin because the study's budget is spent. Its form lets the
    participant leave the study."""
    if request.POST.get("page") == WAITING and "leave" in request.POST:
        if person.as_guest:
            return guest_reminder(request, person)
        participant_end(participant_id=person.pk, status=Participant.Status.TECHNICAL, reason=WHY)
    if request.method == "POST":
        return redirect(person)
    assert place.round  # noqa: S101 - the flow leads here with a round only
    labels = {plan.key: plan.label for plan in person.design.conditions}
    label = labels.get(place.round.condition.key, "")
    part = progress(person.design, WAITING, position=place.position, label=label)
    return page_response(request, person, WAITING, progress=part)


def lobby_page(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the lobby. If the study's budget is spent, show a page that says that the round cannot begin
    yet."""
    if is_waiting(person):
        return break_page(request, person, place)
    if is_microphone_page_due(person, place):
        return microphone_page(request, person)
    returns = KITCHEN in request.GET and request.method == "GET" and person.warm_up_id is not None
    if returns and own_seat(person) is None and begin_kitchen(participant_id=person.pk):
        return redirect(f"{person.get_absolute_url()}?{KITCHEN}")
    if "practise" in request.POST and begin_kitchen(participant_id=person.pk):
        return redirect(f"{person.get_absolute_url()}?{KITCHEN}")
    lobby = None if request.method == "POST" else look_at_lobby(participant_id=person.pk)
    if lobby is None:
        return redirect(person)
    assert place.round  # noqa: S101 - the flow leads here with a round only
    key = place.round.condition.key
    label = person.design.condition(key).label
    context = {
        "leaves": lobby.leaves,
        "loads": lobby_loads(person),
        "offers_kitchen": offers_kitchen(person, place),
        "kitchen": person.warm_up_id is not None,
        "shares_kitchen": person.version.blueprint.condition(key).lobby_practice_shared,
        **_lobby_texts(lobby),
    }
    if KITCHEN in request.GET and (seat := own_seat(person)) is not None:
        return _kitchen_page(request, person, place, context, seat)
    return page_response(
        request,
        person,
        "lobby",
        idle=idle_clock(person),
        progress=progress(person.design, "play", position=place.position, label=label),
        label=label,
        **context,
    )


KITCHEN = "kitchen"
"""The parameter in the lobby's address that shows the kitchen in which the participant practises."""


def _kitchen_page(
    request: HttpRequest,
    person: Participant,
    place: next_page.CurrentPage,
    context: dict[str, Any],
    seat: int,
) -> HttpResponse:
    """Show the kitchen in which the participant practises while waiting. The line above it is the lobby: it
    leads to the game when the others have come."""
    assert person.warm_up  # noqa: S101 - asked before
    more = {
        **context,
        "notice_template": "study/participation/lobby_strip.html",
        "extra_templates": [*EXTRA_TEMPLATES, "study/participation/lobby_script.html"],
    }
    label = gettext("Practice")
    return _play_page(request, person, person.warm_up, seat, LOBBY, place.position, label, **more)


def lobby_state(person: Participant) -> JsonResponse:
    """Return the lobby's state as texts for the page's script. `on` is true once the participant's next
    page is ready."""
    if is_waiting(person):
        return JsonResponse({"on": True})
    lobby = look_at_lobby(participant_id=person.pk)
    if lobby is None:
        return JsonResponse({"on": True})
    news = {"unread": len(unread)} if (unread := unread_messages(person)) else {}
    return JsonResponse({"on": False, **_lobby_texts(lobby), **news})


def _lobby_texts(lobby: LobbyState) -> dict[str, Any]:
    """Return three texts for the lobby page: who is present (`come`), how long the participant has waited
    (`waited`), and how much time is left (`left`)."""
    missing = lobby.awaited - lobby.present
    arrived = ngettext(
        "{come} of {awaited} people has arrived.", "{come} of {awaited} people have arrived.", lobby.present
    ).format(come=lobby.present, awaited=lobby.awaited)
    others = ngettext(
        "Waiting for {number} more person.", "Waiting for {number} more people.", missing
    ).format(number=missing)
    return {"come": f"{arrived} {others}", "waited": _time_waited(lobby), "left": _time_left(lobby)}


def _time_waited(lobby: LobbyState) -> str:
    """Return how long the participant has waited, as text. The text changes every ten seconds, and every
    minute after the first one. It is empty for somebody who has just come."""
    seconds = int(lobby.seconds_waited)
    if seconds < 10:
        return ""
    if seconds < 60:
        return gettext("You have waited {number} s.").format(number=seconds // 10 * 10)
    minutes = seconds // 60
    return ngettext("You have waited {number} minute.", "You have waited {number} minutes.", minutes).format(
        number=minutes
    )


def _time_left(lobby: LobbyState) -> str:
    """Return the time left in the lobby as text. The text changes every minute, and every ten seconds in
    the last minute."""
    if lobby.plays:
        return gettext(
            "Somebody in your group is still playing. Your waiting time begins when they have finished."
        )
    seconds = max(0.0, lobby.seconds_left)
    if seconds > 60:
        minutes = round(seconds / 60)
        return ngettext("At most {number} more minute.", "At most {number} more minutes.", minutes).format(
            number=minutes
        )
    tens = 10 * max(1, -int(-seconds // 10))
    return gettext("At most {number} more seconds.").format(number=tens)
