"""What calls will be like: the first steps, played with the stand-in."""

from __future__ import annotations

import time

import pytest

from kitchen.coplayers.trial import SAMPLE, plan_of, sample, worst_call
from kitchen.llm.prices import UnknownPriceError, load_prices
from kitchen.llm.tokens import most_tokens
from tests.kitchen.cooking import kitchen

PAID = {"model": "anthropic:claude-sonnet-5-5", "demonstration": "none"}


def test_the_first_steps_are_played_with_the_prompts_of_the_condition() -> None:
    calls = sample(kitchen(seats=3), "dispatcher", PAID, (1, 2))
    assert len(calls) == SAMPLE
    assert {call.provider for call in calls} == {"stand-in"}
    assert "agent1" in calls[-1].request.messages[-1].text
    plan = plan_of(calls, ahead=60, episodes=1)
    assert (plan.calls, plan.episodes, plan.max_tokens) == (60, 1, 1024)
    assert min(plan.fixed, plan.fresh, plan.output) > 0


def test_a_stand_in_that_is_set_up_to_fail_and_dawdle_does_neither_here() -> None:
    bad = {"stand_in_failures": 1.0, "stand_in_latency": 600.0, "stand_in_errors": 1.0}
    began = time.monotonic()
    calls = sample(kitchen(seats=2), "dispatcher", {**PAID, **bad}, (1,))
    assert all(call.reply for call in calls)
    assert time.monotonic() - began < 60


def test_the_tool_counts_among_what_stays_the_same() -> None:
    text, tool = (
        plan_of(sample(kitchen(seats=2), "dispatcher", {**PAID, "reply": reply}, (1,)), ahead=1, episodes=1)
        for reply in ("text", "tool")
    )
    assert tool.fixed > text.fixed


def test_at_worst_every_remembered_answer_is_as_long_as_it_may_be() -> None:
    prices, calls = load_prices(), sample(kitchen(seats=2), "dispatcher", PAID, (1,))
    price = prices.price("anthropic", "claude-sonnet-5-5")
    worst = worst_call(calls, prices, "anthropic", "claude-sonnet-5-5")
    assert worst > max(price.at_worst(most_tokens(call.request), 1024) for call in calls)
    with pytest.raises(UnknownPriceError):
        worst_call(calls, prices, "anthropic", "claude-unheard-of")


def test_a_co_player_that_asks_no_model_makes_no_calls() -> None:
    assert sample(kitchen(seats=2), "random", {}, (1,)) == []
    assert worst_call([], load_prices(), "anthropic", "claude-sonnet-5-5") == 0
