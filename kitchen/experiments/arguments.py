"""Arguments as people write them (command line, form), read into a `Setup`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kitchen.contract.bench import Pairings
from kitchen.contract.shallow import TooDeepError, read_json
from kitchen.contract.together import SIGN, kinds_of
from kitchen.contract.world import Json
from kitchen.experiments.setup import BENCH, WORLD, Setup, SetupError, checked
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_ground

T = TypeVar("T")

DEMONSTRATION, DEMONSTRATION_AGENTS = "demonstration", "demonstration_agents"
"""What --demo sets; --no-hints sets `hints`, --no-feedback `feedback`, --model `model`."""


def read_setup(given: Mapping[str, Any]) -> Setup:
    """The setup that was asked for; SetupError in one line."""
    if (world := given.get("world") or WORLD) != WORLD:
        return _of_partners(given, world)
    for name in ("layouts", "pairs", "seats"):
        if given.get(name):
            raise SetupError(f"--{name}: is for worlds in which partners are compared: name one", name)
    preset = given["preset"] or ""
    kind = given["co_player"] or (BENCH.preset_coplayer if preset or given["model"] else BENCH.coplayer)
    models = tuple(text.strip() for text in (given["model"] or "").split(",") if text.strip())
    if len(models) > 1 and preset != "table6":
        raise SetupError("--model: only table6 compares several models", "model")
    settings = _settings(given, models)
    if preset == "table6" and not models:
        models = (str(settings.get("model") or "stand-in"),)
    setup = Setup(
        coplayer=kind,
        levels=_levels(given["levels"], preset),
        agents=_agents(given["agents"], preset),
        alphas=_list("--alphas", given["alphas"], float) or BENCH.alphas,
        episodes=number("--episodes", given["episodes"]),
        seed=number("--seed", given["seed"]),
        settings=settings,
        preset=preset,
        models=models if preset == "table6" else (),
    )
    return checked(setup)


NOT_OF_PARTNERS = ("preset", "levels", "agents", "alphas", "co_player", "no_feedback", "no_hints", "demo")
"""Arguments that mean nothing where partners are compared."""
AS_NAMED, BOTH = "named", "both"
"""Seats: as pairs name them; each pair the other way round, too."""


def _of_partners(given: Mapping[str, Any], world: str) -> Setup:
    try:
        ground = get_ground(world)
    except UnknownNameError as error:
        raise SetupError(f"--world: {error.args[0]}", "world") from error
    if not isinstance(ground, Pairings):
        raise SetupError(f"--world: partners are not compared in {world}", "world")
    for name in NOT_OF_PARTNERS:
        if given.get(name):
            also = ", name --layouts" if name == "levels" else ""
            raise SetupError(f"--{name.replace('_', '-')}: means nothing in {world}{also}", name)
    layouts = given.get("layouts")
    settings = {**given.get("coplayer_settings", {})} | ({"model": given["model"]} if given["model"] else {})
    for text in given.get("set") or ():
        settings |= _one_setting(text)
    episodes, given_episodes = _asked(given, ("seeds", "episodes"))
    pairs = _pairs(given.get("pairs"), given.get("seats") or AS_NAMED, ground)
    setup = Setup(
        coplayer=ground.coplayer,
        levels=ground.usual_levels() if layouts in {None, "all"} else _list("--layouts", layouts, str),
        agents=ground.agents,
        alphas=ground.alphas,
        episodes=number(episodes, given_episodes),
        seed=number("--seed", given["seed"]),
        settings=settings,
        world=world,
        pairs=pairs,
    )
    return _checked_as(setup, {"levels": "--layouts", "episodes": episodes})


def _checked_as(setup: Setup, called: Mapping[str, str]) -> Setup:
    """`checked`; what is wrong is called by the argument that was given, where it has another name."""
    try:
        return checked(setup)
    except SetupError as error:
        name, _, why = str(error).partition(": ")
        if name not in called:
            raise
        raise SetupError(f"{called[name]}: {why}", error.about, error.setting) from error


def _asked(given: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any]:
    """The argument that was given, as it is written, and its value; of none the last, which has a default."""
    name = next((one for one in names if given.get(one)), names[-1])
    return f"--{name}", given.get(name)


def _pairs(text: str | None, seats: str, ground: Pairings) -> tuple[str, ...]:
    """Each once: those named (a kind alone beside itself), or all of all kinds."""
    if seats not in {AS_NAMED, BOTH}:
        raise SetupError(f"--seats: {seats!r} is neither {AS_NAMED} nor {BOTH}", "seats")
    if text in {None, "all"}:
        kinds = ground.kinds()
        return tuple(f"{one}{SIGN}{other}" for one in kinds for other in kinds)
    named = [_pair(each) for each in _list("--pairs", text, str)]
    turned = [SIGN.join(reversed(kinds_of(each))) for each in named] if seats == BOTH else []
    ordered = [*zip(named, turned, strict=True)] if turned else [(each,) for each in named]
    return tuple(dict.fromkeys(pair for both in ordered for pair in both))


def _pair(text: str) -> str:
    """Without blanks; who is named alone sits beside itself."""
    kinds = [kind.strip() for kind in kinds_of(text)]
    if "" in kinds:
        raise SetupError(f"--pairs: {text!r} has an empty place", "pairs")
    return SIGN.join(kinds if len(kinds) > 1 else kinds * 2)


def number(name: str, text: str) -> int:
    """A whole number; SetupError that names the argument."""
    try:
        return int(text)
    except ValueError:
        raise SetupError(f"{name}: {text!r} is not a whole number", name.strip("-")) from None


def _settings(given: Mapping[str, Any], models: tuple[str, ...]) -> dict[str, Json]:
    settings: dict[str, Json] = {**given.get("coplayer_settings", {})} | (
        {"model": models[0]} if models else {}
    )
    for text in given.get("set") or ():
        settings |= _one_setting(text)
    if given["no_feedback"]:
        settings["feedback"] = False
    if given["no_hints"]:
        settings["hints"] = False
    if demo := given["demo"]:
        settings |= {DEMONSTRATION: demo} if demo in {"few", "none"} else _demo_of(demo)
    return settings


def _one_setting(text: str) -> dict[str, Json]:
    """NAME=VALUE; the value as JSON, or else as text."""
    name, sign, value = text.partition("=")
    if not sign:
        raise SetupError(f"--set: {text!r} is not NAME=VALUE", "set")
    try:
        return {name.strip(): read_json(value)}
    except TooDeepError as error:
        raise SetupError(f"--set: {name.strip()}: {error}", "set") from None
    except ValueError:
        return {name.strip(): value}


def _demo_of(text: str) -> dict[str, Json]:
    if not text.isdecimal() or int(text) < 1:
        raise SetupError(f"--demo: {text!r} is neither few nor none nor a number of agents", "demo")
    return {DEMONSTRATION_AGENTS: int(text)}


def _levels(text: str | None, preset: str) -> tuple[str, ...]:
    if preset and text in {None, BENCH.preset_level}:
        return (BENCH.preset_level,)
    named = BENCH.usual_levels() if text in {None, "all"} else _list("--levels", text, str)
    levels = tuple(level if level.startswith("level_") else f"level_{level}" for level in named)
    if preset and levels != (BENCH.preset_level,):
        raise SetupError(
            f"--levels: {preset} is played on {BENCH.preset_level}: leave it out or say 3", "levels"
        )
    return levels


def _agents(text: str | None, preset: str) -> tuple[int, ...]:
    own, asked = BENCH.presets.get(preset), _list("--agents", text, int)
    if own and asked and set(own) != set(asked):
        said = ",".join(map(str, own))
        raise SetupError(f"--agents: {preset} is played with {said}: leave it out or say {said}", "agents")
    return own or asked or BENCH.agents


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
