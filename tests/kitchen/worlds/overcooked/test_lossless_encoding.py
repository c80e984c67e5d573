"""The grids' encoding equals Overcooked-AI's own, in 63 states that the release has encoded
(`tests/kitchen/data/overcooked_encoding.jsonl.gz`)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kitchen.worlds.overcooked.lossless_encoding import LOSSLESS_ENCODING
from kitchen.worlds.overcooked.world import Overcooked

RECORDED = Path("tests/kitchen/data/overcooked_encoding.jsonl.gz")
STATES = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def recorded_array(shape: list[int], layers: dict[str, list[list[int]]]) -> np.ndarray:
    array = np.zeros(shape, np.uint8)
    for layer, cells in layers.items():
        for x, y, value in cells:
            array[x, y, int(layer)] = value
    return array


@pytest.mark.parametrize("recorded", STATES, ids=lambda recorded: recorded["id"])
def test_both_seats_get_the_released_layers(recorded: Any) -> None:
    world = Overcooked.from_dict(recorded["state"])
    for seat in range(2):
        brief = world.brief(seat)
        assert LOSSLESS_ENCODING.shape(brief) == tuple(recorded["shape"])
        found = LOSSLESS_ENCODING.encode(brief, world.observe(seat), seat)
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, recorded_array(recorded["shape"], recorded["layers"][seat]))


def test_everything_is_urgent_when_fewer_than_forty_ticks_are_left() -> None:
    world = Overcooked.create(seats=2, settings={"layout": "cramped_room", "ticks": 42})
    brief = world.brief(0)
    urgent = []
    for _ in range(4):
        urgent.append(int(LOSSLESS_ENCODING.encode(brief, world.observe(0), 0)[..., 25].sum()))
        world.step({0: ("stay",), 1: ("stay",)})
    assert urgent == [0, 0, 0, 20]


def test_the_mask_has_one_entry_per_released_action() -> None:
    world = Overcooked.create(seats=2, settings={"layout": "cramped_room"})
    mask = LOSSLESS_ENCODING.mask(world.brief(0), world.legal_actions(0))
    assert mask.tolist() == [1, 1, 1, 1, 1, 0]
