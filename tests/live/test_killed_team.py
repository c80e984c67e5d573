"""A worker is killed while it asks the leader of a team of agents. The run is the same as one that nothing
disturbed: the same steps, decisions and messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers import Stack, wait_until

pytestmark = [pytest.mark.servers, pytest.mark.nightly]
# tests/kitchen/play/test_organisation_acceptance.py has it without processes

STEPS = 30
KILLED_FROM = (6, 16)
"""The worker is killed for the first time after one of these numbers of steps, then after the other."""
BEGIN = """
from kitchen.contract.organisation import Member, make_organisation
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
followers = [MindPlan("follower", (seat,)) for seat in range(3)]
leader = MindPlan("hourglass", (), {{"model": "stand-in", "stand_in_latency": {latency}}})
lead = Member(3, (), is_person=False, name="Lead")
team = make_organisation(
    "tree", [lead, *members_of_plans(followers, seats=3)], seats=3, settings={{"schedule": "free"}}
)
print(create_episode(
    world="cuisine", settings={{"level": "level_3", "max_steps": {steps}}}, seats=3, seed=7,
    minds=[*followers, leader], organisation=team, decision_seconds=60,
).pk)
"""
STANDS = """
import json
from kitchen.play.models import Episode, PendingQuestion
episode = Episode.objects.get(pk={pk})
claims = list(PendingQuestion.objects.filter(mind__episode=episode).values_list("deciding_by", flat=True))
print(json.dumps([episode.step, episode.status, [claim for claim in claims if claim]]))
"""
LOGGED = """
import json
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Message, SeatCommand
from kitchen.replay.replay_verification import verify_replays
rows = Episode.objects.filter(pk={pk})
episode = rows.get()
commands = SeatCommand.objects.filter(episode=episode).order_by("step", "seat")
decisions = Decision.objects.filter(mind__episode=episode).order_by("mind__number", "step", "number")
messages = Message.objects.filter(episode=episode).order_by("number")
print(json.dumps({{
    "states": list(episode.steps.order_by("number").values_list("number", "state_hash")),
    "commands": list(commands.values_list("step", "seat", "command", "chosen_by", "fallback")),
    "decisions": list(decisions.values_list(
        "mind__number", "step", "seen_step", "number", "because", "played_by", "fallback", "dropped", "memory"
    )),
    "messages": list(messages.values_list("number", "step", "sender", "to", "kind", "text", "data")),
    "faults": [fault for one in verify_episode_logs(rows) for fault in one.faults]
    + [one.fault for one in verify_replays(rows) if one.fault],
}}))
"""


def told(stack: Stack, source: str, **values: Any) -> Any:
    """What this code prints in the app."""
    return json.loads(stack.manage("shell", "-v", "0", "-c", source.format(**values)))


def begin(stack: Stack, latency: float) -> int:
    return int(told(stack, BEGIN, steps=STEPS, latency=latency))


def wait_for_the_end(stack: Stack, pk: int) -> Any:
    wait_until(lambda: told(stack, STANDS, pk=pk)[1] == "over", f"the end of episode {pk}")
    return told(stack, LOGGED, pk=pk)


def kill_while_it_asks(stack: Stack, pk: int, step: int) -> None:
    """Kill the worker after this number of steps or more, in the middle of a question to the leader."""
    asking: list[str] = []

    def is_asking() -> bool:
        taken, status, asking[:] = told(stack, STANDS, pk=pk)
        assert status == "playing", "the episode ended before the worker was killed"
        return taken >= step and bool(asking)

    wait_until(is_asking, "a claimed question")
    stack.kill_worker()
    assert told(stack, STANDS, pk=pk)[2] == asking, "the worker had answered before it was killed"
    stack.restart()


@pytest.fixture
def undisturbed(live_stack: Stack) -> Any:
    """The log of a run in which no process dies."""
    return wait_for_the_end(live_stack, begin(live_stack, 0))


def test_a_worker_killed_while_a_team_decides_leaves_the_same_run(
    live_stack: Stack, undisturbed: Any
) -> None:
    pk = begin(live_stack, 1.5)
    for step in KILLED_FROM:
        kill_while_it_asks(live_stack, pk, step)
    log = wait_for_the_end(live_stack, pk)
    assert log == undisturbed
    assert len(log["states"]) == STEPS and log["messages"] and log["faults"] == []
    assert {row[6] for row in log["decisions"]} == {""}, "no decision fell back"
