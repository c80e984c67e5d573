"""The examples that the rules of the block worlds were worked out with, number by number.

Others are beside what they test: blueprints and tasks in `test_block_data.py`, what is private in
`test_private_knowledge.py`, the traces in `test_block_traces.py`.
"""

from __future__ import annotations

import pytest

from kitchen.contract.world import Json
from kitchen.worlds.blocks.blueprint_generator import generate_building
from kitchen.worlds.blocks.blueprints import blueprint
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from tests.kitchen.worlds.blocks.games import game, play, refusal, step

GENERATED = "materials_1_rooms_{0}_window_1_carpet_1_variant_{1}"


def test_the_first_order_of_the_kitchen_is_delivered_in_step_7_with_9_lives_left() -> None:
    world = game("kitchen", seed=123, interval=10)
    assert world.orders == [["cooked_chicken", 15]]
    assert step(world, "goto oak_log", "goto chicken") == [(0, "performed"), (1, "performed")]
    assert [list(at) for at in world.at] == [[-227, 32, -107], [-231, 32, -102]]
    step(world, "mineBlock oak_log", "killMob chicken")
    assert world.inventories == [{"oak_log": 1}, {"chicken": 1}]
    step(world, "goto furnace", "goto furnace")
    step(world, "putFuelFurnace oak_log", "putItemFurnace chicken")
    assert world.output == ["cooked_chicken", 1] and world.fuel == 0
    step(world, "takeOutFurnace")
    step(world, "goto chest")
    assert world.orders == [["cooked_chicken", 9]] and world.clock == 6
    step(world, "putInChest cooked_chicken")
    assert (world.orders, world.score()["completed"]) == ([], 1)


def test_each_step_takes_a_life_of_the_first_order_before_it_is_delivered() -> None:
    world = game("kitchen", seed=123, interval=10)
    lives = []
    for _ in range(6):
        step(world)
        lives.append(world.orders[0][1])
    assert lives == [14, 13, 12, 11, 10, 9]


def test_a_chest_that_is_7_68_away_is_near_enough_and_a_sheep_that_is_10_8_away_is_not() -> None:
    world = game("kitchen", seed=123)
    assert refusal(world, "killMob sheep") == "not_near"
    step(world, "goto oak_log")
    step(world, "mineBlock oak_log")
    assert refusal(world, "putInChest oak_log") == ""
    step(world, "putInChest oak_log")
    assert world.chest == {"oak_log": 1} and list(world.at[0]) == [-230, 33, -114]


def test_lime_wool_is_made_in_step_2() -> None:
    world = game("crafting", task="craft_2_02_lime_wool")
    assert step(world, "-", "give 0 black_wool 1")[-1] == (1, "done")
    assert not world.over
    step(world, "craft lime_wool 1")
    assert world.over and world.score()["steps_used"] == 2


def test_a_purple_banner_is_made_in_step_3_and_its_maker_keeps_a_wool_and_the_table() -> None:
    world = game("crafting", task="craft_2_03_purple_banner")
    step(world, "give 1 purple_wool 4")
    step(world, "give 1 stick 1")
    step(world, "-", "craft purple_banner 1")
    assert world.over and world.score()["steps_used"] == 3
    assert world.inventories[1] == {"purple_banner": 1, "purple_wool": 1, "crafting_table": 1}


def test_wheat_is_reached_in_7_steps_and_the_bread_is_given_in_step_21() -> None:
    world = game("cooking", seed=1, targets="bread+golden_apple")
    assert world.inventories == [{"apple": 1, "gold_ingot": 4}, {"gold_ingot": 4}]
    step(world, "collect wheat 3")
    for _ in range(6):
        step(world)
    assert world.at[0] == (-14, 0, -14) and "wheat" not in world.inventories[0]
    step(world)
    assert world.inventories[0]["wheat"] == 1
    step(world)
    assert (world.at[0], world.inventories[0]["wheat"]) == ((-15, 0, -14), 1)
    step(world)
    assert step(world) == [(0, "done", 3)] and world.clock == 11
    play(world, "craft bread 1")
    assert (world.clock, world.at[0]) == (17, (-1, 0, -11))
    play(world, "give 1 bread 1")
    assert world.clock == 21 and world.inventories[1]["bread"] == 1


def test_bread_and_a_golden_apple_are_in_two_hands_after_22_steps() -> None:
    world = game("cooking", seed=1, targets="bread+golden_apple")
    step(world, "give 1 gold_ingot 4", "stay 2")
    step(world, "give 1 apple 1")
    step(world, "collect wheat 3", "craft golden_apple 1")
    assert world.at[1] == (2, 0, -4)
    assert (1, "done") in [event[:2] for event in step(world)]
    while world.macros[0]:
        step(world)
    assert world.clock == 13
    play(world, "craft bread 1")
    assert world.clock == 19
    play(world, "give 1 bread 1")
    assert world.over and world.score()["steps_used"] == 22


