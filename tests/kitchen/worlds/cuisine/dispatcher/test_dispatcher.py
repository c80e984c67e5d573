"""The dispatcher as a co-player: it follows its model, remembers a little, and says who really played."""

from __future__ import annotations

import asyncio
import json
import math
import sys
import threading
import time
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from kitchen.contract import language_model as base
from kitchen.contract.agent import Decision, Situation
from kitchen.contract.language_model import Message, ModelError, Reply, Request
from kitchen.contract.world_errors import SettingsError
from kitchen.llm.provider_registry import parse_model_setting
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.cuisine.dispatcher import model_exchange
from kitchen.worlds.cuisine.dispatcher.agent import FAILURE_SENTENCES, ModelAnswer, ModelConversation
from kitchen.worlds.cuisine.dispatcher.model_exchange import DispatcherMemory, FallbackPlanner, ModelSession
from kitchen.worlds.cuisine.dispatcher.settings import DispatcherOptions
from tests.kitchen.agents.timed_episode import play_alone
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import (
    MODEL,
    Answer,
    Scripted,
    decide,
    moment,
    script,
    seen,
)

GOOD = "So be it.\ngoto_agent2_pot0\ngoto_agent1_storage0"
BAD = "put_agent1_pot0\ngoto_agent2_pot0"
ERRORS = [error for error in vars(base).values() if isinstance(error, type) and issubclass(error, ModelError)]


def test_only_claude_is_asked_to_keep_its_prompt_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "noop_agent1\nnoop_agent2")
    decide(seen(), cache_hour=True)
    decide(seen(), model="openai:gpt-6-sol", cache_hour=True)
    decide(seen())
    assert [each.cache_hour for each in model.requests] == [True, False, False]
    remarks = make_agent("dispatcher", {"model": "openai:gpt-6-sol", "cache_hour": True}).remarks()
    assert "openai-compatible:gpt-6-sol takes no cache of an hour: none is sent." in remarks


def test_it_follows_the_model_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD)
    decision = decide(seen())
    assert list(decision.commands.items()) == [(2, ("goto", "pot0")), (1, ("goto", "storage0"))]
    assert (decision.played_by, decision.fallback) == ("dispatcher", "")
    assert decision.note["extracted"] == ["goto_agent2_pot0", "goto_agent1_storage0"]
    (call,) = decision.calls
    assert call.reply and call.reply.text == GOOD and call.request == model.requests[0]


def test_settings_reach_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD)
    decide(seen(), temperature=0.7, max_tokens=500, effort="low")
    decide(seen(), temperature=-1)
    first, second = model.requests
    assert (first.model, first.temperature, first.max_tokens, first.effort) == (
        "claude-haiku-4-5",
        0.7,
        500,
        "low",
    )
    assert (second.temperature, second.effort, second.tool) == (None, None, None)
    assert 0 < first.seconds < 5
    assert [message.fixed for message in first.messages] == [True, False]


def test_settings_may_be_stored_as_another_kind_of_number_or_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD)
    for given in (
        {"memory": 5.0, "temperature": "0.1"},
        {"memory": "5", "repair": "1", "max_tokens": 1024.0},
    ):
        memory = decide(seen(), **given).memory
        decide(seen(memory=memory), **given)
        assert [message.role for message in model.requests[-1].messages] == [
            "system",
            "user",
            "assistant",
            "user",
        ]
        assert (model.requests[-1].temperature, model.requests[-1].max_tokens) == (0.1, 1024)


def test_a_model_that_takes_no_temperature_is_sent_none(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD)
    decision = decide(seen(), model="anthropic:claude-opus-5-5")
    assert model.requests[0].temperature is None and decision.note["temperature"] is None


def test_the_persons_command_is_shown_before_the_others_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD + "\ngoto_agent0_pot1")
    decision = decide(seen(commanded={0: ("goto", "mixer0")}))
    assert "agent0 (a person) does in this step, before your agents: goto_agent0_mixer0" in model.said()
    assert 0 not in decision.commands
    assert [fault["code"] for fault in decision.note["faults"]] == ["not_yours"]


def test_what_was_refused_is_noop_and_comes_back_as_feedback(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, BAD)
    first = decide(seen())
    assert first.commands == {1: ("noop",), 2: ("goto", "pot0")}
    second = decide(seen(memory=first.memory))
    assert "Feedback on the last step:\n- agent1 could not put_agent1_pot0" in model.said()
    assert second.note["feedback"][0].startswith("agent1 could not")


def test_without_feedback_nothing_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, BAD)
    first = decide(seen(), feedback=False)
    decide(seen(memory=first.memory), feedback=False)
    assert "eedback" not in "".join(message.text for message in model.requests[-1].messages)


