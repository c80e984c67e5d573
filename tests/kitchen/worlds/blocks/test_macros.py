"""Rules of the macros that the recorded episodes do not reach."""

from __future__ import annotations

import pytest

from tests.kitchen.worlds.blocks.games import game, play, refusal, step


def test_a_tag_is_paid_piece_by_piece_from_what_is_held_most_ties_by_name() -> None:
    held = {"oak_planks": 2, "birch_planks": 3, "acacia_planks": 2}
    world = game("crafting", held)
    play(world, "craft crafting_table 1")
    # 3 birch: one of them; then 2, 2, 2 by name: acacia, birch, oak
    assert world.inventories[0] == {
        "acacia_planks": 1,
        "birch_planks": 1,
        "oak_planks": 1,
        "crafting_table": 1,
    }


def test_a_craft_falls_back_to_the_first_row_that_can_be_paid() -> None:
    world = game("crafting", {"string": 4, "lime_bed": 1, "red_dye": 1, "crafting_table": 1})
    play(world, "craft white_wool 1")
    play(world, "craft red_bed 1")
    assert world.inventories[0] == {"white_wool": 1, "red_bed": 1, "crafting_table": 1}


def test_a_row_whose_table_is_missing_is_passed_over() -> None:
    world = game("crafting", {"red_wool": 3, "oak_planks": 3, "red_dye": 1, "lime_bed": 1})
    play(world, "craft red_bed 1")
    assert world.inventories[0] == {"red_wool": 3, "oak_planks": 3, "red_bed": 1}


def test_a_craft_for_several_times_is_paid_at_once() -> None:
    world = game("crafting", {"lime_dye": 2, "red_wool": 1, "black_wool": 1})
    assert refusal(world, "craft lime_wool 3") == "missing"
    play(world, "craft lime_wool 2")
    assert world.inventories[0] == {"lime_wool": 2}


@pytest.mark.parametrize(
    ("fuel", "items", "left", "store"),
    [
        ({"coal": 1, "oak_log": 3}, 1, {"oak_log": 3}, 7),
        ({"charcoal": 1, "coal": 1}, 9, {}, 7),
        ({"oak_log": 1, "oak_planks": 2}, 2, {"oak_planks": 1}, 1),
        ({"oak_log": 2, "oak_planks": 3}, 3, {"oak_log": 1, "oak_planks": 2}, 0),
        ({"birch_planks": 1, "acacia_log": 1}, 1, {"birch_planks": 1}, 0.5),
    ],
)
def test_fuel_is_coal_then_charcoal_then_what_wood_is_held_most(
    fuel: dict[str, int], items: int, left: dict[str, int], store: float
) -> None:
    world = game("cooking", {"potato": items, **fuel}, targets="baked_potato", furnace_fuel=0)
    world.at = [(4, 0, -6), (2, 0, 0)]
    play(world, f"smelt potato {items}", "stay 1", steps=100)
    assert world.furnace["fuel"] == store
    assert {item: count for item, count in world.inventories[0].items() if "potato" not in item} == left


def test_without_enough_fuel_nothing_is_burnt() -> None:
    world = game("cooking", {"potato": 2, "oak_log": 1}, furnace_fuel=0)
    assert refusal(world, "smelt potato 2") == "no_fuel"
    assert step(world, "smelt potato 2") == [(0, "refused", "no_fuel")]
    assert world.inventories[0] == {"potato": 2, "oak_log": 1}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("dance now", "unknown_verb"),
        ("build x", "blocked"),
        ("build 0", "blocked"),
        ("place glass 0 0", "wrong_arguments"),
        ("place glass 99 0 0", "out_of_area"),
        ("place glass 0 0 0", "unknown_item"),
        ("place oak_planks 0 0 0", "missing"),
        ("place dirt 0 0 0", "occupied"),
        ("remove 1 0 0", "nothing_there"),
        ("stay 31", "wrong_arguments"),
        ("stay 007", "wrong_arguments"),
        ("give 0 dirt 1", "unknown_seat"),
        ("give 1 dirt 200", "missing"),
        ("stop", "nothing_there"),
    ],
)
def test_refusals_come_in_their_order(words: str, code: str) -> None:
    world = game("construction", {"dirt": 5}, blueprint="shelter", build=False)
    world.put_block((0, 0, 0), "dirt")
    assert refusal(world, words) == code
    assert step(world, words) == [(0, "refused", code)]


def test_missing_comes_before_occupied_and_blocked_before_busy() -> None:
    world = game("construction", {}, blueprint="shelter", build=False)
    world.put_block((0, 0, 0), "dirt")
    assert refusal(world, "place stone 0 0 0") == "missing"
    step(world, "stay 5")
    assert refusal(world, "build 0") == "blocked"
    assert refusal(world, "place stone 0 0 0") == "busy"


def test_a_furnace_in_use_comes_before_missing_fuel() -> None:
    world = game("cooking", {"potato": 1}, {"beef": 1}, furnace_fuel=1)
    world.at = [(4, 0, -6), (4, 0, -6)]
    step(world, "smelt potato 1")
    assert refusal(world, "smelt beef 1", seat=1) == "in_use"
    assert refusal(world, "smelt beef 2", seat=1) == "missing"
    for _ in range(9):
        step(world)
    assert refusal(world, "smelt beef 1", seat=1) == "no_fuel"


