"""The order in which the planner's robots fetch ingredients."""

from __future__ import annotations

from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.planner.planner_state import read_book

SOUPS = get_world("cuisine").create(seats=2, settings={"level": "level_7"}).brief(0)


def test_what_most_soups_need_is_fetched_first() -> None:
    """A pot with onion and potato can still become either of two soups when the next order comes."""
    recipes = read_book(SOUPS).recipes
    assert recipes["onionPotatoLeekSoup"].parts == ("onion", "potato", "leek")
    assert recipes["onionPotatoCarrotSoup"].parts == ("onion", "potato", "carrot")
    assert recipes["onionBroccoliCheeseSoup"].parts[0] == "onion"


def test_frozen_prompts_keep_the_order_in_which_they_were_made() -> None:
    recipes = read_book(SOUPS, shared_first=False).recipes
    assert recipes["onionPotatoLeekSoup"].parts == ("leek", "onion", "potato")
