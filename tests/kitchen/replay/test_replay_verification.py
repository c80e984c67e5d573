"""What language models decided, decided again from what they answered then."""

from __future__ import annotations

import pytest

from kitchen.replay.episode_record import EpisodeRecord
from kitchen.replay.replay_verification import (
    FAILED,
    OTHER_COMMANDS,
    READ_DIFFERENTLY,
    RepeatedDecision,
    repeat_decisions,
)
from tests.kitchen.factories import make_episode, mind
from tests.kitchen.replay.test_step_replay import played

pytestmark = pytest.mark.django_db


def dispatched(**more: object) -> EpisodeRecord:
    """Two steps of a person, a dispatcher's stand-in and another one that knows what the first commands."""
    minds = (mind("dispatcher", 1), mind("dispatcher", 2))
    return played(make_episode(minds=minds, seats=3, steps=5, **more), 2, "noop")


def test_the_same_commands_come_of_the_same_replies() -> None:
    for knowing in ("everybody", "people", "nobody"):
        repeated = list(repeat_decisions(dispatched(knowing=knowing)))
        assert [(each.step, each.mind, each.replies, each.fault) for each in repeated] == [
            (step, number, 1, "") for step in (1, 2) for number in (0, 1)
        ]


def test_another_reply_prompt_or_number_of_calls_is_found() -> None:
    record = dispatched()
    first, second, third, fourth = (record.calls_of[row.pk][0] for row in record.decisions)
    assert "goto" in first.row.reply
    first.row.reply = "I would rather wait: noop_agent1"
    second.sent[-1] = ("user", "Something else?")
    record.calls_of[third.row.decision_id].append(third)
    record.calls_of[fourth.row.decision_id].clear()
    assert [each.fault for each in repeat_decisions(record)] == [
        READ_DIFFERENTLY,
        "something else was asked",
        "another number of calls was made",
        "another number of calls was made",
    ]
    first.row.reply_call = {"commands": [{"agent": "agent1", "verb": "noop", "location": "", "item": ""}]}
    assert next(repeat_decisions(record)).fault == OTHER_COMMANDS
    first.sent.append(("tool", "{"))
    assert next(repeat_decisions(record)).fault == FAILED.format(name="JSONDecodeError")


def test_decisions_that_cannot_be_repeated_have_a_reason() -> None:
    record = dispatched()
    record.decisions[0].fallback = "timeout"
    record.decisions[1].seen_step = None
    made = [not each.why_not for each in repeat_decisions(record)]
    assert made == [False, False, True, True]
    record.episode.tick_ms = 167
    assert all(each.why_not for each in repeat_decisions(record))


def test_agents_without_a_model_are_not_repeated() -> None:
    record = played(make_episode(minds=(mind("random", 1),), seats=2, steps=5), 2, "noop")
    assert list(repeat_decisions(record)) == list[RepeatedDecision]()
