"""Check that CuisineWorld reproduces recorded episodes of the game that MindAgent's authors released.

The module compares them step by step, and measures the speed of our world. A line of a recording file
(`kitchen.contract.reference_recordings`) has settings, such as `level` and `seed`, and `steps`. Each step has
`commands` in the order in which they ran, and the state `after`. `ok` says which commands were carried out,
and `reasons` why others were refused. Our world may give more reasons for a refusal, not fewer.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import intern
from time import perf_counter

from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Command, Event, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.cuisine.level import UncookableDishWarning
from kitchen.worlds.cuisine.world import CuisineWorld

RecordedCommands = list[tuple[int, Command]]
"""The agents' commands of one step, in order."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One step of a recorded episode: commands, their results, and the state after it."""

    commands: RecordedCommands
    ok: list[bool]
    reasons: list[list[str]]
    just_completed: list[str]
    after: Json


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded episode of the released game."""

    id: str
    agents: int
    settings: Mapping[str, Json]
    seed: int
    kitchen: list[str]
    interval: int
    lifetimes: Mapping[str, int]
    orders_drawn: list[str]
    start: Json
    steps: list[RecordedStep]

    def world(self) -> CuisineWorld:
        """Return a new world with the recording's settings. Call `reset` before you play.

        Raises SettingsError if this version does not allow these settings.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncookableDishWarning)
            return CuisineWorld.create(seats=self.agents, settings=self.settings)


def _recorded(raw: Json) -> RecordedStep:
    commands = [(int(seat), _command(verb, *rest)) for verb, seat, *rest in raw["commands"]]
    ok, reasons = list(raw["ok"]), [_texts(each) for each in raw["reasons"]]
    if not len(commands) == len(ok) == len(reasons):
        raise ValueError("commands, ok and reasons are not of one length")
    return RecordedStep(commands, ok, reasons, list(raw["just_completed"]), _comparable(raw["after"]))


def _texts(raw: Json) -> list[str]:
    """Return a list of strings; raise TypeError for anything else."""
    if not (isinstance(raw, list) and all(isinstance(each, str) for each in raw)):
        raise TypeError(f"{json.dumps(raw)} is no list of texts")
    return raw


@lru_cache(maxsize=10_000)
def _command(*words: str) -> Command:
    """Return the command as a tuple. Equal commands give the same object, as in `legal_actions`."""
    return tuple(intern(word) for word in words)


def _comparable(state: Json) -> Json:
    """Return a recorded state with the items of each place sorted, so that it can be compared."""
    return {
        "step": state["step"],
        "agents": [{key: agent[key] for key in ("at", "holds", "busy")} for agent in state["agents"]],
        "locations": {
            id: {"items": sorted(place["items"]), "busy": place["busy"]}
            for id, place in state["locations"].items()
        },
        "orders": [list(order) for order in state["orders"]],
        "completed": state["completed"],
        "failed": state["failed"],
    }


def _state(world: CuisineWorld) -> Json:
    """Return the world's state in the form in which recordings store it."""
    seen = world.observe(0)
    return _comparable({**seen, "orders": [[order["dish"], order["life"]] for order in seen["orders"]]})


def _differences(trace: Trace) -> Iterator[str]:
    world = trace.world()
    timing = world.options.timing
    yield from _unequal("set-up", "kitchen", trace.kitchen, list(world.level.kitchen))
    yield from _unequal("set-up", "interval", trace.interval, timing.interval)
    yield from _unequal("set-up", "lifetimes", trace.lifetimes, dict(timing.lifetimes))
    world.reset(trace.seed)
    yield from _unequal_states("start", trace.start, _state(world))
    drawn = [order["dish"] for order in world.observe(0)["orders"]]
    for number, step in enumerate(trace.steps, 1):
        events = world.step(step.commands)
        drawn += _dishes(events, "ordered")
        yield from _unequal_step(f"step {number}", step, events)
        yield from _unequal_states(f"step {number}", step.after, _state(world))
    yield from _unequal("end", "orders_drawn", trace.orders_drawn, drawn)


def _unequal_step(where: str, step: RecordedStep, events: tuple[Event, ...]) -> Iterator[str]:
    ours = [event for event in events if event.kind in ("performed", "refused")]
    yield from _unequal(where, "number of commands that were run", len(step.commands), len(ours))
    for (seat, command), ok, reasons, event in zip(step.commands, step.ok, step.reasons, ours, strict=True):
        name = f"{' '.join(command)} of agent {seat}"
        yield from _unequal(where, f"{name}: ok", ok, event.kind == "performed")
        missing = sorted(set(reasons) - set(event.data.get("reasons", ())))
        yield from _unequal(where, f"{name}: reasons that we lack", missing, [])
    yield from _unequal(where, "just_completed", step.just_completed, _dishes(events, "completed"))


def _unequal_states(where: str, theirs: Json, ours: Json) -> Iterator[str]:
    for key in ours:
        yield from _unequal(where, key, theirs[key], ours[key])


def _unequal(where: str, name: str, theirs: Json, ours: Json) -> Iterator[str]:
    if theirs != ours:
        yield f"{where}: {name}: trace {json.dumps(theirs)}, ours {json.dumps(ours)}"


def _dishes(events: tuple[Event, ...], kind: str) -> list[str]:
    return [event.data["dish"] for event in events if event.kind == kind]


TimedEpisode = tuple[CuisineWorld, int, list[dict[int, Command]]]
"""A world, the seed to reset it to, and the commands of every step."""


def _episode(trace: Trace) -> TimedEpisode:
    try:
        world = trace.world()
    except SettingsError as error:
        raise SettingsError(f"{trace.id}: set-up: {error}") from error
    played = trace.steps[: world.length]  # a step after the end does nothing and would count as a fast one
    return world, trace.seed, [dict(step.commands) for step in played]


def _play(episodes: Sequence[TimedEpisode]) -> float:
    """Replay the episodes once, and return the seconds that this took."""
    start = perf_counter()
    for world, seed, turns in episodes:
        world.reset(seed)
        step = world.step
        for turn in turns:
            step(turn)
    return perf_counter() - start


class CuisineTraces(Recordings[Trace]):
    """Recorded episodes of the game that MindAgent's authors released."""

    def parse(self, raw: Json) -> Trace:
        """Return the episode that the JSON of one line records."""
        return Trace(
            id=str(raw["id"]),
            agents=raw["agents"],
            settings={key: raw[key] for key in ("level", "alpha", "beta", "max_steps")},
            seed=int(raw["seed"]),
            kitchen=list(raw["kitchen"]),
            interval=raw["interval"],
            lifetimes=dict(raw["lifetimes"]),
            orders_drawn=list(raw["orders_drawn"]),
            start=_comparable(raw["start"]),
            steps=[_recorded(step) for step in raw["steps"]],
        )

    def difference(self, recorded: Trace) -> str | None:
        """Replay the recording, and return the first difference as text: its id, step and field. Return
        None if there is none."""
        try:
            return next((f"{recorded.id}: {problem}" for problem in _differences(recorded)), None)
        except SettingsError as error:
            return f"{recorded.id}: set-up: {error}"

    def speeds(self, recorded: Sequence[Trace], rounds: int) -> list[float]:
        """Play all recordings in each of `rounds` rounds, and return the steps per second of each round."""
        episodes = [_episode(trace) for trace in recorded]
        steps = sum(len(turns) for _, _, turns in episodes)
        return [steps / _play(episodes) for _ in range(rounds)]


TRACES = CuisineTraces()
