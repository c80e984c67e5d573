"""Agents that say they read words do something else when somebody writes to them; no other agent does."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Situation
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.registry.agent_registry import agent_kinds, can_play, get_agent, make_agent
from kitchen.registry.world_registry import OPEN_WORLDS, get_world, known_worlds
from tests.kitchen.changed_facts import changed

FETCHES = "Please fetch an egg."
WORDS: Mapping[str, str] = {
    "blocks_dispatcher": "Stop!",
    "blocks_planner": "Stop!",
    "collab": FETCHES,
    "dispatcher": "Stop!",
    "fast_and_slow": "Stop!",
    "hourglass": "Fetch rice. Take an onion. Put egg on a shared counter.",
    "pairwise": "Stop!",
    "planner": "Stop!",
    "recipe_partner": FETCHES,
}
"""Every kind that reads words, with a message that changes what it commands at the start of an episode."""
WORDS_IN: Mapping[tuple[str, str], str] = {
    ("hourglass", "blocks_construction"): "Please complete level 1.",
    ("hourglass", "blocks_cooking"): "Get 3 wheat!",
    ("hourglass", "blocks_crafting"): "Give Player 1 all that you hold.",
    ("hourglass", "blocks_gather"): "Get 5 oak log!",
    ("hourglass", "blocks_kitchen"): "Put fuel into the furnace.",
    ("pairwise", "cuisine"): "Please fetch(rice).",
}
"""Other messages, by kind and world, for agents that would wait there anyway."""
REQUESTS = {FETCHES: {"requests": [["pickup", "egg", "ingredient_dispenser"]]}}
"""What a message asks for beside its words."""
PAIRS = [
    (kind, world)
    for kind in agent_kinds()
    for world in sorted(known_worlds().keys() - OPEN_WORLDS.keys())
    if can_play(get_agent(kind), world) and not make_agent(kind, {}).refusal()
]


def beside_a_person(world: str, text: str = "") -> Situation:
    """The start of an episode in which a person has the first seat and the agent the second; they wrote
    `text`, if any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = get_world(world).create(seats=2, settings={})
    game.reset(4)
    members = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
    made = make_organisation("graph", members, seats=2)
    said = (TeamMessage(1, 1, 0, (1,), "say", text, REQUESTS.get(text, {}), is_new=True),) if text else ()
    seen = make_situation(game, (1,), people=(0,), commanded={0: game.idle}, seed=11)
    return changed(seen, organisation=made, member=1, messages=said)


@pytest.mark.parametrize(("kind", "world"), PAIRS)
def test_words_change_the_commands_of_those_agents_alone_that_read_them(kind: str, world: str) -> None:
    text = WORDS_IN.get((kind, world)) or WORDS.get(kind, "Stop!")
    silent, told = (
        asyncio.run(make_agent(kind, {}).decide(beside_a_person(world, words))) for words in ("", text)
    )
    assert (silent.commands != told.commands) is get_agent(kind).reads_words


def test_every_agent_that_reads_words_is_tried() -> None:
    assert {kind for kind in agent_kinds() if get_agent(kind).reads_words} == set(WORDS)
