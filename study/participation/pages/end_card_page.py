"""Tell a participant their own part of a result: their share, best result, all stars, and what comes next.

The card at the end of a game fetches this over the board. The survey that follows shows it only if the card
could not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from kitchen.play.models import Episode
from study.participants.models import Participant, Round
from study.participants.next_page import CurrentPage, ParticipantProgress
from study.participation.language_choice import activate_language
from study.participation.page_progress import participant_of_key
from study.participation.round_results import best_result, highlights, own_share, star_total

SHOWN = "result"
"""The parameter in the participant's address with the position of the round whose result the card showed."""


def has_end_card(person: Participant, current: Round) -> bool:
    """Return True if participants of this round's condition are told their own result."""
    return person.version.blueprint.condition(current.condition.key).end_card


def was_shown(request: HttpRequest, position: int) -> bool:
    """Return True if the participant comes from a card that showed the result of the round at `position`."""
    return request.GET.get(SHOWN) == str(position)


def end_card_address(person: Participant, place: CurrentPage) -> str:
    """Return the address from which the card fetches the result of the current round. Empty if its condition
    has none."""
    if place.round is None or not has_end_card(person, place.round):
        return ""
    return reverse("study:end-card", args=[person.shown_key, place.position])


def own_result(person: Participant, rounds: Sequence[Round], current: Round) -> dict[str, Any]:
    """Return the template context of one's own result. `rounds` have their episodes."""
    assert current.episode  # noqa: S101 - asked after an episode
    return {
        "share": own_share(current.episode, current.seat),
        "best": best_result(rounds, current),
        "highlights": highlights(current.episode),
        "stars": star_total(rounds, current),
        "next_label": _next_label(person, rounds, current),
    }


def _next_label(person: Participant, rounds: Sequence[Round], current: Round) -> str:
    """Return the label of the next round. Empty without one, and if no card would tell it before the game."""
    after = next((one for one in rounds if one.position == current.position + 1), None)
    if after is None or not person.version.blueprint.condition(after.condition.key).ready_card:
        return ""
    return person.design.condition(after.condition.key).label


@never_cache
@require_GET
def end_card(request: HttpRequest, key: str, position: int) -> HttpResponse:
    """Return the participant's own result of the round at `position`, as HTML to put into the card. Raises
    Http404 for an unknown key, before the end of the game, and if the condition does not tell it."""
    person = participant_of_key(key)
    rounds = ParticipantProgress(person).rounds if person else []
    current = next((one for one in rounds if one.position == position), None)
    if person is None or current is None or current.episode is None or not has_end_card(person, current):
        raise Http404(key)
    if current.episode.status == Episode.Status.PLAYING:
        raise Http404(key)
    activate_language(request, person.study, person)
    return render(request, "study/participation/own_result.html", own_result(person, rounds, current))
