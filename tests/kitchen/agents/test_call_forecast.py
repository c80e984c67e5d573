"""What calls will be like: the stand-in is asked, and what will be remembered is reckoned."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from kitchen.agents.call_forecast import (
    CALL_TRIES,
    MAX_FEEDBACK_TOKENS,
    SAMPLED_STEPS,
    expected_calls,
    sample_calls,
    worst_cost,
)
from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision
from kitchen.contract.language_model import Request
from kitchen.contract.organisation import Member, make_organisation
from kitchen.llm.call_costs import UnknownPriceError, estimate_tokens, load_prices, max_prompt_tokens
from kitchen.registry.agent_registry import make_agent
from tests.kitchen.worlds.cuisine.cooking import kitchen

SONNET = "anthropic", "claude-sonnet-5-5"
PAID = {"model": ":".join(SONNET), "demonstration": "none"}


def test_steps_are_played_with_the_prompts_of_the_condition() -> None:
    found = sample_calls(kitchen(seats=3), "dispatcher", PAID, (1, 2))
    assert len(found.calls) == len(SAMPLED_STEPS)
    assert {call.provider for call in found.calls} == {"stand-in"}
    assert "agent1" in found.calls[-1].request.messages[-1].text
    plan = expected_calls(found, steps=60, episodes=1)
    assert (plan.calls, plan.episodes) == (60, 1)
    assert min(plan.fixed, plan.fresh, plan.output) > 0


def requests_of(memory: int, seats: int, steps: int) -> list[Request]:
    """The requests of a whole episode, really played."""
    game = kitchen(seats=seats, level="level_3", max_steps=steps)
    mind = make_agent("dispatcher", {**PAID, "model": "stand-in", "memory": memory})
    decision, found = Decision(commands={}), list[Request]()
    while not (game.over or game.cut_off):
        decision = asyncio.run(mind.decide(make_situation(game, range(seats), memory=decision.memory)))
        found += [call.request for call in decision.calls]
        game.step(decision.commands)
    return found


@pytest.mark.parametrize("memory", [1, 5, 199])
def test_what_is_remembered_is_reckoned_over_the_whole_episode(memory: int) -> None:
    """With the longest memory the last prompt is many times the first one."""
    really = [sum(estimate_tokens(m.text) for m in each.messages) for each in requests_of(memory, 2, 40)]
    game = kitchen(seats=2, level="level_3", max_steps=40)
    found = sample_calls(game, "dispatcher", {**PAID, "memory": memory}, (0, 1))
    plan = expected_calls(found, steps=40, episodes=1)
    assert plan.fixed + plan.fresh == pytest.approx(sum(really) / len(really), rel=0.15)
    assert plan.fixed + plan.longest == pytest.approx(max(really), rel=0.15)


def test_settings_as_text_are_read_as_the_co_player_reads_them() -> None:
    one, other = (
        expected_calls(
            sample_calls(kitchen(seats=2), "dispatcher", {**PAID, "memory": n}, (1,)), steps=60, episodes=1
        )
        for n in (5.0, 5)
    )
    assert one == other


def test_a_stand_in_that_is_set_up_to_fail_and_dawdle_does_neither_here() -> None:
    bad = {"stand_in_failures": 1.0, "stand_in_latency": 600.0, "stand_in_errors": 1.0}
    began = time.monotonic()
    found = sample_calls(kitchen(seats=2), "dispatcher", {**PAID, **bad}, (1,))
    assert all(call.reply for call in found.calls)
    assert time.monotonic() - began < 60


def test_the_tool_counts_among_what_stays_the_same() -> None:
    text, tool = (
        expected_calls(
            sample_calls(kitchen(seats=2), "dispatcher", {**PAID, "reply": reply}, (1,)), steps=1, episodes=1
        )
        for reply in ("text", "tool")
    )
    assert tool.fixed > text.fixed


def test_at_worst_every_remembered_answer_is_as_long_as_it_may_be_and_every_call_tried_often() -> None:
    prices, memory = load_prices(), {**PAID, "memory": 199}
    found = sample_calls(kitchen(seats=2, level="level_3", max_steps=40), "dispatcher", memory, (0, 1))
    price = prices.price(*SONNET)
    really = sum(price.at_worst(max_prompt_tokens(each), 1024) for each in requests_of(199, 2, 40))
    assert worst_cost(found, prices, *SONNET) > CALL_TRIES * really
    remembered = sum(found.remembered()) * 1024 * price.cache_write / 1e6
    assert worst_cost(found, prices, *SONNET) > CALL_TRIES * remembered > 0
    repairing = replace(found, bounds=replace(found.bounds, repairs=1))
    assert worst_cost(repairing, prices, *SONNET) > 2 * worst_cost(found, prices, *SONNET)
    assert worst_cost(replace(found, answers=3), prices, *SONNET) == 4 * worst_cost(found, prices, *SONNET)
    with pytest.raises(UnknownPriceError):
        worst_cost(found, prices, "anthropic", "claude-unheard-of")


def test_a_pair_may_ask_for_each_answer_within_a_step() -> None:
    members = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
    answers = [
        sample_calls(
            kitchen(seats=2), "dispatcher", PAID, (1,), make_organisation(kind, members, seats=2)
        ).answers
        for kind in ("pair", "pairwise")
    ]
    assert answers == [3, 0]


def test_feedback_on_every_agent_is_no_longer_than_is_reckoned() -> None:
    """The stand-in errs at every chance, for the longest feedback that a real game had here."""
    game, seats = kitchen(seats=4, level="level_3"), range(4)
    errs: dict[str, Any] = {**PAID, "model": "stand-in", "stand_in_errors": 1.0}
    mind, decision, longest = make_agent("dispatcher", errs), Decision(commands={}), 0
    for _ in range(10):
        decision = asyncio.run(mind.decide(make_situation(game, seats, memory=decision.memory)))
        said = decision.calls[0].request.messages[-1].text.partition("Feedback on the last step:")[2]
        longest = max(longest, len(said.encode()) // 2)
        game.step(decision.commands)
    assert 0 < longest <= MAX_FEEDBACK_TOKENS * 4


def test_a_co_player_that_asks_no_model_makes_no_calls() -> None:
    found = sample_calls(kitchen(seats=2), "random", {}, (1,))
    assert found.calls == ()
    assert worst_cost(found, load_prices(), *SONNET) == 0
    assert expected_calls(found, steps=60, episodes=1).calls == 0
