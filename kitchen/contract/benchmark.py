"""Define benchmarks: how experiments compare agents that play without people in one world. No Django.

`CompletionBenchmark` compares completed and missed goals with published counts and an upper bound.
`ComparisonBenchmark` compares one metric by level, number of seats and line-up. `PairingBenchmark` compares
partners by who plays in which of two seats.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kitchen.contract.agent import NO_ONE
from kitchen.contract.line_up import MEMBER_SEPARATOR
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Command, Json

OrderCounts = tuple[int, int]
"""Orders completed, and orders completed or missed, summed over the episodes of one interval."""
TurnCommands = tuple[tuple[int, Command], ...]
"""The commands of one step as (agent, command) pairs, in the order in which they run."""


@dataclass(frozen=True, slots=True)
class ScoreBound:
    """An upper bound for one or more episodes of a cell."""

    completed: int
    """Maximum number of orders completed."""
    ended: int
    """Number of orders completed or missed where the share is highest."""

    @property
    def share(self) -> float | None:
        """The maximum share of orders completed; None if no order could end."""
        return self.completed / self.ended if self.ended else None

    def __add__(self, other: ScoreBound) -> ScoreBound:
        return ScoreBound(self.completed + other.completed, self.ended + other.ended)


@dataclass(frozen=True, slots=True)
class BenchmarkVariant:
    """One setup that is compared with others: its settings, and the published row to compare with."""

    name: str = ""
    label: str = ""
    settings: Mapping[str, Json] = field(default_factory=dict)
    """Settings of its co-player, in addition to those of the experiment."""
    paper: tuple[str, str] | None = None
    """Table and row of the published result; None for the usual row of level and agents."""
    coplayer: str = ""
    """The line-up that plays it (`kitchen.contract.line_up`); empty for the line-up of the experiment."""
    organisation: Organisation | None = None
    """The rules about who may send what to whom; None without messages."""
    knowing: str = NO_ONE
    """The members whose commands of a step a member knows (`kitchen.contract.agent.KNOWLEDGE_LABELS`)."""


@dataclass(frozen=True, slots=True)
class OptimumCase:
    """A small case whose optimum is computed."""

    level: str
    alpha: float
    agents: int
    steps: int
    seed: int


class NoSolverError(Exception):
    """The solver for optima is not installed; the message is one line."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The solver's result: `turns` complete `completed` orders; no plan completes more than `bound`."""

    completed: int
    bound: int
    seconds: float
    turns: tuple[TurnCommands, ...]

    @property
    def is_proven(self) -> bool:
        """Return whether no better plan exists."""
        return self.completed == self.bound


class Benchmark(ABC):
    """A benchmark of agents that play alone in one world: what all kinds of benchmark declare."""

    steps: ClassVar[int]
    """Steps of an episode."""
    agents: ClassVar[tuple[int, ...]]
    """Default numbers of agents."""
    alphas: ClassVar[tuple[float, ...]]
    """Default intervals."""
    coplayer: ClassVar[str]
    """Default co-player."""

    @abstractmethod
    def levels(self) -> tuple[str, ...]:
        """Return every level that can be played."""

    @abstractmethod
    def usual_levels(self) -> tuple[str, ...]:
        """Return the levels that are played by default, in their order."""

    @abstractmethod
    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings for an episode."""


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A published mean or share of a metric, as printed."""

    mean: float
    spread: float | None = None
    """The number after ±; None if none is printed."""


class ComparisonBenchmark(Benchmark):
    """A benchmark that compares one metric by level, number of seats and line-up. Its only interval is 1."""

    alphas: ClassVar[tuple[float, ...]] = (1.0,)
    figure: ClassVar[str]
    """The name of the metric that is compared (in `World.figures`, or computed from the log)."""
    source: ClassVar[str]
    """The source of the published values (papers, programs) and the meaning of the metric."""
    organisation: ClassVar[str] = ""
    """The default organisation of the line-ups; empty: no messages."""

    @abstractmethod
    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return the line-ups with this number of seats that are compared by default."""

    def published(self, level: str, seats: int) -> Mapping[str, PublishedValue]:
        """Return the published values for a level with this number of seats, by the name of the line-up."""
        return {}


class PairingBenchmark(ComparisonBenchmark):
    """A benchmark of a two-seat world that compares partners by who plays in which seat."""

    agents: ClassVar[tuple[int, ...]] = (2,)

    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of co-player that are compared by default."""

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return every pair of these kinds, in both orders of seats."""
        return tuple(f"{one}{MEMBER_SEPARATOR}{other}" for one in self.kinds() for other in self.kinds())

    @abstractmethod
    def printed(self, level: str, seat: int) -> Mapping[str, PublishedValue]:
        """Return the published values of a level, averaged over partners, by the kind of agent in this seat.
        Empty if nothing is published."""


class CompletionBenchmark(Benchmark):
    """A benchmark that counts the orders that an agent completes and misses."""

    preset_coplayer: ClassVar[str]
    """The co-player that plays a preset, or that uses a model named on the command line."""
    preset_level: ClassVar[str]
    """The level in which presets are played."""
    presets: ClassVar[Mapping[str, tuple[int, ...]]]
    """Published tables by name, with their numbers of agents; empty: any number that is asked for."""
    counted: ClassVar[str]
    """The plural noun for the things that are counted."""
    bound_told: ClassVar[str]
    """A path in this repository to the explanation of the bound."""

    @abstractmethod
    def class_of(self, level: str) -> str:
        """Return the published class of a level; empty if it has none."""

    @abstractmethod
    def preset(
        self, name: str, agents: Sequence[int], models: Sequence[str]
    ) -> Iterator[tuple[BenchmarkVariant, int]]:
        """Yield the variants of a preset with their numbers of agents, as in the published table."""

    @abstractmethod
    def published(self, level: str, agents: int, row: tuple[str, str] | None) -> Mapping[float, OrderCounts]:
        """Return the published counts by interval: a row of a table, or those for level and agents."""

    @abstractmethod
    def other_models(self, agents: int) -> Mapping[str, Mapping[float, OrderCounts]]:
        """Return the published counts of other models for the presets."""

    @abstractmethod
    def bound(self, level: str, alpha: float, agents: int, seeds: Iterable[int]) -> ScoreBound:
        """Return the bound on the counts summed over the episodes of these seeds."""

    @abstractmethod
    def check_solver(self) -> None:
        """Raise NoSolverError if optima cannot be computed."""

    @abstractmethod
    def optimum(self, case: OptimumCase, seconds: float) -> Optimum:
        """Return the optimum of a case, or the best plan and bound found within `seconds`."""

    @abstractmethod
    def replay(self, case: OptimumCase, turns: Sequence[TurnCommands]) -> int:
        """Return the number of orders that these commands complete in the engine."""
