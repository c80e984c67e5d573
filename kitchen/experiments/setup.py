"""What an experiment was asked to be: levels, agents, intervals, who plays and in which organisation; the
paper's tables as presets.

`Setup` is checked once (`checked`) and then taken as it is; `to_json` goes into experiment.json and the
database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from kitchen.contract.agent import EVERYBODY, NO_ONE
from kitchen.contract.bench import Comparison, Counts, Ground, Pairings, Variant
from kitchen.contract.organisation import KINDS, Organisation, applying, organise
from kitchen.contract.together import kinds_of, members_of, seats_of
from kitchen.contract.world import Json, SettingsError, clean_settings
from kitchen.llm.registry import read_model, unavailable
from kitchen.registry.agents import get_agent, known, make_agents, plays
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import DEFAULT, get_bench, get_ground, get_world, organisation_refusal
from kitchen.words.counting import counted

WORLD = DEFAULT
"""The world that agents play alone, unless somebody names another."""
BENCH = get_bench(WORLD)
MODEL = "model"
"""The setting that names a co-player's language model."""
NO_ORGANISATION = "none"
"""In the place of a kind of organisation: nobody says anything."""
OFFERED = tuple(kind for kind in KINDS if kind != "custom")
"""Kinds of organisation that agents alone can play in: who writes to whom follows from the kind."""
KNOWN_ALONE = (NO_ONE, EVERYBODY)
"""What members can know of a step where there are no people (`kitchen.contract.agent.KNOWING`)."""
MAX_EPISODES = 10_000
"""Of one cell and interval."""
MOST_EPISODES = 20_000
"""Of an experiment: thirty-seven times the paper's tables as they are played unless one says otherwise."""


class SetupError(Exception):
    """An experiment that cannot be played; one line. `about` names the argument that is wrong, `setting` the
    co-player's setting; empty where it is none."""

    def __init__(self, text: str, about: str = "", setting: str = "") -> None:
        super().__init__(text)
        self.about, self.setting = about, setting


@dataclass(frozen=True, slots=True)
class ExperimentColumn:
    """One level x agents cell of the paper's tables: all its intervals."""

    variant: Variant
    level: str
    agents: int
    world: str = WORLD

    @property
    def ground(self) -> Ground:
        """What its world compares."""
        return get_ground(self.world)

    @property
    def key(self) -> tuple[str, str, int]:
        """As rows name it."""
        return self.variant.name, self.level, self.agents

    @property
    def paper(self) -> Mapping[float, Counts]:
        """The paper's counts by interval; empty where it has none."""
        if self.world != WORLD:
            return {}
        return BENCH.published(self.level, self.agents, self.variant.paper)


@dataclass(frozen=True, slots=True)
class Setup:
    """All arguments of an experiment."""

    coplayer: str = BENCH.coplayer
    levels: tuple[str, ...] = field(default_factory=BENCH.usual_levels)
    agents: tuple[int, ...] = BENCH.agents
    alphas: tuple[float, ...] = BENCH.alphas
    episodes: int = 3
    seed: int = 1
    settings: Mapping[str, Json] = field(default_factory=dict)
    """The co-player's, all of them."""
    preset: str = ""
    models: tuple[str, ...] = ()
    """Table 6: the models that are compared."""
    world: str = WORLD
    pairs: tuple[str, ...] = ()
    """Line-ups that play (`kitchen.contract.together`), such as who sits beside whom: `greedy+stay`. Empty:
    the co-player commands all seats."""
    organisations: tuple[str, ...] = ()
    """Kinds of organisation that these play in, `NO_ORGANISATION` among them; empty: nobody says anything."""
    organisation_settings: Mapping[str, Json] = field(default_factory=dict)
    """Each is for the kinds in which it means something."""
    knowing: str = NO_ONE
    """Whose commands of a step a member is told (`kitchen.contract.agent.KNOWING`). In teams that talk within
    the step it is `EVERYBODY`, as in live play."""

    def to_json(self) -> dict[str, Json]:
        """As JSON; `from_json` gives an equal setup. Of world and team only what is not the usual."""
        values = asdict(self)
        if self.world == WORLD and not self.pairs:
            del values["world"], values["pairs"]
        if not self.organisations:
            del values["organisations"], values["organisation_settings"]
        if self.knowing == NO_ONE:
            del values["knowing"]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """What `to_json` wrote."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return cls(**values)

    @property
    def columns(self) -> tuple[ExperimentColumn, ...]:
        """Every level x agents cell with its variant, in the order of the tables."""
        if self.preset:
            rows = BENCH.preset(self.preset, self.agents, self.models)
            return tuple(ExperimentColumn(variant, BENCH.preset_level, agents) for variant, agents in rows)
        if self.pairs:
            teams = [(kind, pair) for kind in self.organisations or ("",) for pair in self.pairs]
            return tuple(self._team(level, kind, pair) for level in self.levels for kind, pair in teams)
        pairs = ((level, agents) for agents in self.agents for level in self.levels)
        return tuple(ExperimentColumn(Variant(), level, agents) for level, agents in pairs)

    def _team(self, level: str, organisation: str, line_up: str) -> ExperimentColumn:
        name = f"{organisation} {line_up}" if len(self.organisations) > 1 else line_up
        made = organised(organisation, line_up, self.organisation_settings)
        variant = Variant(
            name,
            name if isinstance(self.ground, Comparison) else f"{level}: {name}",
            _of_all(kinds_of(line_up), self.settings),
            coplayer=line_up,
            organisation=made,
            knowing=EVERYBODY if made and made.talks_within else self.knowing,
        )
        return ExperimentColumn(variant, level, seats_of(line_up), self.world)

    @property
    def ground(self) -> Ground:
        """What its world compares."""
        return get_ground(self.world)

    def coplayer_of(self, variant: Variant) -> str:
        """Who plays a variant."""
        return variant.coplayer or self.coplayer

    @property
    def total(self) -> int:
        """All its episodes."""
        return len(self.columns) * len(self.alphas) * self.episodes

    def settings_of(self, variant: Variant) -> dict[str, Json]:
        """The co-player's settings in a variant."""
        return dict(variant.settings) if variant.coplayer else {**self.settings, **variant.settings}


