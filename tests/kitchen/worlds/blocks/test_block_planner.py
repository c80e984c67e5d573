"""The planner without a model solves every task that can be solved, and plays beside others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from kitchen.agents.agent_team import Team as AgentTeam
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import DecisionRequest, Situation
from kitchen.contract.line_up import line_up_members
from kitchen.contract.organisation import Organisation, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.worlds.blocks.block_planner import ADVISER, BlocksPlanner
from kitchen.worlds.blocks.cooking_tasks import cooking_file
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from kitchen.worlds.blocks.planner_team import HOLDS_KEY
from tests.kitchen.worlds.blocks.games import game

PLANNER = BlocksPlanner({})
TESTS = cooking_file().tests
PAIRS = [
    *combinations(TESTS, 2),
    *combinations([item for item in cooking_file().items if item not in TESTS], 2),
]
SAMPLED_PAIRS = PAIRS[::5]


def situation(world: Any, seats: tuple[int, ...], asked: tuple[int, ...] | None = None) -> Situation:
    """What an agent with these seats knows now."""
    return Situation(
        world=world.kind,
        step=world.clock,
        seats=seats,
        briefs={seat: world.brief(seat) for seat in seats},
        observations={seat: world.observe(seat) for seat in seats},
        legal={seat: world.legal_actions(seat) for seat in seats},
        request=DecisionRequest(asked=asked),
    )


def solved(world: Any) -> Any:
    """Let one planner play all seats to the end; every command that it chooses is allowed."""
    seats = tuple(range(world.seats))
    while not world.has_ended:
        asked = tuple(seat for seat in seats if world.asks(seat))
        commands = asyncio.run(PLANNER.decide(situation(world, seats, asked))).commands if asked else {}
        assert all(world.allows(seat, command) for seat, command in commands.items())
        world.step(commands)
    return world


@pytest.mark.parametrize("seats", range(2, 6))
def test_it_makes_every_crafting_task_that_can_be_made(seats: int) -> None:
    tasks = [task.id for task in crafting_tasks().values() if task.crafts and task.seats == seats]
    assert [name for name in tasks if not solved(game("crafting", seats=seats, task=name)).over] == []


def test_it_cooks_pairs_with_and_without_fuel_in_the_furnace() -> None:
    for number, pair in enumerate(SAMPLED_PAIRS):
        world = game("cooking", targets="+".join(pair), furnace_fuel=512 * (number % 2))
        assert solved(world).over, pair


@pytest.mark.nightly
@pytest.mark.parametrize("seats", [1, 2, 4])
def test_it_cooks_every_pair(seats: int) -> None:
    for pair in PAIRS:
        for fuel in (0, 512):
            assert solved(game("cooking", seats=seats, targets="+".join(pair), furnace_fuel=fuel)).over, pair


@pytest.mark.parametrize(
    ("seats", "settings"),
    [
        (2, {"blueprint": "small_house"}),
        (3, {"blueprint": "pyramid", "inventories": "by_material", "build": False}),
    ],
)
def test_it_builds_a_blueprint(seats: int, settings: dict[str, Any]) -> None:
    assert solved(game("construction", seats=seats, **settings)).over


@pytest.mark.nightly
@pytest.mark.parametrize("inventories", ["even", "by_material"])
def test_it_builds_every_size_of_blueprint(inventories: str) -> None:
    for parameters in (
        "0_rooms_0_window_0_carpet_0",
        "1_rooms_1_window_1_carpet_1",
        "2_rooms_2_window_2_carpet_2",
    ):
        name = f"materials_{parameters}_variant_0"
        assert solved(game("construction", seats=3, blueprint=name, inventories=inventories)).over, name


@pytest.mark.parametrize("task", ["50_logs", "50_irons", "shelter"])
def test_it_gathers_with_the_tools_that_it_makes(task: str) -> None:
    assert solved(game("gather", task=task)).over


def test_it_completes_all_orders_of_the_kitchen_where_there_is_time() -> None:
    assert solved(game("kitchen", seats=2, seed=1, interval=8)).score()["success_rate"] == 1
    assert solved(game("kitchen", seats=2, seed=1, interval=4)).score()["success_rate"] > 0.4


def test_of_another_seat_it_knows_what_it_was_told_and_tells_what_it_holds() -> None:
    world = game("crafting", task="craft_2_03_purple_banner")
    alone = situation(world, (1,))
    assert asyncio.run(PLANNER.decide(alone)).commands == {1: ("go_on",)}, "it does not know of the rest"
    held = {HOLDS_KEY: {"1": world.inventories[1]}}
    told = TeamMessage(1, 1, 1, (0,), "say", "I have 1 workbench, 3 purple wool.", held)
    talk = replace(alone.talk, organisation=Organisation("pair", ()), messages=(told,))
    other = replace(situation(world, (0,)), talk=talk)
    decision = asyncio.run(PLANNER.decide(other))
    assert decision.commands == {0: ("give", "1", "purple_wool", "4")}
    assert decision.says[0].data[HOLDS_KEY] == {"0": {"purple_wool": 4, "stick": 1}}
    assert not asyncio.run(PLANNER.decide(replace(other, memory=decision.memory))).says


def test_without_the_plan_it_makes_nothing_and_gives_others_what_it_holds() -> None:
    world = game("crafting", task="craft_2_02_lime_wool")
    assert asyncio.run(PLANNER.decide(situation(world, (1,)))).commands == {
        1: ("give", "0", "black_wool", "1")
    }
    world.inventories = [{}, {"black_wool": 1, "lime_dye": 1}]
    assert asyncio.run(PLANNER.decide(situation(world, (1,)))).commands[1][0] == "give"
    assert asyncio.run(PLANNER.decide(situation(world, (0, 1)))).commands[1] == ("craft", "lime_wool", "1")


def test_a_hint_is_what_the_planner_would_do() -> None:
    world = game("gather", seats=1)
    advice = ADVISER.advise(situation(world, (0,)))
    assert advice is not None and advice.command == ("collect", "oak_log", "5")


@pytest.mark.parametrize(("talks", "is_made"), [(True, True), (False, False)])
def test_two_planners_who_both_know_the_plan_need_talk_to_learn_who_holds_what(
    talks: bool, is_made: bool
) -> None:
    """Without talk, each gives the other all that it holds, at the same time."""
    line_up = "blocks_planner+blocks_planner"
    team = make_organisation("graph", line_up_members(line_up, 2), seats=2) if talks else None
    world = game("crafting", task="craft_2_01_pink_wool")
    loop = EpisodeLoop(world, 1, AgentTeam.of(line_up, 2, team))
    while not loop.is_over and world.clock < 8:
        loop.take(loop.step_of(asyncio.run(loop.ask({0: PLANNER, 1: PLANNER}))))
    assert world.over is is_made
