"""Both SDKs against a server on loopback: every way in which a call can end."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kitchen.contract.data_limits import MAX_DEPTH
from kitchen.contract.language_model import (
    ConnectionLostError,
    Message,
    ModelError,
    RateLimitedError,
    Tool,
    Usage,
)
from kitchen.infra.event_loop import run_in_loop
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.sdk_calls import MAX_RAW_CHARACTERS, json_object, retry_after
from tests.kitchen.llm.conftest import KEY, Asking, request
from tests.stand_in_server import Answer, StandInServer, reply, status


def test_what_a_model_wrote_is_held_to_as_many_levels_as_anything_else() -> None:
    inner: Any = []
    for _ in range(MAX_DEPTH - 3):
        inner = [inner]
    assert json_object({"a": inner}) == json_object(json.dumps({"a": inner})) == {"a": inner}
    assert json_object({"a": [inner]}) is json_object(json.dumps({"a": [inner]})) is None


def test_an_answer_has_text_model_stop_and_usage(asking: Asking) -> None:
    call, _ = asking.ask(reply("noop_agent1", usage={"input": 7, "output": 3, "cache_read": 90}))
    assert call.reply is not None
    assert call.reply.text == "noop_agent1"
    assert call.reply.model.startswith(asking.name)
    assert call.reply.stop
    assert call.reply.usage == Usage(input=7, output=3, cache_read=90)
    assert not call.error


@pytest.mark.parametrize(("told", "kept"), [(2, 2), (9, 3)])
def test_tokens_of_thinking_are_a_part_of_those_written(asking: Asking, told: int, kept: int) -> None:
    call, _ = asking.ask(reply("noop_agent1", usage={"input": 7, "output": 3, "thinking": told}))
    assert call.usage == Usage(input=7, output=3, thinking=kept)


def test_what_a_model_thought_is_kept_apart_from_what_it_said(asking: Asking) -> None:
    call, _ = asking.ask(reply("noop_agent1", thought=f"First goto_agent1_pot0? {KEY} No."))
    assert call.reply is not None
    assert call.reply.reasoning == "First goto_agent1_pot0? (key) No."
    assert call.reply.text == "noop_agent1"


@pytest.mark.parametrize("answer", [reply("noop_agent1"), status(401), Answer("empty")], ids=lambda a: a.kind)
def test_the_servers_name_of_a_request_and_all_that_was_sent_are_kept(asking: Asking, answer: Answer) -> None:
    asking.serve(replace(answer, request_id="req_7"))
    question = replace(request(asking.name), tool=TOOL, max_tokens=99)
    call = asyncio.run(
        ask_and_record(provider_registry.make_decision_model(asking.model.provider, rng=Random(1)), question)
    )
    (attempt,) = call.attempts
    assert attempt.request_id == "req_7"
    assert (call.parameters["model"], call.parameters["max_tokens"]) == (asking.name, 99)
    told = json.dumps(call.parameters)
    assert all(text not in told for text in ("Cook.", "agent1?", TOOL.description, "commands"))


def test_a_server_that_names_no_request_is_known_by_its_answers_own_id(asking: Asking) -> None:
    call, _ = asking.ask(reply("noop_agent1", request_id=""))
    assert call.reply is not None and call.reply.request_id in {"msg_scripted", "chatcmpl-scripted"}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (status(400), "4xx"),
        (status(401), "4xx"),
        (status(404), "4xx"),
        (status(429), "429"),
        (status(500), "5xx"),
        (status(503), "5xx"),
        (status(529), "529"),
        (Answer("cut", text="noop_agent1"), "connection"),
        (Answer("hang_up"), "connection"),
        (Answer("malformed", text="noop_agent1"), "unreadable"),
        (Answer("empty"), "unreadable"),
        (reply("  \n"), "unreadable"),
        (Answer("raw", body=None), "unreadable"),
        (Answer("raw", body=[]), "unreadable"),
        (Answer("raw", body={"content": "x", "choices": "x"}), "unreadable"),
        (Answer("raw", body={"content": [1, {}], "choices": [3]}), "unreadable"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.kind} {value.status}",
)
def test_every_end_without_an_answer_is_named(asking: Asking, answer: Answer, code: str) -> None:
    call, server = asking.ask(answer)
    assert call.error == code
    assert call.reply is None
    assert call.error_text and "\n" not in call.error_text
    assert len(server.asked) == 1  # the SDK itself does not try again


@pytest.mark.parametrize("answer", [Answer("dribble"), reply("late", delay=30)], ids=["dribble", "slow"])
def test_a_server_that_takes_for_ever_is_left_in_time(asking: Asking, answer: Answer) -> None:
    asking.ask(reply("at once"), answer)
    model_request = request(asking.name, seconds=0.6)
    began = time.monotonic()
    call = asyncio.run(ask_and_record(asking.model, model_request))
    assert call.error == "timeout"
    assert 0.5 < time.monotonic() - began < 15


def test_what_other_threads_wait_for_does_not_shorten_a_call(asking: Asking) -> None:
    asking.serve(reply("slow", delay=0.8))
    with ThreadPoolExecutor(2) as pool:
        long = pool.submit(run_in_loop, ask_and_record(asking.model, request(asking.name, seconds=20)))
        short = pool.submit(run_in_loop, ask_and_record(asking.model, request(asking.name, seconds=0.2)))
        assert short.result().error == "timeout"
        assert not long.result().error


def test_a_server_that_is_not_there_was_not_billed(asking: Asking) -> None:
    asking.serve(reply("x")).__exit__()
    with pytest.raises(ConnectionLostError) as caught:
        asyncio.run(asking.model.ask(request(asking.name)))
    assert caught.value.usage == Usage()


def test_a_connection_that_broke_may_have_been_billed(asking: Asking) -> None:
    asking.serve(Answer("cut", text="noop_agent1"))
    with pytest.raises(ConnectionLostError) as caught:
        asyncio.run(asking.model.ask(request(asking.name)))
    assert caught.value.usage is None


@pytest.mark.parametrize(
    ("asked", "seconds"), [("7", 7), ("0.5", 0.5), ("", None), ("soon", None), ("-3", 0)], ids=str
)
def test_the_server_may_ask_to_wait(asking: Asking, asked: str, seconds: float | None) -> None:
    asking.serve(status(429, retry_after=asked))
    with pytest.raises(RateLimitedError) as caught:
        asyncio.run(asking.model.ask(request(asking.name)))
    assert caught.value.retry_after == seconds


def test_a_date_to_wait_for_is_understood() -> None:
    assert retry_after({"retry-after": "Sat, 21 Nov 2020 08:00:00 GMT"}) == 0
    assert retry_after({"retry-after-ms": "250"}) == 0.25


TOOL = Tool("command", "One command for each agent.", {"type": "object", "required": ["commands"]})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I would rather say goto_agent1_pot0.", None),
        ('{"commands": ["noop_agent1"]}', {"commands": ["noop_agent1"]}),
        ('So:\n```json\n{"commands": []}\n```', {"commands": []}),
        ('{"commands": [', None),
        ('Nothing of it: {"x": 1}', None),
        ("{" * 100_000 + "}", None),
    ],
)
def test_words_in_the_place_of_a_tool_call_are_an_answer(
    asking: Asking, text: str, found: dict[str, Any] | None
) -> None:
    asking.serve(reply(text))
    call = asyncio.run(ask_and_record(asking.model, replace(request(asking.name), tool=TOOL)))
    assert call.reply is not None and not call.error
    assert (call.reply.text, call.reply.call) == (text, found)


@pytest.mark.parametrize("answer", [Answer("empty"), Answer("malformed", text=KEY), reply(" \n")], ids=str)
def test_what_cannot_be_read_is_kept_as_it_came_without_the_key(asking: Asking, answer: Answer) -> None:
    call, _ = asking.ask(answer)
    assert call.error == "unreadable"
    assert call.raw.startswith("{") and asking.name in call.raw
    assert KEY not in call.raw


def test_what_was_counted_for_an_unreadable_answer_is_kept(asking: Asking) -> None:
    call, _ = asking.ask(Answer("empty", usage={"input": 7, "output": 3, "cache_read": 90}))
    assert call.usage == Usage(input=7, output=3, cache_read=90)
    call, _ = asking.ask(reply("noop_agent1"))
    assert call.usage == Usage(input=100, output=20)


def test_an_answer_cut_off_at_max_tokens_is_one_if_text_came(asking: Asking) -> None:
    call, _ = asking.ask(reply("goto_agent1_po", stop="max_tokens"))
    assert call.reply is not None
    assert call.reply.stop == "max_tokens"


def test_the_key_is_in_no_error_and_in_nothing_that_is_kept(
    asking: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    call, server = asking.ask(status(401, message=f"invalid key\n{KEY}"))
    assert call.error_text == "401: invalid key (key)"
    assert KEY not in repr(call) + repr(server.asked) + caplog.text + repr(asking.model)


def test_an_error_holds_no_request_with_its_headers(asking: Asking) -> None:
    asking.serve(status(500))
    with pytest.raises(ModelError) as caught:
        asyncio.run(asking.model.ask(request(asking.name)))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_key_that_is_none_is_refused_without_showing_it(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking.serve(reply("x"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sécret word")
    call = asyncio.run(ask_and_record(asking.model, request(asking.name)))
    assert call.error == "not_asked"
    assert "cret" not in call.error_text


# What a server may send


@pytest.mark.parametrize("packed", ["", "gzip"])
def test_an_answer_without_end_is_left_after_some_mebibytes(asking: Asking, packed: str) -> None:
    call, _ = asking.ask(Answer("flood", text=packed), seconds=60)
    assert (call.error, call.reply, call.raw) == ("too_long", None, "")


def test_an_answer_of_more_characters_than_any_needs_is_stored_in_part_and_says_so(asking: Asking) -> None:
    call, _ = asking.ask(reply("goto_agent1_pot0 " * 20_000))
    assert call.error == "too_long" and call.usage.output == 20
    assert len(call.raw) < MAX_RAW_CHARACTERS + 60
    assert call.raw.endswith("more characters were not stored]")


@pytest.mark.parametrize("lone", ["\ud83d", "\udc00"])
def test_half_a_letter_reaches_neither_the_reply_nor_the_next_request(asking: Asking, lone: str) -> None:
    asking.serve(reply(f"no{lone}op_agent1", thought=f"h{lone}m", call={"plan": f"a{lone}b", "commands": []}))
    for tool in (None, TOOL):
        call = asyncio.run(ask_and_record(asking.model, replace(request(asking.name), tool=tool)))
        assert call.reply is not None
        json.dumps([call.reply.text, call.reply.reasoning, call.reply.call], ensure_ascii=False).encode()
    spoilt = replace(request(asking.name), messages=[Message("user", f"agent1{lone}?")])
    assert asyncio.run(ask_and_record(asking.model, spoilt)).error == ""


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (reply("I cannot help.", stop="refusal"), "refusal"),
        (reply("I cannot help.", stop="content_filter"), "refusal"),
        (reply(" ", stop="max_tokens"), "truncated"),
        (reply("", stop="length"), "truncated"),
        (reply("", stop="model_context_window_exceeded"), "context"),
        (status(400, message="This model's maximum context length is 8192 tokens."), "context"),
        (status(400, message="prompt is too long: 250000 tokens > 200000 maximum"), "context"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.stop or str(value.status),
)
def test_refusals_cut_answers_and_full_contexts_have_codes_of_their_own(
    asking: Asking, answer: Answer, code: str
) -> None:
    assert asking.ask(answer)[0].error == code


def test_a_redirect_to_another_host_is_refused_and_costs_nothing(asking: Asking) -> None:
    with StandInServer([reply("noop_agent1")]) as other:
        leads_away = other.url.replace("127.0.0.1", "localhost")
        call, _ = asking.ask(Answer("redirect", text=leads_away))
        assert (call.error, call.usage, other.asked) == ("4xx", Usage(), [])
        assert "the server sends the request on to http://localhost" in call.error_text


@pytest.mark.parametrize("sends", [b"\x15\x03\x01\x00\x02\x02\x16", b""], ids=["an alert", "nothing"])
def test_a_port_that_does_not_speak_the_protocol_of_the_address_costs_nothing(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, sends: bytes
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(sends)

        threading.Thread(target=answer, daemon=True).start()
        address = f"{'http' if sends else 'https'}://127.0.0.1:{server.getsockname()[1]}"
        for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
            monkeypatch.setenv(name, address)
            monkeypatch.setenv(name.replace("BASE_URL", "API_KEY"), KEY)
        with pytest.raises(ConnectionLostError) as caught:
            asyncio.run(asking.model.ask(request(asking.name)))
    assert caught.value.usage == Usage()
