"""What is sent to a server that speaks chat completions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.language_model import RefusedReplyError, Tool, Usage
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.openai_compatible import OpenAICompatible, arguments_for, read_reply
from tests.kitchen.llm.conftest import Serve, request
from tests.stand_in_server import Answer, reply

TOOL = Tool("command", "One command for each agent.", {"type": "object", "properties": {}})


def test_a_server_of_ones_own_needs_no_key(openai_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = openai_server(reply("noop_agent1"))
    monkeypatch.delenv("OPENAI_API_KEY")
    call = asyncio.run(ask_and_record(OpenAICompatible(), replace(request("llama"), temperature=0.1)))
    assert call.reply is not None
    sent = server.asked[0].body
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert (sent["max_tokens"], sent["temperature"]) == (1024, 0.1)


def test_a_seed_and_top_p_are_sent_where_they_are_wanted() -> None:
    plain, drawn = request("llama"), replace(request("llama"), seed=7, top_p=0.9)
    assert {"seed", "top_p"}.isdisjoint(arguments_for(plain, own=True))
    assert arguments_for(drawn, own=True).items() >= {"seed": 7, "top_p": 0.9}.items()


def test_openai_itself_is_told_the_limit_by_its_newer_name() -> None:
    assert arguments_for(request("gpt"), own=False)["max_completion_tokens"] == 1024


def test_a_tool_has_to_be_called(openai_server: Serve) -> None:
    server = openai_server(reply(call={"commands": ["noop_agent1"]}))
    call = asyncio.run(ask_and_record(OpenAICompatible(), replace(request("llama"), tool=TOOL)))
    assert call.reply is not None
    assert call.reply.call == {"commands": ["noop_agent1"]}
    sent = server.asked[0].body
    assert sent["tools"][0]["function"]["strict"] is True
    assert sent["tool_choice"]["function"]["name"] == "command"


@pytest.mark.parametrize("arguments", ["{", "[]", None], ids=str)
def test_a_call_with_broken_arguments_is_unreadable(openai_server: Serve, arguments: str | None) -> None:
    function = {"name": "command", "arguments": arguments}
    message = {"content": None, "tool_calls": [{"function": function}]}
    openai_server(Answer("raw", body={"choices": [{"message": message}]}))
    call = asyncio.run(ask_and_record(OpenAICompatible(), replace(request("llama"), tool=TOOL)))
    assert call.error == "unreadable"


def test_a_server_that_counts_nothing_is_read_all_the_same(openai_server: Serve) -> None:
    message = {"role": "assistant", "content": "noop_agent1"}
    openai_server(Answer("raw", body={"choices": [{"message": message}]}))
    call = asyncio.run(ask_and_record(OpenAICompatible(), request("llama")))
    assert call.reply is not None
    assert call.reply.usage == Usage()


@pytest.mark.parametrize(
    ("message", "thought", "said"),
    [
        ({"content": "noop_agent1", "reasoning": " hm "}, "hm", "noop_agent1"),
        (
            {"content": "<think>\nput_agent1_pot0?\n</think>\n\nnoop_agent1"},
            "put_agent1_pot0?",
            "noop_agent1",
        ),
        ({"content": "hm\n</think>noop_agent1"}, "hm", "noop_agent1"),
        ({"content": "I think: noop_agent1", "reasoning": None}, "", "I think: noop_agent1"),
    ],
)
def test_what_a_model_thought_is_found_where_servers_put_it(
    openai_server: Serve, message: dict[str, Any], thought: str, said: str
) -> None:
    openai_server(Answer("raw", body={"choices": [{"message": message}]}))
    call = asyncio.run(ask_and_record(OpenAICompatible(), request("llama")))
    assert call.reply is not None
    assert (call.reply.reasoning, call.reply.text) == (thought, said)


def test_an_answer_that_was_cut_off_while_the_model_thought_is_none(openai_server: Serve) -> None:
    openai_server(Answer("raw", body={"choices": [{"message": {"content": "<think>put_agent1_pot0"}}]}))
    call = asyncio.run(ask_and_record(OpenAICompatible(), request("llama")))
    assert call.error == "unreadable" and "put_agent1_pot0" in call.raw


@pytest.mark.parametrize(
    ("address", "said"),
    [("", "neither OPENAI_BASE_URL"), ("localhost:11434", "no address")],
    ids=["none", "odd"],
)
def test_without_an_address_nothing_is_asked(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    call = asyncio.run(ask_and_record(OpenAICompatible(), request("llama")))
    assert call.error == "not_asked"
    assert said in call.error_text


@pytest.mark.parametrize(
    ("content", "thought", "said"),
    [
        ([{"type": "text", "text": "noop_"}, {"type": "text", "text": "agent1"}], "", "noop_agent1"),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "noop_agent1"},
            ],
            "hm",
            "noop_agent1",
        ),
        ([{"type": "image_url"}, {"text": "noop_agent1"}, 3, None], "", "noop_agent1"),
    ],
)
def test_an_answer_may_be_a_list_of_parts(content: Any, thought: str, said: str) -> None:
    read = read_reply({"choices": [{"message": {"content": content}}]}, None)
    assert (read.reasoning, read.text) == (thought, said)


def test_a_refusal_is_told_apart_from_an_answer() -> None:
    message = {"content": None, "refusal": "I cannot help with that."}
    with pytest.raises(RefusedReplyError, match="I cannot help with that"):
        read_reply({"choices": [{"message": message, "finish_reason": "stop"}]}, TOOL)
