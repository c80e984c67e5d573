"""Check that our Overcooked reproduces recorded episodes of the released game, step by step.

The released game is Overcooked-AI. A line of a recording file (`kitchen.contract.reference_recordings`) has
`layout`, `policy` (the agents that played), the final `score`, and `steps`. Each step has `do` (the commands
of both cooks) and `reward` (the points of each cook). It also has the state after the step: `at`, `face`,
`hold`, `counters` and `pots`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Command, Event, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.overcooked.world import Overcooked

CommandTurns = list[dict[int, Command]]
STATE_KEYS = ("at", "face", "hold", "counters", "pots", "reward")


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded episode of the released game."""

    id: str
    settings: Mapping[str, Json]
    score: int
    turns: CommandTurns
    after: list[Mapping[str, Json]]
    """The state after each tick, by the names in `STATE`."""

    def world(self) -> Overcooked:
        """Return a world with the recording's settings, at the start of an episode.

        Raises SettingsError if this version does not allow these settings.
        """
        world = Overcooked.create(seats=2, settings=self.settings)
        world.reset(0)
        return world


def _command(word: Json) -> Command:
    if not isinstance(word, str):
        raise TypeError(f"{json.dumps(word)} is no command")
    return (word,)


class OvercookedTraces(Recordings[Trace]):
    """Recorded episodes of the released game."""

    def parse(self, raw: Json) -> Trace:
        """Return the recorded episode from the JSON of one line."""
        steps = list(raw["steps"])
        settings = {"layout": raw["layout"], "cooking": raw["start"], "ticks": len(steps)}
        return Trace(
            id=f"{raw['layout']}-{raw['start']}-{raw['policy']}",
            settings=settings,
            score=int(raw["score"]),
            turns=[
                {0: _command(first), 1: _command(second)} for first, second in (step["do"] for step in steps)
            ],
            after=[{key: step[key] for key in STATE_KEYS} for step in steps],
        )

    def difference(self, recorded: Trace) -> str | None:
        """Replay the recording, and return the first difference as text: its id, tick and field. Return
        None if there is none."""
        try:
            return next((f"{recorded.id}: {problem}" for problem in _differences(recorded)), None)
        except SettingsError as error:
            return f"{recorded.id}: set-up: {error}"

    def speeds(self, recorded: Sequence[Trace], rounds: int) -> list[float]:
        """Play all recordings in each of `rounds` rounds, and return the ticks per second of each round."""
        episodes = [(_world(trace), trace.turns) for trace in recorded]
        steps = sum(len(turns) for _, turns in episodes)
        return [steps / _play(episodes) for _ in range(rounds)]


def _world(trace: Trace) -> Overcooked:
    try:
        return trace.world()
    except SettingsError as error:
        raise SettingsError(f"{trace.id}: set-up: {error}") from error


def _play(episodes: Sequence[tuple[Overcooked, CommandTurns]]) -> float:
    """Replay the episodes once, and return the seconds that this took."""
    start = perf_counter()
    for world, turns in episodes:
        world.reset(0)
        step = world.step
        for turn in turns:
            step(turn)
    return perf_counter() - start


def _differences(trace: Trace) -> Iterator[str]:
    world = trace.world()
    for number, (turn, after) in enumerate(zip(trace.turns, trace.after, strict=True), 1):
        ours = state_as_trace(world, world.step(turn))
        for key, theirs in after.items():
            yield from _unequal(f"tick {number}: {key}", theirs, ours[key])
    yield from _unequal("end: score", trace.score, world.score()["points"])


def _unequal(where: str, theirs: Json, ours: Json) -> Iterator[str]:
    if theirs != ours:
        yield f"{where}: trace {json.dumps(theirs)}, ours {json.dumps(ours)}"


def state_as_trace(world: Overcooked, events: Sequence[Event]) -> dict[str, Json]:
    """Return the world's state after a tick in the form of a recording. `events` are the events of this
    tick."""
    seen, reward = world.observe(0), [0, 0]
    for event in events:
        if event.kind == "delivered":
            reward[event.seat or 0] += event.data["points"]
    return {
        "at": [player["at"] for player in seen["players"]],
        "face": [player["face"] for player in seen["players"]],
        "hold": [player["holds"] for player in seen["players"]],
        "counters": [[lying["at"], lying["thing"]] for lying in seen["counters"]],
        "pots": [[pot["at"], pot["contents"], _count(world, pot)] for pot in seen["pots"]],
        "reward": reward,
    }


def _count(world: Overcooked, pot: Mapping[str, Json]) -> int | None:
    """Return the ticks that a pot has cooked; None if it is not started."""
    return None if pot["left"] is None else world.layout.ticks(tuple(pot["contents"])) - int(pot["left"])


TRACES = OvercookedTraces()
