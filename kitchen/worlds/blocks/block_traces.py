"""Replay recorded episodes in the worlds of blocks, and compare the states step by step.

A line of a recording file (`kitchen.contract.reference_recordings`) is one episode with its settings, `start`
state and `steps`. Each step has `do` (the command of each player, or null) and the state after the step. Only
the fields that occur in the line are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Command, Event, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.blocks.construction_world import Construction
from kitchen.worlds.blocks.cooking_world import Cooking
from kitchen.worlds.blocks.crafting_world import Crafting
from kitchen.worlds.blocks.gather_world import Gather
from kitchen.worlds.blocks.kitchen_world import BlocksKitchen
from kitchen.worlds.blocks.macro_world import MacroWorld

AnyFamily = MacroWorld | BlocksKitchen
FAMILIES: Mapping[str, type[AnyFamily]] = {
    each.kind: each for each in (Construction, Cooking, Crafting, Gather, BlocksKitchen)
}
SCORE_DIGITS = 6
ENDINGS = ("done", "failed", "stopped")
Fields = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class BlocksTrace:
    """One recorded episode."""

    name: str
    kind: str
    seats: int
    settings: Mapping[str, Json]
    seed: int
    start: Fields
    turns: list[dict[int, Command]]
    after: list[Fields]
    end: Fields

    def world(self) -> AnyFamily:
        """Return a new world at the start of this episode. Raises SettingsError if its settings cannot be
        played."""
        world = FAMILIES[self.kind].create(seats=self.seats, settings=self.settings)
        world.reset(self.seed)
        return world


class BlocksTraces(Recordings[BlocksTrace]):
    """Parses and replays recorded episodes of the five worlds of blocks."""

    def parse(self, raw: Json) -> BlocksTrace:
        """Return the episode that a line's JSON object describes."""
        steps = list(raw["steps"])
        return BlocksTrace(
            name=str(raw["name"]),
            kind=str(FAMILIES[raw["world"]].kind),
            seats=raw["seats"],
            settings=raw["settings"],
            seed=raw["seed"],
            start=raw["start"],
            turns=[_turn(step["do"]) for step in steps],
            after=[{key: value for key, value in step.items() if key != "do"} for step in steps],
            end={key: raw[key] for key in ("over", "cut_off")},
        )

    def difference(self, recorded: BlocksTrace) -> str | None:
        """Replay the episode, and return the first difference as a text with step and field; None if there
        is none."""
        try:
            return next((f"{recorded.name}: {problem}" for problem in _differences(recorded)), None)
        except SettingsError as error:
            return f"{recorded.name}: set-up: {error}"

    def speeds(self, recorded: Sequence[BlocksTrace], rounds: int) -> list[float]:
        """Replay all episodes `rounds` times, and return the steps per second of each round. Raises
        SettingsError if an episode cannot be played."""
        try:
            games = [(trace, trace.world()) for trace in recorded]
        except SettingsError as error:
            raise SettingsError(f"set-up: {error}") from error
        steps = sum(len(trace.turns) for trace, _ in games)
        return [steps / _seconds(games) for _ in range(rounds)]


def _seconds(games: Sequence[tuple[BlocksTrace, AnyFamily]]) -> float:
    start = perf_counter()
    for trace, world in games:
        world.reset(trace.seed)
        for turn in trace.turns:
            world.step(turn)
    return perf_counter() - start


def _turn(do: Sequence[Json]) -> dict[int, Command]:
    return {seat: tuple(command) for seat, command in enumerate(do) if command}


def _differences(trace: BlocksTrace) -> Iterator[str]:
    world = trace.world()
    yield from _compare("start", trace.start, state_as_trace(world, ()))
    for number, (turn, after) in enumerate(zip(trace.turns, trace.after, strict=True)):
        events = world.step(turn)
        yield from _compare(f"step {number}", after, state_as_trace(world, events))
    yield from _compare("end", trace.end, {"over": world.over, "cut_off": world.cut_off})


def _compare(where: str, theirs: Fields, made: Fields) -> Iterator[str]:
    """Yield the fields that differ. In `score` only the entries of the trace are compared."""
    ours = json.loads(json.dumps(made))
    for key, value in theirs.items():
        mine = ours[key]
        if key == "score":
            mine = {name: mine[name] for name in value}
        if mine != value:
            yield f"{where}: {key}: trace {json.dumps(value)}, ours {json.dumps(mine)}"


def state_as_trace(world: AnyFamily, events: Sequence[Event]) -> dict[str, Json]:
    """Return the world's state and the events of the last step in the form of a recorded step."""
    shared = {
        "at": world.at,
        "inventories": world.inventories,
        "chest": world.chest,
        "refused": [[e.seat, *e.data["reasons"]] for e in events if e.kind == "refused"],
        "score": {name: _rounded(value) for name, value in world.score().items()},
    }
    return {
        **shared,
        **(_macro_state(world, events) if isinstance(world, MacroWorld) else _kitchen_state(world)),
    }


def _rounded(value: Json) -> Json:
    return round(value, SCORE_DIGITS) if isinstance(value, float) else value


def _macro_state(world: MacroWorld, events: Sequence[Event]) -> dict[str, Json]:
    return {
        "macros": [macro and macro["words"] for macro in world.macros],
        "ended": [_ending(event) for event in events if event.kind in ENDINGS],
        "blocks": [[*cell, block] for cell, block in world.changes],
        "gone": [[kind, *cell] for kind, cell in world.kills],
        "furnace": world.furnace,
        "animals": [[kind, *cell] for kind, cell in world.animals],
        "wanted": world.blueprint.blocks if world.blueprint else None,
    }


def _ending(event: Event) -> list[Json]:
    count = [event.data["n"]] if "n" in event.data else []
    return [event.seat, event.kind, *count, *event.data.get("reasons", ())]


def _kitchen_state(world: BlocksKitchen) -> dict[str, Json]:
    return {
        "gone": sorted(world.gone),
        "furnace": {"fuel": world.fuel, "input": world.input, "output": world.output},
        "orders": world.orders,
    }


TRACES = BlocksTraces()
