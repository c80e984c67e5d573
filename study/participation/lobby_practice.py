"""Let a participant practise alone while waiting for others in the lobby.

The kitchen is the practice episode of the world that comes next, without a goal and with hints. A participant
has at most one. It ends when the game with the others begins, and is in the data as part `waiting`.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Json
from kitchen.play.episode.advance_episode import abandon_episode
from kitchen.play.models import Episode
from kitchen.words.gettext_without_django import gettext_noop
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.page_and_item_order import LOBBY
from study.design.parts_other_than_rounds import practice_for_condition, practice_organisation
from study.participants.models import Participant
from study.participants.next_page import CurrentPage, ParticipantProgress
from study.participation.page_progress import lock_participant
from study.participation.round_planning import create_solo_episode

GAME_BEGAN = gettext_noop("the game with the others began")
"""The reason for which such an episode ends. It completes “It was ended because …”."""


def offers_kitchen(person: Participant, place: CurrentPage) -> bool:
    """Return True if the lobby on this page offers a kitchen, or the one that was begun can be continued."""
    if place.page != LOBBY or place.round is None:
        return False
    offered = person.version.blueprint.condition(place.round.condition.key).lobby_practice
    return offered and (person.warm_up is None or person.warm_up.status == Episode.Status.PLAYING)


def kitchen_plan(design: Blueprint, world: str, settings: Mapping[str, Json]) -> ConditionPlan:
    """Return the kitchen for a condition with this world and these settings, as a condition. It is the
    study's practice episode, if that is in the same world."""
    if design.has("practice") and design.practice.world == world:
        return design.practice
    played = practice_for_condition(world, settings)
    organisation = practice_organisation(played)
    return ConditionPlan(
        key="practice", name="Practice", label="Practice", organisation=organisation, **played
    )


@transaction.atomic
def begin_kitchen(*, participant_id: int) -> bool:
    """Create the participant's kitchen, if the lobby offers one and there is none yet. Return False if it
    offers none."""
    person = lock_participant(participant_id)
    place = ParticipantProgress(person).place
    if not offers_kitchen(person, place):
        return False
    if person.warm_up is None:
        assert place.round  # noqa: S101 - as `offers_kitchen` says
        design = person.version.blueprint
        coming = design.condition(place.round.condition.key)
        plan = kitchen_plan(person.blueprint, coming.world, coming.settings)
        seed = derived_seed(int(design.study["seed"]), "waiting", person.number)
        person.warm_up = create_solo_episode(person, plan, seed=seed)
        person.save(update_fields=["warm_up"])
    return True


def end_kitchen(person: Participant) -> None:
    """End the participant's kitchen, because the game with the others has begun. Nothing happens if it has
    ended or there is none."""
    if person.warm_up_id is not None:
        abandon_episode(episode_id=person.warm_up_id, reason=GAME_BEGAN)
