"""What each cook can be asked to do, in every task the same, and how it gets there."""

from __future__ import annotations

import pytest

from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN
from kitchen.pages.default_page import DefaultPage
from kitchen.registry.world_registry import get_page
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, CHEF
from tests.kitchen.worlds.collab_overcooked.games import game, play
from tests.kitchen.worlds.pursuit import achieve, status_of_pursuit

SOUP = "baked_potato_soup"


def test_a_soup_is_delivered_by_one_job_after_another() -> None:
    world = game(SOUP, gamma=10.0)
    achieve(world, ASSISTANT, "bring", "potato_slices")
    achieve(world, CHEF, "put_in", "potato_slices", "oven0")
    achieve(world, CHEF, "bake", "oven0")
    achieve(world, ASSISTANT, "bring", "dish")
    achieve(world, CHEF, "put_in", "baked_potato_slices", "pot0")
    achieve(world, CHEF, "cook", "pot0")
    achieve(world, CHEF, "serve", "pot0")
    assert world.delivered


def test_an_order_without_a_dish_is_served_from_its_utensil() -> None:
    world = game("boiled_egg", gamma=10.0)
    achieve(world, ASSISTANT, "bring", "egg")
    achieve(world, CHEF, "put_in", "egg", "pot0")
    achieve(world, CHEF, "cook", "pot0")
    achieve(world, CHEF, "serve", "pot0")
    assert world.delivered


def test_a_product_is_made_on_the_way_and_what_is_in_the_way_is_put_down() -> None:
    world = game(SOUP, gamma=10.0)
    achieve(world, ASSISTANT, "put_in", "onion", "chopping_board0")
    achieve(world, ASSISTANT, "cut", "chopping_board0")
    play(world, ASSISTANT, "pickup carrot ingredient_dispenser")
    achieve(world, ASSISTANT, "bring", "potato_slices")
    lying = {each["thing"] for each in world.observe(CHEF)["counters"]}
    assert lying == {"carrot", "onion_slices", "potato_slices"}


def test_what_is_brought_is_held_until_a_shared_counter_is_free() -> None:
    world = game(SOUP, gamma=10.0)
    for thing in ("egg", "onion", "carrot"):
        achieve(world, ASSISTANT, "bring", thing)
    with pytest.raises(AssertionError, match="not reached"):
        achieve(world, ASSISTANT, "bring", "dish")
    assert world.hold == [None, "dish"]
    play(world, CHEF, "pickup egg counter")
    achieve(world, ASSISTANT, "bring", "dish")


def test_what_nobody_can_make_now_fails_and_what_may_be_brought_waits() -> None:
    world = game(SOUP)
    assert status_of_pursuit(world, ASSISTANT, "bring", "mashed_potato") == FAIL
    assert status_of_pursuit(world, CHEF, "put_in", "baked_potato_slices", "pot0") == FAIL
    assert status_of_pursuit(world, CHEF, "put_in", "egg", "pot0") == UNKNOWN
    assert status_of_pursuit(world, CHEF, "serve", "pot0") == UNKNOWN
    achieve(world, ASSISTANT, "put_in", "potato", "chopping_board0")
    assert status_of_pursuit(world, CHEF, "put_in", "potato_slices", "oven0") == UNKNOWN
    achieve(world, ASSISTANT, "cut", "chopping_board0")
    assert status_of_pursuit(world, ASSISTANT, "cut", "chopping_board0") == SUCCESS


def test_no_aim_tells_what_the_order_needs() -> None:
    listed = {(tuple(world.aims(CHEF)), tuple(world.aims(ASSISTANT))) for world in map(game, tasks())}
    assert len(listed) == 1
    world, page = game(SOUP), get_page("collab_overcooked")
    assert isinstance(page, DefaultPage) and "recipe" not in world.public_brief()
    texts = [page.aimed(world.public_brief(), aim) for seat in (CHEF, ASSISTANT) for aim in world.aims(seat)]
    assert len(set(texts)) == len(texts) and not [text for text in texts if "_" in text or "{" in text]
    assert page.aimed({}, ("put_in", "potato", "chopping_board0")) == "Put potato onto the chopping board"


@pytest.mark.parametrize("aim", [("bring", "moon"), ("bring",), ("serve", "blender0"), ("cut", "pot0"), ()])
def test_what_is_no_aim_of_the_cook_cannot_be_pursued(aim: tuple[str, ...]) -> None:
    assert status_of_pursuit(game(SOUP), CHEF, *aim) == FAIL
