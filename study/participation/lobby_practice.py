"""Let participants practise while they wait for others in the lobby, alone or together with others who wait.

The kitchen is the practice episode of the world that comes next, without a goal and with hints. A participant
plays at most one. It ends for them when the game with the others begins, and is in the data as part
`waiting`.

A shared kitchen has as many seats as the game that comes. Programs play the seats that nobody has taken. Each
later person takes one, whatever their language or group. Somebody who leaves, or misses some steps, is
replaced by a program, so that nobody waits for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError, WorldError
from kitchen.play.episode.absent_players import AbsencePolicy, free_seats
from kitchen.play.episode.advance_episode import join_episode, leave_seat, replace_absent_person
from kitchen.play.episode.end_episode import abandon_episode
from kitchen.play.models import Episode
from kitchen.registry.agent_registry import can_play, get_agent, make_agent
from kitchen.registry.world_registry import get_kit, get_world
from kitchen.words.gettext_without_django import gettext_noop
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_seats import (
    NOBODY,
    condition_check,
    mind_plans,
    people_in,
    planned_organisation,
    seats_of,
)
from study.design.models import Study
from study.design.page_and_item_order import LOBBY
from study.design.parts_other_than_rounds import practice_for_condition, practice_organisation
from study.participants.models import AWAY_SECONDS, Participant
from study.participants.next_page import CurrentPage, ParticipantProgress
from study.participation.page_progress import lock_participant
from study.participation.round_planning import create_shared_kitchen, create_solo_episode

GAME_BEGAN = gettext_noop("the game with the others began")
"""The reason for which such an episode ends. It completes “It was ended because …”."""
SHARED_STEP_SECONDS = 20.0
"""Seconds that people have for a step of a shared kitchen while at least two of them play."""
MISSED_STEPS = 2
"""Steps that somebody in a shared kitchen may miss in a row before a program plays for them."""
LONGER = 10
"""A kitchen of the lobby has this many times the steps of practice, so that it does not end while people
wait: a participant has one, which is erased with them. With a language model, which costs money in each step,
it has the steps of practice."""


def offers_kitchen(person: Participant, place: CurrentPage) -> bool:
    """Return True if the lobby on this page offers a kitchen, or the one that was begun can be continued."""
    if place.page != LOBBY or place.round is None:
        return False
    offered = person.version.blueprint.condition(place.round.condition.key).lobby_practice
    return offered and (person.warm_up is None or person.warm_up.status == Episode.Status.PLAYING)


def own_seat(person: Participant) -> int | None:
    """Return the participant's seat in the kitchen that goes on. None if there is none, or if a program plays
    it at present."""
    if person.warm_up is None or person.warm_up.status != Episode.Status.PLAYING:
        return None
    theirs = person.warm_up.seats.filter(number=person.warm_up_seat, mind=None)
    return person.warm_up_seat if theirs.exists() else None


def kitchen_plan(design: Blueprint, coming: ConditionPlan) -> ConditionPlan:
    """Return the kitchen before the condition that comes next, as a condition. It is the study's practice
    episode, if that is in the same world. The dots are hidden if any condition of the world hides them."""
    if design.has("practice") and design.practice.world == coming.world:
        return design.practice
    played = practice_for_condition(coming.world, coming.settings)
    organisation = practice_organisation(played)
    return ConditionPlan(
        key="practice",
        name="Practice",
        label="Practice",
        organisation=organisation,
        hides_dots=any(one.hides_dots for one in (coming, *design.conditions) if one.world == coming.world),
        **played,
    )


def shared_kitchen_plan(design: Blueprint, coming: ConditionPlan) -> ConditionPlan | None:
    """Return the kitchen that several people share. All of its seats are people's, and its co-player plays
    those that nobody has taken. Return None if the world has too few seats, or no program for them.

    It is the same for all who play the conditions of `design`, in whatever order. Nobody writes there, unless
    people can write in the game that comes.
    """
    first = next(one for one in design.conditions if one.world == coming.world)
    plan = kitchen_plan(design, first)
    seats = min(max(seats_of(plan), seats_of(first)), get_world(plan.world).max_seats)
    partner = next(_partners(plan, first), None)
    if seats < 2 or partner is None:
        return None
    team = planned_organisation(coming)
    talks = team is not None and not team.is_silent
    played = {"world": plan.world, "teammates": seats - 1}
    rules = practice_organisation(played, talks=True) if talks else {}
    shared = {
        "coplayer": partner[0],
        "coplayer_settings": partner[1],
        "teammates": seats - 1,
        "organisation": {**rules, "people": list(range(seats))},
        "settings": _with_more_steps(plan),
        "step_seconds": None,
    }
    plan = plan.model_copy(update=shared)
    try:
        condition_check(world=plan.world, settings=plan.settings, **_checked(plan))
    except WorldError:
        return None
    return plan


def _checked(plan: ConditionPlan) -> dict[str, Any]:
    names = ("coplayer", "coplayer_settings", "teammates", "organisation")
    return {name: getattr(plan, name) for name in names}


def _partners(plan: ConditionPlan, first: ConditionPlan) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the kinds of agents that can play free seats, with their settings, the most suitable first. They
    use no language model, which would cost money."""
    chosen = [(one.coplayer, dict(one.coplayer_settings)) for one in (plan, first)]
    own = [(kind, dict[str, Json]()) for kind in get_kit(plan.world).coplayers]
    for kind, settings in [*chosen, *own]:
        if kind != NOBODY and can_play(get_agent(kind), plan.world):
            agent = get_agent(kind)
            if not agent.names_model and (agent.instant or agent.light) and _is_playable(kind, settings):
                yield kind, settings


