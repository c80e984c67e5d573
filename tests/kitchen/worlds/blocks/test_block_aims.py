"""What players of blocks can be asked to do, how they do it, and teams that reach the goal by rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN
from kitchen.registry.world_registry import get_page
from kitchen.worlds.blocks.block_aims import seat_aims
from kitchen.worlds.blocks.block_pursuit import PURSUER
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from tests.kitchen.agents.hourglass.leading import play
from tests.kitchen.worlds.blocks.games import FAMILIES, game
from tests.kitchen.worlds.pursuit import achieve, status_of_pursuit

BY_RULE = {"planner": "rule", "monitor": "rule", "actions": "rule"}
EASY: Mapping[str, dict[str, Any]] = {
    "crafting": {"task": "craft_2_03_purple_banner"},
    "cooking": {"targets": "bread+golden_apple"},
    "construction": {"blueprint": "small_house"},
    "gather": {"task": "shelter"},
    "kitchen": {"interval": 8},
}


@pytest.mark.parametrize("family", EASY)
@pytest.mark.parametrize("line_up", ["hourglass+hourglass", "hourglass:0+follower+follower"])
def test_a_tree_that_plans_by_rule_reaches_the_goal_of_each_family(family: str, line_up: str) -> None:
    sees = "all" if ":0" in line_up else "private"
    world = f"blocks_{family}"
    loop = play(line_up, "tree", world=world, game=EASY[family], chosen=BY_RULE, sees=sees, steps=200)
    score = loop.game.score()
    assert score["success_rate"] >= 0.6 if family == "kitchen" else loop.game.over
    assert any(one.data.get("status") == "done" for one in loop.log().messages)


def test_a_leader_shares_out_an_amount_to_gather() -> None:
    loop = play("hourglass+follower", "tree", world="blocks_gather", game={"task": "50_logs"}, chosen=BY_RULE)
    assert loop.game.over and loop.game.clock < 200
    given = {tuple(one.data["aim"]) for one in loop.log().messages if one.kind == "inform"}
    assert given == {("obtain", "oak_log", "25")}


def test_a_dish_is_made_by_one_job_after_another() -> None:
    world = game("cooking", targets="bread+golden_apple", seed=1)
    achieve(world, 1, "give", "0", "gold_ingot")
    achieve(world, 0, "obtain", "golden_apple", "1")
    achieve(world, 1, "obtain", "wheat", "3")
    achieve(world, 1, "obtain", "bread", "1")
    achieve(world, 0, "give_all", "1")
    assert world.over


def test_tools_are_made_on_the_way_and_things_go_into_the_chest() -> None:
    world = game("gather", {"oak_log": 3})
    achieve(world, 0, "obtain", "cobblestone", "5")
    assert "wooden_pickaxe" in world.inventories[0]
    achieve(world, 0, "store", "cobblestone")
    assert world.chest == {"cobblestone": 5}
    achieve(world, 0, "give", "1", "wooden_pickaxe")
    assert status_of_pursuit(world, 0, "give", "1", "wooden_pickaxe") == FAIL, "it holds none any more"


@pytest.mark.parametrize("build", [True, False])
def test_a_level_is_completed_and_wrong_blocks_are_removed(build: bool) -> None:
    world = game("construction", seats=1, blueprint="small_house", build=build)
    wrong = next(iter(world.blueprint.levels[0]))
    world.put_block(wrong, "dirt")
    achieve(world, 0, "build", "0")
    assert world.comparison.level == 1 and status_of_pursuit(world, 0, "build", "0") == SUCCESS
    assert status_of_pursuit(world, 0, "build", "2") == (UNKNOWN if build else FAIL)
    world.inventories[0] = {}
    assert status_of_pursuit(world, 0, "build", "1") == FAIL


def test_an_order_is_delivered_even_if_something_else_is_in_the_furnace() -> None:
    world = game("kitchen", seats=1)
    achieve(world, 0, "ready", "cooked_mutton")
    achieve(world, 0, "deliver", "cooked_chicken")
    assert world.chest["cooked_chicken"] == 1
    achieve(world, 0, "fuel")
    assert world.fuel == 1


def test_a_busy_player_goes_on_and_an_unknown_aim_fails() -> None:
    world = game("cooking", targets="bread")
    world.step({0: ("collect", "wheat", "3")})
    told = PURSUER.pursue(make_situation(world, (0,)), 0, ("obtain", "bread", "1"), None)
    assert (told.status, told.command) == (UNKNOWN, None)
    assert status_of_pursuit(world, 0, "obtain", "dirt", "1") == FAIL


def test_without_plan_or_recipes_only_what_the_menu_offers_is_made() -> None:
    world = game("crafting", {"lime_dye": 1}, {"lime_dye": 1}, task="craft_2_02_lime_wool")
    aim = ("obtain", "lime_wool", "1")
    assert PURSUER.pursue(make_situation(world, (1,)), 1, aim, None).command is None
    world.inventories[1]["black_wool"] = 1
    achieve(world, 1, *aim)


def test_aims_tell_neither_a_hidden_plan_nor_what_players_hold() -> None:
    """But for the target itself, the list is the same in all crafting tasks, and in all pairs of dishes."""
    aims = {
        frozenset(seat_aims({"target": {"dirt": 1}, "limit": 9, **more}, 2, 1))
        for more in ({}, {"plan": next(iter(crafting_tasks().values())).plan()})
    }
    assert len(aims) == 1
    blocked, known = (game("cooking", recipe_blocked=who).aims(1) for who in ("1", "nobody"))
    assert blocked == known
    assert not any(aim[0].startswith("give") for aim in game("cooking", no_help=True).aims(0))
    hidden = game("construction", blueprint="small_house", blueprint_blocked="others")
    assert hidden.aims(1) == [("give_all", "0")] and ("build", "0") in hidden.aims(0)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_list_of_aims_is_short_enough_to_pick_from_and_each_reads_differently(family: str) -> None:
    most = FAMILIES[family].max_seats
    world, page = game(family, seats=most), get_page(f"blocks_{family}")
    for seat in range(most):
        texts = [page.aimed(world.public_brief(), aim) for aim in world.aims(seat)]
        assert 0 < len(texts) <= 200 and len(set(texts)) == len(texts)
        assert not [text for text in texts if "_" in text or "{" in text]
