"""Define benchmarks: how experiments compare agents that play alone in one world.

`CompletionBenchmark` counts the orders completed and missed per level, number of agents and interval. It
sets published counts and an upper bound beside them. `ComparisonBenchmark` compares one metric by level,
number of seats and line-up. `PairingBenchmark` compares partners by who plays in which of two seats.

Plain Python.
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
"""Done, and done or missed, summed over the episodes of one interval."""
TurnCommands = tuple[tuple[int, Command], ...]
"""Commands of one step by agent, in the order in which they run."""


@dataclass(frozen=True, slots=True)
class ScoreBound:
    """What cannot be passed, over one or more episodes of a cell."""

    completed: int
    """Done, at most."""
    ended: int
    """Done or missed where the share is highest."""

    @property
    def share(self) -> float | None:
        """The share that was done, at most; None where nothing could end."""
        return self.completed / self.ended if self.ended else None

    def __add__(self, other: ScoreBound) -> ScoreBound:
        return ScoreBound(self.completed + other.completed, self.ended + other.ended)


@dataclass(frozen=True, slots=True)
class BenchmarkVariant:
    """One way of playing that is compared with others: its settings, and the published row beside it."""

    name: str = ""
    label: str = ""
    settings: Mapping[str, Json] = field(default_factory=dict)
    """The co-player's that it plays with, on top of the experiment's."""
    paper: tuple[str, str] | None = None
    """Table and row of what was published; None for the usual one of level and agents."""
    coplayer: str = ""
    """The line-up that plays it (`kitchen.contract.line_up`); empty for whom the experiment names."""
    organisation: Organisation | None = None
    """Who may say what to whom; None where nobody says anything."""
    knowing: str = NO_ONE
    """Whose commands of a step a member is told (`kitchen.contract.agent.KNOWLEDGE_LABELS`)."""


@dataclass(frozen=True, slots=True)
class OptimumCase:
    """A small case whose optimum is sought."""

    level: str
    alpha: float
    agents: int
    steps: int
    seed: int


class NoSolverError(Exception):
    """What finds optima is not installed; one line."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """What was found: `completed` by `turns`, and that no plan completes more than `bound`."""

    completed: int
    bound: int
    seconds: float
    turns: tuple[TurnCommands, ...]

    @property
    def is_proven(self) -> bool:
        """Nothing better exists."""
        return self.completed == self.bound


class Benchmark(ABC):
    """Where agents alone play in one world: what every bench says."""

    steps: ClassVar[int]
    """Of an episode."""
    agents: ClassVar[tuple[int, ...]]
    """How many, unless somebody says otherwise."""
    alphas: ClassVar[tuple[float, ...]]
    """Likewise the intervals."""
    coplayer: ClassVar[str]
    """Who plays, unless somebody says otherwise."""

    @abstractmethod
    def levels(self) -> tuple[str, ...]:
        """Every level that can be played."""

    @abstractmethod
    def usual_levels(self) -> tuple[str, ...]:
        """Those that are played unless somebody says otherwise, in their order."""

    @abstractmethod
    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """The world's settings of an episode."""


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A published mean or share of a figure, as printed."""

    mean: float
    spread: float | None = None
    """The number after ±; None where none is printed."""


class ComparisonBenchmark(Benchmark):
    """A world in which one figure is compared by level, number of seats and who plays. Its one interval
    is 1."""

    alphas: ClassVar[tuple[float, ...]] = (1.0,)
    figure: ClassVar[str]
    """The figure of the world (`World.figures`, or of its log) that is compared, by its name."""
    source: ClassVar[str]
    """Where what was published comes from, in a sentence or two: papers, programs, and what it means."""
    organisation: ClassVar[str] = ""
    """The organisation in which line-ups play, unless somebody says otherwise; empty: nobody says
    anything."""

    @abstractmethod
    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return the line-ups (`kitchen.contract.line_up`) of so many seats that are compared unless
        somebody says otherwise."""

    def published(self, level: str, seats: int) -> Mapping[str, PublishedValue]:
        """Return what was published of a level with so many seats, by the name of who played."""
        return {}


class PairingBenchmark(ComparisonBenchmark):
    """A world of two seats in which partners are compared by who sits beside whom."""

    agents: ClassVar[tuple[int, ...]] = (2,)

    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Co-players that are compared unless somebody says otherwise."""

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return every pair of these kinds, in both seats."""
        return tuple(f"{one}{MEMBER_SEPARATOR}{other}" for one in self.kinds() for other in self.kinds())

    @abstractmethod
    def printed(self, level: str, seat: int) -> Mapping[str, PublishedValue]:
        """What was published of a level by the name of who sat in this seat, over partners; nothing where
        there is nothing."""


class CompletionBenchmark(Benchmark):
    """The bench of a world in which what is done is counted beside what is missed."""

    preset_coplayer: ClassVar[str]
    """Who plays a preset, or a model that is named."""
    preset_level: ClassVar[str]
    """Where presets are played."""
    presets: ClassVar[Mapping[str, tuple[int, ...]]]
    """Published tables by name, with the agents that they are played with; none for whatever is asked for."""
    counted: ClassVar[str]
    """What is counted, in the plural."""
    bound_told: ClassVar[str]
    """Where the bound is explained: a path in this repository."""

    @abstractmethod
    def class_of(self, level: str) -> str:
        """The published class of a level, empty for one that has none."""

    @abstractmethod
    def preset(
        self, name: str, agents: Sequence[int], models: Sequence[str]
    ) -> Iterator[tuple[BenchmarkVariant, int]]:
        """Variants of a preset and their agents, in the order of the published table."""

    @abstractmethod
    def published(self, level: str, agents: int, row: tuple[str, str] | None) -> Mapping[float, OrderCounts]:
        """What was published, by interval: a row of a table, or what there is for level and agents."""

    @abstractmethod
    def other_models(self, agents: int) -> Mapping[str, Mapping[float, OrderCounts]]:
        """What other models reached where presets are played."""

    @abstractmethod
    def bound(self, level: str, alpha: float, agents: int, seeds: Iterable[int]) -> ScoreBound:
        """The bound of the counts summed over the episodes of these seeds."""

    @abstractmethod
    def check_solver(self) -> None:
        """NoSolverError where optima cannot be found here."""

    @abstractmethod
    def optimum(self, case: OptimumCase, seconds: float) -> Optimum:
        """The optimum of a case, or the best plan and bound that were found in so many seconds."""

    @abstractmethod
    def replay(self, case: OptimumCase, turns: Sequence[TurnCommands]) -> int:
        """What these commands complete in the engine."""
