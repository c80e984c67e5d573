"""Define `ExperimentSetup`, which describes an experiment, and list the experiment's episodes.

A setup names agents, levels, intervals between orders (tasks), and a seed. Agents with different settings
play the same episodes, with the same seeds. `setup_checks` checks a setup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from kitchen.contract.agent import EVERYBODY, NO_ONE
from kitchen.contract.benchmark import (
    Benchmark,
    BenchmarkVariant,
    ComparisonBenchmark,
    OrderCounts,
)
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.line_up import line_up_kinds, line_up_members, line_up_seats
from kitchen.contract.organisation import ORGANISATION_KINDS, Organisation, make_organisation
from kitchen.contract.organisation_settings import SETTINGS_BY_KIND, applicable_settings
from kitchen.contract.team_schedules import SCHEDULE, TOGETHER
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import declared_settings
from kitchen.registry.world_registry import (
    DEFAULT_WORLD_NAME,
    get_bench,
    get_ground,
)

DEFAULT_WORLD = DEFAULT_WORLD_NAME
"""The world of an experiment unless another is named."""
DEFAULT_BENCHMARK = get_bench(DEFAULT_WORLD)
MODEL_SETTING = "model"
"""The setting that names a co-player's language model."""
NO_ORGANISATION = "none"
"""Used in place of a kind of organisation: members send no messages."""
OFFERED_ORGANISATIONS = tuple(kind for kind in ORGANISATION_KINDS if kind != "custom")
"""Kinds of organisation offered to agents without people. The kind determines who writes to whom."""
KNOWLEDGE_CHOICES = (NO_ONE, EVERYBODY)
"""The choices for whose commands members know, if no people play
(`kitchen.contract.agent.KNOWLEDGE_LABELS`)."""
MAX_EPISODES = 10_000
"""Largest number of episodes in one cell and interval."""
MAX_TOTAL_EPISODES = 20_000
"""Largest number of episodes in an experiment: thirty-seven times the paper's tables at default settings."""


class SetupError(Exception):
    """Raised when an experiment cannot be played. `about` names the wrong argument. If a setting of the
    co-player is wrong, `setting` names it."""

    def __init__(self, text: str, about: str = "", setting: str = "") -> None:
        super().__init__(text)
        self.about, self.setting = about, setting


@dataclass(frozen=True, slots=True)
class ExperimentColumn:
    """One cell of the result tables: a variant of the agents in one level with one number of agents. The
    cell is played at all intervals between orders (alpha)."""

    variant: BenchmarkVariant
    level: str
    agents: int
    world: str = DEFAULT_WORLD
    goal: Mapping[str, float] = field(default_factory=dict)
    """Least values of metrics at which an episode ends; empty: it lasts all steps."""

    @property
    def ground(self) -> Benchmark:
        """Return the benchmark of this cell's world."""
        return get_ground(self.world)

    @property
    def key(self) -> tuple[str, str, int]:
        """Return the key of this cell: name of the variant, level and number of agents."""
        return self.variant.name, self.level, self.agents

    @property
    def paper(self) -> Mapping[float, OrderCounts]:
        """Return the paper's counts of orders for this cell, by interval between orders (alpha). Empty if
        there are none."""
        if self.world != DEFAULT_WORLD:
            return {}
        return DEFAULT_BENCHMARK.published(self.level, self.agents, self.variant.paper)


