"""Tasks, recipes, maps and blueprints are files; a wrong one is refused with file, key and reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kitchen.contract.data_files import DataError
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.blocks import blueprints
from kitchen.worlds.blocks.block_benchmarks import BENCHMARKS
from kitchen.worlds.blocks.blueprints import Comparison, blueprint, blueprint_files, read_blueprint
from kitchen.worlds.blocks.cooking_tasks import cooking_file, deal, recipe_steps
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks, read_tasks
from kitchen.worlds.blocks.item_recipes import read_recipes
from tests.kitchen.worlds.blocks.games import game

GENERATED = "materials_{0}_rooms_{1}_window_{2}_carpet_{2}_variant_{3}"


@pytest.mark.parametrize(
    ("name", "levels", "blocks"),
    [((0, 0, 0, 0), 5, 515), ((0, 0, 0, 1), 11, 572), ((1, 1, 1, 0), 15, 873), ((2, 2, 2, 0), 14, 1297)],
)
def test_the_generator_makes_the_blueprints_of_its_parameters(
    name: tuple[int, ...], levels: int, blocks: int
) -> None:
    made = blueprint(GENERATED.format(*name))
    assert (len(made.levels), made.blocks) == (levels, blocks)


def test_the_score_counts_cells_where_wanted_and_present_are_not_both_air() -> None:
    world = game("construction", blueprint="shelter")
    compared = world.comparison
    assert (compared.matches, compared.mismatches, compared.score) == (0, 96, 0)
    for cell, block in (
        ((0, 0, 0), "stone"),
        ((1, 0, 0), "dirt"),
        ((1, 1, 1), "stone"),
        ((9, 0, 0), "stone"),
    ):
        world.put_block(cell, block)
    assert (compared.matches, compared.mismatches, compared.filled) == (1, 96, 1 / 96)
    assert compared.differences(1)[0] == [0, 0, "oak_planks", "air"] and compared.wrong[1] == {(1, 1, 1)}
    fresh = Comparison(world.blueprint, world.grid)
    assert (fresh.matches, fresh.mismatches, fresh.left) == (1, 96, compared.left)
    world.put_block((1, 1, 1), "air")
    assert compared.mismatches == 95


def test_every_blueprint_file_can_be_played_and_is_complete_when_all_stands() -> None:
    assert set(blueprint_files()) == {
        *("hall", "pyramid", "roof_terrace", "shelter", "small_house", "two_floors"),
    }
    for name in blueprint_files():
        world = game("construction", blueprint=name)
        for level in world.blueprint.levels:
            for cell, block in level.items():
                world.put_block(cell, block)
        assert world.over and world.score()["score"] == 100


def test_materials_are_dealt_evenly_or_each_to_one_seat() -> None:
    even, parted = (
        game("construction", blueprint="small_house", inventories=how) for how in ("even", "by_material")
    )
    assert [held["stone"] for held in even.inventories] == [21, 21]
    assert [("stone" in held, "terracotta" in held) for held in parted.inventories] == [
        *[(True, False), (False, True)],
    ]
    assert all(held["dirt"] == 128 for held in parted.inventories)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('legend = { s = "stone" }\nlevels = [["ss"], ["s"]]', r"x\.toml: levels\[2\]\[1\]: 1 x 1 cells"),
        (
            'legend = { s = "stone" }\nlevels = [["s?"]]',
            r"x\.toml: levels\[1\]\[1\]: '\?' is not one of \., s",
        ),
        ('legend = { ss = "stone" }\nlevels = [["s"]]', r"x\.toml: legend"),
        ('legend = {}\nlevels = [["."]]', r"x\.toml: levels: has no block"),
        ('legend = {}\nlevels = [["."]]\nmore = 1', r"x\.toml: more: unknown key"),
        ("levels = [[", r"x\.toml: not TOML"),
    ],
)
def test_a_wrong_blueprint_is_refused(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.toml").write_text(text)
    monkeypatch.setattr(blueprints, "FOLDER", tmp_path)
    with pytest.raises(DataError, match=said):
        read_blueprint("x")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seats": 3}, r"tasks\.json: \[1\]\.inventories: 2 inventories for 3 seats"),
        ({"plan_blocked": [2]}, r"\[1\]\.plan_blocked: the seats are 0 to 1"),
        ({"target": {"cake": 1, "egg": 1}}, r"\[1\]\.target: must be one item"),
        ({"crafts": [["cake", 1]]}, r"\[1\]\.crafts: cannot be carried out"),
        ({"inventories": [{"egg": 0}, {}]}, r"\[1\]\.inventories"),
        ({"surprise": 1}, r"\[1\]\.surprise: unknown key"),
    ],
)
def test_a_wrong_crafting_task_is_refused(changed: dict[str, object], said: str, tmp_path: Path) -> None:
    task = {**crafting_tasks()["craft_2_01_pink_wool"].model_dump(), **changed}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task]))
    with pytest.raises(DataError, match=said):
        read_tasks(path)


def test_a_row_of_an_unknown_tag_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipes.toml"
    path.write_text('[lists]\n[tags]\n[[rows]]\nmakes = "stick"\nneeds = ["2 #planks"]\n')
    with pytest.raises(DataError, match=r"recipes\.toml: rows\[1\]\.needs: 'planks' is not one of"):
        read_recipes(path)


def test_a_researcher_s_own_blueprint_and_task_are_played() -> None:
    text = 'legend = { s = "stone", p = "oak_planks" }\nlevels = [["ss", "s."], ["p.", ".."]]'
    world = game("construction", own_blueprint=text)
    assert world.blueprint.materials == {"stone": 3, "oak_planks": 1} and world.box.high == (1, 1, 1)
    task = {**crafting_tasks()["craft_2_01_pink_wool"].model_dump(), "id": "craft_2_99_mine"}
    assert game("crafting", own_task=json.dumps(task)).task.id == "craft_2_99_mine"


def own(**changed: Any) -> str:
    """A researcher's own crafting task, changed."""
    return json.dumps({**crafting_tasks()["craft_2_01_pink_wool"].model_dump(), **changed})


