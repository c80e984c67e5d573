"""Images of past steps, which worlds draw again from the log of an episode."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.replay.frame_replay import frame_of_file_after
from tests.worlds.relay import LINE


def test_the_image_of_a_file_is_drawn_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    episode = SimpleNamespace(world="relay", world_version=1, settings={"steps": 4}, seed=3)
    rows = [SimpleNamespace(commands=[{"seat": 0, "command": ["run"]}])] * 2
    record: Any = SimpleNamespace(episode=episode, seats=[SimpleNamespace(acts=True)] * 2, steps=rows)
    start, later = frame_of_file_after(record, 0), frame_of_file_after(record, 2)
    assert start and later and start.startswith(b"RIFF") and start != later
    episode.world_version = 2
    assert frame_of_file_after(record, 0) is None, "another version is not drawn"
