"""Partners in the grids: the released greedy one command by command, the planner by its points."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.world import Command, Event
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.overcooked.partners.baseline_agents import free_directions, greedy_command
from kitchen.worlds.overcooked.partners.grid_snapshot import scene_from_situation
from kitchen.worlds.overcooked.partners.planner_agent import ADVISER
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.worlds.overcooked.pairs import GREEDY, LAYOUTS, LEAST, PLANNER, STAY, play
from tests.kitchen.worlds.overcooked.test_reference_traces import FILE
from tests.nightly import thinned


def greedy_episodes() -> Iterator[dict[str, Any]]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        yield from (raw for raw in map(json.loads, lines) if raw["policy"] == "greedy")


def test_every_command_of_the_released_greedy_one_is_planned_or_among_those_drawn() -> None:
    episodes = list(greedy_episodes())
    assert len(episodes) == 7
    for raw in episodes:
        settings = {"layout": raw["layout"], "cooking": raw["start"]}
        world, before = Overcooked.create(seats=2, settings=settings), None
        for number, step in enumerate(raw["steps"], 1):
            scene = scene_from_situation(make_situation(world, (0, 1)))
            for seat, word in enumerate(step["do"]):
                drawn = free_directions(scene, seat) if scene.poses == before else []
                where = f"{raw['layout']} tick {number} seat {seat}"
                assert (word,) in (drawn or [greedy_command(scene, seat)]), where
            before = scene.poses
            world.step(dict(enumerate([(word,) for word in step["do"]])))


PLAYED = [
    (pair, layout, least)
    for pair, points in LEAST.items()
    for layout, least in zip(LAYOUTS, points, strict=True)
    if least
]


@pytest.mark.parametrize(("pair", "layout", "least"), thinned(PLAYED, 4))
def test_a_pair_is_at_most_a_soup_below_the_prototype(pair: tuple[str, str], layout: str, least: int) -> None:
    """One episode each; the mean of ten is the benchmark's (`bench_partners`)."""
    assert play(layout, pair).points >= least - 20


@pytest.mark.parametrize("slow", [0, 1])
def test_a_slow_partner_that_waits_is_not_waited_for_for_good(slow: int) -> None:
    """Both stand still while a soup cooks, and are walls for each other; one of them is in the way."""
    assert play("cramped_room", (PLANNER, PLANNER), slow=slow).points >= 160


@pytest.mark.parametrize(
    ("layout", "kind"),
    [("coordination_ring", PLANNER), ("forced_coordination", PLANNER), ("cramped_room_tomato", GREEDY)],
)
def test_who_does_what_is_advised_is_not_stuck_for_good(layout: str, kind: str) -> None:
    """In seat 1, who knows no more of the past than a page: what happened in the last tick."""
    world = Overcooked.create(seats=2, settings={"layout": layout, "ticks": 200})
    mind, memory, events = make_agent(kind, {}), None, tuple[Event, ...]()
    while not world.over:
        decision = run_without_waiting(
            mind.decide(make_situation(world, (0,), memory=memory, seed=2 * world.clock))
        )
        memory = decision.memory
        asked = replace(make_situation(world, (1,), seed=2 * world.clock + 1), events=events)
        advice = ADVISER.advise(asked)
        events = world.step({**decision.commands, 1: advice.command if advice else ("stay",)})
    assert world.score()["points"] >= 100


def test_greedy_hands_nothing_over() -> None:
    assert play("forced_coordination", (GREEDY, GREEDY)).points == 0


@pytest.mark.parametrize("layout", ["cramped_room_tomato", "counter_circuit_tomato"])
def test_the_planner_cooks_with_tomatoes(layout: str) -> None:
    assert play(layout, (PLANNER, PLANNER), ticks=200).points > 0


def test_where_nothing_can_be_done_nothing_is() -> None:
    assert play("cramped_room", (STAY, PLANNER), ticks=60).points == 0


def one_decision(kind: str, settings: dict[str, Any], tick: int = 0) -> Command:
    world = Overcooked.create(seats=2, settings={})
    for _ in range(tick):
        world.step({})
    return run_without_waiting(make_agent(kind, settings).decide(make_situation(world, (1,)))).commands[1]


def test_a_script_is_followed_and_then_stays_or_begins_anew() -> None:
    told = {"commands": "west\ninteract"}
    assert [one_decision("script", told, tick) for tick in range(3)] == [("west",), ("interact",), ("stay",)]
    assert one_decision("script", {**told, "repeats": True}, 3) == ("interact",)


def test_a_script_with_another_word_is_refused_with_its_number() -> None:
    with pytest.raises(SettingsError, match=r"commands: 'jump' \(number 2\) is no command"):
        make_agent("script", {"commands": "west jump"})


def test_the_released_random_one_never_interacts() -> None:
    world, mind = Overcooked.create(seats=2, settings={}), make_agent("random_walk", {})
    drawn = {
        run_without_waiting(mind.decide(make_situation(world, (0,), seed=seed))).commands[0]
        for seed in range(60)
    }
    assert drawn == {("north",), ("south",), ("east",), ("west",), ("stay",)}


@pytest.mark.parametrize(
    ("layout", "fits"), [("cramped_room_tomato", True), ("counter_circuit_tomato", False)]
)
def test_greedy_plays_only_where_soups_of_three_onions_are_ordered(layout: str, fits: bool) -> None:
    world = Overcooked.create(seats=2, settings={"layout": layout})
    assert (make_agent(GREEDY, {}).unfit(world, (0, 1)) == "") is fits
