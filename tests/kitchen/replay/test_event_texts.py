"""Events of a step as texts for staff: no value is printed as Python does."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.play.models import Step
from kitchen.replay.episode_record import other_events


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            {"kind": "done", "seat": 1, "macro": ["place", "stone"], "n": 3},
            "seat 1: done macro place stone, n 3",
        ),
        ({"kind": "spawn", "seat": None, "at": [[1, 2], [3, 4]]}, "spawn at 1 2 and 3 4"),
        ({"kind": "cut_off", "seat": None}, "cut off"),
        ({"kind": "held", "seat": 0, "m": {"a": 1, "b": [2, 3]}}, "seat 0: held m a 1 and b 2 3"),
        ({"kind": "message", "seat": 0, "to": []}, "seat 0: message to none"),
        (
            {"kind": "end", "seat": None, "won": True, "by": None, "late": False},
            "end won yes, by none, late no",
        ),
        ({"kind": "reward", "seat": 1, "reward": 1 / 3}, "seat 1: reward 0.333"),
        ({"kind": "paid", "seat": None, "n": 0, "items": [{"egg": 1}, {}]}, "paid n 0, items egg 1 and none"),
    ],
)
def test_an_event_is_told_in_words(event: dict[str, Any], text: str) -> None:
    refused = {"kind": "refused", "seat": 0, "reasons": ["full"]}
    assert other_events(Step(events=[refused, event])) == (text,)
