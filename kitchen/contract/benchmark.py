"""Define benchmarks, which compare agents that play one world without people.

There are three kinds:

- `CompletionBenchmark` compares completed and missed tasks with published numbers and an upper bound.
- `ComparisonBenchmark` compares one metric between teams of agents, by level and number of players.
- `PairingBenchmark` compares one metric between all pairs of agents, in worlds with two players.
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
    """The best possible result of one or more episodes: the largest number of orders that can be
    completed, and the number of ended orders (completed or missed) with which the share is highest."""

    completed: int
    """Maximum number of orders completed."""
    ended: int
    """Number of orders completed or missed where the share is highest."""

    @property
    def share(self) -> float | None:
        """Return the highest possible share of completed orders, from 0 to 1. Return None if no order could
        end within the episode."""
        return self.completed / self.ended if self.ended else None

    def __add__(self, other: ScoreBound) -> ScoreBound:
        return ScoreBound(self.completed + other.completed, self.ended + other.ended)


@dataclass(frozen=True, slots=True)
class BenchmarkVariant:
    """One setup of agents to compare with other setups: its settings, and the published result that
    belongs to it."""

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
    """A small episode for which a solver computes the best possible result."""

    level: str
    alpha: float
    agents: int
    steps: int
    seed: int


class NoSolverError(Exception):
    """Raised if the program that computes optima is not installed. The message is one line."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The solver's result. The commands in `turns` complete `completed` orders. No commands can complete
    more than `bound` orders."""

    completed: int
    bound: int
    seconds: float
    turns: tuple[TurnCommands, ...]

    @property
    def is_proven(self) -> bool:
        """Return True if the solver has proved that no better plan exists."""
        return self.completed == self.bound


class Benchmark(ABC):
    """The base class of all benchmarks: agents play one world without people."""

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
        """Return the world's settings for an episode in this level. `alpha` multiplies the interval between
        orders. `steps` is the length of the episode."""


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A published mean or share of a metric, as printed."""

    mean: float
    spread: float | None = None
    """The number after ±; None if none is printed."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a published table: printed values, and the episodes of ours whose mean stands beside them."""

    name: str
    values: tuple[float | None, ...] = ()
    """As printed, one for each column of the table; None or left out where nothing is printed."""
    where: Mapping[str, Json] | None = None
    """The facts of an episode that is counted here. Empty: every episode. None: we have no counterpart.

    The facts are those of `ComparisonBenchmark.level_facts`, and four about the team. `seats` and `members`
    are numbers; a member can have no seat. `organisation` is its kind: `solo` for a single member, and `none`
    for members without one. `talk` says whether members may write to each other. A single member has no
    `talk`: one mind in all seats knows all without it.
    """


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table that groups levels, beside the means of our own episodes in the same groups."""

    title: str
    columns: tuple[str, ...]
    """The players of the publication, such as models."""
    rows: tuple[PublishedRow, ...]
    note: str
    """What cannot be compared, and why."""
    figure: str = ""
    """The metric of ours; empty for that of the benchmark. It may be the second one."""
    scale: float = 1.0
    """The factor that turns our metric into the unit of the printed values: 100 for a share in percent."""


class ComparisonBenchmark(Benchmark):
    """A benchmark that compares one metric by level, number of seats and line-up (the agents that play
    together). It does not vary the interval between orders: `alpha` is always 1."""

    alphas: ClassVar[tuple[float, ...]] = (1.0,)
    figure: ClassVar[str]
    """The name of the metric that is compared (in `World.figures`, or computed from the log)."""
    source: ClassVar[str]
    """The source of the published values (papers, programs) and the meaning of the metric."""
    organisation: ClassVar[str] = ""
    """The default organisation of the line-ups; empty: no messages."""
    second_figure: ClassVar[str] = ""
    """Another metric that is stored for each episode, and used in published tables; empty: none."""
    more_figures: ClassVar[tuple[str, ...]] = ()
    """Further metrics that are stored for each episode. Each has a table of its own."""

    @abstractmethod
    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return the line-ups (names such as `greedy+stay`) that are compared by default with this number
        of seats."""

    def levels_for(self, seats: Sequence[int]) -> tuple[str, ...]:
        """Return the levels that are played by default with these numbers of seats: `usual_levels`, unless
        levels need a certain number."""
        return self.usual_levels()

    def level_refusal(self, level: str) -> str:
        """Return why no agent can succeed in this level, so that it is refused. Empty by default."""
        return ""

    def omitted_levels_text(self, levels: Sequence[str]) -> str:
        """Return which levels are not played and why, as one line, if `levels` are played. Empty by
        default."""
        return ""

    def published(self, level: str, seats: int) -> Mapping[str, PublishedValue]:
        """Return the published values for this level and number of seats, by line-up (such as
        `greedy+stay`). Empty by default."""
        return {}

    def published_tables(self) -> tuple[PublishedTable, ...]:
        """Return published tables whose rows are groups of levels. Empty by default."""
        return ()

    def level_facts(self, level: str) -> Mapping[str, Json]:
        """Return the properties by which published tables group the levels, for this level and by name. Empty
        by default."""
        return {}


class PairingBenchmark(ComparisonBenchmark):
    """A benchmark of a world with two seats, in which each kind of agent plays with each other kind."""

    agents: ClassVar[tuple[int, ...]] = (2,)

    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of co-player that are compared by default."""

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return every pair of `kinds`, in both orders of seats, as line-ups such as `greedy+stay`."""
        return tuple(f"{one}{MEMBER_SEPARATOR}{other}" for one in self.kinds() for other in self.kinds())

    @abstractmethod
    def printed(self, level: str, seat: int) -> Mapping[str, PublishedValue]:
        """Return the published values of a level by the kind of agent in this seat, averaged over its
        partners. Empty if none are published."""


class CompletionBenchmark(Benchmark):
    """A benchmark that counts the orders that agents complete and miss."""

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
        """Return the group of levels to which the publication assigns this level; empty if it assigns
        none."""

    @abstractmethod
    def preset(
        self, name: str, agents: Sequence[int], models: Sequence[str]
    ) -> Iterator[tuple[BenchmarkVariant, int]]:
        """Yield (variant, number of agents) for each row or cell of the published table called `name`.
        `agents` and `models` are used if the table does not fix them."""

    @abstractmethod
    def published(self, level: str, agents: int, row: tuple[str, str] | None) -> Mapping[float, OrderCounts]:
        """Return the published (completed, ended) orders by interval between orders (alpha). `row` names a
        table and one of its rows. If it is None, `level` and `agents` choose the row."""

    @abstractmethod
    def other_models(self, agents: int) -> Mapping[str, Mapping[float, OrderCounts]]:
        """Return the published (completed, ended) orders of other models in the level `preset_level`. They
        are by model, then by interval between orders (alpha)."""

    @abstractmethod
    def bound(self, level: str, alpha: float, agents: int, seeds: Iterable[int]) -> ScoreBound:
        """Return the best possible result of all episodes with these seeds together. `alpha` multiplies the
        interval between orders."""

    @abstractmethod
    def check_solver(self) -> None:
        """Raise NoSolverError if the solver for optima is not installed."""

    @abstractmethod
    def optimum(self, case: OptimumCase, seconds: float) -> Optimum:
        """Return the best possible result of a case. If the solver does not find it within `seconds`,
        return the best plan and bound found so far."""

    @abstractmethod
    def replay(self, case: OptimumCase, turns: Sequence[TurnCommands]) -> int:
        """Play the commands in the world itself, and return the number of orders that they complete."""
