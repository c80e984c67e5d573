"""Implement the simple agents of Overcooked: one that stays, a random walk, a script, and a greedy agent.

`GreedyAgent` is the greedy human model of Overcooked-AI. It takes the shortest path to the next thing it
needs, as if it were alone. It does not use tomatoes and cannot pass things over counters.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import ClassVar, NamedTuple

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Command, Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.overcooked.game_rules import COMMANDS, DISH, INTERACT, MOVE_COMMANDS, STAY
from kitchen.worlds.overcooked.layout import (
    DIRECTIONS,
    DISPENSERS,
    POT,
    POT_CAPACITY,
    SERVING,
    Cell,
    Layout,
    cell_ahead,
)
from kitchen.worlds.overcooked.partners.grid_snapshot import GridScene, scene_from_situation

WORLDS = ("overcooked",)


class SimplePartner(Agent):
    """Base class of agents that decide at once and need little processor time."""

    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True


class StayAgent(SimplePartner):
    """An agent that always stays where it is."""

    kind: ClassVar[str] = "stay"

    async def decide(self, situation: Situation) -> Decision:
        """Return the command `stay` for every seat that the agent plays."""
        return Decision(dict.fromkeys(situation.seats, STAY))


class RandomWalkAgent(SimplePartner):
    """The agent *Random* of the published code. It chooses one of the four directions or `stay`, all
    equally likely."""

    kind: ClassVar[str] = "random_walk"

    async def decide(self, situation: Situation) -> Decision:
        """Return a random command for every seat that the agent plays. The same seed gives the same
        commands."""
        rng = Random(situation.seed)  # noqa: S311
        return Decision({seat: rng.choice((*MOVE_COMMANDS, STAY)) for seat in situation.seats})


class ScriptAgent(SimplePartner):
    """An agent that plays a given list of commands, for tests and demonstrations."""

    kind: ClassVar[str] = "script"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "commands",
            "text",
            "Commands",
            "stay",
            help="One for each tick, with spaces or lines between: north, south, east, west, interact, stay.",
            maximum=20_000,
            lines=8,
        ),
        Setting(
            "repeats",
            "bool",
            "Begin anew at the end",
            False,
            help="If off, it stays where it is from then on.",
        ),
    )

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the script. Raises SettingsError for a word that is no command."""
        super().__init__(chosen)
        self.script: tuple[Command, ...] = tuple((word,) for word in self.chosen["commands"].split())
        for number, command in enumerate(self.script, 1):
            if command not in COMMANDS:
                raise SettingsError(f"commands: {command[0]!r} (number {number}) is no command")

    async def decide(self, situation: Situation) -> Decision:
        """Return the script's command for this tick, for every seat that the agent plays.

        After the last command, the script starts again if the setting `repeats` is on; otherwise the agent
        stays.
        """
        return Decision(dict.fromkeys(situation.seats, self._command(situation.step)))

    def _command(self, tick: int) -> Command:
        if self.chosen["repeats"] and self.script:
            return self.script[tick % len(self.script)]
        return self.script[tick] if tick < len(self.script) else STAY


ONION = "onion"


