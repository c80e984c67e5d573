"""A cell of the building is named by where it is, not by numbers of columns and rows."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from kitchen.play.live.render_page import render_panel
from kitchen.registry.world_registry import get_page
from kitchen.worlds.blocks.cell_words import cell_words
from tests.kitchen.worlds.blocks.games import game, play
from tests.kitchen.worlds.cuisine.test_page import seen

HOUSE = (7, 6, 5)


@pytest.mark.parametrize(
    ("cell", "size", "words"),
    [
        ((0, 0, 0), HOUSE, "bottom, back left corner"),
        ((6, 5, 4), HOUSE, "top, front right corner"),
        ((2, 1, 0), HOUSE, "level 2, back wall, block 3 from the left"),
        ((6, 1, 3), HOUSE, "level 2, right wall, block 4 from the back"),
        ((2, 0, 2), HOUSE, "bottom, inside, block 3 from the left, 3 from the back"),
        ((1, 0, 0), (2, 1, 1), "block 2 from the left"),
        ((0, 1, 1), (1, 2, 3), "top, block 2 from the back"),
        ((0, 0, 0), (1, 1, 1), ""),
    ],
)
def test_a_cell_is_named_by_its_place(
    cell: tuple[int, int, int], size: tuple[int, int, int], words: str
) -> None:
    assert cell_words(cell, size) == words


@pytest.mark.parametrize("size", [HOUSE, (4, 1, 3), (2, 2, 2), (5, 3, 1)])
def test_no_two_cells_have_the_same_name(size: tuple[int, int, int]) -> None:
    names = [cell_words(cell, size) for cell in product(*map(range, size))]
    assert len(set(names)) == len(names)


def test_the_menu_and_the_facts_name_places_and_say_what_became_of_blocks() -> None:
    world = game("construction", {"stone": 9}, blueprint="small_house")
    page: Any = get_page(world.kind)
    assert page.worded(seen(world, 0), ("remove", "1", "0", "0")) == (
        "Take away the block: bottom, back wall, block 2 from the left"
    )
    play(world, "place stone 0 0 0")
    facts = {fact.code: fact.text for fact in page.seen_panel(seen(world, 0)).shows.facts}
    assert facts["since"] == "Place stone: bottom, back left corner: you placed 1 stone"


def test_one_press_in_the_list_of_actions_removes_no_block() -> None:
    world = game("construction", {"stone": 9, "glass": 9}, blueprint="small_house")
    play(world, "place glass 0 0 0")
    page: Any = get_page(world.kind)
    menu = str(render_panel(page.menu(seen(world, 0))))
    labels = re.findall(r"(<label[^>]*>)<input[^>]*\[&#34;(\w+)&#34;", menu)
    asks = {verb: "data-ask" in label for label, verb in labels}
    assert asks["remove"] and not asks["place"]
