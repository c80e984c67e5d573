"""The demo's orders: a team always has something to choose, and cannot serve everything by itself."""

from __future__ import annotations

import asyncio
import tomllib
from collections import Counter
from collections.abc import Mapping

from kitchen.agents.make_situation import make_situation
from kitchen.contract.world import Event, Json, World
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.display_text import brief_lookup
from kitchen.worlds.cuisine.order_steps import useful_commands
from study.design.demo_study_files import DEMO_FILE

DEMO = tomllib.loads(DEMO_FILE.read_text())
SETTINGS: Mapping[str, Json] = DEMO["world"]["settings"]
SEATS = 3


def play_beside_planners(seed: int, *, waits_every: int) -> tuple[World, Counter[int]]:
    """Play an episode of the demo with two planners and a person who takes useful actions, but waits in each
    step that `waits_every` divides. Return the game and in how many steps each number of orders was open."""
    game = get_world("cuisine").create(seats=SEATS, settings=SETTINGS)
    game.reset(seed)
    planner, memory, events = make_agent("planner", {}), None, tuple[Event, ...]()
    lookup, found = brief_lookup(game.brief(0)), Counter[int]()
    while not game.over:
        seen = game.observe(0)
        found[len(seen["orders"])] += 1
        useful = useful_commands(lookup, seen, 0)
        own = [] if game.clock % waits_every == 0 else [one for one in game.legal_actions(0) if one in useful]
        told = make_situation(game, (1, 2), memory=memory, events=events, people=(0,), seed=seed)
        decision = asyncio.run(planner.decide(told))
        memory = decision.memory
        events = game.step({**({0: own[0]} if own else {}), **decision.commands})
    return game, found


def test_two_to_four_orders_are_open_in_most_steps_and_a_team_just_misses_some() -> None:
    played = [play_beside_planners(seed, waits_every=4) for seed in (1, 2)]
    steps = sum((found for _, found in played), Counter[int]())
    several = sum(times for orders, times in steps.items() if 2 <= orders <= 4)
    assert several > 0.8 * steps.total(), steps
    for game, _ in played:
        score = game.score()
        assert score["completed"] >= 4, "it can be played well"
        assert score["failed"] >= 1, "and there is something to lose"


def test_the_first_star_needs_the_person_and_the_third_more_than_useful_actions() -> None:
    (team,) = [one for one in DEMO["conditions"] if one["key"] == "dispatched_2"]
    first, second, third = team["star_targets"]["completed"]
    idle, _ = play_beside_planners(1, waits_every=1)
    useful, _ = play_beside_planners(1, waits_every=1000)
    assert first == idle.score()["completed"] + 1
    assert second == useful.score()["completed"] == third - 1


def test_a_cook_alone_has_time_for_the_first_order() -> None:
    game = get_world("cuisine").create(seats=1, settings=SETTINGS)
    game.reset(1)
    planner, memory = make_agent("planner", {}), None
    while not game.over and not game.score()["failed"] and not game.score()["completed"]:
        decision = asyncio.run(planner.decide(make_situation(game, (0,), memory=memory)))
        memory = decision.memory
        game.step(decision.commands)
    assert game.score()["completed"] == 1
