"""Every thing of the kitchen has a picture, which tells what was done to it."""

from __future__ import annotations

import re
from pathlib import Path

import kitchen.worlds.collab_overcooked as collab_overcooked
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import known_macros
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.pictured_menu import BOXES, FOODS, in_pantry_order, picture_of
from tests.kitchen.worlds.collab_overcooked.games import game
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import view
from tests.pictures.picture_set import read_symbols

STATIC = Path(collab_overcooked.__file__).parent / "static"


def test_all_that_can_be_held_has_a_picture_of_its_own() -> None:
    rules, pictures = food_rules(), read_symbols(STATIC / FOODS)
    held = {*rules.things, *(f"{name}{IN_DISH}" for name in rules.served_in_dish)}
    assert held <= pictures.keys() and len({pictures[name] for name in held}) == len(held)
    used = set(re.findall(r'href="#([\w-]+)"', "".join(pictures.values())))
    assert used <= pictures.keys(), "each part is in the same file"


def test_a_mark_tells_cut_boiled_and_baked_food() -> None:
    pictures = read_symbols(STATIC / FOODS)
    marks = [pictures[f"{state}potato_slices"].split("</svg>")[-1] for state in ("", "boiled_", "baked_")]
    assert len(set(marks)) == 3 and all(marks)
    assert marks[2] in pictures["baked_sweet_potato"] and marks[1] in pictures["boiled_egg"]


def test_the_pantry_lists_everything_by_name_with_pictures_and_can_be_searched() -> None:
    shown = render_panel(PAGE.menu(view(game("boiled_egg"), 1, [])))
    names = re.findall(r"data-name>([^<]+)<", shown)
    assert names == ["Dish", *sorted(names[1:])] and len(names) == len(food_rules().raw) + 1
    assert "foods.svg#sweet_potato" in shown and "data-pantry-search" in shown
    soup = render_panel(PAGE.menu(view(game("baked_pumpkin_soup"), 1, [])))
    assert re.findall(r"data-name>([^<]+)<", soup) == names, "it does not tell what the recipe needs"


def test_other_actions_show_what_they_take_or_the_place_they_use() -> None:
    assert picture_of(("pickup", "egg", "counter"), None) == (FOODS, "egg")
    assert picture_of(("place_obj_on_counter",), "egg") == (FOODS, "egg")
    assert picture_of(("cook", "pot0"), None)[1] == BOXES["pot0"]
    assert picture_of(("wait", "1"), "egg") == ("", "")
    macros = [macro for macro in known_macros(food_rules(), 1) if macro[-1] == "counter"]
    assert in_pantry_order(macros) == macros, "other actions stay in their order"
