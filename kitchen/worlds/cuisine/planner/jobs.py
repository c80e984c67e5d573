"""How the planner does jobs with an aim of the kitchen (`kitchen.agents.following`): before anything else.

Robots that are at such a job are taken out of the plan as if somebody else commanded them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kitchen.agents.following import Followed, follow
from kitchen.contract.agent import Decision, Situation
from kitchen.contract.organisation import INFORM
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.planner.heeding import memory_of
from kitchen.worlds.cuisine.pursuing import PURSUER

KEY = "jobs"
"""Under which the planner's memory has them; only where somebody gave one."""
PATIENCE = 30
"""Steps after which one is given up."""
NOOP: Command = ("noop",)


def take_jobs(situation: Situation) -> Followed | None:
    """What is done for them in this step; None where nobody gave any."""
    before = situation.memory.get(KEY) if isinstance(situation.memory, dict) else None
    if not before and not any(said.data.get("aim") for said in situation.messages):
        return None
    return follow(situation, PURSUER, before, patience=PATIENCE, words=True)


def others(situation: Situation, followed: Followed) -> Situation:
    """The situation of the robots that are at no job, who have not heard of any."""
    seats = tuple(seat for seat in situation.seats if seat not in followed.seats)
    words = tuple(said for said in situation.messages if said.kind != INFORM or not said.data.get("aim"))
    return replace(
        situation,
        seats=seats,
        commanded={**situation.commanded, **_commands(followed)},
        messages=words,
        memory=memory_of(situation.memory, seats),
    )


def with_jobs(decision: Decision, followed: Followed) -> Decision:
    """The decision of the others with what the robots do that are at a job."""
    memory: dict[str, Json] = {**(decision.memory or {}), KEY: followed.memory}
    commands = {**_commands(followed), **decision.commands}
    return replace(decision, commands=commands, memory=memory, says=(*followed.says, *decision.says))


def _commands(followed: Followed) -> Mapping[int, Command]:
    return {seat: followed.commands.get(seat, NOOP) for seat in sorted(followed.seats)}
