"""Every thing of the kitchen has a picture, which tells what was done to it."""

from __future__ import annotations

import re
from pathlib import Path

import kitchen.worlds.collab_overcooked as collab_overcooked
from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, food_rules
from tests.pictures.picture_set import read_symbols

FOODS = Path(collab_overcooked.__file__).parent / "static/worlds/collab_overcooked/foods.svg"


def test_all_that_can_be_held_has_a_picture_of_its_own() -> None:
    rules, pictures = food_rules(), read_symbols(FOODS)
    held = {*rules.things, *(f"{name}{IN_DISH}" for name in rules.served_in_dish)}
    assert held <= pictures.keys() and len({pictures[name] for name in held}) == len(held)
    used = set(re.findall(r'href="#([\w-]+)"', "".join(pictures.values())))
    assert used <= pictures.keys(), "each part is in the same file"


def test_a_mark_tells_cut_boiled_and_baked_food() -> None:
    pictures = read_symbols(FOODS)
    marks = [pictures[f"{state}potato_slices"].split("</svg>")[-1] for state in ("", "boiled_", "baked_")]
    assert len(set(marks)) == 3 and all(marks)
    assert marks[2] in pictures["baked_sweet_potato"] and marks[1] in pictures["boiled_egg"]
