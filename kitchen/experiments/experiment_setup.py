"""Define an experiment: its agents, levels, intervals between orders and seed. Also check experiments and
list their episodes.

`check_setup` checks an `ExperimentSetup`. Agents with different settings play the same episodes, with the
same seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from kitchen.contract.agent import EVERYBODY, NO_ONE
from kitchen.contract.benchmark import (
    Benchmark,
    BenchmarkVariant,
    ComparisonBenchmark,
    OrderCounts,
    PairingBenchmark,
)
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.line_up import line_up_kinds, line_up_members, line_up_seats
from kitchen.contract.organisation import (
    ORGANISATION_KINDS,
    Organisation,
    applicable_settings,
    make_organisation,
)
from kitchen.contract.schedules import SCHEDULE, TOGETHER
from kitchen.contract.world import Json, SettingsError, clean_settings
from kitchen.llm.provider_registry import parse_model_setting, why_unavailable
from kitchen.registry.agent_registry import (
    can_play,
    declared_settings,
    get_agent,
    leader_refusal,
    make_agents,
)
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import (
    DEFAULT_WORLD_NAME,
    get_bench,
    get_ground,
    get_world,
    organisation_refusal,
)
from kitchen.words.english_text import counted_noun

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
        """The benchmark that the world of this cell defines."""
        return get_ground(self.world)

    @property
    def key(self) -> tuple[str, str, int]:
        """The name of the variant, the level and the number of agents, which identify this cell."""
        return self.variant.name, self.level, self.agents

    @property
    def paper(self) -> Mapping[float, OrderCounts]:
        """The counts of orders in the paper, by interval (alpha); empty if there are none."""
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
    knowing: str = NO_ONE
    """The members whose commands of a step a member knows (`kitchen.contract.agent.KNOWLEDGE_LABELS`). Teams
    that talk within the step use `EVERYBODY`, as in live play."""
    goal: Mapping[str, float] = field(default_factory=dict)
    """Least values of metrics at which an episode of a line-up ends; empty: it lasts all steps."""

    def to_json(self) -> dict[str, Json]:
        """Return the setup as JSON. Fields about the world and the team are left out if they have the
        default value."""
        values = asdict(self)
        if self.world == DEFAULT_WORLD and not self.pairs:
            del values["world"], values["pairs"]
        if not self.organisations:
            del values["organisations"], values["organisation_settings"]
        if self.knowing == NO_ONE:
            del values["knowing"]
        if not self.goal:
            del values["goal"]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """Restore a setup from the output of `to_json`."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return cls(**values)

    @property
    def columns(self) -> tuple[ExperimentColumn, ...]:
        """All cells of the experiment, in the order of the tables."""
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
    def teams(self) -> list[tuple[str, str]]:
        """Every kind of organisation with each line-up that fits it."""
        every = [(kind, pair) for kind in self.organisations or ("",) for pair in self.pairs]
        return [team for team in every if not _misfit(*team, self.organisation_settings)]

    def _team(self, level: str, organisation: str, line_up: str) -> ExperimentColumn:
        name = f"{organisation} {line_up}" if len(self.organisations) > 1 else line_up
        made = organisation_of(organisation, line_up, self.organisation_settings)
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
        """The benchmark that the world of this experiment defines."""
        return get_ground(self.world)

    def coplayer_of(self, variant: BenchmarkVariant) -> str:
        """Return the agent, or the line-up of several agents, that plays this variant."""
        return variant.coplayer or self.coplayer

    @property
    def total(self) -> int:
        """The number of all episodes."""
        return len(self.columns) * len(self.alphas) * self.episodes

    def settings_of(self, variant: BenchmarkVariant) -> dict[str, Json]:
        """Return the co-player's settings in a variant."""
        return dict(variant.settings) if variant.coplayer else {**self.settings, **variant.settings}


def organisation_of(kind: str, line_up: str, settings: Mapping[str, Json]) -> Organisation | None:
    """Return the organisation (rules for messages) in which a line-up plays; None if its members send no
    messages. Raises SettingsError if it is invalid."""
    if kind in {"", NO_ORGANISATION}:
        return None
    seats = line_up_seats(line_up)
    meant = applicable_settings(kind, settings)
    chosen = {name: value for name, value in settings.items() if name in meant}
    return make_organisation(kind, line_up_members(line_up, seats), seats=seats, settings=chosen)


def _misfit(kind: str, line_up: str, settings: Mapping[str, Json]) -> str:
    """Return why a line-up cannot have an organisation; empty if it can."""
    try:
        organisation_of(kind, line_up, settings)
    except SettingsError as error:
        return f"organisation: {kind}: {error.args[0]}"
    return ""


