"""Build an `ExperimentSetup` (a description of an experiment) from command-line or form arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kitchen.contract.agent import NO_ONE
from kitchen.contract.benchmark import Benchmark, ComparisonBenchmark, PairingBenchmark
from kitchen.contract.data_limits import DataLimitError, read_json
from kitchen.contract.line_up import MEMBER_SEPARATOR, line_up_kinds, line_up_seats
from kitchen.contract.organisation_settings import SETTINGS_BY_KIND
from kitchen.contract.team_schedules import SCHEDULE, SCHEDULES, TOGETHER
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    DEFAULT_WORLD,
    NO_ORGANISATION,
    OFFERED_ORGANISATIONS,
    ExperimentSetup,
    SetupError,
)
from kitchen.experiments.setup_checks import check_batches, check_setup
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_ground, world_families

T = TypeVar("T")

DEMONSTRATION, DEMONSTRATION_AGENTS = "demonstration", "demonstration_agents"
"""Settings of --demo. --no-hints sets `hints`, --no-feedback `feedback`, and --model `model`."""


def read_setup(given: Mapping[str, Any]) -> ExperimentSetup:
    """Return the checked setup that these arguments describe. Raises SetupError, which explains in one
    line what is wrong."""
    setup = _setup_of(given)
    return check_batches(replace(setup, batch=True)) if given.get("batch") else setup


def _setup_of(given: Mapping[str, Any]) -> ExperimentSetup:
    world = _world(given.get("world") or DEFAULT_WORLD, given.get("family") or "")
    ground = _ground(world)
    if isinstance(ground, ComparisonBenchmark):
        return _of_comparison(given, world, ground)
    _refuse(given, ("layouts", "pairs", "seats"), "is for worlds in which partners are compared: name one")
    if given.get("members"):
        return _of_team(given, world, ground)
    return _of_bench(given)


def _world(name: str, family: str) -> str:
    """Return the name of the world that `--world` and `--family` mean. Raises SetupError if a kind of worlds
    has no such family, or if the family is missing."""
    names = world_families().get(name, ())
    if names and f"{name}_{family}" not in names:
        known = ", ".join(each.removeprefix(f"{name}_") for each in names)
        told = f"{family!r} is not one of" if family else f"{name} is several worlds: name one of"
        raise SetupError(f"--family: {told} {known}", "family")
    return f"{name}_{family}" if family else name


def _refuse(given: Mapping[str, Any], names: Sequence[str], why: str) -> None:
    """Raise SetupError for the first argument in `names` that was given. `why` is the reason."""
    for name in names:
        if given.get(name):
            raise SetupError(f"--{name.replace('_', '-')}: {why}", name)


def _of_bench(given: Mapping[str, Any]) -> ExperimentSetup:
    """Return the experiment setup in which one co-player commands all seats."""
    _refuse(given, TEAM_ARGUMENTS, "say who plays, with --members")
    preset = given["preset"] or ""
    kind = given["co_player"] or (
        DEFAULT_BENCHMARK.preset_coplayer if preset or given["model"] else DEFAULT_BENCHMARK.coplayer
    )
    models = tuple(text.strip() for text in (given["model"] or "").split(",") if text.strip())
    if len(models) > 1 and preset != "table6":
        raise SetupError("--model: only table6 compares several models", "model")
    settings = _settings(given, models[0] if models else "")
    if preset == "table6" and not models:
        models = (str(settings.get("model") or "stand-in"),)
    setup = ExperimentSetup(
        coplayer=kind,
        levels=_levels(given["levels"], preset),
        agents=_agents(given["agents"], preset),
        alphas=_list("--alphas", given["alphas"], float) or DEFAULT_BENCHMARK.alphas,
        episodes=whole_number("--episodes", given["episodes"]),
        seed=whole_number("--seed", given["seed"]),
        settings=settings,
        preset=preset,
        models=models if preset == "table6" else (),
    )
    return check_setup(setup)


TEAM_ARGUMENTS = ("organisation", "organisation_set", "schedule", "knowing", "goal")
"""Arguments that define how members play together."""
WITHOUT_SCHEDULES = (
    *(kind for kind in OFFERED_ORGANISATIONS if SCHEDULE not in SETTINGS_BY_KIND[kind]),
    NO_ORGANISATION,
)
"""Organisations in which everybody is always asked together."""
SINGLE_AGENT_ARGUMENTS = ("preset", "co_player", "no_feedback", "no_hints", "demo")
"""Arguments that are refused where line-ups play."""
NOT_OF_PARTNERS = (*SINGLE_AGENT_ARGUMENTS, "levels", "agents", "alphas")
"""Arguments that are refused where partners are compared."""
NOT_OF_COMPARISONS = (*SINGLE_AGENT_ARGUMENTS, "alphas", "layouts", "pairs", "seats")
"""Arguments that are refused where one metric is compared."""
SEATS_AS_NAMED, SEATS_BOTH_WAYS = "named", "both"
"""Values of --seats: as the pairs name them, or each pair also in reversed order."""


def _ground(world: str) -> Benchmark:
    try:
        ground = get_ground(world)
    except UnknownNameError as error:
        raise SetupError(f"--world: {error.args[0]}", "world") from error
    if world != DEFAULT_WORLD and not isinstance(ground, ComparisonBenchmark):
        raise SetupError(f"--world: partners are not compared in {world}", "world")
    return ground


def _of_comparison(given: Mapping[str, Any], world: str, ground: ComparisonBenchmark) -> ExperimentSetup:
    """Return the experiment setup for a world whose benchmark `ground` compares one metric. It compares pairs
    of partners, or line-ups (agents that play together)."""
    of_partners = isinstance(ground, PairingBenchmark)
    for name in NOT_OF_PARTNERS if of_partners else NOT_OF_COMPARISONS:
        if given.get(name):
            also = ", name --layouts" if of_partners and name == "levels" else ""
            raise SetupError(f"--{name.replace('_', '-')}: means nothing in {world}{also}", name)
    where = "layouts" if of_partners else "levels"
    levels = given.get(where)
    line_ups, called = _line_ups(given, ground)
    seats = ground.agents if of_partners else _seats_of(line_ups)
    setup = ExperimentSetup(
        coplayer=ground.coplayer,
        levels=ground.levels_for(seats) if levels in {None, "all"} else _list(f"--{where}", levels, str),
        agents=seats,
        alphas=ground.alphas,
        settings=_settings(given, given["model"]),
        world=world,
        pairs=line_ups,
        **_episodes(given),
        **_team(given, ground.organisation),
    )
    return _checked_as(setup, {"levels": f"--{where}", "episodes": _asked_episodes(given)[0], **called})


def _line_ups(
    given: Mapping[str, Any], ground: ComparisonBenchmark
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the line-ups (agents that play together) that were given, or else the benchmark's usual ones.
    Also return the names of arguments that error messages should mention."""
    if (members := given.get("members")) is not None:
        _refuse(given, ("pairs", "agents", "seats"), "say it with --members alone")
        return _members(members), {"pairs": "--members"}
    if isinstance(ground, PairingBenchmark):
        return _pairs(given.get("pairs"), given.get("seats") or SEATS_AS_NAMED, ground), {}
    numbers = _list("--agents", given.get("agents"), int) or ground.agents
    return tuple(name for seats in numbers for name in ground.line_ups(seats)), {"pairs": "--agents"}


