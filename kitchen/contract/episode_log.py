"""Define `EpisodeLog`, the log of an episode in plain Python, and `LogMetrics`, metrics computed from it.

A world whose metrics depend on messages, plans or decisions names a `LogMetrics` in its kit. They join
those of `World.score` when the episode ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Event, Json, Metric


@dataclass(frozen=True, slots=True)
class LoggedCommand:
    """One seat's command in a step."""

    seat: int
    command: Command
    chosen_by: str = ""
    """`person`, `timeout`, `outage`, `clock`, `world`, or the kind of agent that chose."""
    planned_in: int | None = None
    """The step in which a plan with this command was given; None for a command chosen in its own step."""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One step that was taken."""

    number: int
    """Number of the step, from 1."""
    commands: tuple[LoggedCommand, ...]
    """The commands in the order in which they ran."""
    events: tuple[Event, ...]
    score: Mapping[str, Json]
    """`World.score` after the step."""


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision of an agent."""

    step: int
    """The step that it was made for; the first is 1."""
    member: int
    """The agent's number among the members of the episode; its first seat where there is no organisation."""
    because: str
    """The reason why the agent was asked (`kitchen.contract.agent`)."""
    played_by: str
    """The kind of agent that chose: itself or a stand-in."""
    fallback: str
    """The reason why a stand-in chose; empty if the agent itself did."""
    milliseconds: float
    note: Json = None
    dropped: str = ""
    """The reason why the decision was dropped; empty if its commands were used."""


@dataclass(frozen=True, slots=True)
class EpisodeLog:
    """Everything that happened in one episode, in order."""

    world: str
    settings: Mapping[str, Json]
    seats: int
    seed: int
    steps: tuple[LoggedStep, ...] = ()
    messages: tuple[TeamMessage, ...] = ()
    decisions: tuple[LoggedDecision, ...] = ()
    organisation: Organisation | None = None


class LogMetrics(ABC):
    """Metrics of one world that are computed from the log of an episode."""

    figures: ClassVar[tuple[Metric, ...]]
    """The metrics that `measure` returns. No metric in `World.figures` has one of these names."""

    @abstractmethod
    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each of `figures` for an episode that has ended; None where one is undefined.
        The same log gives the same values."""
