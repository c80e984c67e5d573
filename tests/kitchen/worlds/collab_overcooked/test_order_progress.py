"""The order panel shows progress to those who know the recipe, and to both cooks what they did together."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from kitchen.contract.team_messages import TeamMessage
from kitchen.worlds.collab_overcooked.order_progress import (
    RecipeStep,
    RecipeSteps,
    Together,
    handed_over,
    met_soon,
    order_panel,
    own_ideas,
)
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import command, execute, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view


def shown(world: CollabOvercooked, seat: int, asked: list[TeamMessage]) -> dict[str, object]:
    """The content of each part of the order panel."""
    return {part.id: part.shows for part in order_panel(view(world, seat, asked)).parts}


def steps(world: CollabOvercooked, seat: int) -> tuple[RecipeStep, ...]:
    """The steps of the recipe that this seat is shown."""
    return cast(RecipeSteps, shown(world, seat, [])["recipe-steps"]).steps


CUT_PUMPKIN = [
    command(text)
    for text in (
        "pickup pumpkin ingredient_dispenser",
        "put_obj_in_utensil chopping_board0",
        "cut chopping_board0",
        "wait 2",
        "pickup pumpkin_slices chopping_board0",
        "place_obj_on_counter",
    )
]


def test_steps_of_the_recipe_are_ticked_when_what_they_make_is_there_or_was_used() -> None:
    world = game("baked_pumpkin_soup", gamma=3.0)

    def ticks() -> list[bool]:
        return [step.is_done for step in steps(world, 0)]

    assert ticks() == [False] * 4
    play(world, 1, *map(" ".join, CUT_PUMPKIN))
    assert ticks() == [True, False, False, False]
    play(world, 0, "pickup pumpkin_slices counter", "put_obj_in_utensil oven0", "bake oven0", "wait 3")
    assert ticks() == [True, True, False, False], "the slices are gone into what was baked"


def test_a_wrong_delivery_ticks_nothing() -> None:
    world = game("baked_pumpkin_soup", gamma=3.0)
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    play(world, 0, "pickup egg counter", "put_obj_in_utensil pot0", "cook pot0", "wait 3")
    play(world, 0, "pickup boiled_egg pot0", "deliver")
    assert not world.delivered and not any(step.is_done for step in steps(world, 0))


@pytest.mark.parametrize("task", tasks())
def test_all_steps_are_ticked_when_the_dish_is_delivered(task: str) -> None:
    world, pair = game(task, gamma=3.0), references(task)[0]
    execute(world, (pair.chef, pair.assistant))
    assert steps(world, 0) and all(step.is_done for step in steps(world, 0))
    assert not steps(world, 1)


def test_both_cooks_see_the_same_of_what_was_handed_over_and_met_soon() -> None:
    world = game("baked_pumpkin_soup", gamma=3.0)
    asked = [request(1, 0, [macro for macro in CUT_PUMPKIN if macro[0] != "wait"])]
    play(world, 1, *map(" ".join, CUT_PUMPKIN))
    assert cast(Together, shown(world, 0, asked)["together"])[:2] == ((), 1), (
        "nobody has taken the slices yet"
    )
    play(world, 0, "pickup pumpkin_slices counter")
    slices = (1, "pumpkin_slices", "pumpkin slices", "", "")
    assert {cast(Together, shown(world, seat, asked)["together"]) for seat in (0, 1)} == {
        ((slices,), 1, 0, 0)
    }


def test_a_request_is_met_soon_once_and_only_within_its_time() -> None:
    world, players = game("boiled_egg", gamma=3.0), list[dict[str, object]]()
    bring = [command("pickup egg ingredient_dispenser"), command("place_obj_on_counter")]
    play(world, 0, "wait 5")
    play(world, 1, *map(" ".join, bring))
    players = world.observe(0)["players"]

    def met(*steps: int) -> int:
        asked: list[TeamMessage] = [request(number, 0, bring, step) for number, step in enumerate(steps, 1)]
        return met_soon(asked, players)

    assert (met(6), met(6, 6), met(1), met(20)) == (1, 1, 0, 0)


def test_a_thing_is_handed_over_when_the_other_cook_takes_it_from_a_shared_counter() -> None:
    world, put = game("boiled_egg", gamma=9.0), "place_obj_on_counter"
    egg, again = "pickup egg ingredient_dispenser", "pickup egg counter"

    def handed() -> list[tuple[int, str]]:
        return [(one.seat, one.thing) for one in handed_over(world.observe(0)["players"], world.layout)]

    play(world, 1, egg, put, again, put, again, put)
    assert handed() == [], "put down three times, taken by nobody else"
    play(world, 0, again)
    assert handed() == [(1, "egg")]
    play(world, 1, *(["pickup potato ingredient_dispenser", put] * 3), egg, put, again, put)
    play(world, 0, put)
    assert handed() == [(1, "egg")], "the shared counters are full: each egg lies on a counter of one room"
    play(world, 0, again, put, again)
    assert handed() == [(1, "egg")], "the own egg is nearer than what the other has"


def test_what_was_filled_into_a_dish_is_handed_over_in_it() -> None:
    world, pair = game("baked_pumpkin_soup", gamma=9.0), references("baked_pumpkin_soup")[0]
    chef, assistant = (
        [macro for macro in one if macro != ("deliver",)] for one in (pair.chef, pair.assistant)
    )
    put = ("place_obj_on_counter",)
    left = [[*chef, put], list(assistant)]
    while any(left) or world.doing != [None, None]:
        ready = [seat for seat in (0, 1) if left[seat] and world.doing[seat] is None]
        world.step({seat: left[seat].pop(0) for seat in ready if world.allows(seat, left[seat][0])})
    play(world, 1, "pickup baked_pumpkin_soup counter")
    given = handed_over(world.observe(0)["players"], world.layout)[-1]
    assert given[:3] == (0, "baked_pumpkin_soup_in_dish", "baked pumpkin soup in a dish")


def test_what_the_assistant_hands_over_unasked_is_an_own_idea() -> None:
    world = game("boiled_egg")
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    asked = {
        food: request(1, 0, [command(f"pickup {food} ingredient_dispenser")]) for food in ("egg", "corn")
    }
    assert own_ideas((asked["corn"],), world.observe(1)["players"], world.layout) == 0, (
        "the chef has not taken it yet"
    )
    play(world, 0, "pickup egg counter")
    players = world.observe(1)["players"]
    assert [own_ideas(said, players, world.layout) for said in ((), (asked["egg"],), (asked["corn"],))] == [
        0,
        0,
        1,
    ]
    later = {food: replace(said, step=world.clock + 1) for food, said in asked.items()}
    assert own_ideas((later["corn"],), players, world.layout) == 0, (
        "a first request makes no star of what is over"
    )
    assert own_ideas((asked["corn"], later["egg"]), players, world.layout) == 1, "nor is it taken away again"
    tip = replace(later["egg"], data={**later["egg"].data, "tip": True})
    assert own_ideas((asked["corn"], tip), players, world.layout) == 0, "but by a tip"
    assert own_ideas((asked["corn"], tip, tip), players, world.layout) == 0
