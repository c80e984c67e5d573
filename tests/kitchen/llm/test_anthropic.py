"""What is sent to Claude: cache, system prompt, tools, temperature, thinking."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.language_model import Call, Message, Request, Tool, UnreadableReplyError, Usage
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.anthropic import CLAUDE_MODELS, Anthropic, claude_traits
from tests.kitchen.llm.conftest import Serve, request
from tests.stand_in_server import Answer, Asked, reply

NOOP = reply("noop_agent1")
TOOL = Tool("command", "One command for each agent.", {"type": "object", "properties": {}})


def ask(serve: Serve, question: Request, answer: Answer = NOOP) -> tuple[Call, Asked]:
    server = serve(answer)
    call = asyncio.run(ask_and_record(Anthropic(), question))
    return call, server.asked[0]


def body(serve: Serve, question: Request) -> dict[str, Any]:
    return ask(serve, question)[1].body


def test_the_last_fixed_message_ends_what_is_cached(anthropic_server: Serve) -> None:
    messages = [
        Message("system", "Recipes.", fixed=True),
        Message("user", "Example.", fixed=True),
        Message("assistant", "noop_agent1"),
        Message("user", "State."),
    ]
    sent = body(anthropic_server, replace(request(), messages=messages))
    assert sent["system"] == [{"type": "text", "text": "Recipes."}]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    marked = [block.get("cache_control") for message in sent["messages"] for block in message["content"]]
    assert marked == [{"type": "ephemeral"}, None, None]


def test_an_older_model_gets_its_temperature_by_the_older_api_version(anthropic_server: Serve) -> None:
    question = replace(request("claude-haiku-4-5"), temperature=0.1)
    _, asked = ask(anthropic_server, question)
    assert asked.body["temperature"] == 0.1
    assert asked.headers["anthropic-version"] == "2023-06-01"


def test_no_temperature_is_sent_where_none_is_given(anthropic_server: Serve) -> None:
    assert "temperature" not in body(anthropic_server, request("claude-haiku-4-5"))


def test_a_model_that_takes_no_temperature_says_so_before_anything_is_sent(anthropic_server: Serve) -> None:
    server = anthropic_server(reply("x"))
    call = asyncio.run(ask_and_record(Anthropic(), replace(request("claude-opus-5-5"), temperature=0.1)))
    assert call.error == "not_asked"
    assert "temperature" in call.error_text
    assert server.asked == []


@pytest.mark.parametrize("wanted", [{"seed": 7}, {"top_p": 0.9}], ids=str)
def test_claude_takes_neither_a_seed_nor_top_p(anthropic_server: Serve, wanted: dict[str, Any]) -> None:
    server = anthropic_server(NOOP)
    call = asyncio.run(ask_and_record(Anthropic(), replace(request("claude-haiku-4-5"), **wanted)))
    assert (call.error, server.asked) == ("not_asked", [])


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-haiku-5-5", {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-5-5", {"thinking": {"type": "between_tools"}}),
        ("claude-opus-5-5", {"output_config": {"effort": "low"}}),
        ("claude-haiku-4-5-20251001", {}),
        ("claude-something-new", {}),
    ],
)
def test_a_model_thinks_as_little_as_it_can(
    anthropic_server: Serve, model: str, expected: dict[str, Any]
) -> None:
    sent = body(anthropic_server, request(model))
    assert {key: sent[key] for key in ("thinking", "output_config") if key in sent} == expected


def test_a_model_thinks_more_if_it_is_to(anthropic_server: Serve) -> None:
    sent = body(anthropic_server, replace(request("claude-haiku-5-5"), effort="high"))
    assert sent["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert sent["output_config"] == {"effort": "high"}


def test_a_tool_has_to_be_called_and_keeps_to_its_schema(anthropic_server: Serve) -> None:
    question = replace(request("claude-haiku-5-5"), tool=TOOL)
    call, asked = ask(anthropic_server, question, reply("Well:", call={"commands": ["noop_agent1"]}))
    assert asked.body["tools"][0]["strict"] is True
    assert asked.body["tools"][0]["input_schema"] == TOOL.schema
    assert asked.body["tool_choice"]["name"] == "command"
    assert call.reply is not None
    assert call.reply.call == {"commands": ["noop_agent1"]}


@pytest.mark.parametrize(
    "question",
    [request("claude-sonnet-5-5"), replace(request("claude-haiku-5-5"), effort="low"), request("claude-new")],
    ids=["Sonnet 5.5", "thinking", "unknown"],
)
def test_what_cannot_be_made_to_call_a_tool_gets_its_schema_as_a_format(
    anthropic_server: Serve, question: Request
) -> None:
    call, asked = ask(anthropic_server, replace(question, tool=TOOL), reply(call={"commands": []}))
    assert "tools" not in asked.body
    schema = asked.body["output_config"]["format"]["schema"]
    assert schema == {"description": TOOL.description, **TOOL.schema}
    assert call.reply is not None
    assert call.reply.call == {"commands": []}


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-sonnet-5-5"])
def test_an_empty_answer_in_the_place_of_a_call_is_unreadable_and_was_counted(
    anthropic_server: Serve, model: str
) -> None:
    anthropic_server(reply(" "))
    with pytest.raises(UnreadableReplyError, match="no call of command") as caught:
        asyncio.run(Anthropic().ask(replace(request(model), tool=TOOL)))
    assert caught.value.usage == Usage(input=100, output=20)


def test_thinking_is_no_text(anthropic_server: Serve) -> None:
    hidden = {"type": "redacted_thinking", "data": "x"}
    thinking = [{"type": "thinking", "thinking": "hm"}, hidden, {"type": "text", "text": "noop_agent1"}]
    call, _ = ask(anthropic_server, request(), Answer("raw", body={"content": thinking, "usage": None}))
    assert call.reply is not None
    assert call.reply.text == "noop_agent1"
    assert call.reply.reasoning == "hm\n\n(redacted)"


@pytest.mark.parametrize(("hour", "kept"), [(False, {}), (True, {"ttl": "1h"})])
def test_the_fixed_part_is_cached_for_an_hour_where_that_is_wanted(
    anthropic_server: Serve, hour: bool, kept: dict[str, str]
) -> None:
    messages = (Message("system", "Rules.", fixed=True), Message("user", "What now?"))
    _, asked = ask(anthropic_server, replace(request(), messages=messages, cache_hour=hour), reply("ok"))
    assert asked.body["system"][0]["cache_control"] == {"type": "ephemeral", **kept}


def test_what_was_sent_is_kept_without_its_texts_and_with_where_the_cache_ends(
    anthropic_server: Serve,
) -> None:
    question = replace(request("claude-haiku-4-5"), temperature=0.1, tool=TOOL)
    call, _ = ask(anthropic_server, question, reply(call={}))
    assert call.parameters == {
        "model": "claude-haiku-4-5",
        "max_tokens": 1024,
        "extra_body": {"temperature": 0.1},
        "extra_headers": {"anthropic-version": "2023-06-01"},
        "tools": [{"name": "command", "strict": True}],
        "tool_choice": {"type": "tool", "name": "command", "disable_parallel_tool_use": True},
        "cached_until": 0,
    }


def test_without_a_key_nothing_is_asked() -> None:
    call = asyncio.run(ask_and_record(Anthropic(), request()))
    assert (call.error, call.error_text) == ("not_asked", "ANTHROPIC_API_KEY is not set")


def test_a_date_makes_no_difference_to_what_a_model_takes() -> None:
    assert claude_traits("claude-haiku-4-5-20251001") == CLAUDE_MODELS["claude-haiku-4-5"]
    assert not claude_traits("claude-opus-9").temperature
    assert list(CLAUDE_MODELS) == sorted(CLAUDE_MODELS)