def _is_playable(kind: str, settings: Mapping[str, Json]) -> bool:
    """Return whether an agent of this kind accepts these settings."""
    try:
        make_agent(kind, settings)
    except SettingsError:
        return False
    return True


def _calls_models(plan: ConditionPlan) -> bool:
    """Return whether an agent that uses a language model plays in this kitchen."""
    return any(get_agent(mind.kind).names_model for mind in mind_plans(plan))


def _with_more_steps(plan: ConditionPlan) -> dict[str, Json]:
    """Return the world's settings with more steps, as far as the world allows them."""
    name, kind = get_kit(plan.world).steps, get_world(plan.world)
    declared = next((one for one in kind.settings if one.name == name), None)
    if declared is None:
        return dict(plan.settings)
    steps = LONGER * int(plan.settings.get(name) or declared.default or 0)
    most = int(declared.maximum) if declared.maximum is not None else steps
    return {**plan.settings, name: min(steps, most)} if steps else dict(plan.settings)


@transaction.atomic
def begin_kitchen(*, participant_id: int) -> bool:
    """Let the participant play in a kitchen while waiting: a new one, or one that others have begun. Somebody
    whom a program has replaced gets their seat back. Return False if the lobby offers none."""
    person = lock_participant(participant_id)
    place = ParticipantProgress(person).place
    if not offers_kitchen(person, place):
        return False
    if person.warm_up is not None:
        seat, limit = person.warm_up_seat, SHARED_STEP_SECONDS
        joined = join_episode(episode_id=person.warm_up.pk, seat=seat, step_seconds=limit)
        return joined is not None or own_seat(person) is not None
    assert place.round  # noqa: S101 - as `offers_kitchen` says
    coming = person.version.blueprint.condition(place.round.condition.key)
    shared = shared_kitchen_plan(person.blueprint, coming) if coming.lobby_practice_shared else None
    if shared is None:
        plan = kitchen_plan(person.blueprint, coming)
        longer = dict(plan.settings) if _calls_models(plan) else _with_more_steps(plan)
        _begin_alone(person, plan.model_copy(update={"settings": longer}))
    else:
        Study.objects.select_for_update().get(pk=person.study_id)  # one at a time: nobody begins a second one
        if not _join_others(person, shared):
            _begin_shared(person, shared)
    person.save(update_fields=["warm_up", "warm_up_seat"])
    return True


def _seed(person: Participant) -> int:
    return derived_seed(int(person.version.blueprint.study["seed"]), "waiting", person.number)


def _begin_alone(person: Participant, plan: ConditionPlan) -> None:
    person.warm_up = create_solo_episode(person, plan, seed=_seed(person))
    person.warm_up_seat = people_in(plan)[0]


def _begin_shared(person: Participant, plan: ConditionPlan) -> None:
    absence = AbsencePolicy(MISSED_STEPS, plan.coplayer, plan.coplayer_settings, True)
    person.warm_up = create_shared_kitchen(person, plan, seed=_seed(person), absence=absence)
    person.warm_up_seat = 0


def _join_others(person: Participant, plan: ConditionPlan) -> bool:
    """Let the participant take a free seat in the oldest kitchen in which somebody plays who is in the lobby
    now. Return False if there is none."""
    alike = {name: getattr(person, name) for name in ("study", "version", "synthetic", "preview")}
    here = Participant.objects.filter(
        **alike,
        status=Participant.Status.ACTIVE,
        warm_up__status=Episode.Status.PLAYING,
        warm_up__world=plan.world,
        membership__seen_at__gt=timezone.now() - AWAY_SECONDS,
    )
    others = here.exclude(pk=person.pk).select_related("warm_up").order_by("warm_up__pk")
    for kitchen in {one.warm_up: None for one in others if one.warm_up}:
        if _is_like(kitchen, plan) and free_seats(kitchen):
            seat = join_episode(episode_id=kitchen.pk, step_seconds=SHARED_STEP_SECONDS)
            if seat is not None:
                person.warm_up, person.warm_up_seat = kitchen, seat
                return True
    return False


def _is_like(kitchen: Episode, plan: ConditionPlan) -> bool:
    """Return whether a running kitchen has the settings of this plan, and whether people can write in both or
    in neither."""
    planned = planned_organisation(plan)
    talks = [team is not None and not team.is_silent for team in (kitchen.team, planned)]
    same = kitchen.settings == dict(plan.settings) and kitchen.hides_dots == plan.hides_dots
    return same and talks[0] == talks[1]


def pause_kitchen(person: Participant) -> None:
    """Let a program play for a participant who has closed the page of a shared kitchen, so that the others do
    not wait. The participant gets the seat back with `begin_kitchen`."""
    if person.warm_up is not None and person.warm_up.absence is not None:
        replace_absent_person(episode_id=person.warm_up.pk, seat=person.warm_up_seat)


def end_kitchen(person: Participant) -> None:
    """End the participant's part in the kitchen, because the game with the others has begun. Those who still
    wait go on; without them, the kitchen ends. Nothing happens if it has ended or there is none."""
    if person.warm_up_id is None:
        return
    if person.warm_up is None or person.warm_up.absence is None:
        abandon_episode(episode_id=person.warm_up_id, reason=GAME_BEGAN)
    elif (seat := own_seat(person)) is not None:
        leave_seat(episode_id=person.warm_up_id, seat=seat, reason=GAME_BEGAN)
