"""Define the test world Secrets, for teams that talk. Each seat knows one secret number, and all seats must
name the sum.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar
from unittest.mock import patch

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.benchmark import ComparisonBenchmark, PublishedValue
from kitchen.contract.declared_settings import Setting
from kitchen.contract.episode_log import EpisodeLog, LogMetrics
from kitchen.contract.kit import WorldKit
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Event, Json, Metric
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.worlds.lane.page import PAGE

HIGHEST = 9


class Secrets(SimpleWorld):
    """The world: two or three seats name the sum of their numbers."""

    kind: ClassVar[str] = "secrets"
    settings: ClassVar[tuple[Setting, ...]] = (Setting("steps", "int", "Steps", 3, minimum=1),)
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 3
    idle: ClassVar[Command] = ("wait",)
    figures: ClassVar[tuple[Metric, ...]] = (Metric("agreed", "share", "All named the sum"),)
    state: ClassVar[tuple[str, ...]] = ("numbers", "named")

    def begin(self) -> None:
        """Draw the numbers."""
        self.numbers = [self.chance(seat).randint(1, HIGHEST) for seat in range(self.seats)]
        self.named = [0] * self.seats

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the seat's own number."""
        return {"number": self.numbers[seat]}

    def legal_actions(self, seat: int) -> list[Command]:
        """Return all sums that are possible."""
        return [self.idle, *(("name", str(sum_)) for sum_ in range(1, HIGHEST * self.seats + 1))]

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Store the last sum that the seat has named."""
        if command != self.idle:
            self.named[seat] = int(command[1])
        return ()

    def score(self) -> dict[str, Json]:
        """Return 1 if all seats have named the right sum, else 0."""
        return {"agreed": float(all(named == sum(self.numbers) for named in self.named))}


class Mute(Agent):
    """An agent that sends no messages, and names the sum of the numbers that it knows."""

    kind = "mute"
    worlds = ("secrets",)

    async def decide(self, situation: Situation) -> Decision:
        """Remember every number in the messages, and name a sum."""
        heard = {
            said.sender: said.text for said in situation.talk.messages if said.sender != situation.talk.member
        }
        memory = {**(situation.memory or {}), **{str(sender): text for sender, text in heard.items()}}
        own = [situation.observations[seat]["number"] for seat in situation.seats]
        sum_ = sum(own) + sum(map(int, memory.values()))
        commands: dict[int, Command] = dict.fromkeys(situation.seats, ("name", str(sum_)))
        return Decision(commands, memory=memory, note={"sum": sum_}, says=self.says(situation, sum(own)))

    def says(self, situation: Situation, number: int) -> tuple[MessageDraft, ...]:
        """Return the messages to send."""
        return ()


class Teller(Mute):
    """An agent that sends its own number in the first step."""

    kind = "teller"

    def says(self, situation: Situation, number: int) -> tuple[MessageDraft, ...]:
        """Return a message with the number to all others, once."""
        return () if situation.step else (MessageDraft(str(number)),)


class Talk(LogMetrics):
    """The metric of messages."""

    figures: ClassVar[tuple[Metric, ...]] = (Metric("words", "count", "Messages"),)

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Count the messages."""
        return {"words": len(log.messages)}


class Ground(ComparisonBenchmark):
    """The benchmark of the world Secrets: who succeeds, by level (long or short) and number of seats."""

    steps: ClassVar[int] = 3
    agents: ClassVar[tuple[int, ...]] = (2, 3)
    coplayer: ClassVar[str] = "teller"
    figure: ClassVar[str] = "agreed"
    source: ClassVar[str] = "Invented for tests."
    organisation: ClassVar[str] = "graph"

    def levels(self) -> tuple[str, ...]:
        """Return the levels long and short."""
        return ("long", "short")

    def usual_levels(self) -> tuple[str, ...]:
        """Return both levels."""
        return self.levels()

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the number of steps. In a short episode, no message arrives in time."""
        return {"steps": steps if level == "long" else 1}

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return the line-ups: tellers only, and tellers with a mute agent."""
        return ("+".join(["teller"] * seats), "+".join(["mute", *["teller"] * (seats - 1)]))

    def published(self, level: str, seats: int) -> Mapping[str, PublishedValue]:
        """Return invented published values of long episodes."""
        if level == "short":
            return {}
        return {"GPT-0": PublishedValue(0.94), "people": PublishedValue(0.9, 0.05)}


KIT = WorldKit(
    rules=lambda: Secrets,
    page=lambda: PAGE,
    coplayers={"mute": lambda: Mute, "teller": lambda: Teller},
    steps="steps",
    bench=Ground,
    log_metrics=Talk,
    organisations=("graph", "tree", "pair"),
)


@contextmanager
def registered() -> Iterator[None]:
    """Add this world to the registry for the length of the block."""
    with patch.dict(os.environ, {WORLDS_VARIABLE: "secrets=tests.worlds.secrets:KIT"}):
        yield
