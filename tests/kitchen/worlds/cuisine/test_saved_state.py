"""States of CuisineWorld that are stored and read again, damaged ones among them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kitchen.contract.world_errors import StateError
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import LEVELS, kitchen, wander


def stored(steps: int = 25) -> dict[str, Any]:
    world = kitchen("level_9", seats=2, seed=5, alpha=1.0)
    wander(world, steps)
    return world.to_dict()


@pytest.mark.parametrize("level", LEVELS)
def test_a_state_comes_back_equal_and_draws_the_same_orders(level: str) -> None:
    world = kitchen(level, seats=3, seed=2, alpha=1.0)
    while not world.over:
        again = CuisineWorld.from_dict(json.loads(json.dumps(world.to_dict())))
        assert again.to_dict() == world.to_dict()
        wander(world, 7)
        wander(again, 7)
        assert again.state_hash() == world.state_hash()


def test_a_state_is_small() -> None:
    assert len(json.dumps(stored())) < 2_500


def spoil(path: str, value: object) -> dict[str, Any]:
    state = copy.deepcopy(stored())
    *way, last = path.split(".")
    part: Any = state
    for key in way:
        part = part[int(key) if isinstance(part, list) else key]
    part[int(last) if isinstance(part, list) else last] = value
    return state


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("clock", -1),
        ("clock", 61),
        ("clock", True),
        ("clock", 1.0),
        ("clock", 1),
        ("seats", 0),
        ("seats", 3),
        ("seats", "2"),
        ("kind", "chess"),
        ("version", 2),
        ("version", None),
        ("settings", []),
        ("settings", {"level": "level_99"}),
        ("settings.alpha", -1),
        ("agents", {}),
        ("agents.0", None),
        ("agents.0.at", "pot9"),
        ("agents.0.at", None),
        ("agents.0.holds", "stone"),
        ("agents.0.busy", 4),
        ("agents.0.busy", 1),
        ("places", []),
        ("places.pan0", {}),
        ("places.pan0.items", "beef"),
        ("places.pan0.items", ["stone"]),
        ("places.pan0.items", [["beef"]]),
        ("places.pan0.busy", 9),
        ("places.pan0", {"items": [], "busy": 0, "done": True}),
        ("places.chopboard0.items", ["tomato", "lettuce"]),
        ("places.storage0.items", ["tomato"]),
        ("places.pan7", {"items": [], "busy": 0, "done": False}),
        ("orders.seed", None),
        ("orders.seed", 6),
        ("orders.draws", 0),
        ("orders.draws", 10**9),
        ("orders.standing", [["rice", 1]]),
        ("orders.standing", [["Hopper", 999]]),
        ("orders.standing", [[]]),
        ("orders.standing", None),
        ("orders.completed", ["Hopper"]),
        ("orders.failed", [None]),
        ("more", 1),
    ],
)
def test_a_damaged_state_is_refused(path: str, value: object) -> None:
    with pytest.raises(StateError):
        CuisineWorld.from_dict(spoil(path, value))


@pytest.mark.parametrize("whole", [None, [], "state", 3, {}])
def test_anything_but_a_state_is_refused(whole: object) -> None:
    with pytest.raises(StateError):
        CuisineWorld.from_dict(whole)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", sorted(stored()))
def test_a_missing_part_is_refused(key: str) -> None:
    state = stored()
    del state[key]
    with pytest.raises(StateError, match=key):
        CuisineWorld.from_dict(state)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "pot0", "pan0", "chopboard0", "beef", "Hopper", "level_12", "noop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)
paths = st.sampled_from(
    [
        "clock",
        "seats",
        "kind",
        "version",
        "settings",
        "settings.level",
        "settings.alpha",
        "settings.max_steps",
        "settings.level_seed",
        "agents",
        "agents.0",
        "agents.0.at",
        "agents.1.holds",
        "agents.1.busy",
        "places",
        "places.pan0",
        "places.pan0.items",
        "places.servingtable0.items",
        "places.chopboard1.done",
        "places.mixer0.busy",
        "orders",
        "orders.seed",
        "orders.draws",
        "orders.standing",
        "orders.standing.0",
        "orders.standing.0.1",
        "orders.completed",
        "orders.failed",
    ]
)


@settings(max_examples=300, deadline=None)
@given(path=paths, value=values)
def test_whatever_is_read_is_refused_or_can_be_played(path: str, value: object) -> None:
    try:
        world = CuisineWorld.from_dict(spoil(path, value))
    except StateError:
        return
    again = CuisineWorld.from_dict(world.to_dict())
    assert again.state_hash() == world.state_hash()
    wander(world, 70)
    assert world.over == (world.clock >= world.length)