def _of_team(given: Mapping[str, Any], world: str, ground: Benchmark) -> ExperimentSetup:
    """Return the experiment setup for line-ups (agents that play together), in a world whose benchmark
    `ground` counts completed orders."""
    _refuse(given, (*SINGLE_AGENT_ARGUMENTS, "agents"), "means nothing with --members")
    line_ups = _members(given["members"])
    setup = ExperimentSetup(
        coplayer=ground.coplayer,
        levels=_levels(given.get("levels"), ""),
        agents=_seats_of(line_ups),
        alphas=_list("--alphas", given.get("alphas"), float) or ground.alphas,
        settings=_settings(given, given["model"]),
        world=world,
        pairs=line_ups,
        **_episodes(given),
        **_team(given, ""),
    )
    return _checked_as(setup, {"episodes": _asked_episodes(given)[0], "pairs": "--members"})


def _members(text: str) -> tuple[str, ...]:
    """Return the line-ups (agents that play together) in the comma-separated value of `--members`, without
    blanks. Raises SetupError if a line-up has an empty place or is repeated."""
    found = _list("--members", text, lambda part: "".join(part.split()))
    if any("" in line_up_kinds(line_up) for line_up in found):
        raise SetupError(f"--members: {text!r} has an empty place", "members")
    if len(set(found)) < len(found):
        raise SetupError("--members: needs line-ups, each once", "members")
    return found


