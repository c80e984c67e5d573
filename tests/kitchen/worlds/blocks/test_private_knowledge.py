"""Nobody is shown another's inventory, a hidden plan, a hidden recipe or a hidden blueprint."""

from __future__ import annotations

import json
from typing import Any

from kitchen.registry.world_registry import get_page
from tests.kitchen.worlds.blocks.games import game, refusal
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.test_pages import whole


def shown_to(world: Any, seat: int) -> str:
    """All that a seat is told or shown: brief, observation, menu and page."""
    told = [world.brief(seat), world.observe(seat), world.legal_actions(seat)]
    return json.dumps(told) + whole(get_page(world.kind), seen(world, seat))


def test_a_plan_is_hidden_from_the_seats_that_may_not_have_it() -> None:
    world = game("crafting", task="craft_2_02_lime_wool")
    assert "plan" in world.brief(0) and "plan" not in world.brief(1) and "plan" not in world.public_brief()
    assert "The plan" in shown_to(world, 0) and "The plan" not in shown_to(world, 1)
    assert "lime_dye" not in shown_to(world, 1) and "lime dye" not in shown_to(world, 1)


def test_a_recipe_is_hidden_from_the_seats_that_may_not_have_it() -> None:
    world = game("cooking", recipe_blocked="1")
    assert "Recipe: bread" in shown_to(world, 0) and "Recipe:" not in shown_to(world, 1)


def test_in_hells_kitchen_each_knows_only_the_recipe_of_the_other_and_needs_its_own_dish() -> None:
    world = game("cooking", targets="bread+baked_potato", hells_kitchen=True, no_help=True)
    assert list(world.brief(0)["recipes"]) == ["baked_potato"] and list(world.brief(1)["recipes"]) == [
        "bread"
    ]
    world.inventories = [{"baked_potato": 1}, {"bread": 1}]
    assert not world.over and refusal(world, "give 1 baked_potato 1") == "blocked"
    world.inventories.reverse()
    assert world.over and world.time_limit == 300


def test_a_blueprint_is_hidden_from_the_seats_that_may_not_have_it() -> None:
    world = game("construction", blueprint="small_house", blueprint_blocked="others")
    assert "blueprint" in world.brief(0) and "differences" in world.observe(0)
    told = shown_to(world, 1)
    assert "blueprint" not in world.brief(1) and "differences" not in told and '"build"]' not in told
    assert not any(command[0] in ("build", "place") for command in world.legal_actions(1))
    assert refusal(world, "build 0", seat=1) == "blocked"
    assert refusal(world, "place stone 0 0 0", seat=1) == "", "a partner can say where"


def test_a_page_says_in_a_line_what_came_of_the_last_command() -> None:
    world = game("cooking")
    world.step({0: ("collect", "wheat", "1")})
    while world.macros[0]:
        world.step({})
    assert "Collect: wheat: walked 28, got 1 wheat" in whole(get_page(world.kind), seen(world, 0))
