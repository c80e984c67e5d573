"""Participants' pages with survey items: person, comprehension check, survey after an episode, final
questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.play.models import Episode
from kitchen.registry.world_metrics import achievements
from kitchen.words.translation import gettext
from study.design import page_and_item_order
from study.design.blueprint import Blueprint
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
from study.participation.pages.page_context import is_form_of, part_context, team_label


def items_for(person: Participant, place: next_page.CurrentPage) -> list[ItemPlan]:
    """Return the items of a page in the order for this participant."""
    condition = place.round.condition.key if place.round else ""
    return page_and_item_order.items_for(person.design, place.page, person.number, condition)


def about_person(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the questions about the person."""
    return _ask(request, person, place, partial(part_context, person, "about"))


def survey(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the survey after one episode."""
    return _ask(request, person, place, partial(_survey_context, person, place))


def _survey_context(person: Participant, place: next_page.CurrentPage) -> dict[str, Any]:
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
        "figures": achievements(episode.world, score) if design.meant("scores_above_surveys") else (),
    }


def _why_abandoned(episode: Episode) -> str:
    """Return why the episode was abandoned, translated; empty if it was not or no reason is stored."""
    why = episode.ended_because if episode.status == Episode.Status.ABANDONED else ""
    return gettext(why) if why else ""


def _how(design: Blueprint, condition: str, label: str) -> str:
    """Return the heading of the survey. A participant who played alone is not asked about a team."""
    if not design.condition(condition).teammates:
        return gettext("How was it this time?")
    return gettext("How was it with {team}?").format(team=label)


def final(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the final questions, which compare the conditions."""
    played = team_reminders(person.design, place.rounds)
    return _ask(request, person, place, partial(part_context, person, "final"), played)


def _ask(
    request: HttpRequest,
    person: Participant,
    place: next_page.CurrentPage,
    context: Callable[[], dict[str, Any]],
    played: Sequence[TeamReminder] = (),
) -> HttpResponse:
    """Show the items of the page with the template context; store valid answers and go on."""
    is_sent = is_form_of(request, place.page) and request.POST.get("position") == str(place.position)
    form = ItemsForm(request.POST if is_sent else None, items=items_for(person, place), teams=played)
    if is_sent and form.is_valid():
        answers_submit(
            participant_id=person.pk, page=place.page, position=place.position, values=form.values()
        )
        return redirect(person)
    if request.method == "POST" and not is_sent:
        return redirect(person)
    shown = {**context(), "form": form, "page": place.page, "position": place.position}
    return render(
        request, f"study/participation/{place.page}.html", shown, status=422 if form.errors else 200
    )


def check(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the comprehension check; after a wrong attempt, mark wrong answers and show the attempts left."""
    attempt = next_check_attempt(person)
    is_sent = is_form_of(request, "check") and request.POST.get("attempt") == str(attempt)
    form = ItemsForm(request.POST if is_sent else None, items=items_for(person, place))
    if is_sent and form.is_valid():
        right = check_submit(participant_id=person.pk, values=form.values(), attempt=attempt)
        if right is not False or next_page.current_page(with_design().get(pk=person.pk)).page != "check":
            return redirect(person)
        return _wrong(request, person, place, form, attempt)
    if request.method == "POST" and not is_sent:
        return redirect(person)
    return _show(request, person, place, form, attempt, status=422 if form.errors else 200)


def _wrong(
    request: HttpRequest, person: Participant, place: next_page.CurrentPage, form: ItemsForm, attempt: int
) -> HttpResponse:
    for key in wrong_check_items(person, form.values()):
        form.add_error(f"item_{key}", gettext("This is not right. Read the guide again and think once more."))
    return _show(request, person, place, form, attempt + 1, status=422, wrong=True)


def _show(
    request: HttpRequest,
    person: Participant,
    place: next_page.CurrentPage,
    form: ItemsForm,
    attempt: int,
    *,
    status: int,
    wrong: bool = False,
) -> HttpResponse:
    attempts = person.design.part("check").settings["attempts"]
    context = (
        part_context(person, "check")
        | guide_context(person, place)
        | {
            "form": form,
            "page": "check",
            "position": 0,
            "attempt": attempt,
            "left": attempts - attempt + 1,
            "wrong": wrong,
        }
    )
    return render(request, "study/participation/check.html", context, status=status)