def test_a_refused_early_command_does_not_interrupt_a_macro_but_a_later_one_takes_the_step() -> None:
    world = game("cooking")
    step(world, "collect wheat 1")
    assert step(world, "dance") == [(0, "refused", "unknown_verb")]
    assert world.at[0] == (-4, 0, -4)
    free = game("cooking")
    step(free, "craft bread 1")
    assert free.at[0] == (0, 0, 0) and free.macros[0] is None


def test_a_stopped_collect_that_begins_again_goes_on_at_the_same_block() -> None:
    world = game("gather")
    world.at = [(-18, 0, 0), (2, 0, 0)]
    step(world, "collect oak_log 2")
    step(world)
    assert step(world, "stop") == [(0, "performed"), (0, "stopped")]
    assert play(world, "collect oak_log 1") == [(0, "performed"), (0, "done", 1)]
    assert world.clock == 4, "two of three steps were kept"


def test_steps_at_a_block_are_lost_when_another_one_is_nearest() -> None:
    world = game("gather")
    world.at = [(-18, 0, 0), (2, 0, 0)]
    step(world, "collect oak_log 1")
    step(world)
    world.put_block((-20, 0, 0), "air")
    assert [event for _ in range(3) for event in step(world)] == [(0, "done", 1)]


def test_of_two_at_one_block_who_is_done_first_has_it() -> None:
    world = game("gather")
    world.at = [(-18, 0, 0), (-18, 0, 0)]
    step(world, "collect oak_log 1", "stay 1")
    found = [*step(world, "-", "collect oak_log 1"), *step(world), *step(world)]
    assert (0, "done", 1) in found
    assert world.inventories == [{"oak_log": 1}, {}] and world.digging[1] == [[-20, 1, 0], 2]


def test_a_better_tool_makes_stone_faster_and_iron_needs_it() -> None:
    world = game("gather", {"wooden_pickaxe": 1}, {"stone_pickaxe": 1})
    world.at = [(18, 0, 0), (18, 0, 0)]
    assert refusal(world, "collect iron_ore 1") == "missing"
    assert refusal(world, "collect iron_ore 1", seat=1) == ""
    assert step(world, "collect stone 1", "collect stone 1")[2:] == [(1, "done", 1)]


def test_a_collect_ends_as_done_when_others_took_the_rest() -> None:
    world = game("cooking")
    for cell in [cell for cell, kind in world.start.blocks.items() if kind == "pumpkin"][2:]:
        world.put_block(cell, "air")
    world.at = [(-12, 0, 12), (-12, 0, 12)]
    assert step(world, "collect pumpkin 5", "collect pumpkin 5")[2:] == [(1, "done", 1)]
    assert step(world) == [(0, "done", 1)]
    assert refusal(world, "collect pumpkin 1") == "none_near"


def test_build_is_done_with_its_last_block_and_missing_with_nothing_left() -> None:
    world = game("construction", {"stone": 30}, {"stone": 5}, blueprint="shelter")
    assert play(world, "build 0", steps=60)[-1] == (0, "done", 25)
    assert refusal(world, "build 0") == "missing"
    assert refusal(world, "build 1") == "missing", "it holds no planks"


def test_build_passes_over_what_a_lower_seat_is_after() -> None:
    world = game("construction", {"stone": 1}, {"stone": 1}, blueprint="shelter")
    for cell in list(world.blueprint.levels[0])[1:]:
        world.put_block(cell, "stone")
    assert step(world, "build 0", "build 0") == [(0, "performed"), (1, "refused", "missing"), (0, "done", 1)]


def test_a_furnace_goes_on_after_stop_and_gives_to_who_started_it() -> None:
    world = game("cooking", {"potato": 1})
    world.at = [(4, 0, -6), (2, 0, 0)]
    step(world, "smelt potato 1")
    step(world, "stop")
    play(world, "goto wheat")
    for _ in range(10):
        step(world)
    assert world.inventories[0] == {"baked_potato": 1} and world.furnace["job"] is None


def test_a_seat_meets_what_a_lower_seat_has_just_done_whatever_the_order_of_the_turn() -> None:
    world = game("crafting", {"lime_dye": 1}, {"black_wool": 1})
    events = world.step([(1, ("craft", "lime_wool", "1")), (0, ("give", "1", "lime_dye", "1"))])
    assert [(event.seat, event.kind) for event in events] == [
        *[(0, "performed"), (1, "performed")],
        *[(0, "done"), (1, "done")],
    ]


def test_others_neither_see_what_a_seat_does_nor_what_it_holds_but_gifts() -> None:
    world = game("crafting", {"lime_dye": 1}, {"black_wool": 1})
    own, *_ = world.step({0: ("give", "1", "lime_dye", "1"), 1: ("stay", "1")})
    assert not world.visible(1, own) and world.visible(0, own)
    done = own._replace(seat=0, kind="done", data={"macro": ["give", "1", "lime_dye", "1"]})
    assert world.visible(1, done)
    assert "lime_dye" not in str(game("crafting").observe(1))


@pytest.mark.parametrize(("macro", "waits"), [("stay 9", True), ("goto_seat 1", True), ("goto stone", False)])
def test_a_seat_that_stays_or_follows_only_waits(macro: str, waits: bool) -> None:
    world = game("gather")
    world.at = [(0, 0, 0), (9, 0, 0)]
    assert not world.only_waits(0)
    step(world, macro)
    assert not world.asks(0)
    assert world.only_waits(0) is waits
