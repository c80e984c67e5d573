"""The greatest amount that the menu of blocks offers is one that can be collected or is held."""

from __future__ import annotations

import re
from typing import Any

from kitchen.contract.page import Panel
from kitchen.pages.default_page import CommandChoice
from kitchen.worlds.blocks.macro_rule import MOST_AMOUNT
from kitchen.worlds.blocks.page import PAGES
from tests.kitchen.worlds.blocks.games import game, play
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.test_pages import whole


def most_offered(world: Any, words: str) -> int | None:
    """What *Most* or *All in sight* enters beside a command of the first seat's menu."""
    value = str(words.split()).replace("'", '"').replace(" ", "")
    (choice,) = (one for one in choices(PAGES[world.kind].menu(seen(world, 0))) if one.value == value)
    return choice.useful


def choices(panel: Panel) -> list[CommandChoice]:
    own = [panel.shows] if isinstance(panel.shows, CommandChoice) else []
    return [*own, *(choice for part in panel.parts for choice in choices(part))]


def test_as_much_is_offered_to_collect_as_is_in_sight() -> None:
    farm = game("cooking")
    assert most_offered(farm, "collect wheat 1") == 36
    play(farm, "collect wheat 5")
    assert most_offered(farm, "collect wheat 1") == 31
    valley = game("gather", {"stone_pickaxe": 1})
    assert most_offered(valley, "collect oak_log 1") == 364
    assert most_offered(valley, "collect iron_ore 1") == 168
    valley.at[0] = (38, 0, 0)
    assert most_offered(valley, "collect oak_log 1") == valley.grid.count("oak_log", (38, 0, 0), 64) < 364


def test_all_that_is_offered_can_be_collected() -> None:
    world = game("cooking")
    amount = most_offered(world, "collect pumpkin 1")
    assert play(world, f"collect pumpkin {amount}", steps=200)[-1] == (0, "done", amount)
    assert world.nearest_block(0, "pumpkin") is None


def test_more_than_was_in_sight_at_first_can_be_collected() -> None:
    world = game("gather", {"stone_pickaxe": 1}, task="100_logs")
    world.at[0] = (38, 0, 0)
    in_sight = most_offered(world, "collect oak_log 1")
    world.step({0: ("collect", "oak_log", "999")})
    while in_sight is not None and world.inventories[0].get("oak_log", 0) <= in_sight and not world.has_ended:
        world.step({0: ("go_on",)})
    assert world.inventories[0]["oak_log"] > (in_sight or 0) == 80


def test_what_is_held_is_offered_to_give_and_what_can_be_paid_to_make() -> None:
    world = game("crafting", {"oak_log": 7, "allium": 3})
    assert most_offered(world, "give 1 oak_log 1") == most_offered(world, "discard oak_log 1") == 7
    assert most_offered(world, "craft oak_planks 1") == 7
    assert most_offered(world, "craft magenta_dye 1") == 3


def test_no_number_field_of_a_page_leads_to_an_amount_that_nobody_can_have() -> None:
    for world in (game("cooking"), game("gather", {"stone_pickaxe": 1})):
        page = whole(PAGES[world.kind], seen(world, 0))
        fields = re.findall(r'<input [^>]*type="number"[^>]*>', page)
        offered = [int(re.findall(r'(?:data-most|max)="(\d+)"', field)[-1]) for field in fields]
        assert len(offered) > 2 and max(offered) < MOST_AMOUNT
