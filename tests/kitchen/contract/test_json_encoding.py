"""The encoding for every world holds the JSON text as bytes, and possible commands as actions."""

from __future__ import annotations

import json

import pytest

from kitchen.contract.encoding import EncodingError
from kitchen.contract.json_encoding import JSON_ENCODING, MAX_BYTES, MAX_COMMANDS


def test_the_text_can_be_read_back() -> None:
    array = JSON_ENCODING.encode({}, {"b": [1, None], "a": "é"}, 0)
    assert array.shape == (MAX_BYTES,)
    assert json.loads(bytes(array).rstrip(b"\0")) == {"a": "é", "b": [1, None]}


def test_a_long_observation_is_refused_by_its_size() -> None:
    with pytest.raises(EncodingError, match=rf"json/1: .* {MAX_BYTES + 1} bytes"):
        JSON_ENCODING.encode({}, {"a": "x" * (MAX_BYTES + 1 - len('{"a":""}'))}, 0)


def test_actions_are_the_possible_commands() -> None:
    possible = [("noop",), ("go", "north")]
    assert JSON_ENCODING.commands({}, possible) == possible
    assert JSON_ENCODING.mask({}, possible).tolist() == [1, 1] + [0] * (MAX_COMMANDS - 2)
    with pytest.raises(EncodingError, match="65 commands"):
        JSON_ENCODING.commands({}, [("go", str(number)) for number in range(MAX_COMMANDS + 1)])
