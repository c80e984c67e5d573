"""The grids' encoding equals Overcooked-AI's own, in 63 states that the release has encoded
(`tests/kitchen/data/overcooked_encoding.jsonl.gz`)."""

from __future__ import annotations

import gzip
import json
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from kitchen.contract.encoding import possible_commands
from kitchen.management.commands.check_encoding import OWN_ARRAYS
from kitchen.worlds.overcooked.lossless_encoding import LOSSLESS_ENCODING
from kitchen.worlds.overcooked.world import Overcooked

FIRST = json.loads(gzip.decompress(OWN_ARRAYS.read_bytes()).splitlines()[0])


def test_both_seats_get_the_released_layers_in_63_states() -> None:
    out = StringIO()
    call_command("check_encoding", stdout=out)
    assert out.getvalue() == "126 of 126 arrays agree\n"


def test_a_held_back_file_is_compared_and_the_first_difference_of_each_array_is_said(tmp_path: Path) -> None:
    held = tmp_path / "held.jsonl"
    layers = [{**FIRST["layers"][0], "23": [[0, 2, 1], [2, 1, 2]]}, FIRST["layers"][1]]
    other = {**FIRST, "id": "small", "shape": [4, 5, 26], "layers": [{}, {}]}
    held.write_text(f"{json.dumps({**FIRST, 'layers': layers})}\n{json.dumps(other)}\n")
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("check_encoding", str(held), stdout=out)
    assert ended.value.code == 1
    assert out.getvalue().splitlines() == [
        f"{FIRST['id']}: seat 0: layer 23 at [2, 1] is 1, recorded is 2",
        "small: seat 0: the shape is [5, 4, 26], recorded is [4, 5, 26]",
        "small: seat 1: the shape is [5, 4, 26], recorded is [4, 5, 26]",
        "1 of 4 arrays agree",
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"layers": [{}]}, "layers: 1 seats, and the state has 2"),
        ({"layers": [{"26": [[0, 0, 1]]}, {}]}, r"layers: \[0, 0, 26\] is not inside"),
        ({"layers": [{"1": [[-1, 0, 1]]}, {}]}, "-1 is no whole number from 0"),
        ({"encoding": "lossless_20"}, "'lossless_20' is not one of"),
        ({"state": {}}, "stored state"),
        ({"world": "nowhere"}, "'nowhere' is not one of"),
    ],
    ids=["seats", "layer", "cell", "encoding", "state", "world"],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({**FIRST, **changed}))
    with pytest.raises(CommandError, match=words) as raised:
        call_command("check_encoding", str(bad))
    assert raised.value.returncode == 2
    assert str(raised.value).startswith(f"{bad}: line 1: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("layout", ["counter_circuit_tomato", "forced_coordination"])
def test_layers_and_masks_from_the_state_equal_those_from_the_observation(layout: str) -> None:
    settings = {"layout": layout, "cooking": "interact", "ticks": 130, "start": "drawn"}
    world, chance = Overcooked.create(seats=2, settings=settings), Random(5)
    world.reset(5)
    briefs = {seat: world.brief(seat) for seat in range(2)}
    array = np.zeros((2, *LOSSLESS_ENCODING.shape(briefs[0])), np.uint8)
    while not world.over:
        LOSSLESS_ENCODING.encode_seats(world, briefs, array)
        for seat, brief in briefs.items():
            seen = LOSSLESS_ENCODING.encode(brief, world.observe(seat), seat)
            np.testing.assert_array_equal(array[seat], seen)
            mask = LOSSLESS_ENCODING.mask(brief, possible_commands(world, seat))
            assert LOSSLESS_ENCODING.choices(world, brief, seat)[1].tolist() == mask.tolist()
        world.step({seat: chance.choice([*world.legal_actions(seat), ("interact",)]) for seat in range(2)})


def test_everything_is_urgent_when_fewer_than_forty_ticks_are_left() -> None:
    world = Overcooked.create(seats=2, settings={"layout": "cramped_room", "ticks": 42})
    brief = world.brief(0)
    urgent = []
    for _ in range(4):
        urgent.append(int(LOSSLESS_ENCODING.encode(brief, world.observe(0), 0)[..., 25].sum()))
        world.step({0: ("stay",), 1: ("stay",)})
    assert urgent == [0, 0, 0, 20]
