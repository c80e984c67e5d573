"""Show the card before a round: who is in the team, what changes, and that the round counts.

The episode exists already, but its clock starts when the participant opens the play page. In a group, the
card sends itself after some seconds, so that nobody keeps the others waiting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from kitchen.contract.page_view import SeatView
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.live.star_panel import target_sentence
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import gettext, ngettext
from study.design.blueprint import ConditionPlan
from study.design.condition_seats import is_shared
from study.design.page_and_item_order import READY, progress
from study.design.team_organisation import is_apart
from study.participants import next_page
from study.participants.models import PageVisit, Participant
from study.participation.idle_timeout import idle_clock
from study.participation.pages.page_context import page_response, team_label

MOST_SECONDS = 10
"""Seconds after which the card of a group sends itself."""


class Targets(NamedTuple):
    """The results for one, two and three stars, as texts and as a sentence."""

    numbers: tuple[str, ...]
    sentence: str


def is_ready_card_due(person: Participant, place: next_page.CurrentPage) -> bool:
    """Return True if the card comes before the participant's play page: the condition has one, no step was
    played, and the participant has not sent it."""
    current = place.round
    if place.page != "play" or current is None or current.episode is None or current.episode.step:
        return False
    if not person.version.blueprint.condition(current.condition.key).ready_card:
        return False
    sent = PageVisit.objects.filter(participant=person, page=READY, position=current.position)
    return not sent.filter(done_at__isnull=False).exists()


def ready_page(request: HttpRequest, person: Participant, place: next_page.CurrentPage) -> HttpResponse:
    """Show the card."""
    assert place.round and place.round.episode  # noqa: S101 - a card is due only before an episode
    plan = person.design.condition(place.round.condition.key)
    label = team_label(person, place.round)
    view = current_seat_view(place.round.episode.seats.get(number=place.round.seat))
    before = _plan_before(person, place)
    return page_response(
        request,
        person,
        READY,
        idle=idle_clock(person),
        progress=progress(person.design, "play", position=place.position, label=label),
        label=label,
        cover=get_page(plan.world).cover_of(plan.settings),
        part=get_page(plan.world).part_words(view.brief) if view.acts else "",
        position=place.position,
        total=place.total,
        players=[(one.seat, one.name, one.is_you) for one in view.players],
        leads=is_apart(plan.organisation),
        targets=_targets(view),
        changes=what_changes(plan, before),
        is_first=before is None,
        is_as_before=before is not None and plan.settings == before.settings,
        seconds=MOST_SECONDS if is_shared(plan) and len(view.players) > 1 else None,
    )


def _targets(view: SeatView) -> Targets | None:
    """Return the results at which the team earns stars. None if it earns none."""
    targets = view.result.star_targets
    if targets is None:
        return None
    words = tuple(map(targets.metric.shown, targets.targets))
    return Targets(words, target_sentence(targets, view.result.world))


def _plan_before(person: Participant, place: next_page.CurrentPage) -> ConditionPlan | None:
    earlier = [one for one in place.rounds if one.position < place.position]
    return person.design.condition(earlier[-1].condition.key) if earlier else None


def what_changes(plan: ConditionPlan, before: ConditionPlan | None) -> list[str]:
    """Return sentences about what differs from the round before, as far as participants can see it anyway.
    Empty before the first round, and if nothing differs. They never name the kinds of co-players."""
    if before is None:
        return []
    found: list[Any] = []
    if plan.world != before.world:
        found.append(gettext("Another game: {title}.").format(title=_title(plan.world)))
    if plan.teammates and _team(plan) != _team(before):
        found.append(gettext("Another teammate.") if plan.teammates == 1 else gettext("Another team."))
    if plan.teammates != before.teammates:
        found.append(_team_size(plan.teammates, before.teammates))
    if is_apart(plan.organisation) != is_apart(before.organisation):
        found.append(
            gettext("Now you lead, without a player of your own.")
            if is_apart(plan.organisation)
            else gettext("Now you have a player of your own.")
        )
    if plan.step_seconds != before.step_seconds:
        found.append(_time(plan.step_seconds))
    return found


def _team(plan: ConditionPlan) -> tuple[object, ...]:
    """Return what determines the teammates of a condition. The seats of people do not: who changes roles has
    the same teammate."""
    organisation = {name: value for name, value in plan.organisation.items() if name != "people"}
    return plan.coplayer, plan.coplayer_settings, organisation, plan.knowing, plan.talk_language


def _title(world: str) -> str:
    page = get_page(world)
    return str(page.title or world)


def _team_size(teammates: int, before: int) -> str:
    if not teammates:
        return gettext("You play alone.")
    if not before:
        return ngettext("{number} teammate.", "{number} teammates.", teammates).format(number=teammates)
    told = ngettext(
        "{number} teammate instead of {before}.", "{number} teammates instead of {before}.", teammates
    )
    return told.format(number=teammates, before=before)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return gettext("No time limit for a step.")
    return gettext("{seconds} s for each step.").format(seconds=f"{seconds:g}")
