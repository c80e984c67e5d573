"""The environments that the process which draws frames keeps."""

from __future__ import annotations

import pytest

from kitchen.contract.world_errors import WorldError
from kitchen.opened import frame_drawing
from kitchen.opened.frame_drawing import LIMITS, draw_frame, load_world, warm_up
from kitchen.registry.world_registry import WORLDS_VARIABLE, get_world
from tests.worlds.relay import LINE, Relay, made


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setattr(frame_drawing, "_kept", [])
    monkeypatch.setattr(frame_drawing, "MOST_KEPT", 3)


def test_a_long_game_leaves_the_environment_of_another_one_in_memory() -> None:
    long, other = (get_world("relay").create(seats=2, settings={"steps": 500}) for _ in range(2))
    other.reset(8)
    draw_frame("relay", other.to_dict())
    for _ in range(4):
        long.step({0: ("run",), 1: ("run",)})
        draw_frame("relay", long.to_dict())
    before = made["relay"]
    draw_frame("relay", other.to_dict())
    assert made["relay"] == before and len(frame_drawing._kept) == 2


def test_an_environment_that_cannot_draw_is_an_error_of_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    def render(self: Relay) -> None:
        raise MemoryError("no surface")

    monkeypatch.setattr(Relay, "render", render)
    world = get_world("relay").create(seats=2, settings={})
    with pytest.raises(WorldError, match=r"relay: MemoryError\('no surface'\)"):
        draw_frame("relay", world.to_dict())


def test_what_a_world_needs_is_loaded_once_before_its_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(frame_drawing, "_warmed", set())
    monkeypatch.setattr(frame_drawing._pool, "submit", lambda *call: asked.append(call))
    for kind in ("relay", "cuisine", "unknown", "relay"):
        warm_up(kind)
    assert asked == [(load_world, "relay")]
    before = made["relay"]
    load_world("relay")
    assert made["relay"] == before + 1
    assert LIMITS.nice == 0, "a busy machine would leave it behind the steps that it plays again"