def check_setup(setup: ExperimentSetup) -> ExperimentSetup:
    """Return the setup with all settings filled in. Raises SetupError if it cannot be played."""
    _check_values(setup)
    if setup.pairs:
        return _checked_pairs(setup)
    try:
        coplayer = get_agent(setup.coplayer)
        full = replace(setup, settings=_filled(clean_settings(coplayer.settings, setup.settings)))
        for column in full.columns:
            coplayer(clean_settings(coplayer.settings, full.settings_of(column.variant)))
    except (UnknownNameError, SettingsError) as error:
        text = str(error.args[0])
        raise SetupError(
            f"co-player {setup.coplayer}: {text}", "co_player", text.partition(":")[0]
        ) from error
    if coplayer.worlds is not None and DEFAULT_WORLD not in coplayer.worlds:
        raise SetupError(f"co-player {setup.coplayer}: does not play {DEFAULT_WORLD}", "co_player")
    check_model_access(full)
    return full


def _checked_pairs(setup: ExperimentSetup) -> ExperimentSetup:
    """Check a setup of line-ups. Each setting applies to every co-player that declares its name."""
    kinds = dict.fromkeys(kind for pair in setup.pairs for kind in line_up_kinds(pair))
    try:
        declared = {each.name for kind in kinds for each in get_agent(kind).settings}
        if unknown := sorted(setup.settings.keys() - declared):
            about = MODEL_SETTING if unknown[0] == MODEL_SETTING else "set"
            raise SetupError(f"--{about}: nobody here has a setting {unknown[0]!r}", about)
        filled = {
            name: value
            for kind in kinds
            for name, value in _filled(
                clean_settings(get_agent(kind).settings, declared_settings(kind, setup.settings))
            ).items()
        }
        full = replace(setup, settings=filled)
        for column in full.columns:
            _check_line_up(full, column)
    except SettingsError as error:
        raise SetupError(f"pairs: {error.args[0]}", "pairs") from error
    check_model_access(full)
    return full


def _check_goal(setup: ExperimentSetup) -> None:
    """Raise SetupError if a value of the goal is no number."""
    for name, least in setup.goal.items():
        if isinstance(least, bool) or not isinstance(least, int | float):
            raise SetupError(f"goal: {name} needs a number, not {least!r}", "goal")


def _check_line_up(setup: ExperimentSetup, column: ExperimentColumn) -> None:
    """Raise SetupError if a member of this line-up cannot play in the world."""
    line_up, world, ground = column.variant.coplayer, get_world(setup.world), column.ground
    kinds = line_up_kinds(line_up)
    for kind in kinds:
        if not can_play(get_agent(kind), setup.world):
            raise SetupError(f"pairs: {kind} does not play {setup.world}", "pairs")
    known = sorted(figure.name for figure in world.figures)
    if unknown := sorted(setup.goal.keys() - set(known)):
        raise SetupError(f"goal: {unknown[0]!r} is not one of {', '.join(known)}", "goal")
    game = world.create(seats=column.agents, settings=ground.settings(column.level, 1.0, ground.steps))
    agents = make_agents(kinds, setup.settings_of(column.variant))
    members = line_up_members(line_up, column.agents)
    refusals = (agent.unfit(game, member.seats) for agent, member in zip(agents, members, strict=True))
    if why := next(filter(None, refusals), ""):
        raise SetupError(f"pairs: {line_up} in {column.level}: {why}", "pairs")


def check_model_access(setup: ExperimentSetup) -> None:
    """Raise SetupError if a model of the experiment cannot be called from here. Otherwise a fallback would
    play every episode."""
    for settings in (setup.settings_of(column.variant) for column in setup.columns):
        if MODEL_SETTING in settings:
            provider, model = parse_model_setting(str(settings[MODEL_SETTING]))
            if why := why_unavailable(provider):
                raise SetupError(f"model: {why} (the model “stand-in” needs no key)", "model", MODEL_SETTING)
            if not model:
                raise SetupError(f"model: name one of {provider}, as {provider}:NAME", "model", MODEL_SETTING)


def _filled(settings: dict[str, Json]) -> dict[str, Json]:
    """Name the model explicitly, so that a resumed run calls the same one in any environment."""
    if MODEL_SETTING not in settings:
        return settings
    return {**settings, MODEL_SETTING: ":".join(parse_model_setting(settings[MODEL_SETTING]))}


def _check_values(setup: ExperimentSetup) -> None:
    _check_preset(setup)
    if isinstance(setup.ground, ComparisonBenchmark) and not setup.pairs:
        raise SetupError("pairs: are needed in worlds in which one figure is compared", "pairs")
    _check_levels(setup)
    _check_kinds(setup)
    _check_organisations(setup)
    _check_goal(setup)
    if not setup.pairs:
        _within("agents", setup.agents, 1, get_world(setup.world).max_seats)
    _within("alphas", setup.alphas, 0.01, 100)
    _within("episodes", (setup.episodes,), 1, MAX_EPISODES)
    _within("seed", (setup.seed,), 0, 2**63 - 1)
    if setup.total > MAX_TOTAL_EPISODES:
        cells = setup.total // setup.episodes
        much = f"{setup.episodes} for each of {cells} cells and intervals are {setup.total}"
        raise SetupError(f"episodes: {much}, more than {MAX_TOTAL_EPISODES} in all", "episodes")


