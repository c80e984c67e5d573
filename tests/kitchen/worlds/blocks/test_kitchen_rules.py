"""Rules of the kitchen of blocks."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world import Command
from tests.kitchen.worlds.blocks.games import game, refusal

FURNACE, CHEST = (-236, 32, -103), (-230, 33, -114)


def take(world: Any, *words: str) -> list[tuple[str, Any]]:
    """Take a step; return kind and dish of what happened to orders."""
    turn: dict[int, Command] = {seat: tuple(each.split()) for seat, each in enumerate(words)}
    return [(event.kind, event.data["dish"]) for event in world.step(turn) if "dish" in event.data]


def test_the_first_dish_is_completed_in_seven_steps() -> None:
    world = game("kitchen", seed=123, interval=10)
    for words in (
        ("goto oak_log", "goto chicken"),
        ("mineBlock oak_log", "killMob chicken"),
        ("goto furnace", "goto furnace"),
        ("putFuelFurnace oak_log", "putItemFurnace chicken"),
        ("takeOutFurnace", "go_on"),
        ("goto chest", "noop"),
    ):
        assert not take(world, *words)
    assert take(world, "putInChest cooked_chicken") == [("completed", "cooked_chicken")]
    assert world.score() == {"completed": 1, "failed": 0, "success_rate": 1.0}


def test_orders_that_nobody_fills_lose_their_life_and_fail() -> None:
    world = game("kitchen", seed=123, interval=10)
    for _ in range(14):
        assert ("failed", "cooked_chicken") not in take(world)
    assert take(world) == [("failed", "cooked_chicken")]
    assert world.orders == [["cooked_mutton", 10]]


def test_all_of_a_stack_goes_into_the_chest_and_completes_one_order_each() -> None:
    world = game("kitchen", {"cooked_chicken": 3}, seed=123, interval=1, steps=3)
    world.at[0] = CHEST
    assert take(world, "putInChest cooked_chicken") == [("completed", "cooked_chicken")]
    assert world.chest == {"cooked_chicken": 3} and world.inventories[0] == {}
    assert take(world) == [("ordered", "cooked_mutton"), ("failed", "cooked_mutton")]
    assert take(world) == [("ordered", "cooked_chicken"), ("completed", "cooked_chicken")]


def test_the_furnace_waits_for_its_output_to_be_of_the_same_kind() -> None:
    world = game("kitchen", {"mutton": 1}, {"chicken": 1})
    world.at = [FURNACE, FURNACE]
    world.fuel, world.output = 2, ["cooked_chicken", 1]
    take(world, "putItemFurnace mutton")
    assert (world.input, world.fuel) == (["mutton", 1], 2)
    assert refusal(world, "putItemFurnace chicken", seat=1) == "furnace_taken"
    take(world, "takeOutFurnace")
    assert world.output == ["cooked_mutton", 1] and world.inventories[0] == {"cooked_chicken": 1}


def test_what_was_killed_in_a_step_is_gone_for_later_seats_and_back_in_the_next() -> None:
    world = game("kitchen", seats=2)
    world.at = [(-235, 32, -109), (-235, 32, -109)]
    assert refusal(world, "killMob chicken", seat=1) == ""
    kinds = [event.kind for event in world.step({0: ("killMob", "chicken"), 1: ("killMob", "chicken")})]
    assert kinds == ["performed", "refused"], "no other chicken is within 6"
    assert world.at[0] == (-239, 32, -108)
    assert refusal(world, "killMob chicken") == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("dance", "unknown_verb"),
        ("goto", "wrong_arguments"),
        ("goto cow", "unknown_place"),
        ("mineBlock stone", "unknown_target"),
        ("putFuelFurnace stick", "not_fuel"),
        ("putItemFurnace oak_log", "not_smeltable"),
        ("killMob sheep", "not_near"),
        ("putFuelFurnace oak_log", "not_near"),
        ("putInChest oak_log", "no_item"),
        ("takeOutFurnace", "empty"),
    ],
)
def test_refusals_come_in_their_order(words: str, code: str) -> None:
    world = game("kitchen")
    assert refusal(world, words) == code
    assert world.step({0: tuple(words.split())})[0].data["reasons"] == [code]


def test_the_third_dish_is_ordered_only_with_its_switch() -> None:
    dishes: list[set[str]] = [set(), set()]
    for porkchop in (False, True):
        world = game("kitchen", interval=1, porkchop=porkchop)
        for _ in range(30):
            dishes[porkchop] |= {dish for kind, dish in take(world) if kind == "ordered"}
    assert dishes[1] - dishes[0] == {"cooked_porkchop"}