@pytest.mark.parametrize(("horizon", "kept"), [(1, 0), (2, 0), (3, 1), (5, 2), (6, 2), (7, 3)])
def test_memory_keeps_the_last_exchanges_verbatim(
    monkeypatch: pytest.MonkeyPatch, horizon: int, kept: int
) -> None:
    replies = [f"Thought {number}.\n{GOOD}" for number in range(6)]
    model = script(monkeypatch, *replies)
    memory, asked = None, []
    for _ in replies:
        memory = decide(seen(memory=memory), memory=horizon).memory
        asked.append(model.said())
    said = list(model.requests[-1].messages[1:-1])
    assert [m.text for m in said if m.role == "assistant"] == replies[5 - kept : 5]
    assert [m.text for m in said if m.role == "user"] == asked[5 - kept : 5]
    assert [m.role for m in said] == ["user", "assistant"] * kept


def test_memory_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, GOOD + "\n" + "blah " * 20_000)
    memory, sizes = None, []
    for _ in range(8):
        memory = decide(seen(memory=memory)).memory
        sizes.append(len(json.dumps(memory)))
    assert len(set(sizes[3:])) == 1 and sizes[-1] < 25_000


def test_another_worker_goes_on_with_the_same_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, BAD)
    first = decide(seen(), demonstration="few")
    stored = json.loads(json.dumps(first.memory))
    for memory in (first.memory, stored):
        decide(seen(memory=memory), demonstration="few")
    assert model.requests[-1].messages == model.requests[-2].messages


def test_a_memory_of_another_kind_of_mind_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, GOOD)
    strange: list[Any] = [{"wishes": []}, [], "x", 3]
    for memory in strange:
        assert decide(seen(memory=memory)).played_by == "dispatcher"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
@pytest.mark.parametrize("by", ["planner", "noop"])
def test_without_an_answer_the_fallback_plays_and_is_named(
    monkeypatch: pytest.MonkeyPatch, error: type[ModelError], by: str
) -> None:
    script(monkeypatch, error("why"))
    decision = decide(seen(), fallback=by)
    assert (decision.played_by, decision.fallback) == (by, error.code)
    assert decision.note["fallback"] == {"by": by, "code": error.code, "text": "why"}
    assert [call.error for call in decision.calls] == [error.code]
    if by == "noop":
        assert decision.commands == {1: ("noop",), 2: ("noop",)}
    else:
        situation = seen()
        assert decision.commands == asyncio.run(make_agent("planner", {}).decide(situation)).commands


def test_a_fallback_keeps_the_memory_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD, base.OverloadedError("busy"), GOOD)
    memory = decide(seen()).memory
    memory = decide(seen(memory=memory)).memory
    decide(seen(memory=memory))
    assert [message.text for message in model.requests[-1].messages if message.role == "assistant"] == [GOOD]
    assert "You could not be reached in the last step, so somebody else commanded" in model.said()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (base.CallTimeoutError, "No answer of yours came in time, so your agents did nothing."),
        (base.BudgetSpentError, "You were not asked in the last step, so your agents did nothing."),
        (base.UnpricedError, "You were not asked in the last step, so your agents did nothing."),
        (base.NotAskedError, "You were not asked in the last step, so your agents did nothing."),
        (base.RejectedError, "You could not be asked in the last step, so your agents did nothing."),
    ],
)
def test_the_model_reads_why_it_did_not_command(
    monkeypatch: pytest.MonkeyPatch, error: type[ModelError], words: str
) -> None:
    model = script(monkeypatch, error("why"), GOOD)
    decide(seen(memory=decide(seen(), fallback="noop").memory))
    assert words in model.said()


def test_there_are_words_for_every_way_to_get_no_answer() -> None:
    assert FAILURE_SENTENCES.keys() == base.error_codes().keys()


@pytest.mark.parametrize(("memory", "messages"), [(1, [1, 1, 1]), (3, [1, 3, 3]), (5, [1, 3, 5])])
def test_the_note_counts_the_messages_of_the_conversation_as_the_setting_does(
    monkeypatch: pytest.MonkeyPatch, memory: int, messages: list[int]
) -> None:
    script(monkeypatch, GOOD)
    kept, noted = None, []
    for _ in messages:
        decision = decide(seen(memory=kept), memory=memory)
        kept = decision.memory
        noted.append(decision.note["memory_messages"])
    assert noted == messages