def _seats_of(line_ups: Sequence[str]) -> tuple[int, ...]:
    try:
        return tuple(sorted({line_up_seats(line_up) for line_up in line_ups}))
    except SettingsError as error:
        raise SetupError(f"--{error.args[0]}", "members") from error


def _asked_episodes(given: Mapping[str, Any]) -> tuple[str, Any]:
    """Return (argument name, value) of the number of episodes, as it was given: `--seeds` or `--episodes`."""
    name = "seeds" if given.get("seeds") else "episodes"
    return f"--{name}", given.get(name)


def _episodes(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"episodes": whole_number(*_asked_episodes(given)), "seed": whole_number("--seed", given["seed"])}


def _team(given: Mapping[str, Any], usual: str) -> dict[str, Any]:
    """Return the fields of the setup about how members play together. `usual` is the default organisation."""
    kinds = _list("--organisation", given.get("organisation"), str) or ((usual,) if usual else ())
    settings: dict[str, Json] = {}
    for text in given.get("organisation_set") or ():
        settings |= _one_setting(text, "--organisation-set")
    schedules = _schedules(given, kinds, settings.get(SCHEDULE))
    if len(schedules) == 1:
        settings[SCHEDULE] = schedules[0]
    if set(kinds) <= set(WITHOUT_SCHEDULES) and schedules:
        schedules = ()
        del settings[SCHEDULE]  # it is their only schedule, not a setting of theirs
    knowing, goal = given.get("knowing") or NO_ONE, dict[str, Json]()
    for text in given.get("goal") or ():
        goal |= _one_setting(text, "--goal")
    return {
        "organisations": kinds,
        "organisation_settings": settings,
        "schedules": schedules if len(schedules) > 1 else (),
        "knowing": knowing,
        "goal": goal,
    }


def _schedules(given: Mapping[str, Any], kinds: Sequence[str], set_otherwise: Json) -> tuple[str, ...]:
    """Return the schedules in the comma-separated value of `--schedule`. Raises SetupError if one is unknown
    or repeated, if `--organisation-set` names another one (`set_otherwise`), or if no organisation in `kinds`
    has such schedules."""
    found = _list("--schedule", given.get(SCHEDULE), str)
    if found and set_otherwise and (set_otherwise,) != found:
        raise SetupError("--schedule: --organisation-set names another one", SCHEDULE)
    for schedule in found:
        if schedule not in SCHEDULES:
            raise SetupError(f"--schedule: {schedule!r} is not one of {', '.join(SCHEDULES)}", SCHEDULE)
    if len(set(found)) < len(found):
        raise SetupError("--schedule: needs schedules, each once", SCHEDULE)
    if set(found) - {TOGETHER} and set(kinds) <= set(WITHOUT_SCHEDULES):
        raise SetupError(f"--schedule: not in {', '.join(WITHOUT_SCHEDULES)}", SCHEDULE)
    return found


def _checked_as(setup: ExperimentSetup, called: Mapping[str, str]) -> ExperimentSetup:
    """Return the setup after checking it. In error messages, the setup's fields are named by their
    command-line arguments; `called` maps fields to arguments."""
    try:
        return check_setup(setup)
    except SetupError as error:
        name, _, why = str(error).partition(": ")
        if name not in called:
            raise
        raise SetupError(f"{called[name]}: {why}", error.about, error.setting) from error


def _pairs(text: str | None, seats: str, ground: PairingBenchmark) -> tuple[str, ...]:
    """Return the pairs of partners to play, without repetitions: those that the text names or, without a
    text, all pairs of all kinds of agent."""
    if seats not in {SEATS_AS_NAMED, SEATS_BOTH_WAYS}:
        raise SetupError(f"--seats: {seats!r} is neither {SEATS_AS_NAMED} nor {SEATS_BOTH_WAYS}", "seats")
    if text in {None, "all"}:
        return ground.line_ups(ground.agents[0])
    named = [_pair(each) for each in _list("--pairs", text, str)]
    turned = (
        [MEMBER_SEPARATOR.join(reversed(line_up_kinds(each))) for each in named]
        if seats == SEATS_BOTH_WAYS
        else []
    )
    ordered = [*zip(named, turned, strict=True)] if turned else [(each,) for each in named]
    return tuple(dict.fromkeys(pair for both in ordered for pair in both))


