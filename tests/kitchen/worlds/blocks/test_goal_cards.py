"""Cards above the map show what is wanted, and a screen reader hears the own action once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.page_view import DRAWING_ONLY, StepView
from kitchen.registry.world_registry import get_page
from kitchen.worlds.blocks.goal_cards import goal_cards
from tests.kitchen.worlds.blocks.games import FAMILIES, game
from tests.kitchen.worlds.cuisine.test_page import seen


@pytest.mark.parametrize("family", FAMILIES)
def test_every_world_shows_what_is_wanted_at_the_start(family: str) -> None:
    world = game(family)
    cards = list(goal_cards(seen(world, 0)))
    assert all(card.amount > 0 and card.name for card in cards)
    shows: dict[str, Any] = {
        panel.id: panel.shows
        for panel in get_page(world.kind).panels(replace(seen(world, 0), shown=DRAWING_ONLY))
    }
    assert shows["goals"] == (tuple(cards),)
    assert bool(cards) != bool(shows["progress"].lacking), "either cards, or what the building lacks"


def test_an_order_becomes_urgent() -> None:
    kitchen = game("kitchen")
    (order,) = goal_cards(seen(kitchen, 0))
    assert order.note == "7 steps left" and not order.is_urgent
    for _ in range(4):
        kitchen.step({})
    assert next(goal_cards(seen(kitchen, 0))).is_urgent


def spoken(world: Any, *commands: tuple[str, ...]) -> str:
    """What a screen reader hears after the last of these steps."""
    steps: list[StepView] = []
    for number, command in enumerate(commands):
        events = tuple(world.step({0: command}))
        steps.insert(0, StepView(number=number + 1, commands={0: command}, events=events))
    panel = get_page(world.kind).spoken(seen(world, 0, tuple(steps)))  # type: ignore[attr-defined]
    return str(panel.shows.text)


def test_a_screen_reader_hears_the_own_action_once() -> None:
    assert spoken(game("kitchen"), ("goto", "chicken"), ("killMob", "chicken")) == "You: Hunt: chicken"
    placed = spoken(game("construction", blueprint="small_house"), ("place", "stone", "0", "0", "0"))
    assert placed.startswith("You: Place stone: bottom, back left corner") and placed.count("You") == 1
    assert spoken(game("kitchen"), ("goto", "chicken"), ("go_on",)) == ""
