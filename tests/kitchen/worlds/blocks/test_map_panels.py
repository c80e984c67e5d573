"""The map: what is sent of the blocks, which commands a thing offers, and what a seat may not see."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from kitchen.contract.page_view import DRAWING_TABLES, SeatView, StepView
from kitchen.contract.world import Command
from kitchen.play.live.render_page import Screen
from kitchen.registry.world_registry import get_page
from kitchen.worlds.blocks.block_grid import CHUNK
from kitchen.worlds.blocks.map_panels import command_spots, map_panels
from tests.kitchen.worlds.blocks.games import game, play
from tests.kitchen.worlds.cuisine.test_page import seen


def shown(view: SeatView, name: str) -> Any:
    """What a panel of the map says."""
    (panel,) = (one for one in map_panels(view) if one.id == name)
    return json.loads(panel.shows[0])


def cells(chunks: dict[str, dict[str, list[int]]], low: int = 0) -> dict[tuple[int, int, int], str]:
    """The blocks of chunks by their cell, as the page's script reads them."""
    found = {}
    for place, kinds in chunks.items():
        east, south = map(int, place.split(","))
        for kind, runs in kinds.items():
            for first, length in zip(runs[::2], runs[1::2], strict=True):
                for number in range(first, first + length):
                    x, z = number % CHUNK, number // CHUNK % CHUNK
                    cell = (east * CHUNK + x, low + number // CHUNK**2, south * CHUNK + z)
                    assert cell not in found
                    found[cell] = kind
    return found


def test_the_picture_has_the_blocks_around_a_seat_as_they_are_now() -> None:
    world = game("gather")
    world.at = [(-24, 0, 0), (0, 0, 0)]
    world.grid.put((-24, 3, 0), "air")
    world.grid.put((-25, 2, 7), "stone")
    found = cells(world.picture(0)["chunks"])
    near = {
        cell: kind
        for cell, kind in {**world.start.blocks, (-24, 3, 0): "air", (-25, 2, 7): "stone"}.items()
        if kind != "air" and -5 <= cell[0] // CHUNK <= -1 and -2 <= cell[2] // CHUNK <= 2
    }
    assert found == near and len(found) > 100
    world.grid.put((-25, 2, 7), "air")
    assert (-25, 2, 7) not in cells(world.picture(0)["chunks"])


def test_a_change_sends_its_chunk_alone_however_many_blocks_there_are() -> None:
    world = game("construction", {"stone": 9}, blueprint="small_house")
    for number in range(20_000):
        world.grid.put((-16 + number % 40, number // 1600, number // 40 % 40 - 16), "stone")
    page, screen = get_page(world.kind), Screen()
    whole = screen.fragments(page, seen(world, 0))
    world.grid.put((20, 4, 20), "glass")
    change = screen.fragments(page, seen(world, 0))
    assert change.count('id="chunk-') == 1 and 'id="chunk-2_2"' in change and len(change) < 6000
    assert len(whole) < 80_000, "runs of blocks, not cells"


def test_a_thing_offers_the_commands_that_are_about_it() -> None:
    view = seen(game("cooking", {"potato": 1, "stick": 1}), 0)
    spots = {tuple(command): command_spots(command, view) for command in view.choice.legal}
    assert spots[("collect", "wheat", "1")] == spots[("goto", "wheat")] == "wheat"
    assert spots[("attack", "pig")] == "pig" and spots[("give", "1", "stick", "1")] == "seat-1"
    assert spots[("smelt", "potato", "1")] == "furnace" and spots[("stay", "1")] == "you"
    there = {spot["spot"] for spot in shown(view, "map-now")["spots"]}
    assert {spot for each in spots.values() for spot in each.split()} <= there
    site = seen(game("construction", {"stone": 9}, blueprint="small_house"), 0)
    assert command_spots(("place", "stone", "1", "0", "2"), site) == "site cell-1_0_2"
    assert command_spots(("craft", "stick", "1"), site) == "you", "no workbench is near"
    kitchen = seen(game("kitchen"), 0)
    assert {command_spots(one, kitchen) for one in kitchen.choice.legal} >= {"furnace", "oak_log", "you"}


def test_what_a_builder_stands_on_is_offered_where_one_clicks_the_builder() -> None:
    world = game("kitchen")
    world.step({0: ("goto", "oak_log")})
    view = seen(world, 0)
    assert command_spots(("mineBlock", "oak_log"), view) == "oak_log you"
    assert command_spots(("goto", "chest"), view) == "chest"


def test_only_what_a_seat_may_know_is_on_its_map() -> None:
    world = game(
        "construction", {"stone": 9}, {"glass": 3}, blueprint="small_house", blueprint_blocked="others"
    )
    assert shown(seen(world, 0), "map-ground")["blueprint"]["levels"]
    assert {**shown(seen(world, 1), "map-ground"), "words": {}} == {
        "area": world.picture(1)["area"],
        "box": [[0, 0, 0], [6, 5, 5]],
        "blueprint": None,
        "by_block": False,
        "names": {},
        "words": {},
    }
    now = shown(seen(world, 1), "map-now")
    assert now["level"] is None and now["left"] is None and now["placeable"] == [["glass", "glass"]]
    assert [spot["holds"] for spot in now["spots"] if "seat" in spot] == [[], ["glass"]]


def test_the_seat_walks_and_what_it_took_is_gone() -> None:
    world = game("cooking")
    play(world, "collect wheat 1")
    now = shown(seen(world, 0), "map-now")
    (own,) = (spot for spot in now["spots"] if spot["spot"] == "you")
    assert own["at"] == now["at"] == [-14, 0, -14] and own["holds"] == ["apple", "gold_ingot", "wheat"]
    there = cells(world.picture(0)["chunks"])
    assert (-17, 0, -17) not in there and there[-18, 0, -17] == "wheat"


def test_the_page_is_told_who_placed_a_block_where_this_is_known_and_of_no_block_of_a_level() -> None:
    def placed(turn: dict[int, Command], **settings: Any) -> Any:
        world = game("construction", {"stone": 9}, {"glass": 9}, own_blueprint=TWO_LEVELS, **settings)
        past: tuple[StepView, ...] = ()
        for number in range(1, 4):
            events = world.step(turn if number == 1 else {})
            past = (StepView(number, {}, tuple(each for each in events if world.visible(0, each))), *past)
        assert (0, 0, 0) in cells(world.picture(0)["chunks"])
        return shown(seen(world, 0, past), "map-now")["placed"]

    stone, glass = ("place", "stone", "0", "0", "0"), ("place", "glass", "0", "1", "0")
    assert placed({0: stone, 1: glass}, by_block=True) == [[1, 0, 0, 0, 0], [1, 1, 0, 1, 0]]
    assert placed({0: stone, 1: glass}) == [[1, 0, 0, 0, 0]], "what the other one does is not seen"
    assert placed({0: ("build", "0")}) == []


TWO_LEVELS = 'legend = { s = "stone", g = "glass" }\nlevels = [["s"], ["g"]]'


def test_a_page_in_tables_has_no_map() -> None:
    view = replace(seen(game("cooking"), 0), shown=DRAWING_TABLES, picture={})
    sent = Screen().fragments(get_page("blocks_cooking"), view)
    assert "map-now" not in sent and "data-places" not in sent and "Near you" in sent


def test_who_watches_sees_the_map_through_a_seat_and_is_offered_nothing() -> None:
    world = game("kitchen")
    view = replace(seen(world, 0), seat=2, acts=False, looks_on=True)
    assert shown(view, "map-now")["you"] == -1
    assert {"seat-0", "seat-1"} < {spot["spot"] for spot in shown(view, "map-now")["spots"]}
    assert "menu" not in {panel.id for panel in get_page(world.kind).overview(view)}
