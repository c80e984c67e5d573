"""How many steps a second the engine plays: traces, reset and played by `World.step`, round after round."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from kitchen.contract.world import Command, SettingsError
from kitchen.worlds.cuisine.traces import Trace
from kitchen.worlds.cuisine.world import CuisineWorld

Episode = tuple[CuisineWorld, int, list[dict[int, Command]]]
"""A world, the seed to reset it to, and the commands of every step."""


def measure(traces: Sequence[Trace], rounds: int) -> list[float]:
    """Steps a second in each round. Timed: `reset` and every `step` with its events; not the decoding.
    SettingsError names the trace that we have no world for."""
    episodes = [_episode(trace) for trace in traces]
    steps = sum(len(turns) for _, _, turns in episodes)
    return [steps / _play(episodes) for _ in range(rounds)]


def _episode(trace: Trace) -> Episode:
    try:
        world = trace.world()
    except SettingsError as error:
        raise SettingsError(f"{trace.id}: set-up: {error}") from error
    played = trace.steps[: world.length]  # a step after the end does nothing and would count as a fast one
    return world, trace.seed, [dict(step.commands) for step in played]


def _play(episodes: Sequence[Episode]) -> float:
    """Seconds for one round."""
    start = perf_counter()
    for world, seed, turns in episodes:
        world.reset(seed)
        step = world.step
        for turn in turns:
            step(turn)
    return perf_counter() - start
