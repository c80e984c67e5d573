"""Requests that the page suggests are for what is still to do, and the planner understands them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils import translation

from kitchen.contract.page_view import SeatView, TalkView
from kitchen.contract.team_messages import TeamMessage
from kitchen.worlds.blocks.suggested_requests import PATIENCE, ordered_cells, suggested_requests
from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.cuisine.test_page import seen

ROOM = """legend = { s = "stone", p = "oak_planks" }
levels = [["sss", "sss", "sss"], ["ppp", "p.p", "p.p"], ["ppp", "p.p", "ppp"]]"""


def room(**held: int) -> Any:
    return game("construction", held, own_blueprint=ROOM, blueprint_blocked="others")


def view_of(world: Any, *texts: str, step: int = 0) -> SeatView:
    messages = tuple(TeamMessage(n, 1, 0, (1,), "say", text) for n, text in enumerate(texts, 1))
    talk = TalkView(0, {0: "You", 1: "Robot 2"}, (1,), messages=messages)
    return replace(seen(world, 0), talk=talk, step=step)


def test_what_was_asked_for_is_not_suggested_again_until_it_is_taken_back_or_takes_too_long() -> None:
    world = room(stone=9)
    first = "Oak planks on level 2, row 1, columns 1 to 3"
    assert suggested_requests(view_of(world))[0] == first
    second = "Oak planks on level 2, rows 2 to 3, column 1"
    assert suggested_requests(view_of(world, first))[0] == second
    assert first not in suggested_requests(view_of(world, first, second))
    assert suggested_requests(view_of(world, first, "Never mind"))[0] == first
    assert suggested_requests(view_of(world, first, step=PATIENCE + 20))[0] == first


def test_what_stands_on_a_higher_level_is_not_suggested() -> None:
    world = room(stone=9)
    world.put_block((0, 1, 0), "oak_planks")
    assert not any("level 2" in text for text in suggested_requests(view_of(world)))


@pytest.mark.parametrize("language", ["en", "es", "zh-hans"])
def test_a_whole_level_and_its_edge_are_one_request_that_the_planner_understands(language: str) -> None:
    world = room()
    world.put_block((0, 1, 0), "oak_planks")
    with translation.override(language):
        floor, walls = suggested_requests(view_of(world))
        assert ordered_cells(view_of(world, floor)) == {(x, 0, z) for x in range(3) for z in range(3)}
        edge = {(x, 2, z) for x in range(3) for z in range(3)} - {(1, 2, 1)}
        assert ordered_cells(view_of(world, walls)) == edge
    if language == "en":
        assert (floor, walls) == ("Stone on level 1", "Oak planks all around level 3")
