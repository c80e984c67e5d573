"""Levels that are made from a seed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.cuisine.level import (
    DIFFICULTIES,
    Level,
    parse_level,
    recipe_depth,
    shipped_catalogue,
    tools_needed,
)
from kitchen.worlds.cuisine.level_generator import LEVEL_CLASSES, generate_level, level_text
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import wander

ROOT = Path(__file__).parents[4]
STOCK = shipped_catalogue().stock
SEEDS = range(60)

every_class = pytest.mark.parametrize("difficulty", list(DIFFICULTIES))


def made(difficulty: str) -> list[Level]:
    return [generate_level(seed, difficulty, STOCK) for seed in SEEDS]


def tools_of(level: Level) -> set[str]:
    return {tool.code for tool in level.places.values() if tool.role == "tool"}


def depth(level: Level) -> int:
    return max(recipe_depth(dish, STOCK.recipes) for dish in level.dishes)


@every_class
def test_every_dish_can_be_cooked_in_its_kitchen_and_no_tool_is_idle(difficulty: str) -> None:
    for level in made(difficulty):
        needed = {tool for dish in level.dishes for tool in tools_needed(dish, STOCK)}
        assert needed == tools_of(level)
        assert level.uncookable == ()


@every_class
def test_a_level_keeps_to_its_class(difficulty: str) -> None:
    mould = LEVEL_CLASSES[difficulty]
    for level in made(difficulty):
        assert level.difficulty == difficulty
        assert mould.tools[0] <= len(tools_of(level)) <= mould.tools[1]
        assert mould.dishes[0] <= len(level.dishes) <= mould.dishes[1]
        assert depth(level) == mould.depth


def test_the_classes_differ_in_tools_and_depth() -> None:
    by_class = [(tools_of(made(each)[0]), depth(made(each)[0])) for each in DIFFICULTIES]
    sizes = [(len(tools), deep) for tools, deep in by_class]
    assert sizes == sorted(sizes) and len(set(sizes)) == 4


@every_class
def test_seeds_give_many_different_levels(difficulty: str) -> None:
    assert len({(level.kitchen, level.dishes) for level in made(difficulty)}) > 15


def test_the_same_seed_gives_the_same_level_in_every_process() -> None:
    program = (
        "from kitchen.worlds.cuisine.level import shipped_catalogue\n"
        "from kitchen.worlds.cuisine.level_generator import level_text\n"
        "print(*(level_text(s, 'advanced', shipped_catalogue().stock) for s in range(9)), sep='', end='')"
    )
    texts = "".join(level_text(seed, "advanced", STOCK) for seed in range(9))
    environment = {"PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert done.stdout.decode() == texts


@every_class
def test_its_text_is_a_level_file(difficulty: str) -> None:
    level = parse_level(level_text(5, difficulty, STOCK), "mine.toml", STOCK)
    assert (level.kitchen, level.dishes) == (made(difficulty)[5].kitchen, made(difficulty)[5].dishes)


@every_class
def test_a_world_plays_it(difficulty: str) -> None:
    settings = {"level": "procedural", "difficulty": difficulty, "level_seed": 12}
    world = CuisineWorld.create(seats=3, settings=settings)
    world.reset(1)
    wander(world, 60)
    assert world.over
    assert CuisineWorld.from_dict(world.to_dict()).state_hash() == world.state_hash()
    assert world.brief(0)["level"] == f"{difficulty}_12"


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(SettingsError, match="hard"):
        generate_level(0, "hard", STOCK)
