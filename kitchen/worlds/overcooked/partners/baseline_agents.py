"""Implement the simple partners: stay, random walk, script, and the released greedy human model.

`GreedyAgent` takes the shortest path to its next errand as if it were alone. It remembers only the last pose
of both seats. It does not use tomatoes and cannot pass things over counters. No Django.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import ClassVar, NamedTuple

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Command, Json, Setting, SettingsError, World
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
    """An agent that decides at once and needs little processor time."""

    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True


class StayAgent(SimplePartner):
    """An agent that always stays where it is."""

    kind: ClassVar[str] = "stay"

    async def decide(self, situation: Situation) -> Decision:
        """Return `stay` for every seat."""
        return Decision(dict.fromkeys(situation.seats, STAY))


class RandomWalkAgent(SimplePartner):
    """The released *Random* agent: one of the four directions or `stay`, equally likely."""

    kind: ClassVar[str] = "random_walk"

    async def decide(self, situation: Situation) -> Decision:
        """Return random commands that depend only on the situation's seed."""
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
        """Return the command whose number is that of the tick."""
        return Decision(dict.fromkeys(situation.seats, self._command(situation.step)))

    def _command(self, tick: int) -> Command:
        if self.chosen["repeats"] and self.script:
            return self.script[tick % len(self.script)]
        return self.script[tick] if tick < len(self.script) else STAY


ONION = "onion"


class GreedyAgent(SimplePartner):
    """An agent that does one errand after the other and ignores its partner."""

    kind: ClassVar[str] = "greedy"

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why the agent cannot play this world: no soup of three onions is ordered. Else empty."""
        wanted = [ONION] * POT_CAPACITY
        ordered = [order["ingredients"] for order in world.public_brief()["orders"]]
        return "" if wanted in ordered else "it makes soups of three onions only, and none is ordered"

    async def decide(self, situation: Situation) -> Decision:
        """Return the greedy command of each seat. If nobody has moved since the last step, choose a random
        command from the situation's seed."""
        scene, rng = scene_from_situation(situation), Random(situation.seed)  # noqa: S311
        stuck = situation.memory == scene.poses
        commands: dict[int, Command] = {}
        for seat in situation.seats:
            ways = free_directions(scene, seat) if stuck else []
            commands[seat] = rng.choice(ways) if ways else greedy_command(scene, seat)
        return Decision(commands, memory=scene.poses)


def free_directions(scene: GridScene, seat: int) -> list[Command]:
    """Return the directions whose cell ahead is floor without the partner."""
    cells = ((face, cell_ahead(scene.at[seat], face)) for face in DIRECTIONS)
    return [(face,) for face, cell in cells if cell in scene.layout.floor and cell != scene.at[1 - seat]]


def greedy_command(scene: GridScene, seat: int) -> Command:
    """Return the greedy command of a seat, if the seats are not stuck."""
    fallback = {cell for letter in (*DISPENSERS, POT) for cell in scene.layout.places(letter)}
    goals = (set(greedy_goals(scene, seat)), fallback)
    return next((way for cells in goals if (way := first_command(scene, seat, cells))), INTERACT)


def foreseen_poses(scene: GridScene, seat: int, ticks: int = 24) -> list[tuple[Cell, str]]:
    """Return the predicted poses of a seat, tick by tick until it interacts, as if it were alone."""
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
    """Yield the cells that the seat wants to use next."""
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
    """The shortest path to a cell, as found by the search."""

    cell: Cell
    moves: int
    first: str
    """The first direction of the path; empty if the path has no move."""
    last: str


def first_command(scene: GridScene, seat: int, wanted: Container[Cell]) -> Command | None:
    """Return the first command of the cheapest path to a goal, ignoring the partner.

    Return None if no goal is reachable.

    A path costs its moves, one for a turn if it does not end in the goal's direction, and one for the
    interact.
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
    """Search breadth-first over the floor; return every cell once, in the order found."""
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