def organised(kind: str, line_up: str, settings: Mapping[str, Json]) -> Organisation | None:
    """Return the organisation of a line-up, with those of the settings that mean something in its kind; None
    where nobody says anything. SettingsError."""
    if kind in {"", NO_ORGANISATION}:
        return None
    seats = seats_of(line_up)
    meant = applying(kind, settings)
    chosen = {name: value for name, value in settings.items() if name in meant}
    return organise(kind, members_of(line_up, seats), seats=seats, settings=chosen)


def _of_all(kinds: Sequence[str], given: Mapping[str, Json]) -> dict[str, Json]:
    """All settings of those who play together, as `checked` has filled them in."""
    return {name: value for kind in kinds for name, value in known(kind, given).items()}


def checked(setup: Setup) -> Setup:
    """The setup with all settings of its co-player filled in; SetupError if it cannot be played."""
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
    if coplayer.worlds is not None and WORLD not in coplayer.worlds:
        raise SetupError(f"co-player {setup.coplayer}: does not play {WORLD}", "co_player")
    check_answers(full)
    return full


def _checked_pairs(setup: Setup) -> Setup:
    """Every setting by its name, for all who know it."""
    kinds = dict.fromkeys(kind for pair in setup.pairs for kind in kinds_of(pair))
    try:
        declared = {each.name for kind in kinds for each in get_agent(kind).settings}
        if unknown := sorted(setup.settings.keys() - declared):
            about = MODEL if unknown[0] == MODEL else "set"
            raise SetupError(f"--{about}: nobody here has a setting {unknown[0]!r}", about)
        filled = {
            name: value
            for kind in kinds
            for name, value in _filled(
                clean_settings(get_agent(kind).settings, known(kind, setup.settings))
            ).items()
        }
        full = replace(setup, settings=filled)
        for column in full.columns:
            _check_line_up(full, column)
    except SettingsError as error:
        raise SetupError(f"pairs: {error.args[0]}", "pairs") from error
    check_answers(full)
    return full


def _check_line_up(setup: Setup, column: ExperimentColumn) -> None:
    """SetupError where who sits there does not play here."""
    line_up, world, ground = column.variant.coplayer, get_world(setup.world), column.ground
    kinds = kinds_of(line_up)
    for kind in kinds:
        if not plays(get_agent(kind), setup.world):
            raise SetupError(f"pairs: {kind} does not play {setup.world}", "pairs")
    game = world.create(seats=column.agents, settings=ground.settings(column.level, 1.0, ground.steps))
    agents = make_agents(kinds, setup.settings_of(column.variant))
    if why := next((why for agent in agents if (why := agent.unfit(game))), ""):
        raise SetupError(f"pairs: {line_up} in {column.level}: {why}", "pairs")


def check_answers(setup: Setup) -> None:
    """SetupError where a model cannot be asked from here: another would play in its place throughout."""
    for settings in (setup.settings_of(column.variant) for column in setup.columns):
        if MODEL in settings:
            provider, model = read_model(str(settings[MODEL]))
            if why := unavailable(provider):
                raise SetupError(f"model: {why} (the model “stand-in” needs no key)", "model", MODEL)
            if not model:
                raise SetupError(f"model: name one of {provider}, as {provider}:NAME", "model", MODEL)


def _filled(settings: dict[str, Json]) -> dict[str, Json]:
    """With the model by its name, so that a resumed run asks the same one whatever the environment says."""
    if MODEL not in settings:
        return settings
    return {**settings, MODEL: ":".join(read_model(settings[MODEL]))}


