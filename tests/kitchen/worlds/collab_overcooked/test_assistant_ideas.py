"""An assistant who is not asked for anything is offered what the order's name says, and not the recipe."""

from __future__ import annotations

from typing import cast

import pytest

from kitchen.contract.team_messages import TeamMessage
from kitchen.worlds.collab_overcooked.assistant_ideas import Ideas, ideas_panel
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import bring_raw
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view

STEW = "sliced_zucchini_and_chickpea_stew"


def offered(world: CollabOvercooked, seat: int = 1, said: tuple[TeamMessage, ...] = ()) -> list[str]:
    shows = cast(Ideas, ideas_panel(view(world, seat, list(said))).shows)
    return [one.name for one in shows.ideas]


def test_what_the_name_of_the_order_says_is_offered_whole_and_cut() -> None:
    assert offered(game(STEW)) == ["Bring zucchini", "Cut zucchini", "Bring chickpea", "Bring dish"]
    assert offered(game(STEW), seat=0) == []
    assert offered(game(STEW, typed=True)) == []


@pytest.mark.parametrize("task", tasks())
def test_the_offer_follows_from_the_name_and_not_from_the_recipe(task: str) -> None:
    found = offered(game(task))
    for food in tasks()[task].ingredients:
        assert f"Bring {food.replace('_', ' ')}" in found
    assert ("Bring dish" in found) == tasks()[task].needs_dish


def test_what_is_asked_for_or_there_is_not_offered() -> None:
    world = game(STEW)
    assert offered(world, said=(request(1, 0, list(bring_raw("chickpea"))),)) == [
        "Bring zucchini",
        "Cut zucchini",
        "Bring dish",
    ]
    play(world, 1, "pickup zucchini ingredient_dispenser", "put_obj_in_utensil chopping_board0")
    assert offered(world) == ["Bring chickpea", "Bring dish"]
