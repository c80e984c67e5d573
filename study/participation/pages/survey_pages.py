"""Show participants the pages with questions.

These are questions about the person, the comprehension check, the survey after an episode, and the final
questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from kitchen.play.episode.end_episode import is_ended_by_staff, is_ended_technically
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import achievements
from kitchen.words.gettext_without_django import gettext
from study.design import page_and_item_order
from study.design.page_and_item_order import progress
from study.design.questions.item_fields import ItemPlan
from study.participants import next_page
from study.participants.models import Participant
from study.participation.idle_timeout import idle_clock
from study.participation.item_forms import ItemsForm, TeamReminder, team_reminders
from study.participation.page_progress import (
    answers_submit,
    check_submit,
    next_check_attempt,
    with_design,
    wrong_check_items,
)
from study.participation.pages.consent_guide_debriefing import guide_context
from study.participation.pages.end_card_page import has_end_card, own_result, was_shown
from study.participation.pages.last_seconds_page import offers_last_seconds, steps_shown
from study.participation.pages.page_context import form_response, part_context, team_label


def items_for(person: Participant, place: next_page.CurrentPage) -> list[ItemPlan]:
    """Return the items of the page `place`, in this participant's order."""
    condition = place.round.condition.key if place.round else ""
    return page_and_item_order.items_for(person.design, place.page, person.number, condition)


def about_person(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the questions about the person."""
    return ask_items(request, person, place, partial(part_context, person, "about"))


def survey(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the survey after one episode."""
    was_told = was_shown(request, place.position)
    return ask_items(request, person, place, partial(_survey_context, person, place, was_told))


def _survey_context(person: Participant, place: next_page.CurrentPage, was_told: bool) -> dict[str, Any]:
    """Return the template context of the survey. If the card of the game's end has told the result
    (`was_told`), the survey does not repeat it."""
    assert place.round and place.round.episode  # noqa: S101 - the flow leads here after an episode only
    episode, label = place.round.episode, team_label(person, place.round)
    design, score = person.design, episode.score
    shows_card = has_end_card(person, place.round) and not was_told
    has_team = bool(design.condition(place.round.condition.key).teammates)
    why = episode.ended_because if episode.status == Episode.Status.ABANDONED else ""
    return {
        "idle": idle_clock(person),
        "heading": gettext("How was it this time?"),
        "team": label if has_team else "",
        "progress": progress(design, "survey", position=place.position, label=label),
        "ended_by_staff": is_ended_by_staff(episode),
        "ended_technically": is_ended_technically(episode),
        "given_up": place.round.is_given_up,
        "abandoned_because": gettext(why) if why else "",
        "figures": achievements(episode.world, score)
        if shows_card or design.meant("scores_above_surveys")
        else (),
        "shows_card": shows_card,
        **(own_result(person, place.rounds, place.round) if shows_card else {}),
        "last_seconds": reverse("study:last-seconds", args=[person.shown_key])
        if offers_last_seconds(person, place)
        else "",
        "last_steps": steps_shown(episode),
    }


def final(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the final questions, which compare the conditions."""
    played = team_reminders(person.design, place.rounds)
    return ask_items(request, person, place, partial(part_context, person, "final"), played)


def ask_items(
    request: HttpRequest,
    person: Participant,
    place: next_page.CurrentPage,
    context: Callable[[], dict[str, Any]],
    played: Sequence[TeamReminder] = (),
    template: str = "",
) -> HttpResponse:
    """Show the survey items of the page. If the participant submitted valid answers, store them and show
    the next page. `context` returns further template context. `played` are the teams that the participant
    can name in an answer. `template` is the page's template if it has not the page's name."""
    page, position, is_sent = place.page, place.position, request.method == "POST"
    if is_sent and request.POST.get("position") != str(position):
        return redirect(person)
    form = ItemsForm(request.POST if is_sent else None, items=items_for(person, place), teams=played)
    if form.is_valid():
        answers_submit(participant_id=person.pk, page=page, position=position, values=form.values())
        return redirect(person)
    return form_response(
        request, person, template or page, form, **context() | {"page": page, "position": position}
    )


def check(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the comprehension check. After a wrong attempt, mark the wrong answers and show how many
    attempts are left."""
    attempt, wrong, is_sent = next_check_attempt(person), False, request.method == "POST"
    if is_sent and request.POST.get("attempt") != str(attempt):
        return redirect(person)
    form = ItemsForm(request.POST if is_sent else None, items=items_for(person, place))
    if form.is_valid():
        right = check_submit(participant_id=person.pk, values=form.values(), attempt=attempt)
        if right is not False or next_page.current_page(with_design().get(pk=person.pk)).page != "check":
            return redirect(person)
        attempt, wrong = attempt + 1, True
        words = gettext("This is not correct. Read the guide again, then change your answer.")
        for key in wrong_check_items(person, form.values()):
            form.add_error(f"item_{key}", words)
    context = part_context(person, "check") | guide_context(person, place)
    left = person.design.part("check").settings["attempts"] - attempt + 1
    context |= {"page": "check", "position": 0, "attempt": attempt, "left": left, "wrong": wrong}
    return form_response(request, person, "check", form, **context)
