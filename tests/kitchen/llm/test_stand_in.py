"""The stand-in: determined by its seed, wrong as often as it is told to, and open to feedback."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace

import pytest

from kitchen.contract.language_model import Call, Message, Request, Tool
from kitchen.contract.world import Command
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.stand_in_model import StandIn, StandInAdvice, StandInBehaviour, has_feedback_for

COMMANDS: dict[int, Command] = {1: ("goto", "pot0"), 2: ("get", "storage0", "rice"), 3: ("noop",)}
ADVICE = StandInAdvice(
    COMMANDS, places=("pot0", "pot1", "storage0"), items=("rice", "tuna"), holding={1: "tuna"}
)
QUESTION = Request("stand-in-1", [Message("user", "State: agent1 is at pot0.")])
FOUND = re.compile(r"\b([a-z]+)(?:_agent(\d+)((?:_\w+?)*)\b|\(agent(\d+)((?:, \w+)*)\))")


def ask(
    advice: StandInAdvice = ADVICE, seed: int = 0, question: Request = QUESTION, **manners: float
) -> Call:
    model = StandIn(lambda: advice, StandInBehaviour(**manners), seed, sleep=lambda _: asyncio.sleep(0))
    return asyncio.run(ask_and_record(model, question))


def commands(call: Call) -> list[tuple[int, Command]]:
    """What can be found in the text, in either spelling."""
    assert call.reply is not None
    found = []
    for verb, agent, rest, other, arguments in FOUND.findall(call.reply.text):
        words = rest.strip("_").split("_") if agent else arguments.strip(", ").split(", ")
        found.append((int(agent or other), (verb, *(word for word in words if word))))
    return found


def test_it_says_what_it_is() -> None:
    call = ask()
    assert call.reply is not None
    assert (call.provider, call.reply.model, call.cost) == ("stand-in", "stand-in-1", 0)
    assert call.reply.usage.input > 0
    assert call.reply.usage.output > 0


def test_who_is_to_wait_is_told_so_without_a_chance_of_error() -> None:
    advice = replace(ADVICE, commands={}, waits={2: ("noop",)}, refused={2: ("put", "pot0")})
    assert all(commands(ask(advice, seed, error_rate=1.0)) == [(2, ("noop",))] for seed in range(5))


def test_same_seed_same_answer_and_another_seed_another() -> None:
    texts = [[ask(seed=seed, error_rate=0.5).reply for seed in range(20)] for _ in range(2)]
    plain = [[found and found.text for found in run] for run in texts]
    assert plain[0] == plain[1]
    assert len(set(plain[0])) > 10


def test_without_errors_it_writes_exactly_the_advice_in_both_spellings() -> None:
    calls = [ask(seed=seed) for seed in range(40)]
    assert all(commands(call) == list(COMMANDS.items()) for call in calls)
    texts = " ".join(call.reply.text for call in calls if call.reply)
    assert "goto_agent1_pot0" in texts
    assert "goto(agent1, pot0)" in texts


def test_it_errs_as_often_as_it_is_told_to() -> None:
    wrong: Counter[int] = Counter()
    for seed in range(600):
        found = commands(ask(seed=seed, error_rate=0.25))
        wrong.update(agent for agent in COMMANDS if [c for a, c in found if a == agent] != [COMMANDS[agent]])
    for agent in (1, 2):
        assert 0.18 < wrong[agent] / 600 < 0.32


def test_its_errors_are_of_every_kind() -> None:
    seen: set[str] = set()
    for seed in range(200):
        found = commands(ask(seed=seed, error_rate=1.0))
        for agent, command in found:
            seen.add("twice" if sum(a == agent for a, _ in found) > 1 else f"{agent} {' '.join(command)}")
    assert {"twice", "1 activate pot0", "2 get storage0 tuna", "2 get pot1 rice"} <= seen
    assert any(command.startswith("1 get") for command in seen)  # with full hands


@pytest.mark.parametrize(
    "advice", [StandInAdvice({}), StandInAdvice({1: ("noop",)}), StandInAdvice({1: ()})], ids=str
)
def test_poor_advice_breaks_nothing(advice: StandInAdvice) -> None:
    for seed in range(20):
        assert ask(
            replace(advice, commands={a: c or ("noop",) for a, c in advice.commands.items()}), seed
        ).reply


def test_nonsense_has_no_command() -> None:
    for seed in range(30):
        call = ask(seed=seed, nonsense_rate=1.0)
        assert call.reply is not None
        assert commands(call) == []


def test_failures_are_of_every_kind_and_cost_nothing() -> None:
    calls = [ask(seed=seed, failure_rate=1.0) for seed in range(60)]
    assert {call.error for call in calls} == {"429", "529", "5xx", "connection", "timeout", "unreadable"}
    assert {call.cost for call in calls} == {0}


def test_a_second_try_can_go_better() -> None:
    model = StandIn(
        lambda: ADVICE, StandInBehaviour(failure_rate=0.5), seed=3, sleep=lambda _: asyncio.sleep(0)
    )
    assert {bool(asyncio.run(ask_and_record(model, QUESTION)).error) for _ in range(20)} == {True, False}


def test_it_takes_its_time_but_not_more_than_there_is() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model = StandIn(lambda: ADVICE, StandInBehaviour(latency=2.0), sleep=sleep)
    assert asyncio.run(ask_and_record(model, QUESTION)).reply
    assert asyncio.run(ask_and_record(model, replace(QUESTION, seconds=0.5))).error == "timeout"
    assert slept == [2.0, 0.5]


# Feedback

REFUSED = replace(ADVICE, refused={1: ("put", "pot1")})
FEEDBACK = "State: agent1 is at pot0.\nFeedback from the last step:\nagent1 cannot put anything into pot1."


def repeated(text: str) -> float:
    question = replace(QUESTION, messages=[Message("user", text)])
    calls = [ask(REFUSED, seed, question) for seed in range(200)]
    return sum((1, ("put", "pot1")) in commands(call) for call in calls) / 200


def test_what_was_refused_is_mostly_tried_again_unless_feedback_speaks_of_it() -> None:
    assert 0.7 < repeated("State: agent1 is at pot0.") < 0.9
    assert repeated(FEEDBACK) == 0
    assert repeated("State.\nFeedback: agent2 has full hands; agent11 too.") > 0.7


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Feedback: agent1 holds rice", True),
        ("FEEDBACK\n- Agent 1: hands full", True),
        ("feedback: goto_agent1_pot0 was refused", True),
        ("agent1 at pot0\nfeedback: none", False),
        ("agent1 at pot0", False),
        ("feedback: agent12", False),
        ("", False),
    ],
)
def test_feedback_is_what_comes_after_the_word(text: str, told: bool) -> None:
    earlier = [Message("user", "feedback: agent1 failed"), Message("assistant", "noop_agent1")]
    assert has_feedback_for(replace(QUESTION, messages=[*earlier, Message("user", text)]), 1) is told


def test_it_apologises_once_it_was_told() -> None:
    question = replace(QUESTION, messages=[Message("user", FEEDBACK)])
    call = ask(REFUSED, question=question)
    assert call.reply is not None
    assert re.search("apolog|Sorry", call.reply.text)


# Tools

TOOL = Tool("command", "One command for each agent.", {"type": "object"})


def test_a_tool_is_called() -> None:
    call = ask(question=replace(QUESTION, tool=TOOL))
    assert call.reply is not None
    assert call.reply.call is not None
    assert call.reply.call["commands"] == ["goto_agent1_pot0", "get_agent2_storage0_rice", "noop_agent3"]


def test_the_shape_of_a_call_can_be_another() -> None:
    model = StandIn(lambda: ADVICE, as_call=lambda found, _: {"n": len(found)})
    assert asyncio.run(model.ask(replace(QUESTION, tool=TOOL))).call == {"n": 3}


def test_a_call_that_is_cut_off_is_unreadable_and_nonsense_in_its_place_is_text() -> None:
    question = replace(QUESTION, tool=TOOL)
    cut = asyncio.run(ask_and_record(StandIn(lambda: ADVICE), replace(question, max_tokens=5)))
    assert (cut.error, cut.usage.output) == ("unreadable", 5)
    said = asyncio.run(
        ask_and_record(StandIn(lambda: ADVICE, StandInBehaviour(nonsense_rate=1.0)), question)
    ).reply
    assert said is not None and said.text and said.call is None


def test_a_long_answer_is_cut_off() -> None:
    call = ask(question=replace(QUESTION, max_tokens=5))
    assert call.reply is not None
    assert (call.reply.stop, call.reply.usage.output) == ("max_tokens", 5)
    assert len(call.reply.text) <= 20