def dish(**changed: Any) -> str:
    """A researcher's own cooking task, changed."""
    return json.dumps({"targets": ["cake"], "inventories": [{"egg": 1}, {}], "limit": 50, **changed})


def test_a_researcher_s_own_dishes_and_amounts_are_played() -> None:
    cooking = game("cooking", own_task=dish())
    assert (cooking.names, cooking.inventories, cooking.time_limit) == (("cake",), [{"egg": 1}, {}], 50)
    gather = game("gather", own_task='{"item": "raw_iron", "amount": 2, "inventories": [{}, {"stick": 3}]}')
    assert (gather.task.item, gather.task.amount, gather.inventories[1]) == ("raw_iron", 2, {"stick": 3})


def test_a_task_that_cannot_be_made_is_refused_where_only_others_are_wanted() -> None:
    task = next(name for name, each in crafting_tasks().items() if not each.crafts)
    assert game("crafting", task=task).task.id == task
    with pytest.raises(SettingsError, match=f"task: {task} cannot be made"):
        game("crafting", task=task, solvable_only=True)
    chest: dict[str, Any] = {"seats": 2, "target": {"chest": 1}, "crafts": [["chest", 1]]}
    for planks, tables, crafts in (
        (8, 0, ()),
        (11, 0, ()),
        (12, 0, ()),
        (8, 1, ()),
        (12, 0, (["crafting_table", 1],)),
    ):
        held = {"cobblestone": 2, **({"crafting_table": tables} if tables else {})}
        crafted = own(
            **{**chest, "crafts": [*crafts, *chest["crafts"]]}, inventories=[{"oak_planks": planks}, held]
        )
        assert game("crafting", own_task=crafted), "a task that cannot be made is played where it may be"
        if planks + 4 * tables >= 12:
            assert game("crafting", own_task=crafted, solvable_only=True)
            continue
        with pytest.raises(SettingsError, match=r"own_task: .* cannot be made without a workbench"):
            game("crafting", own_task=crafted, solvable_only=True)
    (switch,) = (one for one in game("crafting").settings if one.name == "solvable_only")
    assert switch.beginning is True, "a new condition has it on"
    usual = BENCHMARKS["blocks_crafting"].usual_levels()
    assert len(usual) == 22 and all(crafting_tasks()[name].crafts for name in usual)


