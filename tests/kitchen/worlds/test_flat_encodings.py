"""The worlds' vectors have the length that they promise, and every possible command is in their lists."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kitchen.contract.encoding import possible_commands
from kitchen.contract.flat_encoding import FlatEncoding
from kitchen.registry.world_registry import get_encoding, get_world
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.nightly import nightly

LEVELS = next([code for code, _ in each.choices] for each in CuisineWorld.settings if each.name == "level")
CUISINE = [("cuisine", seats, {"level": level}) for level in LEVELS for seats in (2, 4)]
OTHERS: list[tuple[str, int, dict[str, Any]]] = [
    ("collab_overcooked", 2, {"task": "taro_bean_and_bell_pepper_patty", "knowledge": "both"}),
    ("blocks_construction", 3, {"by_block": True}),
    ("blocks_crafting", 4, {"task": "craft_4_02_polished_granite"}),
    ("blocks_gather", 2, {"task": "shelter"}),
    ("blocks_cooking", 2, {"hells_kitchen": True}),
]


@pytest.mark.filterwarnings("ignore:.*no tool for frenchFries")
@pytest.mark.parametrize(
    ("kind", "seats", "settings"), [CUISINE[6], CUISINE[-1], *OTHERS, *nightly(*CUISINE)]
)
def test_random_play_meets_no_command_outside_the_list(
    kind: str, seats: int, settings: dict[str, Any]
) -> None:
    world, chance, encoding = (
        get_world(kind).create(seats=seats, settings=settings),
        Random(1),
        get_encoding(kind),
    )
    assert isinstance(encoding, FlatEncoding)
    world.reset(1)
    briefs = [world.brief(seat) for seat in range(seats)]
    numbers = encoding.command_numbers(briefs[0])
    assert [*numbers] == [*encoding.commands(briefs[0], ())]
    while not world.has_ended and world.clock < 60:
        turn = {}
        for seat, brief in enumerate(briefs):
            possible = possible_commands(world, seat)
            array = encoding.encode(brief, world.observe(seat), seat)
            assert array.shape == encoding.shape(brief)
            assert 0 <= array.min() <= array.max() <= encoding.largest
            assert encoding.mask(brief, possible).sum() == len(possible)
            turn[seat] = chance.choice(possible)
        world.step(turn)


@pytest.mark.parametrize(("seats", "length"), [(2, 365), (4, 447)])
def test_level_3_has_281_commands_and_the_promised_length(seats: int, length: int) -> None:
    brief = CuisineWorld.create(seats=seats, settings={"level": "level_3"}).brief(0)
    encoding = get_encoding("cuisine")
    assert (encoding.name, encoding.action_count(brief)) == ("cuisine.flat/1", 281)
    assert encoding.shape(brief) == (length,)
    assert encoding.commands(brief, ())[0] == ("noop",)


def test_the_vector_of_the_kitchen_begins_with_the_seat_itself() -> None:
    world = CuisineWorld.create(seats=2, settings={"level": "level_3"})
    world.reset(1)
    world.step({0: ("goto", "storage0"), 1: ("noop",)})
    brief, encoding = world.brief(0), get_encoding("cuisine")
    seen = [encoding.encode(brief, world.observe(seat), seat) for seat in range(2)]
    other = len(brief["locations"]) + 32 + 1
    assert [seat[:8].argmax() for seat in seen] == [0, 1]
    assert [seat[other : other + 8].argmax() for seat in seen] == [1, 0]


@pytest.mark.parametrize(
    ("kind", "length", "actions"),
    [("collab_overcooked", 2238, 184), ("blocks_crafting", 3140, 5155)],
)
def test_lengths_stay_as_they_are_until_the_version_changes(kind: str, length: int, actions: int) -> None:
    brief = get_world(kind).create(seats=2, settings={}).brief(0)
    assert get_encoding(kind).shape(brief) == (length,)
    assert get_encoding(kind).action_count(brief) == actions