def test_one_coal_heats_eight_pieces_and_who_comes_meanwhile_finds_the_furnace_in_use() -> None:
    world = game("cooking", {"coal": 1}, {"coal": 1}, targets="baked_potato+cooked_beef", furnace_fuel=0)
    play(world, "collect potatoes 1")
    assert world.clock == 6
    world.inventories[1]["beef"] = 1
    step(world, "smelt potato 1")
    for _ in range(3):
        step(world)
    assert world.clock == 10 and world.inventories[0].get("potato") == 1, "four steps of walking"
    step(world)
    assert world.inventories[0].get("coal") is None
    assert step(world, "-", "smelt beef 1") == [(1, "refused", "in_use")]
    while world.macros[0]:
        step(world)
    assert world.clock == 20 and world.inventories[0] == {"baked_potato": 1}
    assert world.furnace["fuel"] == 7


def test_who_is_on_the_way_to_a_furnace_fails_when_another_takes_it() -> None:
    world = game("cooking", {"potato": 1}, {"beef": 1}, furnace_fuel=8)
    world.at = [(4, 0, -6), (-20, 0, -8)]
    step(world, "stay 1", "smelt beef 1")
    assert step(world, "smelt potato 1")[-1] == (1, "failed", "in_use")


def test_the_crafts_of_a_task_make_its_target_from_all_inventories_together() -> None:
    solvable = [task for task in crafting_tasks().values() if task.crafts]
    assert len(solvable) == 97 and sum(task.seats == 2 for task in solvable) == 22
    for task in solvable:
        world = game("crafting", seats=1, task=task.id)
        for item, times in task.crafts or ():
            assert not world.over
            assert step(world, f"craft {item} {times}") == [(0, "performed"), (0, "done")], task.id
        assert world.over and world.score()["steps_used"] == len(task.crafts or ()), task.id


@pytest.mark.parametrize(("rooms", "mean"), [(0, 599), (1, 805), (2, 1210)])
def test_thirty_generated_buildings_have_their_mean_number_of_blocks(rooms: int, mean: int) -> None:
    made = [blueprint(GENERATED.format(rooms, variant)).blocks for variant in range(30)]
    assert round(sum(made) / 30) == mean


def test_two_of_thirty_buildings_of_eight_rooms_have_only_three() -> None:
    rooms = [len(generate_building(GENERATED.format(2, variant)).rooms) for variant in range(30)]
    assert {variant for variant, count in enumerate(rooms) if count == 3} == {11, 17}
    assert sorted(rooms) == [3] * 2 + [8] * 28


@pytest.mark.parametrize(
    ("family", "chosen"),
    [
        ("crafting", {"task": "", "solvable_only": False, "limit": 0}),
        (
            "cooking",
            {
                "targets": "bread+golden_apple",
                "furnace_fuel": 512,
                "recipe_blocked": "nobody",
                "hells_kitchen": False,
                "no_help": False,
            },
        ),
        (
            "construction",
            {
                "blueprint": "materials_0_rooms_0_window_0_carpet_0_variant_0",
                "inventories": "even",
                "build": True,
                "blueprint_blocked": "nobody",
            },
        ),
        ("gather", {"task": "50_logs", "limit": 2400}),
        ("kitchen", {"interval": 5, "porkchop": False, "steps": 60}),
    ],
)
def test_settings_that_are_left_out_have_their_usual_values(family: str, chosen: dict[str, Json]) -> None:
    world = game(family)
    assert {name: world.chosen[name] for name in chosen} == chosen
    if family == "crafting":
        assert world.task.id == "craft_2_02_lime_wool"


@pytest.mark.parametrize(("rooms", "wanted"), [(0, 4), (1, 6)])
def test_all_thirty_smaller_buildings_have_all_their_rooms(rooms: int, wanted: int) -> None:
    made = [generate_building(GENERATED.format(rooms, variant)) for variant in range(30)]
    assert {len(each.rooms) for each in made} == {wanted}


def test_one_match_and_three_mismatches_score_25_an_empty_area_0_and_a_whole_one_100() -> None:
    text = 'legend = { s = "stone", g = "glass" }\nlevels = [["s.", "sg"]]'
    world = game("construction", own_blueprint=text)
    assert world.score()["score"] == 0 and not world.over
    for cell in ((0, 0, 0), (1, 0, 0), (1, 0, 1)):
        world.put_block(cell, "stone")
    compared = world.comparison
    assert (compared.matches, compared.mismatches, world.score()["score"]) == (1, 3, 25)
    for cell, block in (((1, 0, 0), "air"), ((0, 0, 1), "stone"), ((1, 0, 1), "glass")):
        world.put_block(cell, block)
    assert world.score()["score"] == 100 and world.over