class GreedyAgent(SimplePartner):
    """An agent that always takes the shortest path to the item it needs next, and ignores its partner."""

    kind: ClassVar[str] = "greedy"

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why the agent cannot play this world; empty if it can. The world must have an order for a
        soup of three onions."""
        wanted = [ONION] * POT_CAPACITY
        ordered = [order["ingredients"] for order in world.public_brief()["orders"]]
        return "" if wanted in ordered else "it makes soups of three onions only, and none is ordered"

    async def decide(self, situation: Situation) -> Decision:
        """Return the greedy command for every seat that the agent plays.

        If neither seat has moved since the last step, a random move is returned instead. The random move
        depends only on the situation's seed.
        """
        scene, rng = scene_from_situation(situation), Random(situation.seed)  # noqa: S311
        stuck = situation.memory == scene.poses
        commands: dict[int, Command] = {}
        for seat in situation.seats:
            ways = free_directions(scene, seat) if stuck else []
            commands[seat] = rng.choice(ways) if ways else greedy_command(scene, seat)
        return Decision(commands, memory=scene.poses)


def free_directions(scene: GridScene, seat: int) -> list[Command]:
    """Return the moves of this seat that lead to a floor cell where the partner is not."""
    cells = ((face, cell_ahead(scene.at[seat], face)) for face in DIRECTIONS)
    return [(face,) for face, cell in cells if cell in scene.layout.floor and cell != scene.at[1 - seat]]


def greedy_command(scene: GridScene, seat: int) -> Command:
    """Return the command that brings this seat closer to the nearest cell in `greedy_goals`, or uses the
    cell.

    If no such cell can be reached, the seat goes to a dispenser or a pot.
    """
    fallback = {cell for letter in (*DISPENSERS, POT) for cell in scene.layout.places(letter)}
    goals = (set(greedy_goals(scene, seat)), fallback)
    return next((way for cells in goals if (way := first_command(scene, seat, cells))), INTERACT)


def foreseen_poses(scene: GridScene, seat: int, ticks: int = 24) -> list[tuple[Cell, str]]:
    """Predict the seat's pose, as (cell, direction), at each tick until it interacts. The prediction assumes
    that the seat is greedy (`greedy_goals`) and that the partner is absent.

    The first pose is the present one. At most `ticks` ticks are predicted.
    """
    found = [(scene.at[seat], scene.face[seat])]
    for _ in range(ticks):
        (word,) = greedy_command(scene, seat)
        if word not in DIRECTIONS:
            break
        at, ahead = scene.at[seat], cell_ahead(scene.at[seat], word)
        found.append((ahead if ahead in scene.layout.floor else at, word))
        scene = scene.moved(seat, *found[-1])
    return found


def greedy_goals(scene: GridScene, seat: int) -> Iterator[Cell]:
    """Yield the cells that a greedy seat wants to use next, for example pots if it holds an onion."""
    held = scene.hands[seat]
    if held is None:
        yield from _empty_handed(scene, seat)
    elif held == ONION:
        started = {cell for cell, pot in scene.pots.items() if pot.left is not None}
        full = {cell for cell, pot in scene.pots.items() if len(pot.contents) >= POT_CAPACITY}
        yield from (cell for cell in scene.layout.places(POT) if cell not in started | full)
    elif held == DISH:
        yield from (cell for cell, pot in scene.pots.items() if pot.left is not None)
    elif isinstance(held, tuple):
        yield from scene.layout.places(SERVING)


def _empty_handed(scene: GridScene, seat: int) -> Iterator[Cell]:
    cooking = any(pot.left is not None for pot in scene.pots.values())
    waiting = (cell for cell, pot in scene.pots.items() if pot.left is None)
    full = [cell for cell in waiting if len(scene.pots[cell].contents) == POT_CAPACITY]
    if cooking and scene.hands[1 - seat] != DISH:
        yield from scene.sources(DISH)
    elif full and not scene.starts_itself:
        yield from full
    else:
        yield from scene.sources(ONION)


class PathStep(NamedTuple):
    """A floor cell that the search has found, and the shortest path to it."""

    cell: Cell
    moves: int
    first: str
    """The first direction of the path; empty if the path has no move."""
    last: str


def first_command(scene: GridScene, seat: int, wanted: Container[Cell]) -> Command | None:
    """Return the first command of the cheapest path on which this seat uses one of the cells `wanted`. The
    partner is ignored.

    Return None if the seat can reach none of the cells. Each move costs 1, and the `interact` command
    costs 1. A turn at the end of the path, if needed, costs 1.
    """
    best: tuple[int, Command] | None = None
    for way in paths_from(scene.layout, scene.at[seat]):
        for face in DIRECTIONS:
            if cell_ahead(way.cell, face) in wanted:
                cost = way.moves + ((way.last or scene.face[seat]) != face) + 1
                if best is None or cost < best[0]:
                    best = cost, _first_command(way, face, scene.face[seat])
    return best[1] if best else None


def _first_command(way: PathStep, face: str, facing: str) -> Command:
    if way.first:
        return (way.first,)
    return INTERACT if facing == face else (face,)


@lru_cache(maxsize=4096)
def paths_from(layout: Layout, start: Cell) -> tuple[PathStep, ...]:
    """Return the shortest path from `start` to every floor cell that can be reached, the nearest first."""
    found = {start: PathStep(start, 0, "", "")}
    edge = [start]
    while edge:
        ahead: list[Cell] = []
        for cell in edge:
            for face in DIRECTIONS:
                there, way = cell_ahead(cell, face), found[cell]
                if there in layout.floor and there not in found:
                    found[there] = PathStep(there, way.moves + 1, way.first or face, face)
                    ahead.append(there)
        edge = ahead
    return tuple(found.values())