@dataclass(frozen=True, slots=True)
class ExperimentSetup:
    """All arguments of an experiment: agents, levels, intervals, episodes, seed and settings."""

    coplayer: str = DEFAULT_BENCHMARK.coplayer
    levels: tuple[str, ...] = field(default_factory=DEFAULT_BENCHMARK.usual_levels)
    agents: tuple[int, ...] = DEFAULT_BENCHMARK.agents
    alphas: tuple[float, ...] = DEFAULT_BENCHMARK.alphas
    episodes: int = 3
    seed: int = 1
    settings: Mapping[str, Json] = field(default_factory=dict)
    """All settings of the co-player."""
    preset: str = ""
    models: tuple[str, ...] = ()
    """The models that table 6 compares."""
    world: str = DEFAULT_WORLD
    pairs: tuple[str, ...] = ()
    """Line-ups that play (`kitchen.contract.line_up`), such as `greedy+stay` for two partners.

    If empty, the co-player commands all seats.
    """
    organisations: tuple[str, ...] = ()
    """Kinds of organisation in which the line-ups play, possibly `NO_ORGANISATION`. Empty: no messages."""
    organisation_settings: Mapping[str, Json] = field(default_factory=dict)
    """Settings of the organisations; each applies to the kinds that have it."""
    schedules: tuple[str, ...] = ()
    """Schedules that are compared (`SCHEDULES`). If empty, `organisation_settings` can have one."""
    knowing: str = NO_ONE
    """The members whose commands of a step a member knows (`kitchen.contract.agent.KNOWLEDGE_LABELS`). Teams
    that talk within the step use `EVERYBODY`, as in live play."""
    goal: Mapping[str, float] = field(default_factory=dict)
    """Least values of metrics at which an episode of a line-up ends; empty: it lasts all steps."""
    batch: bool = False
    """True if the model calls of all episodes are sent together, in batches at a lower price."""

    def to_json(self) -> dict[str, Json]:
        """Return the setup as JSON. Fields about the world and the team are left out if they have the
        default value."""
        values = asdict(self)
        if self.world == DEFAULT_WORLD and not self.pairs:
            del values["world"], values["pairs"]
        if not self.organisations:
            del values["organisations"], values["organisation_settings"]
        if not self.schedules:
            del values["schedules"]
        if self.knowing == NO_ONE:
            del values["knowing"]
        if not self.goal:
            del values["goal"]
        if not self.batch:
            del values["batch"]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """Restore a setup from the output of `to_json`."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return cls(**values)

    @property
    def columns(self) -> tuple[ExperimentColumn, ...]:
        """Return all cells of the result tables (variant, level and number of agents), in their order."""
        if self.preset:
            rows = DEFAULT_BENCHMARK.preset(self.preset, self.agents, self.models)
            return tuple(
                ExperimentColumn(variant, DEFAULT_BENCHMARK.preset_level, agents) for variant, agents in rows
            )
        if self.pairs:
            return tuple(self._team(level, *team) for level in self.levels for team in self.teams)
        pairs = ((level, agents) for agents in self.agents for level in self.levels)
        return tuple(ExperimentColumn(BenchmarkVariant(), level, agents) for level, agents in pairs)

    @property
    def teams(self) -> list[tuple[str, str, str]]:
        """Return all (kind of organisation, schedule, line-up) triples that fit together. A line-up is a list
        of agents that play together."""
        return [
            (kind, schedule, line_up)
            for kind in self.organisations or ("",)
            for schedule in self.schedules_of(kind)
            for line_up in self.pairs
            if not organisation_misfit(kind, line_up, self.settings_in(schedule))
        ]

    def schedules_of(self, kind: str) -> tuple[str, ...]:
        """Return the schedules in which an organisation of this kind plays. An empty name stands for the
        schedule in `organisation_settings`. Kinds without schedules play once, in `TOGETHER`."""
        if not self.schedules:
            return ("",)
        return self.schedules if SCHEDULE in SETTINGS_BY_KIND.get(kind, ()) else (TOGETHER,)

    def settings_in(self, schedule: str) -> Mapping[str, Json]:
        """Return the settings of the organisations in this schedule, one of `schedules_of`."""
        own = {SCHEDULE: schedule} if schedule else {}
        return {**self.organisation_settings, **own}

    def _team(self, level: str, organisation: str, schedule: str, line_up: str) -> ExperimentColumn:
        compared = ((organisation, self.organisations), (schedule, self.schedules))
        name = " ".join([*(one for one, several in compared if len(several) > 1), line_up])
        made = organisation_of(organisation, line_up, self.settings_in(schedule))
        settings = {
            name: value
            for kind in line_up_kinds(line_up)
            for name, value in declared_settings(kind, self.settings).items()
        }
        variant = BenchmarkVariant(
            name,
            name if isinstance(self.ground, ComparisonBenchmark) else f"{level}: {name}",
            settings,
            coplayer=line_up,
            organisation=made,
            knowing=EVERYBODY if made and made.talks_within else self.knowing,
        )
        return ExperimentColumn(variant, level, line_up_seats(line_up), self.world, self.goal)

    @property
    def ground(self) -> Benchmark:
        """Return the benchmark of this experiment's world."""
        return get_ground(self.world)

    def coplayer_of(self, variant: BenchmarkVariant) -> str:
        """Return the agent, or the line-up of several agents, that plays this variant."""
        return variant.coplayer or self.coplayer

    @property
    def total(self) -> int:
        """Return the number of all episodes."""
        return len(self.columns) * len(self.alphas) * self.episodes

    def settings_of(self, variant: BenchmarkVariant) -> dict[str, Json]:
        """Return the co-player's settings in a variant."""
        return dict(variant.settings) if variant.coplayer else {**self.settings, **variant.settings}


def organisation_of(kind: str, line_up: str, settings: Mapping[str, Json]) -> Organisation | None:
    """Return the organisation (who may command and write to whom) of a line-up (agents that play together).
    None if its members send no messages. Raises SettingsError if it is invalid."""
    if kind in {"", NO_ORGANISATION}:
        return None
    seats = line_up_seats(line_up)
    meant = applicable_settings(kind, settings)
    chosen = {name: value for name, value in settings.items() if name in meant}
    return make_organisation(kind, line_up_members(line_up, seats), seats=seats, settings=chosen)


def organisation_misfit(kind: str, line_up: str, settings: Mapping[str, Json]) -> str:
    """Return why a line-up (agents that play together) cannot have this organisation. Empty if it can."""
    try:
        organisation_of(kind, line_up, settings)
    except SettingsError as error:
        return f"organisation: {kind}: {error.args[0]}"
    return ""


EpisodeKey = tuple[str, str, int, float, int]
"""Variant, level, agents, alpha, episode: the key of an episode within its experiment."""


@dataclass(frozen=True, slots=True)
class EpisodeJob:
    """One episode to be played: its cell, its interval between orders (alpha), its number and its seed."""

    column: ExperimentColumn
    alpha: float
    episode: int
    """Number of the episode within its cell, from 1."""
    seed: int

    @property
    def key(self) -> EpisodeKey:
        """Return the key of the episode within the experiment."""
        return *self.column.key, self.alpha, self.episode


def episode_jobs(setup: ExperimentSetup) -> tuple[EpisodeJob, ...]:
    """Return all episodes of the experiment. First comes the first episode of every cell (variant, level and
    number of agents), then the second one, and so on."""
    return tuple(
        EpisodeJob(column, alpha, episode, episode_seed(setup.seed, column, alpha, episode))
        for episode in range(1, setup.episodes + 1)
        for column in setup.columns
        for alpha in setup.alphas
    )


def episode_seed(seed: int, column: ExperimentColumn, alpha: float, episode: int) -> int:
    """Return the seed for the world of one episode. It is computed from the experiment's `seed`. All
    variants have the same seed."""
    return derived_seed("experiment", seed, column.level, column.agents, float(alpha), episode)