def _check_preset(setup: ExperimentSetup) -> None:
    if setup.preset and setup.preset not in DEFAULT_BENCHMARK.presets:
        raise SetupError(
            f"preset: {setup.preset!r} is not one of {', '.join(DEFAULT_BENCHMARK.presets)}", "preset"
        )
    if setup.preset == "table6" and not setup.models:
        raise SetupError("table6 compares models: name them", "model")
    if setup.models:
        _each_once("model", setup.models)


def _check_levels(setup: ExperimentSetup) -> None:
    there = setup.ground.levels()
    _each_once("levels", setup.levels)
    for level in setup.levels:
        if level not in there:
            raise SetupError(f"levels: {level!r} is not one of {', '.join(there)}", "levels")


def _check_kinds(setup: ExperimentSetup) -> None:
    """Raise SetupError if a line-up names an unknown co-player."""
    try:
        for pair in setup.pairs:
            _check_seats(setup, pair)
        for kind in dict.fromkeys(kind for pair in setup.pairs for kind in line_up_kinds(pair)):
            get_agent(kind)
    except (UnknownNameError, SettingsError) as error:
        raise SetupError(f"pairs: {error.args[0]}", "pairs") from error


def _check_seats(setup: ExperimentSetup, line_up: str) -> None:
    """Raise SetupError or SettingsError if a line-up does not fit the seats of the world."""
    world, seats = get_world(setup.world), line_up_seats(line_up)
    if (
        isinstance(setup.ground, PairingBenchmark)
        and (len(line_up_kinds(line_up)), seats) != (world.max_seats,) * 2
    ):
        raise SetupError(f"pairs: {line_up!r} is not {world.max_seats} with + between", "pairs")
    for kind, held in zip(line_up_kinds(line_up), line_up_members(line_up, seats), strict=True):
        if not held.seats and (why := leader_refusal(kind, setup.world)):
            raise SetupError(f"pairs: {why}", "pairs")
    if not world.min_seats <= seats <= world.max_seats:
        there = f"{setup.world} has {world.min_seats} to {world.max_seats}"
        raise SetupError(f"pairs: {line_up!r} has {counted_noun(seats, 'seat')}, {there}", "pairs")


def _check_organisations(setup: ExperimentSetup) -> None:
    """Raise SetupError if these line-ups or this world cannot have the organisations."""
    if setup.organisations:
        _each_once("organisation", setup.organisations)
    if setup.knowing not in KNOWLEDGE_CHOICES:
        raise SetupError(
            f"knowing: {setup.knowing!r} is not one of {', '.join(KNOWLEDGE_CHOICES)}", "knowing"
        )
    for kind in setup.organisations:
        _check_organisation(setup, kind)
    for line_up in setup.pairs:
        _check_fit([(kind, line_up) for kind in setup.organisations], setup)
    offered = [kind for kind in setup.organisations if kind in OFFERED_ORGANISATIONS]
    known_settings = {
        name for kind in offered for name in applicable_settings(kind, setup.organisation_settings)
    }
    if unknown := sorted(setup.organisation_settings.keys() - known_settings):
        raise SetupError(f"organisation_set: {unknown[0]!r} means nothing here", "organisation_set")


def _check_organisation(setup: ExperimentSetup, kind: str) -> None:
    if kind == NO_ORGANISATION:
        return
    if kind not in OFFERED_ORGANISATIONS:
        offered = ", ".join((NO_ORGANISATION, *OFFERED_ORGANISATIONS))
        raise SetupError(f"organisation: {kind!r} is not one of {offered}", "organisation")
    schedule = str(setup.organisation_settings.get(SCHEDULE, TOGETHER))
    if why := organisation_refusal(setup.world, kind, schedule):
        raise SetupError(why, "organisation")
    if schedule != TOGETHER and setup.knowing != NO_ONE:
        raise SetupError(f"knowing: members know nothing of a step in schedule {schedule!r}", "knowing")
    _check_fit([(kind, line_up) for line_up in setup.pairs], setup)


def _check_fit(teams: Sequence[tuple[str, str]], setup: ExperimentSetup) -> None:
    """Raise SetupError if none of these line-ups can have its organisation."""
    misfits = [_misfit(*team, setup.organisation_settings) for team in teams]
    if misfits and all(misfits):
        raise SetupError(misfits[0], "organisation")


def _each_once(name: str, values: Sequence[object]) -> None:
    """Raise SetupError if a value is repeated: episodes of equal keys would be played only once."""
    if not values or len(set(values)) < len(values):
        raise SetupError(f"{name}: needs values, each once", name)


def _within(name: str, values: Sequence[float], low: float, high: float) -> None:
    _each_once(name, values)
    for value in values:
        if not low <= value <= high:
            raise SetupError(f"{name}: {value} is not from {low} to {high}", name)


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
        """The key of the episode within the experiment."""
        return *self.column.key, self.alpha, self.episode


def episode_jobs(setup: ExperimentSetup) -> tuple[EpisodeJob, ...]:
    """Return all episodes of the experiment. The first episode of every cell comes first, then the second
    episode of every cell, and so on."""
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