@pytest.mark.parametrize("reply", [GOOD, BAD, {"commands": [{"agent": "agent1", "verb": "noop"}]}])
def test_a_reply_becomes_checked_commands_in_the_modules_that_read_and_check(
    monkeypatch: pytest.MonkeyPatch, reply: Answer
) -> None:
    visited: set[str] = set()

    def visit(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            visited.add(frame.f_globals["__name__"])

    class Watched(Scripted):
        async def ask(self, request: Request) -> Reply:
            answer = await super().ask(request)
            threading.setprofile(visit)
            sys.setprofile(visit)
            return answer

    async def checked_commands() -> ModelAnswer | None:
        try:
            return await talk.decide("What now?")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    monkeypatch.setattr(model_exchange, "open_model", lambda *_: Watched(reply))
    situation, now, memory = seen(), moment(), DispatcherMemory()
    options = DispatcherOptions.read({"model": MODEL, "demonstration": "none", "repair": 0})
    adviser = FallbackPlanner(situation, now, memory)
    talk = ModelConversation(now, options, memory, ModelSession(options, situation, adviser, math.inf))
    assert asyncio.run(checked_commands())
    assert threading.getprofile() is None
    home = "kitchen.worlds.cuisine.dispatcher."
    parts = {name.removeprefix(home) for name in visited if name.startswith(home)}
    reading = {"reply_extraction", "reply_passages", "reply_phrases", "json_commands", "command_extraction"}
    assert {"agent", "command_check"} <= parts <= {"agent", "command_check"} | reading


def test_a_broken_door_is_an_event_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Scripted):
        async def ask(self, request: Any) -> Any:
            raise RuntimeError("no idea")

    monkeypatch.setattr("kitchen.worlds.cuisine.dispatcher.model_exchange.open_model", lambda *_: Broken())
    assert decide(seen()).fallback == "error"


def test_without_time_there_is_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD)
    decision = decide(changed(seen(), seconds=0.0))
    assert (decision.fallback, decision.played_by, model.requests) == ("timeout", "planner", [])


def test_nonsense_is_an_answer_after_which_the_agents_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, "I am a teapot.")
    decision = decide(seen())
    assert (decision.commands, decision.played_by, decision.fallback) == ({}, "dispatcher", "")
    assert [fault["code"] for fault in decision.note["faults"]] == ["no_command"]


# Second tries


def test_a_second_try_replaces_only_what_cannot_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, BAD, "goto_agent1_storage0\ngoto_agent2_mixer0")
    decision = decide(seen(), repair=1)
    assert list(decision.commands.items()) == [(2, ("goto", "pot0")), (1, ("goto", "storage0"))]
    assert "agent1 could not put_agent1_pot0" in model.said() and "for agent1 only" in model.said()
    assert len(decision.calls) == 2
    assert decision.note["mended"] and not decision.note["faults"]
    assert len(decision.memory["exchanges"]) == 1


def test_there_is_one_second_try_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, BAD)
    decision = decide(seen(), repair=1)
    assert len(model.requests) == 2
    assert decision.commands == {2: ("goto", "pot0"), 1: ("noop",)}


def test_no_second_try_where_all_is_well_or_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD, BAD)
    decide(seen(), repair=1)
    decide(seen(), repair=0)
    assert len(model.requests) == 2


def test_a_second_try_without_an_answer_leaves_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, BAD, base.CallTimeoutError("late"))
    decision = decide(seen(), repair=1)
    assert (decision.commands, decision.fallback) == ({1: ("noop",), 2: ("goto", "pot0")}, "")
    assert [call.error for call in decision.calls] == ["", "timeout"]


# The structured reply


def test_a_seed_of_the_step_and_top_p_go_to_providers_that_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, GOOD)
    situation = replace(seen(), seed=2**40 + 5)
    decide(situation, model="openai:llama", seeded=True, top_p=0.9)
    decide(situation, model="openai:llama")
    decide(situation, seeded=True, top_p=0.9)  # Claude
    assert [(each.seed, each.top_p) for each in model.requests] == [(5, 0.9), (None, None), (None, None)]


def test_a_structured_reply_is_asked_for_and_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"agent": "agent1", "verb": "goto", "location": "pot0", "item": "none"}
    model = script(monkeypatch, {"plan": "…", "commands": [entry, {**entry, "agent": "agent2"}]})
    decision = decide(seen(), reply="tool")
    assert decision.commands == {1: ("goto", "pot0"), 2: ("goto", "pot0")}
    assert model.requests[0].tool and model.requests[0].tool.name == "dispatch"
    assert json.loads(decision.memory["exchanges"][0][1])["commands"][0] == entry


