"""The dispatcher and a server, through the real SDKs: whatever is answered, the agents are commanded."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.agent import Decision
from kitchen.llm import provider_registry
from kitchen.llm.in_memory_purse import InMemoryPurse
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import MODEL, decide, seen
from tests.stand_in_server import Answer, StandInServer, reply, status

GOOD = reply("Fine.\ngoto_agent1_storage0\ngoto(agent2, storage0)")
OPENAI = "openai:qwen"
AMPLE, SHORT = 120.0, 2.0
"""Seconds for an answer: more than a busy machine needs, and what one is waited for that does not come."""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, no_waits: None) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for provider, name in (
        (provider_registry.ANTHROPIC, "ANTHROPIC_API_KEY"),
        (provider_registry.OPENAI, "OPENAI_API_KEY"),
    ):
        monkeypatch.setenv(name, "test-key")
        provider_registry.warm_up_provider(provider)


def play(
    monkeypatch: pytest.MonkeyPatch, *answers: Answer, seconds: float = AMPLE, **settings: Any
) -> Decision:
    """One decision against a server with these answers."""
    with StandInServer(answers) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        return decide(changed(seen(), seconds=seconds), **settings)


@pytest.mark.parametrize("model", [MODEL, OPENAI])
def test_an_answer_is_followed_and_recorded(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    decision = play(monkeypatch, GOOD, model=model)
    assert decision.commands == {1: ("goto", "storage0"), 2: ("goto", "storage0")}
    assert decision.played_by == "dispatcher"
    (call,) = decision.calls
    assert call.reply and call.reply.usage.input and call.reply.model


def test_three_times_overloaded_and_then_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = {"retry_after": "0"}
    answers = [status(529, **waits), status(529, **waits), status(529, **waits), reply("What a lovely day.")]
    decision = play(monkeypatch, *answers)
    assert (decision.commands, decision.played_by, decision.fallback) == ({}, "dispatcher", "")
    assert [each.outcome for each in decision.calls[0].attempts] == ["529", "529", "529", "ok"]


@pytest.mark.parametrize(
    ("kind", "code", "seconds"),
    [
        ("malformed", "unreadable", AMPLE),
        ("empty", "unreadable", AMPLE),
        ("cut", "connection", AMPLE),
        ("hang_up", "connection", AMPLE),
        ("dribble", "timeout", SHORT),
    ],
)
def test_a_failed_call_makes_it_fall_back(
    monkeypatch: pytest.MonkeyPatch, kind: str, code: str, seconds: float
) -> None:
    decision = play(monkeypatch, Answer(kind), seconds=seconds)
    assert decision.played_by == "planner" and set(decision.commands) == {1, 2}
    assert decision.fallback == code
    assert decision.calls[-1].attempts[0].outcome == code


@pytest.mark.parametrize("model", [MODEL, OPENAI])
@pytest.mark.parametrize(
    "text",
    ["Fine.\ngoto_agent1_storage0", '{"plan": "x", "commands": ["goto_agent1_storage0"]}'],
    ids=["words", "JSON"],
)
def test_a_server_that_ignores_the_tool_is_followed_all_the_same(
    monkeypatch: pytest.MonkeyPatch, model: str, text: str
) -> None:
    decision = play(monkeypatch, reply(text), model=model, reply="tool")
    assert (decision.commands, decision.fallback) == ({1: ("goto", "storage0")}, "")
    (call,) = decision.calls
    assert call.reply and call.reply.text == text


def test_a_purse_that_is_empty_makes_it_fall_back_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandInServer([GOOD]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        decision = decide(changed(seen(), purse=InMemoryPurse(0.0)))
        assert (decision.fallback, server.asked) == ("budget", [])


@pytest.mark.parametrize("model", [MODEL, OPENAI])
def test_the_schema_of_the_structured_reply_is_taken(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    entry = {"agent": "agent1", "verb": "goto", "location": "pot0", "item": "none"}
    answer = reply(call={"plan": "…", "commands": [entry]})
    decision = play(monkeypatch, answer, model=model, reply="tool")
    assert decision.commands == {1: ("goto", "pot0")}
