"""Sample the calls that a condition's co-players make to language models, without asking any model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from kitchen.agents import call_forecast
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json
from kitchen.contract.world_errors import WorldError
from kitchen.llm.model_capabilities import listed_model
from kitchen.play.episode.create_episode import MindPlan
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from study.design.condition_seats import (
    PlayedCondition,
    mind_plans,
    other_people_seats,
    planned_organisation,
    seats_of,
)


class PlayableCondition(PlayedCondition, Protocol):
    """A condition with its key and world, as `Condition` (a database row) and `ConditionPlan` have them."""

    key: str
    world: str
    settings: Mapping[str, Json]


def trial_of(condition: PlayableCondition, mind: MindPlan) -> call_forecast.TrialCalls:
    """Return the calls that this co-player makes in the first steps of an episode. They are sampled with a
    program that imitates its language model.

    Raises WorldError or UnknownNameError if the condition cannot be played.
    """
    organisation = planned_organisation(condition, other_people_seats(condition, mind))
    return _sample(
        condition.world,
        json.dumps(condition.settings, sort_keys=True),
        seats_of(condition),
        mind.kind,
        json.dumps(mind.settings, sort_keys=True),
        mind.seats,
        json.dumps(organisation.to_json()) if organisation else "",
    )


def context_cautions(condition: PlayableCondition) -> tuple[str, ...]:
    """Return a sentence for each co-player whose prompts do not fit into its model. Only models whose size is
    known (`BRIGADE_MODELS`) are checked. Empty if the condition cannot be played."""
    try:
        found = [_refusal(condition, mind) for mind in mind_plans(condition)]
    except (WorldError, UnknownNameError):
        return ()
    return tuple(dict.fromkeys(f"A prompt may not fit: {why}." for why in found if why))


def _refusal(condition: PlayableCondition, mind: MindPlan) -> str:
    provider, _, model = make_agent(mind.kind, mind.settings).model().partition(":")
    known = listed_model(provider, model)
    if known is None or known.reads is None:
        return ""
    return call_forecast.context_refusal(trial_of(condition, mind), provider, model)


@lru_cache(maxsize=64)
def _sample(
    world: str,
    settings: str,
    seats: int,
    coplayer: str,
    chosen: str,
    theirs: tuple[int, ...],
    organisation: str,
) -> call_forecast.TrialCalls:
    """Return sample calls of one co-player in the seats `theirs`, made with a program that imitates its
    language model. `settings`, `chosen` and `organisation` are JSON texts."""
    game = get_world(world).create(seats=seats, settings=json.loads(settings))
    game.reset(1)
    talks = Organisation.from_json(json.loads(organisation)) if organisation else None
    member = None if theirs else seats
    return call_forecast.sample_calls(game, coplayer, json.loads(chosen), theirs, talks, member)
