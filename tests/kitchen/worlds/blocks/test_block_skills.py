"""Macros as skills: their text, what a model means, how they end, and agents that reach the goal."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.agents.make_situation import make_situation
from kitchen.agents.skill_agents.skill_text import read_plan
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.line_up import line_up_kinds, line_up_members, line_up_seats
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN
from kitchen.registry.agent_registry import get_skills, make_agent
from tests.kitchen.agents.hourglass.leading import game_of
from tests.kitchen.worlds.blocks.games import FAMILIES, game
from tests.kitchen.worlds.blocks.test_block_aims import EASY

SKILLS = get_skills("blocks_gather")
MODEL = {"model": "stand-in", "stand_in_latency": 0.0}


def sight(world: Any, seat: int = 0, events: Any = ()) -> SeatObservation:
    known = SeatObservation.of(make_situation(world, (seat,)), seat)
    return SeatObservation(known.seat, known.brief, known.seen, known.legal, tuple(events))


@pytest.mark.parametrize("family", EASY)
@pytest.mark.parametrize("line_up", ["proagent+proagent", "skill_dispatcher:2"])
def test_the_stand_in_reaches_the_goal_of_each_family_in_time(family: str, line_up: str) -> None:
    seats = line_up_seats(line_up)
    loop = EpisodeLoop(game_of(f"blocks_{family}", seats, EASY[family]), 7, Team.of(line_up, seats))
    kinds = line_up_kinds(line_up)
    agents = {
        member.number: make_agent(kind, MODEL)
        for member, kind in zip(line_up_members(line_up, seats), kinds, strict=True)
    }
    while not loop.is_over:
        loop.take(loop.step_of(asyncio.run(loop.ask(agents))))
    assert loop.game.over and not any(one.fallback for one in loop.log().decisions)
    if family == "kitchen":
        assert loop.game.score()["success_rate"] == 1
    assert all("stand-in" in one.played_by for one in loop.log().decisions)


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Plan for Player 0: collect(oak_log, 7)", ("collect", "oak_log", "7")),
        ("Plan for Player 0: Collect oak log 2.", ("collect", "oak_log", "2")),
        ("Plan for Player 0: craft(crafting_table, 1)", ("craft", "crafting_table", "1")),
        ("Plan for Player 0: give(1, oak_log, 3)", ("give", "1", "oak_log", "3")),
        ("Plan for Player 0: goto_seat(1)", ("goto_seat", "1")),
        ("Plan for Player 0: smelt(raw_iron, 2)", ("smelt", "raw_iron", "2")),
        ("Plan for Player 0: place(stone, 1, 0, 2)", ("place", "stone", "1", "0", "2")),
        ("Plan for Player 0: collect(spruce_log, 2)", ("collect", "spruce_log", "2")),
        ("Plan for Player 0: wait(4)", ("wait", "4")),
        ("Plan for Player 0: go_on", None),
        ("Plan for Player 0: give(everything)", None),
        ("Plan for Player 0: dance", None),
    ],
)
def test_a_skill_is_read_from_the_words_of_a_model(text: str, plan: tuple[str, ...] | None) -> None:
    assert read_plan(text, SKILLS, sight(game("gather", {"oak_log": 4}))).plan == plan


def test_actions_of_the_kitchen_are_read_too() -> None:
    seen = sight(game("kitchen"))
    assert read_plan("Plan: killMob(chicken)", SKILLS, seen).plan == ("killMob", "chicken")
    assert read_plan("Plan: takeOutFurnace()", SKILLS, seen).plan == ("takeOutFurnace",)
    assert read_plan("Plan: goto(oak_log)", SKILLS, seen).plan == ("goto", "oak_log")


@pytest.mark.parametrize(
    ("skill", "possible"),
    [
        ("give 1 oak_log 4", True),
        ("give 1 oak_log 5", False),
        ("craft oak_planks 4", True),
        ("craft oak_planks 5", False),
        ("craft furnace 1", False),
        ("collect oak_log 50", True),
        ("collect stone 1", False),
        ("goto_at 0 0 0", True),
    ],
)
def test_a_skill_can_begin_if_the_menu_and_the_amount_allow_it(skill: str, possible: bool) -> None:
    world, words = game("gather", {"oak_log": 4}), tuple(skill.split())
    (condition,) = SKILLS.conditions(sight(world), words)
    assert condition.holds is possible is world.allows(0, words)
    assert SKILLS.command(sight(world), words, Random(1)) == (words if possible else None)


def test_a_skill_lasts_until_its_macro_has_ended() -> None:
    world, skill = game("gather"), ("collect", "oak_log", "1")
    since = SKILLS.mark(sight(world), skill)
    assert SKILLS.status(sight(world), skill, since) == UNKNOWN
    events = world.step({0: skill})
    while world.macros[0]:
        assert SKILLS.status(sight(world, 0, events), skill, since) == UNKNOWN
        assert SKILLS.command(sight(world), skill, Random(1)) == ("go_on",)
        assert SKILLS.rule(sight(world), 0, SKILLS.manner(sight(world))) == skill
        events = world.step({})
    assert SKILLS.status(sight(world, 0, events), skill, since) == SUCCESS
    assert SKILLS.finished(sight(world, 0, events), 0) == [skill]
    refused = world.step({0: ("collect", "stone", "1")})
    assert SKILLS.status(sight(world, 0, refused), ("collect", "stone", "1"), world.clock - 1) == FAIL


@pytest.mark.parametrize("family", FAMILIES)
def test_the_game_and_the_scene_are_told_in_words(family: str) -> None:
    seen = sight(game(family))
    primer, scene = SKILLS.primer(seen, SKILLS.manner(seen)), SKILLS.scene(seen)
    assert primer.role.startswith("You are Player 0") and primer.rules and primer.skills
    listed = {skill[0] for skill, _ in primer.skills}
    assert {skill[0] for skill in SKILLS.offered(seen, 0)} <= listed
    assert "Player 0 is at" in scene and " holds " in scene and "left." in scene
    assert SKILLS.offered(seen, 1) == () and SKILLS.rule(seen, 1, SKILLS.manner(seen))[0] == "wait"
