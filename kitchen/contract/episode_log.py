"""Define `EpisodeLog`, the log of one episode, and `LogMetrics`, which computes metrics from a log.

A world implements `LogMetrics` if some of its metrics depend on messages, plans or decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

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
    """One step: its commands, its events, and the score after it."""

    number: int
    """Number of the step, from 1."""
    commands: tuple[LoggedCommand, ...]
    """The commands in the order in which they ran."""
    events: tuple[Event, ...]
    score: Mapping[str, Json]
    """`World.score` after the step."""
    seconds: float | None = None
    """Seconds from the opening of the first step to the end of this one; None for agents alone."""


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision of an agent, with its reason, duration and note."""

    step: int
    """The step that it was made for, in which it takes effect; the first is 1."""
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
    asked_in: int | None = None
    """The step in which the agent was asked, if it planned in a schedule other than `together`. The decision
    may take effect later (`Organisation.think_steps`)."""
    calls: int = 0
    """Number of its model calls, where they were read with the log."""
    cost: float | None = 0.0
    """US dollars of these calls; None if a price is unknown."""


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
    goal: Mapping[str, float] = field(default_factory=dict)
    """Least values of metrics at which the episode ends, by name; empty if it has no goal."""


def is_goal_reached(goal: Mapping[str, float], score: Mapping[str, Json]) -> bool:
    """Return whether every metric in `goal` has at least its required value. False if there is no goal."""
    return bool(goal) and all((score[name] or 0) >= least for name, least in goal.items())


@dataclass(frozen=True, slots=True)
class EventColumn:
    """A column of exported files. It has one value for each scored event. Several worlds may share a
    column."""

    name: str
    kind: Literal["text", "integer", "number", "boolean"]
    meaning: str
    """Its description in the codebook, without a full stop."""
    levels: str = ""


@dataclass(frozen=True, slots=True)
class ScoredEvent:
    """An event in the log that metrics score, such as a request with its answer."""

    step: int
    result: str
    """The result of scoring in a few words, such as `both right`."""
    messages: tuple[int, ...]
    """Numbers of the messages that it consists of; at least one. A participant's rows in files hold it only
    if they sent or could read all of them."""
    values: Mapping[str, Json]
    """The value of each of `LogMetrics.event_columns`. They hold only what those who know the messages may
    know."""
    explanation: tuple[str, ...]
    """The parts of the event and the reasons for its score, for researchers: English sentences."""


CHECKED: Mapping[str, str] = {
    "command": "a command for this step",
    "plan": "the next command of a plan, which was dropped",
    "reply": "what an agent's model replied first, before its correction",
}
"""The subject of a failed check, with its description in the codebook."""


class FailedCheck(NamedTuple):
    """A command that failed a check of the world."""

    step: int
    seat: int
    code: str
    """The world's code of the refusal."""
    checked: str
    """One of `CHECKED`."""


FAILED_CHECKS = "Failed checks"
"""What the metrics of single seats (`Metric.of_seat`) that count `LogMetrics.failed_checks` measure."""


class LogMetrics(ABC):
    """Metrics of one world that are computed from the whole log of an episode."""

    figures: ClassVar[tuple[Metric, ...]]
    """The metrics that `measure` returns. No metric in `World.figures` has one of these names."""

    of_agents: ClassVar[tuple[str, ...]] = ()
    """The kinds of agent that the metrics are about. Without such an agent, an episode has the values of an
    empty log, so that its log is not read. Empty: the metrics are about every episode."""

    event_columns: ClassVar[tuple[EventColumn, ...]] = ()
    """The values of each of `events`. Empty: the world scores no events one by one."""

    lists_failed_checks: ClassVar[bool] = False
    """True if `failed_checks` returns any."""

    @abstractmethod
    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each metric in `figures`, by name, for the episode so far. None if a value
        is undefined. The same log gives the same values."""

    def events(self, log: EpisodeLog) -> Sequence[ScoredEvent]:
        """Return the events that the metrics score, in order of steps. The default is no events. The same
        log always gives the same events."""
        return ()

    def failed_checks(self, log: EpisodeLog) -> Sequence[FailedCheck]:
        """Return the checks that failed, by step. The same log gives the same checks."""
        return ()
