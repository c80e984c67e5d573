"""Check that our Collab-Overcooked reproduces recorded games of the original program, step by step.

A line of a recording file (`kitchen.contract.reference_recordings`) is one game with the ordered dish and its
`steps`. In a step, `begin` has the macro (command) that each cook began, or null. `low` has each cook's move.
The other keys are the state after the step, such as `at`, `hold` and `counters`. The games are replayed
without the time limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Command, Event, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, base_food
from kitchen.worlds.collab_overcooked.world import CollabOvercooked

STATE_KEYS = ("low", "at", "face", "hold", "counters", "utensils", "destroyed", "score")
LONGEST_GAMMA = 10


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded game of the benchmark's published code."""

    id: str
    order: str
    turns: list[dict[int, Command]]
    after: list[Mapping[str, Json]]
    """The state after each step, by `STATE_KEYS`."""
    delivered_at: int | None
    history: Json

    def world(self) -> CollabOvercooked:
        """Return a new world at the start of this game. Raises SettingsError if there is no such task."""
        return CollabOvercooked.create(seats=2, settings={"task": self.order, "gamma": LONGEST_GAMMA})


class CollabTraces(Recordings[Trace]):
    """Parses and replays recorded games of the benchmark's published code."""

    def parse(self, raw: Json) -> Trace:
        """Return the game that a line's JSON object describes."""
        steps = list(raw["steps"])
        return Trace(
            id=f"{raw['name']} {raw['order']}",
            order=str(raw["order"]),
            turns=[_turn(step["begin"]) for step in steps],
            after=[{key: step[key] for key in STATE_KEYS} for step in steps],
            delivered_at=raw["delivered_at_index"],
            history=raw["history"],
        )

    def difference(self, recorded: Trace) -> str | None:
        """Replay the game, and return the first difference as a text with step and field; None if there is
        none."""
        try:
            return next((f"{recorded.id}: {problem}" for problem in _differences(recorded)), None)
        except SettingsError as error:
            return f"{recorded.id}: set-up: {error}"

    def speeds(self, recorded: Sequence[Trace], rounds: int) -> list[float]:
        """Replay all games `rounds` times, and return the steps per second of each round. Raises
        SettingsError if a game cannot be played."""
        try:
            games = [(trace.world(), trace.turns) for trace in recorded]
        except SettingsError as error:
            raise SettingsError(f"set-up: {error}") from error
        steps = sum(len(turns) for _, turns in games)
        return [steps / _play(games) for _ in range(rounds)]


def _turn(begin: Sequence[Json]) -> dict[int, Command]:
    return {seat: tuple(macro) if macro else CollabOvercooked.idle for seat, macro in enumerate(begin)}


def _play(games: Sequence[tuple[CollabOvercooked, list[dict[int, Command]]]]) -> float:
    """Replay the games once, and return the seconds that this took."""
    start = perf_counter()
    for world, turns in games:
        world.reset(0)
        for turn in turns:
            world.step(turn)
    return perf_counter() - start


def _differences(trace: Trace) -> Iterator[str]:
    world = trace.world()
    for number, (turn, after) in enumerate(zip(trace.turns, trace.after, strict=True)):
        ours = state_as_trace(world, world.step(turn))
        for key, theirs in after.items():
            yield from _unequal(f"step {number}: {key}", theirs, ours[key])
    yield from _unequal("end: history", trace.history, world.history)
    yield from _unequal("end: delivered", trace.delivered_at, world.clock - 1 if world.delivered else None)


def _unequal(where: str, theirs: Json, ours: Json) -> Iterator[str]:
    if theirs != ours:
        yield f"{where}: trace {json.dumps(theirs)}, ours {json.dumps(ours)}"


def state_as_trace(world: CollabOvercooked, events: Sequence[Event]) -> dict[str, Json]:
    """Return the world's state and the events of the last step in the form of a recorded step."""
    seen = world.observe(0)
    return {
        "low": list(world.low),
        "at": [player["at"] for player in seen["players"]],
        "face": [player["face"] for player in seen["players"]],
        "hold": [_thing(player["holds"]) for player in seen["players"]],
        "counters": [[each["at"], _thing(each["thing"])] for each in seen["counters"]],
        "utensils": {
            name: {"contents": sorted(each.contents), "ticks": each.ticks, "ready": each.ready}
            for name, each in world.things.utensils.items()
        },
        "destroyed": [event.data["utensil"] for event in events if event.kind == "destroyed"],
        "score": world.score()["points"],
    }


def _thing(code: str | None) -> Json:
    return None if code is None else {"item": base_food(code), "in_dish": code.endswith(IN_DISH)}


TRACES = CollabTraces()