def test_what_it_intends_is_the_first_paragraph_of_the_plan_in_a_structured_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = changed(seen(), tells=True)
    script(monkeypatch, {"plan": " First  rice.\nThen tuna.", "commands": []})
    assert decide(told, reply="tool").intents == {1: {"said": "First rice."}, 2: {"said": "First rice."}}
    script(monkeypatch, {"plan": "rice " * 100, "commands": []})
    assert len(decide(told, reply="tool").intents[1]["said"]) <= 161
    away = base.OverloadedError("busy")
    silent: list[Answer] = [{"commands": []}, {"plan": None, "commands": []}, GOOD, away]
    for nothing in silent:
        script(monkeypatch, nothing)
        assert decide(told, reply="tool").intents == {}


def test_thoughts_are_shown_only_if_the_setting_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    told = changed(seen(), tells=True)
    script(
        monkeypatch, base.Reply("", {"plan": "First rice.", "commands": []}, reasoning=" Rice is missing. ")
    )
    assert decide(told, reply="tool").intents[1] == {"said": "First rice."}
    thought = {"said": "First rice.", "thought": "Rice is missing."}
    assert decide(told, reply="tool", tell_thoughts=True).intents == {1: thought, 2: thought}
    script(monkeypatch, base.Reply("noop_agent1", reasoning="x" * 9999))
    (intent,) = {each["thought"] for each in decide(told, tell_thoughts=True).intents.values()}
    assert len(intent) == 4001
    script(monkeypatch, GOOD)
    assert decide(told, tell_thoughts=True).intents == {}


def test_what_the_stand_in_intends_is_what_the_planner_does_that_plays_for_it() -> None:
    told = changed(seen(), tells=True)
    own = asyncio.run(make_agent("planner", {}).decide(told)).intents
    assert own and decide(told, model="stand-in").intents == own
    assert decide(seen(), model="stand-in").intents == {}


def test_text_in_place_of_a_structured_reply_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, GOOD)
    assert len(decide(seen(), reply="tool").commands) == 2


# The stand-in


@pytest.mark.parametrize("reply", ["text", "tool"])
def test_the_stand_in_plays_as_the_planner_and_is_named(reply: str) -> None:
    situation = seen()
    decision = decide(situation, model="stand-in", reply=reply)
    assert decision.played_by == "stand-in"
    assert decision.commands == asyncio.run(make_agent("planner", {}).decide(situation)).commands
    assert decision.note["stand_in"] is True


def test_the_stand_in_names_a_command_for_everybody_also_for_who_has_nothing_to_do() -> None:
    situation = seen()
    briefs = {seat: {**brief, "uncookable": brief["dishes"]} for seat, brief in situation.briefs.items()}
    decision = decide(replace(situation, briefs=briefs), model="stand-in")
    assert decision.commands == {1: ("noop",), 2: ("noop",)} and not decision.note["faults"]


def test_the_stand_in_plays_whole_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"model": "stand-in", "stand_in_errors": 0.1, "stand_in_nonsense": 0.1}
    played = play_alone(
        "dispatcher", seats=2, settings={"level": "level_0", "max_steps": 30}, seed=1, chosen=chosen
    )
    assert played.completed >= 1


def test_a_stand_in_that_is_too_slow_is_late() -> None:
    began = time.monotonic()
    decision = decide(changed(seen(), seconds=0.2), model="stand-in", stand_in_latency=30.0)
    assert (decision.fallback, decision.played_by) == ("timeout", "planner")
    assert time.monotonic() - began < 15


def test_the_same_situation_gives_the_same_decision() -> None:
    def once() -> Decision:
        return decide(seen(seed=5), model="stand-in", stand_in_errors=0.5)

    first, second = once(), once()
    assert (first.commands, first.memory, first.note) == (second.commands, second.memory, second.note)


def test_all_seats_can_be_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    situation: Situation = seen(kitchen(seats=2), 0, 1)
    assert set(decide(situation, model="stand-in").commands) == {0, 1}


# The setting `model`


def test_the_setting_names_provider_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert parse_model_setting(MODEL) == ("anthropic", "claude-haiku-4-5")
    assert parse_model_setting("openai:llama3:8b") == ("openai-compatible", "llama3:8b")
    assert parse_model_setting("") == parse_model_setting("stand-in")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    assert parse_model_setting("")[0] == "anthropic"


def test_a_provider_that_there_is_not_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="no provider"):
        make_agent("dispatcher", {"model": "skynet:t800"})


def test_messages_alternate_and_begin_with_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, BAD, "", GOOD)
    memory = None
    for _ in range(5):
        memory = decide(seen(memory=memory), repair=1).memory
    for request in model.requests:
        messages: list[Message] = list(request.messages)
        assert messages[0].role == "system"
        assert [m.role for m in messages[1:]] == (["user", "assistant"] * 9)[: len(messages) - 1]
        assert all(m.text.strip() for m in messages)