@pytest.mark.parametrize(
    ("family", "settings", "said"),
    [
        ("construction", {"own_blueprint": "levels = " + "[" * 99}, "own_blueprint: "),
        (
            "construction",
            {"own_blueprint": 'legend = { s = "<b>" }\nlevels = [["s"]]'},
            "legend.s: must be the",
        ),
        (
            "construction",
            {"own_blueprint": 'legend = { s = "air" }\nlevels = [["s"]]'},
            "own_blueprint: legend",
        ),
        (
            "construction",
            {"own_blueprint": f'legend = {{ s = "stone" }}\nlevels = [["{"s" * 33}"]]'},
            "levels: must not have more than 32",
        ),
        ("construction", {"own_blueprint": "x = " + "9" * 30_000}, "own_blueprint: not TOML: .*digits"),
        ("construction", {"own_blueprint": ".".join("a" * 9_000) + " = 1"}, "nested deeper than 50"),
        ("construction", {"own_blueprint": "#" * 40_001}, "own_blueprint: "),
        (
            "construction",
            {"own_blueprint": 'legend = { s = "unobtainium" }\nlevels = [["s"]]'},
            "own_blueprint: legend.s: 'unobtainium' is not a known block",
        ),
        (
            "crafting",
            {"own_task": own(inventories=[{"gold": 1}, {}])},
            r"inventories\[1\]: 'gold' is not a known item; similar: gold_ingot, gold_nugget",
        ),
        ("crafting", {"own_task": own(target={"torch": 1})}, "target: 'torch' .*; similar: redstone_torch"),
        (
            "crafting",
            {"own_task": own(target={"Zq": 1})},
            "target: 'Zq' .*; there are activator_rail, allium",
        ),
        *(
            ("crafting", {"own_task": own(id=name)}, "own_task: id: must be at most 64 letters")
            for name in ("a\0b", "<script>", "../../etc", "a" * 65, "", "a\n", "-a")
        ),
        ("crafting", {"own_task": own(inventories=[{"egg": 10**9}, {}])}, r"own_task: inventories\[1\]\.egg"),
        ("crafting", {"own_task": own(crafts=[["stick", 1]] * 61)}, "own_task: crafts: .* at most 60"),
        ("crafting", {"own_task": own(seats="two")}, "own_task: seats: must be a whole number"),
        ("crafting", {"own_task": own(seats=int("9" * 4_000))}, "own_task: seats"),
        ("cooking", {"own_task": "{}"}, "own_task: targets: is missing"),
        ("cooking", {"own_task": dish(targets=["stone"])}, r"own_task: targets\[1\]: 'stone' is not one of"),
        ("cooking", {"own_task": dish(inventories=[{}])}, "own_task: 1 inventory for 2 seats"),
        ("cooking", {"own_task": dish(inventories=[{"rock": 1}, {}])}, r"inventories\[1\]: 'rock' is not"),
        ("cooking", {"own_task": dish(limit=10**9)}, "own_task: limit"),
        (
            "gather",
            {"own_task": '{"item": "diamond", "amount": 1}'},
            "own_task: item: 'diamond' is not one of",
        ),
        ("gather", {"own_task": '{"item": "oak_log", "amount": 365}'}, "amount: must not be more than 364"),
        ("gather", {"own_task": '{"item": "oak_log", "amount": 0}'}, "own_task: amount"),
        ("gather", {"own_task": '{"item": "oak_log", "amount": 1, "inventories": [{}]}'}, "1 inventory for"),
        ("crafting", {"own_task": "[" * 9_000}, "own_task: is nested deeper than 50"),
        ("crafting", {"own_task": '{"id": "x"}'}, "own_task: seats: is missing"),
        ("crafting", {"own_task": "[]"}, "own_task: must be a table"),
    ],
)
def test_a_hostile_blueprint_or_task_is_refused(family: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        game(family, **settings)


def test_97_of_the_100_crafting_tasks_can_be_made_with_the_crafts_of_their_file() -> None:
    solvable = [task for task in crafting_tasks().values() if task.crafts]
    assert len(crafting_tasks()) == 100 and len(solvable) == 97
    assert sum(task.seats == 2 for task in solvable) == 22
    assert all(task.plan() for task in solvable)


def test_items_of_targets_are_dealt_evenly_and_single_ones_to_who_has_least() -> None:
    assert deal(("bread", "golden_apple"), 2, with_fuel=True) == [
        {"apple": 1, "gold_ingot": 4},
        {"gold_ingot": 4},
    ]
    assert deal(("golden_apple",), 3, with_fuel=True) == [
        *[{"apple": 1, "gold_ingot": 3}, {"gold_ingot": 3}, {"gold_ingot": 2}],
    ]
    assert deal(("rabbit_stew",), 2, with_fuel=False) == [{"bowl": 1}, {"coal": 1}]


def test_a_recipe_names_every_step_from_the_farm_to_the_target() -> None:
    assert [(step["do"], step["makes"]) for step in recipe_steps("rabbit_stew")] == [
        *[("attack", "rabbit"), ("smelt", "cooked_rabbit"), ("collect", "potato"), ("smelt", "baked_potato")],
        *[("collect", "carrot"), ("collect", "brown_mushroom"), ("craft", "rabbit_stew")],
    ]
    assert all(recipe_steps(item) for item in cooking_file().items)


@pytest.mark.parametrize(
    ("family", "settings", "seats", "said"),
    [
        ("crafting", {"task": "craft_3_01_dark_prismarine"}, 2, "task: .* is for 3 seats, not 2"),
        ("cooking", {"targets": "bread+stone"}, 2, "targets: 'stone' is not one of"),
        ("cooking", {"targets": "bread+bread"}, 2, "targets: .* is not one to 4 different items"),
        ("cooking", {"hells_kitchen": True}, 3, "hells_kitchen: needs two seats"),
        ("construction", {"blueprint": "../hall"}, 2, "blueprint: .* is neither one of"),
        ("construction", {"blueprint": "materials_3_rooms_0_window_0_carpet_0_variant_0"}, 2, "blueprint"),
        ("gather", {"task": "50_goats"}, 2, "task"),
        ("kitchen", {"interval": 0}, 2, "interval"),
    ],
)
def test_settings_that_cannot_be_played_are_refused(
    family: str, settings: dict[str, Any], seats: int, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        game(family, seats=seats, **settings)