def _pair(text: str) -> str:
    """Return a pair of partners without blanks. If the text names only one kind of agent, the pair
    consists of two of this kind."""
    kinds = [kind.strip() for kind in line_up_kinds(text)]
    if "" in kinds:
        raise SetupError(f"--pairs: {text!r} has an empty place", "pairs")
    return MEMBER_SEPARATOR.join(kinds if len(kinds) > 1 else kinds * 2)


def whole_number(name: str, text: str) -> int:
    """Convert the value of an argument to an integer. Raises SetupError, which names the argument, if this is
    not possible."""
    try:
        return int(text)
    except ValueError:
        raise SetupError(f"{name}: {text!r} is not a whole number", name.strip("-")) from None


def _settings(given: Mapping[str, Any], model: str | None) -> dict[str, Json]:
    """Return the settings of the co-players. A setting applies to each co-player that declares its name."""
    settings: dict[str, Json] = {**given.get("coplayer_settings", {})} | ({"model": model} if model else {})
    for text in given.get("set") or ():
        settings |= _one_setting(text)
    if given.get("no_feedback"):
        settings["feedback"] = False
    if given.get("no_hints"):
        settings["hints"] = False
    if demo := given.get("demo"):
        settings |= {DEMONSTRATION: demo} if demo in {"few", "none"} else _demo_of(demo)
    return settings


MAX_VALUE_CHARACTERS = 250_000
"""Maximum length of the value in NAME=VALUE."""


def _one_setting(text: str, argument: str = "--set") -> dict[str, Json]:
    """Parse NAME=VALUE; the value is read as JSON, or else as text."""
    name, sign, value = text.partition("=")
    about = argument.strip("-").replace("-", "_")
    if not sign:
        raise SetupError(f"{argument}: {text[:60]!r} is not NAME=VALUE", about)
    if len(value) > MAX_VALUE_CHARACTERS:
        reason = f"has more than {MAX_VALUE_CHARACTERS:,} characters"
        raise SetupError(f"{argument}: {name.strip()[:60]}: {reason}", about)
    try:
        return {name.strip(): read_json(value)}
    except DataLimitError as error:
        raise SetupError(f"{argument}: {name.strip()}: {error}", about) from None
    except ValueError:
        return {name.strip(): value}


def _demo_of(text: str) -> dict[str, Json]:
    if not text.isdecimal() or int(text) < 1:
        raise SetupError(f"--demo: {text!r} is neither few nor none nor a number of agents", "demo")
    return {DEMONSTRATION_AGENTS: int(text)}


def _levels(text: str | None, preset: str) -> tuple[str, ...]:
    if preset and text in {None, DEFAULT_BENCHMARK.preset_level}:
        return (DEFAULT_BENCHMARK.preset_level,)
    named = DEFAULT_BENCHMARK.usual_levels() if text in {None, "all"} else _list("--levels", text, str)
    levels = tuple(level if level.startswith("level_") else f"level_{level}" for level in named)
    if preset and levels != (DEFAULT_BENCHMARK.preset_level,):
        raise SetupError(
            f"--levels: {preset} is played on {DEFAULT_BENCHMARK.preset_level}: leave it out or say 3",
            "levels",
        )
    return levels


def _agents(text: str | None, preset: str) -> tuple[int, ...]:
    own, asked = DEFAULT_BENCHMARK.presets.get(preset), _list("--agents", text, int)
    if own and asked and set(own) != set(asked):
        listed = ",".join(map(str, own))
        raise SetupError(
            f"--agents: {preset} is played with {listed}: leave it out or say {listed}", "agents"
        )
    return own or asked or DEFAULT_BENCHMARK.agents


def _list(name: str, text: str | None, read: Callable[[str], T]) -> tuple[T, ...]:
    if text is None:
        return ()
    try:
        values = tuple(read(part.strip()) for part in text.split(","))
    except ValueError:
        raise SetupError(f"{name}: {text!r} is not a list with commas", name.strip("-")) from None
    if "" in values:
        raise SetupError(f"{name}: {text!r} has an empty place", name.strip("-"))
    return values
