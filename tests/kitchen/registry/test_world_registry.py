"""What every registered world's kit names exists."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from kitchen.contract.organisation import ORGANISATION_KINDS
from kitchen.contract.team_schedules import SCHEDULES
from kitchen.registry import world_registry
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import (
    OPEN_WORLDS,
    WORLDS_VARIABLE,
    get_encoding,
    get_encodings,
    get_kit,
    get_world,
    known_worlds,
    reward_metric,
)
from tests.worlds.vault.kit import LINE


@pytest.mark.parametrize("world", [*known_worlds(), "vault"])
def test_a_kit_names_only_organisations_and_schedules_that_exist(
    world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    kit = get_kit(world)
    assert set(kit.organisations) <= ORGANISATION_KINDS.keys()
    assert set(kit.schedules) <= SCHEDULES.keys()


def test_every_world_has_the_json_encoding_and_the_grids_have_their_own_first() -> None:
    assert list(get_encodings("overcooked")) == ["overcooked.lossless_26/1", "json/1"]
    assert "json/1" in get_encodings("cuisine")
    assert get_encoding("overcooked").name == get_encoding("overcooked", "lossless_26").name
    assert get_encoding("overcooked", "json/1").name == "json/1"
    with pytest.raises(UnknownNameError, match="is not one of json/1, overcooked"):
        get_encoding("overcooked", "lossless_20")


def test_the_reward_is_the_kits_metric_or_the_first_one() -> None:
    assert reward_metric("overcooked") == "points"
    assert reward_metric("blocks_crafting") == get_world("blocks_crafting").figures[0].name


def test_worlds_of_optional_packages_are_listed_only_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_registry, "find_spec", lambda name: None if name == "pygame" else True)
    world_registry._known_worlds.cache_clear()
    try:
        assert not known_worlds().keys() & OPEN_WORLDS.keys()
        with pytest.raises(
            UnknownNameError,
            match="pettingzoo_pong: this world needs packages that the command make open installs",
        ):
            get_world("pettingzoo_pong")
    finally:
        world_registry._known_worlds.cache_clear()


def test_an_installed_package_adds_worlds_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("relay", "tests.worlds.relay:KIT", "brigade.worlds")
    monkeypatch.setattr(world_registry, "_installed_worlds", lambda: {added.name: added.value})
    world_registry._known_worlds.cache_clear()
    try:
        assert get_world("relay").kind == "relay" and world_registry.added_worlds() == {"relay": added.value}
    finally:
        world_registry._known_worlds.cache_clear()
