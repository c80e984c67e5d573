"""In each world of blocks, no two entries of the menu share a key."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kitchen.contract.page import Panel
from kitchen.pages.default_page import CommandChoice, CommandList
from kitchen.worlds.blocks.kitchen_world import ACTIONS
from kitchen.worlds.blocks.macro_world import MACROS
from kitchen.worlds.blocks.page import PAGES
from tests.kitchen.worlds.blocks.games import FAMILIES, game
from tests.kitchen.worlds.cuisine.test_page import seen

THINGS = {"crafting_table": 1, "oak_log": 9, "oak_planks": 9, "stone": 9, "potato": 2, "coal": 1}
"""Enough to make, cook, give, place and throw away something."""
GIVEN: dict[str, dict[str, Any]] = {
    "crafting": {},
    "cooking": {},
    "construction": {"blueprint": "shelter"},
    "gather": {"task": "shelter"},
    "kitchen": {},
}


def menu_keys(panel: Panel) -> Iterator[str]:
    """The keys of a menu: one of each group, and one of each command outside of them."""
    if isinstance(panel.shows, CommandList):
        yield from (group.key for group in panel.shows.groups if group.key)
    if isinstance(panel.shows, CommandChoice) and panel.shows.key:
        yield panel.shows.key
    for part in panel.parts:
        yield from menu_keys(part)


def played(family: str) -> Iterator[Any]:
    """A game in each of 60 steps: at the start, while macros are in progress, and between them."""
    chance = Random(1)
    world = game(family, *([] if family == "kitchen" else [THINGS, THINGS]), **GIVEN[family])
    for _ in range(60):
        yield world
        turn = {seat: chance.choice(world.legal_actions(seat)) for seat in range(world.seats)}
        world.step({seat: command for seat, command in turn.items() if command[0] != "stay"})


@pytest.mark.parametrize("family", FAMILIES)
def test_no_two_entries_of_a_menu_share_a_key(family: str) -> None:
    longest = 0
    for world in played(family):
        page = PAGES[world.kind]
        for seat in range(world.seats):
            keys = list(menu_keys(page.menu(seen(world, seat))))
            assert len(keys) == len(set(keys)) > 0, keys
            longest = max(longest, len(keys))
    assert longest >= 5


@pytest.mark.parametrize("verbs", [(*MACROS, "stop", "go_on"), (*ACTIONS, "go_on")])
def test_all_verbs_of_a_world_have_different_keys(verbs: tuple[str, ...]) -> None:
    keys = [PAGES["blocks_gather"].keys[verb] for verb in verbs if verb != "goto_at"]
    assert len(set(keys)) == len(keys)
