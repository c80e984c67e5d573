"""One press does what must follow an action, as far as the cook may know; a choice is left to the person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kitchen.contract.page_view import PlansView
from kitchen.worlds.collab_overcooked.following_actions import following_actions
from kitchen.worlds.collab_overcooked.macro_checks import spelled
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import command, game
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import view

SOUP, STEW, PATTY = (
    "baked_carrot_soup",
    "sliced_zucchini_and_chickpea_stew",
    "mashed_potato_and_pea_patty",
)


def follow(world: CollabOvercooked, seat: int, macro: str, *, plans: bool = True) -> str:
    seen = replace(view(world, seat, []), plans=PlansView(offered=plans))
    return spelled(following_actions(seen, command(macro)))


def kitchen(task: str, **settings: object) -> CollabOvercooked:
    return game(task, one_press=True, **settings)


@pytest.mark.parametrize(
    ("task", "inside", "macro", "then"),
    [
        (SOUP, [], "pickup carrot_slices counter", "put_obj_in_utensil oven0; bake oven0"),
        (SOUP, [], "pickup baked_carrot_slices oven0", "put_obj_in_utensil pot0; cook pot0"),
        (STEW, [], "pickup chickpea counter", "put_obj_in_utensil pot0"),
        (STEW, ["zucchini_slices"], "pickup chickpea counter", "put_obj_in_utensil pot0; cook pot0"),
        (STEW, ["egg"], "pickup chickpea counter", ""),
        (PATTY, [], "pickup boiled_potato_slices pot0", "place_obj_on_counter"),
        (STEW, [], "pickup dish counter", ""),
        ("boiled_egg", [], "pickup boiled_egg pot0", "deliver"),
    ],
)
def test_what_the_recipe_leaves_no_choice_in_follows(
    task: str, inside: list[str], macro: str, then: str
) -> None:
    world = kitchen(task)
    world.things.utensils["pot0"].contents = inside
    assert follow(world, 0, macro) == then


def test_the_order_is_filled_into_the_dish_and_delivered() -> None:
    world = kitchen(STEW)
    world.things.utensils["pot0"].contents, world.things.utensils["pot0"].ticks = (
        ["chickpea", "zucchini_slices"],
        1,
    )
    assert follow(world, 0, "pickup dish counter") == "fill_dish_with_food pot0; deliver"


def test_an_assistant_puts_down_what_it_has_made_and_cuts_what_it_has_put_on_the_board() -> None:
    world = kitchen(PATTY)
    assert follow(world, 1, "pickup potato ingredient_dispenser") == "", "whole or cut is a choice"
    assert follow(world, 1, "pickup dish dish_dispenser") == "place_obj_on_counter"
    assert follow(world, 1, "pickup potato_slices chopping_board0") == "place_obj_on_counter"
    assert follow(world, 1, "pickup boiled_potato_slices counter").endswith("stir blender0")
    world.hold[1] = "potato"
    assert follow(world, 1, "put_obj_in_utensil chopping_board0") == "cut chopping_board0"
    world.counters = ["egg" for _ in world.counters]
    assert follow(world, 1, "pickup dish dish_dispenser") == "", "no shared counter is free"


def test_nothing_follows_without_the_setting_without_plans_or_for_a_chef_without_the_recipe() -> None:
    assert follow(game(SOUP), 0, "pickup carrot_slices counter") == ""
    assert "one_press" not in game(SOUP).brief(0)
    assert follow(kitchen(SOUP), 0, "pickup carrot_slices counter", plans=False) == ""
    for taken in ("carrot_slices counter", "baked_carrot_slices oven0"):
        assert follow(kitchen(SOUP, knowledge="assistant"), 0, f"pickup {taken}") == ""


@pytest.mark.parametrize("task", tasks())
def test_what_follows_is_what_the_known_good_sequence_does(task: str) -> None:
    """A chef who has all things on the counters delivers with a third fewer presses."""
    world, presses, follows = kitchen(task, gamma=3.0), 0, list[str]()
    pair = references(task)[0]
    left, units = list(pair.chef), [macro for unit in pair.units for macro in unit]
    while not world.has_ended:
        turn = {}
        if world.doing[1] is None and units and world.allows(1, units[0]):
            turn[1] = units.pop(0)
        if world.doing[0] is None and left and world.allows(0, left[0]):
            if not follows:
                presses += 1
                follows = [one for one in follow(world, 0, " ".join(left[0])).split("; ") if one]
                assert follows == [" ".join(macro) for macro in left[1 : 1 + len(follows)]]
            else:
                follows.pop(0)
            turn[0] = left.pop(0)
        world.step(turn)
    assert world.delivered and presses <= 0.67 * len(pair.chef)
