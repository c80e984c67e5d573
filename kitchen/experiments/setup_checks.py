"""Check that an experiment can be played: its values, levels, agents, organisations and models.

`check_setup` raises SetupError, which names the wrong argument.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kitchen.contract.agent import NO_ONE
from kitchen.contract.benchmark import (
    ComparisonBenchmark,
    PairingBenchmark,
)
from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.line_up import line_up_kinds, line_up_members, line_up_seats
from kitchen.contract.organisation_settings import applicable_settings
from kitchen.contract.team_schedules import SCHEDULE, TOGETHER
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    DEFAULT_WORLD,
    KNOWLEDGE_CHOICES,
    MAX_EPISODES,
    MAX_TOTAL_EPISODES,
    MODEL_SETTING,
    NO_ORGANISATION,
    OFFERED_ORGANISATIONS,
    ExperimentColumn,
    ExperimentSetup,
    SetupError,
    organisation_misfit,
)
from kitchen.llm.provider_registry import BATCHES, parse_model_setting, why_unavailable
from kitchen.registry.agent_registry import (
    can_play,
    declared_settings,
    get_agent,
    leader_refusal,
    make_agents,
)
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import (
    get_world,
    organisation_refusal,
)
from kitchen.words.english_text import counted_noun


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
    """Return a setup of line-ups (agents that play together) with all settings filled in, after checking it.
    Each setting applies to every co-player that declares its name."""
    kinds = dict.fromkeys(kind for pair in setup.pairs for kind in line_up_kinds(pair))
    try:
        declared = {each.name for kind in kinds for each in get_agent(kind).settings}
        if unknown := sorted(setup.settings.keys() - declared):
            about = MODEL_SETTING if unknown[0] == MODEL_SETTING else "set"
            raise SetupError(f"--{about}: nobody here has a setting {unknown[0]!r}{_listed(declared)}", about)
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
    """Raise SetupError if a member of this line-up (agents that play together) cannot play in the world."""
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


def check_batches(setup: ExperimentSetup) -> ExperimentSetup:
    """Return the setup. Raises SetupError if it sends its calls in batches, but has no model whose provider
    takes them."""
    if not setup.batch:
        return setup
    found = [
        parse_model_setting(str(settings[MODEL_SETTING]))[0]
        for settings in (setup.settings_of(column.variant) for column in setup.columns)
        if MODEL_SETTING in settings
    ]
    if not found:
        raise SetupError("batch: nobody asks a model here", "batch")
    if others := sorted(set(found) - BATCHES.keys()):
        raise SetupError(f"batch: {others[0]} takes no calls in batches; {', '.join(BATCHES)} do", "batch")
    return setup


def _filled(settings: dict[str, Json]) -> dict[str, Json]:
    """Return the settings with provider and model written out. A resumed run then calls the same model,
    whatever this environment's default is."""
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
        if isinstance(setup.ground, ComparisonBenchmark) and (why := setup.ground.level_refusal(level)):
            raise SetupError(f"levels: {level} {why}", "levels")


def _check_kinds(setup: ExperimentSetup) -> None:
    """Raise SetupError if a line-up (agents that play together) names an unknown co-player."""
    try:
        for pair in setup.pairs:
            _check_seats(setup, pair)
        for kind in dict.fromkeys(kind for pair in setup.pairs for kind in line_up_kinds(pair)):
            get_agent(kind)
    except (UnknownNameError, SettingsError) as error:
        raise SetupError(f"pairs: {error.args[0]}", "pairs") from error


def _check_seats(setup: ExperimentSetup, line_up: str) -> None:
    """Raise SetupError or SettingsError if a line-up (agents that play together) does not fit the seats of
    the world."""
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
    """Raise SetupError if the organisations of the setup are invalid, or do not fit its world or line-ups."""
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
        name
        for kind in offered
        for schedule in setup.schedules_of(kind)
        for name in applicable_settings(kind, setup.settings_in(schedule))
    }
    if unknown := sorted(setup.organisation_settings.keys() - known_settings):
        why = f"{unknown[0]!r} means nothing here{_listed(known_settings)}"
        raise SetupError(f"organisation_set: {why}", "organisation_set")


def _listed(names: Collection[str]) -> str:
    """Return the end of a message that lists the valid names, such as `; there are goal, sees`. Empty without
    names."""
    return f"; there are {', '.join(sorted(names))}" if names else ""


def _check_organisation(setup: ExperimentSetup, kind: str) -> None:
    if kind == NO_ORGANISATION:
        return
    if kind not in OFFERED_ORGANISATIONS:
        offered = ", ".join((NO_ORGANISATION, *OFFERED_ORGANISATIONS))
        raise SetupError(f"organisation: {kind!r} is not one of {offered}", "organisation")
    for each in setup.schedules_of(kind):
        schedule = str(setup.settings_in(each).get(SCHEDULE, TOGETHER))
        if why := organisation_refusal(setup.world, kind, schedule):
            raise SetupError(why, "organisation")
        if schedule != TOGETHER and setup.knowing != NO_ONE:
            raise SetupError(f"knowing: members know nothing of a step in schedule {schedule!r}", "knowing")
    _check_fit([(kind, line_up) for line_up in setup.pairs], setup)


def _check_fit(teams: Sequence[tuple[str, str]], setup: ExperimentSetup) -> None:
    """Raise SetupError if none of these (organisation, line-up) pairs fits together."""
    misfits = [
        organisation_misfit(kind, line_up, setup.settings_in(schedule))
        for kind, line_up in teams
        for schedule in setup.schedules_of(kind)
    ]
    if misfits and all(misfits):
        raise SetupError(misfits[0], "organisation")


def _each_once(name: str, values: Sequence[object]) -> None:
    """Raise SetupError if a value is repeated. Two equal values would give episodes with the same key, of
    which only one is played."""
    if not values or len(set(values)) < len(values):
        raise SetupError(f"{name}: needs values, each once", name)


def _within(name: str, values: Sequence[float], low: float, high: float) -> None:
    _each_once(name, values)
    for value in values:
        if not low <= value <= high:
            raise SetupError(f"{name}: {value} is not from {low} to {high}", name)
