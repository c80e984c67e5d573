"""A large map is hashed and compared by what was changed of it."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kitchen.contract.canonical_json import canonical_json
from kitchen.contract.large_map import EMPTY_MAP, LargeMap, _differing
from kitchen.contract.world import World
from tests.worlds.boulders import DIG, Boulders

KEYS = some.text(max_size=3) | some.sampled_from([f"{n},0" for n in range(9)])
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-2, 2) | some.floats(0, 1) | some.text(max_size=2),
    lambda part: some.lists(part, max_size=2) | some.dictionaries(some.text(max_size=2), part, max_size=2),
    max_leaves=4,
)
MAPS = some.dictionaries(KEYS, VALUES)


def root_of(content: dict[str, Any]) -> str:
    """Of a map that is made with this content at once, as another process reads it."""
    return LargeMap(json.loads(json.dumps(content))).freeze().root


@given(MAPS, some.lists(some.tuples(KEYS, some.none() | VALUES, some.booleans())))
def test_changes_lead_to_the_same_root_as_the_same_content_made_at_once(
    content: dict[str, Any], writes: list[tuple[str, Any, bool]]
) -> None:
    changed, followed = LargeMap(content), LargeMap(content)
    for key, value, freezes in writes:
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = value
        if freezes and (changes := changed.freeze().changes_since(followed.freeze())):
            followed.apply(changes)
            assert followed.freeze().root == changed.freeze().root
    assert changed.freeze().root == root_of(changed)


@given(MAPS, MAPS)
def test_changes_are_exact_even_between_unrelated_maps(before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = LargeMap(before).freeze(), LargeMap(after).freeze()
    changes, written = new.changes_since(old), {key: canonical_json(value) for key, value in before.items()}
    fresh = {key: value for key, value in after.items() if written.get(key) != canonical_json(value)}
    gone = sorted(before.keys() - after.keys())
    assert (changes is None) == (not fresh and not gone) == (old.root == new.root)
    if changes:
        assert (changes.changed, changes.removed) == (canonical_json(fresh), canonical_json(gone))


@given(MAPS)
def test_all_of_it_is_the_canonical_json_and_comes_back_with_its_root(content: dict[str, Any]) -> None:
    frozen = LargeMap(content).freeze()
    assert frozen.whole().changed == canonical_json(content)
    assert (frozen.thaw(), frozen.thaw().freeze()) == (content, frozen)


WRITES: dict[str, Callable[[Any], object]] = {
    "set": lambda held: held.__setitem__("a", 2),
    "delete": lambda held: held.__delitem__("a"),
    "update": lambda held: held.update({"a": 2}, b=3),
    "update from pairs": lambda held: held.update([("a", 2)]),
    "join": lambda held: held.__ior__({"a": 2}),
    "pop": lambda held: held.pop("a"),
    "pop nothing": lambda held: held.pop("z", None),
    "pop some": lambda held: held.popitem(),
    "set a default": lambda held: held.setdefault("z", 2),
    "find a default": lambda held: held.setdefault("a", 2),
    "clear": lambda held: held.clear(),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_write_method_works_as_in_a_dict_and_is_tracked(name: str) -> None:
    held, plain = LargeMap({"a": 1, "b": 1}), {"a": 1, "b": 1}
    held.freeze()
    assert (WRITES[name](held), held) == (WRITES[name](plain), plain)
    assert held.freeze().root == root_of(plain)


def test_every_method_of_a_dict_that_writes_is_among_them() -> None:
    reads = {"copy", "fromkeys", "get", "items", "keys", "values"}
    methods = {name for name in vars(dict) if not name.startswith("__")} - reads
    assert methods | {"__setitem__", "__delitem__", "__ior__"} <= vars(LargeMap).keys()


def test_a_value_that_python_calls_equal_and_json_does_not_is_another_value() -> None:
    held = LargeMap({"a": 1})
    before = held.freeze()
    held["a"] = True
    changes = held.freeze().changes_since(before)
    assert changes is not None and changes.changed == '{"a":true}'


def test_a_mutated_value_that_is_rewritten_is_tracked() -> None:
    held = LargeMap({"a": [1]})
    held.freeze()
    held["a"].append(2)
    held["a"] = held["a"]
    assert held.freeze().root == root_of({"a": [1, 2]})


def test_a_frozen_map_stays_and_shares_equal_parts() -> None:
    held = LargeMap({f"{n}": n for n in range(5000)})
    before = held.freeze()
    held["7"] = "changed"
    ((old, new),) = _differing(before._groups, held.freeze()._groups)
    assert (old.entries["7"], new.entries["7"]) == ('"7":7', '"7":"changed"')
    assert before.thaw()["7"] == 7
    held["7"] = 7
    assert held.freeze().changes_since(before) is None


def pickled(held: LargeMap) -> Any:
    return pickle.loads(pickle.dumps(held))  # noqa: S301 - our own


@pytest.mark.parametrize("made", [LargeMap, copy.copy, copy.deepcopy, pickled])
def test_a_copy_is_independent(made: Callable[[LargeMap], LargeMap]) -> None:
    held = LargeMap({"a": 1})
    held.freeze()
    held["b"] = 2
    other = made(held)
    assert type(other) is LargeMap and other.freeze().root == held.freeze().root
    other["a"] = 3
    assert held["a"] == 1 and held.freeze().root == root_of({"a": 1, "b": 2})


def test_a_key_that_is_no_text_and_a_value_that_is_no_json_are_refused() -> None:
    number: Any = 1
    with pytest.raises(TypeError, match="1 is no text"):
        LargeMap({number: "a"}).freeze()
    with pytest.raises(ValueError, match="not JSON compliant"):
        LargeMap({"a": float("nan")}).freeze()


def test_roots_that_are_stored_hold_for_ever() -> None:
    held = LargeMap({"0,1": {"kind": "stone"}, "é\x00": None, "\ud800": [1.5, True]})
    assert held.freeze().root == "d2c4c0b5945522a6a4e8f214cbb71e3e0827a523c8588c1913564e3e66d4df11"
    assert EMPTY_MAP.root == "6d0ca32f79628bcd9431d063545da018734988dc49333f0e540ade7d5944eeab"


def test_the_hash_of_a_world_is_that_of_its_small_state_with_the_roots() -> None:
    world = boulders()
    for _ in range(5):
        world.step({0: DIG})
        whole = json.loads(json.dumps(world.to_dict()))
        assert json.loads(world.state_text()) == {**whole, "blocks": root_of(whole["blocks"])}
        assert type(world).from_dict(whole).state_hash() == world.state_hash()


def test_a_frozen_state_restores_its_world() -> None:
    world = boulders()
    before, text = world.frozen_state(), world.state_text()
    world.step({0: DIG})
    restored = Boulders.from_dict(before.to_dict())
    assert (restored.state_text(), restored.clock) == (text, 0)
    restored.step({0: DIG})
    assert restored.state_hash() == world.state_hash()


def boulders() -> World:
    world = Boulders.create(seats=1, settings={})
    world.reset(1)
    return world
