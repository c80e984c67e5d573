"""What the websocket takes, and what it refuses in words."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kitchen.contract.probes import MAX_ITEMS, MAX_PROBES
from kitchen.play.live.seat_consumer import SeatConsumer
from kitchen.play.turn.websocket_messages import (
    CLIENT_MESSAGES,
    CommandMessage,
    MessageError,
    ProbeMessage,
    SyncMessage,
    read_message,
)


def test_a_command_comes_as_a_list_or_as_a_form_sends_it() -> None:
    expected = CommandMessage(4, ("get", "storage0", "rice"))
    as_list = {"type": "command", "step": 4, "command": ["get", "storage0", "rice"]}
    as_form = {"type": "command", "step": "4", "command": '["get", "storage0", "rice"]', "HEADERS": {}}
    assert read_message(json.dumps(as_list)) == read_message(json.dumps(as_form)) == expected


def test_a_form_with_an_answer_to_every_probe_is_read_whole() -> None:
    fields = {f"p{probe}.q{item}": "3" for probe in range(MAX_PROBES) for item in range(MAX_ITEMS)}
    read = read_message(json.dumps({"type": "probe", "step": "4", **fields, "HEADERS": {}}))
    answers = {f"p{probe}": {f"q{item}": "3" for item in range(MAX_ITEMS)} for probe in range(MAX_PROBES)}
    assert read == ProbeMessage(4, answers)


@pytest.mark.parametrize("aim", ["{", "serve rice", ["serve", 1], 5])
def test_a_job_that_cannot_be_read_is_refused_as_a_job(aim: object) -> None:
    with pytest.raises(MessageError, match=r"That job could not be read\."):
        read_message(
            json.dumps({"type": "say", "kind": "inform", "aim": aim, "text": "", "after": 0, "to": 1})
        )


def test_a_page_may_ask_for_the_present_state() -> None:
    assert read_message('{"type": "sync"}') == SyncMessage()


COMMAND = {"step": 1, "command": ["noop"], "way": "screen", "view": "tables", "state": "on", "value": 7}


def test_every_type_of_message_names_itself_and_its_handler() -> None:
    assert {kind: message.read(COMMAND).type for kind, message in CLIENT_MESSAGES.items()} == {
        kind: kind for kind in CLIENT_MESSAGES
    }
    handlers = {name.removeprefix("on_") for name in vars(SeatConsumer) if name.startswith("on_")}
    assert handlers == {*CLIENT_MESSAGES, "notice"}  # what cannot be read is answered by a notice


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[]",
        "{",
        "x" * 9000,
        "[" * 5000,
        '{"type": "cheat"}',
        '{"type": ["sync"]}',
        '{"type": "disconnect"}',
        '{"type": "command"}',
        '{"type": "scene"}',
        '{"type": "sound", "state": true}',
        '{"type": "sound", "state": "off"}',
        '{"type": "scene", "way": "dream"}',
        '{"type": "view", "view": "both"}',
        '{"type": "view", "view": ["tables"]}',
        '{"type": "scene", "way": ["screen"]}',
        '{"type": "command", "step": true, "command": ["noop"]}',
        '{"type": "command", "step": 0, "command": ["noop"]}',
        '{"type": "command", "step": 1e99, "command": ["noop"]}',
        '{"type": "command", "step": "1"}',
        '{"type": "command", "step": 1, "command": []}',
        '{"type": "command", "step": 1, "command": ["a", 1]}',
        '{"type": "command", "step": 1, "command": "noop"}',
        '{"type": "command", "step": 1, "command": ["a\\u0000"]}',
        json.dumps({"type": "command", "step": 1, "command": ["x"] * 17}),
        json.dumps({"type": "command", "step": 1, "command": ["x" * 2001]}),
    ],
)
def test_anything_else_is_refused_in_words(text: str | None) -> None:
    with pytest.raises(MessageError, match=r"\w+"):
        read_message(text)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(MessageError):
        read_message(text)