def _check_values(setup: Setup) -> None:
    _check_preset(setup)
    if isinstance(setup.ground, Comparison) and not setup.pairs:
        raise SetupError("pairs: are needed in worlds in which one figure is compared", "pairs")
    _check_levels(setup)
    _check_kinds(setup)
    _check_organisations(setup)
    if not setup.pairs:
        _within("agents", setup.agents, 1, get_world(setup.world).max_seats)
    _within("alphas", setup.alphas, 0.01, 100)
    _within("episodes", (setup.episodes,), 1, MAX_EPISODES)
    _within("seed", (setup.seed,), 0, 2**63 - 1)
    if setup.total > MOST_EPISODES:
        cells = setup.total // setup.episodes
        much = f"{setup.episodes} for each of {cells} cells and intervals are {setup.total}"
        raise SetupError(f"episodes: {much}, more than {MOST_EPISODES} in all", "episodes")


def _check_preset(setup: Setup) -> None:
    if setup.preset and setup.preset not in BENCH.presets:
        raise SetupError(f"preset: {setup.preset!r} is not one of {', '.join(BENCH.presets)}", "preset")
    if setup.preset == "table6" and not setup.models:
        raise SetupError("table6 compares models: name them", "model")
    if setup.models:
        _each_once("model", setup.models)


def _check_levels(setup: Setup) -> None:
    there = setup.ground.levels()
    _each_once("levels", setup.levels)
    for level in setup.levels:
        if level not in there:
            raise SetupError(f"levels: {level!r} is not one of {', '.join(there)}", "levels")


def _check_kinds(setup: Setup) -> None:
    """SetupError where a pair names a co-player that there is not."""
    try:
        for pair in setup.pairs:
            _check_seats(setup, pair)
        for kind in dict.fromkeys(kind for pair in setup.pairs for kind in kinds_of(pair)):
            get_agent(kind)
    except (UnknownNameError, SettingsError) as error:
        raise SetupError(f"pairs: {error.args[0]}", "pairs") from error


def _check_seats(setup: Setup, line_up: str) -> None:
    """SetupError, SettingsError where a line-up does not fit the seats of the world."""
    world, seats = get_world(setup.world), seats_of(line_up)
    if isinstance(setup.ground, Pairings) and (len(kinds_of(line_up)), seats) != (world.max_seats,) * 2:
        raise SetupError(f"pairs: {line_up!r} is not {world.max_seats} with + between", "pairs")
    for kind, held in zip(kinds_of(line_up), members_of(line_up, seats), strict=True):
        if not held.seats and not get_agent(kind).reads_words:
            raise SetupError(f"pairs: {kind} reads no messages, and needs a seat", "pairs")
    if not world.min_seats <= seats <= world.max_seats:
        there = f"{setup.world} has {world.min_seats} to {world.max_seats}"
        raise SetupError(f"pairs: {line_up!r} has {counted(seats, 'seat')}, {there}", "pairs")


def _check_organisations(setup: Setup) -> None:
    """SetupError where line-ups cannot be organised so, or not in this world."""
    if setup.organisations:
        _each_once("organisation", setup.organisations)
    if setup.knowing not in KNOWN_ALONE:
        raise SetupError(f"knowing: {setup.knowing!r} is not one of {', '.join(KNOWN_ALONE)}", "knowing")
    for kind in setup.organisations:
        _check_organisation(setup, kind)
    known_settings = {name for kind in setup.organisations for name in _meant(kind, setup)}
    if unknown := sorted(setup.organisation_settings.keys() - known_settings):
        raise SetupError(f"organisation_set: {unknown[0]!r} means nothing here", "organisation_set")


def _meant(kind: str, setup: Setup) -> frozenset[str]:
    """Settings that mean something in this kind of organisation."""
    return applying(kind, setup.organisation_settings) if kind in OFFERED else frozenset()


def _check_organisation(setup: Setup, kind: str) -> None:
    if kind == NO_ORGANISATION:
        return
    if kind not in OFFERED:
        offered = ", ".join((NO_ORGANISATION, *OFFERED))
        raise SetupError(f"organisation: {kind!r} is not one of {offered}", "organisation")
    if why := organisation_refusal(setup.world, kind):
        raise SetupError(why, "organisation")
    try:
        for line_up in setup.pairs:
            organised(kind, line_up, setup.organisation_settings)
    except SettingsError as error:
        raise SetupError(f"organisation: {kind}: {error.args[0]}", "organisation") from error


def _each_once(name: str, values: Sequence[object]) -> None:
    """Episodes have their names by these: two of one name would be played as one, and never all."""
    if not values or len(set(values)) < len(values):
        raise SetupError(f"{name}: needs values, each once", name)


def _within(name: str, values: Sequence[float], low: float, high: float) -> None:
    _each_once(name, values)
    for value in values:
        if not low <= value <= high:
            raise SetupError(f"{name}: {value} is not from {low} to {high}", name)
