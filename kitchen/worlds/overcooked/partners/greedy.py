"""The released *greedy human model*: always the next errand by the shortest way, as if it were alone. Plain
Python.

It has no memory but where both stood and faced a tick ago. It knows no tomatoes, and it has no idea of
handing things over: where the grid parts the seats it cannot do anything.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import lru_cache
from random import Random
from typing import ClassVar, NamedTuple

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Command, World
from kitchen.worlds.overcooked.layout import DIRECTIONS, DISPENSERS, FULL, POT, SERVING, Cell, Layout, beside
from kitchen.worlds.overcooked.partners.scene import Scene, scene_of
from kitchen.worlds.overcooked.partners.simple import WORLDS
from kitchen.worlds.overcooked.stands import INTERACT
from kitchen.worlds.overcooked.things import DISH

ONION = "onion"


class Greedy(Agent):
    """One errand after the other, the partner ignored."""

    kind: ClassVar[str] = "greedy"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True

    def unfit(self, world: World) -> str:
        """Where soups of three onions are not ordered."""
        wanted = [ONION] * FULL
        ordered = [order["ingredients"] for order in world.public_brief()["orders"]]
        return "" if wanted in ordered else "it makes soups of three onions only, and none is ordered"

    def decide(self, situation: Situation) -> Decision:
        """The planned command of each seat, or in a standstill one that is drawn by the situation's seed."""
        scene, rng = scene_of(situation), Random(situation.seed)  # noqa: S311
        stuck = situation.memory == scene.poses
        commands: dict[int, Command] = {}
        for seat in situation.seats:
            ways = free_directions(scene, seat) if stuck else []
            commands[seat] = rng.choice(ways) if ways else planned(scene, seat)
        return Decision(commands, memory=scene.poses)


def free_directions(scene: Scene, seat: int) -> list[Command]:
    """Those whose cell ahead is floor without the partner."""
    cells = ((face, beside(scene.at[seat], face)) for face in DIRECTIONS)
    return [(face,) for face, cell in cells if cell in scene.layout.floor and cell != scene.at[1 - seat]]


def planned(scene: Scene, seat: int) -> Command:
    """What it does where nothing stands still."""
    command = go(scene, seat, set(goals(scene, seat)))
    return command or go(scene, seat, set(_whatever(scene.layout))) or INTERACT


def foreseen(scene: Scene, seat: int, ticks: int = 24) -> list[tuple[Cell, str]]:
    """Where it will be and face, tick by tick from now on, until it uses something: the partner ignored."""
    found = [(scene.at[seat], scene.face[seat])]
    for _ in range(ticks):
        (word,) = planned(scene, seat)
        if word not in DIRECTIONS:
            break
        at, ahead = scene.at[seat], beside(scene.at[seat], word)
        found.append((ahead if ahead in scene.layout.floor else at, word))
        scene = scene.moved(seat, *found[-1])
    return found


def goals(scene: Scene, seat: int) -> Iterator[Cell]:
    """What it goes for."""
    held = scene.hands[seat]
    if held is None:
        yield from _empty_handed(scene, seat)
    elif held == ONION:
        yield from (pot for pot in scene.layout.places(POT) if _takes_one(scene, pot))
    elif held == DISH:
        yield from (cell for cell, pot in scene.pots.items() if pot.left is not None)
    elif isinstance(held, tuple):
        yield from scene.layout.places(SERVING)


def _empty_handed(scene: Scene, seat: int) -> Iterator[Cell]:
    cooking = any(pot.left is not None for pot in scene.pots.values())
    full = [cell for cell, pot in scene.pots.items() if pot.left is None and len(pot.contents) == FULL]
    if cooking and scene.hands[1 - seat] != DISH:
        yield from sources(scene, DISH)
    elif full and not scene.starts_itself:
        yield from full
    else:
        yield from sources(scene, ONION)


def sources(scene: Scene, thing: str) -> Iterator[Cell]:
    """Where such a thing can be taken: dispensers, and counters on which one lies."""
    for letter, given in DISPENSERS.items():
        if given == thing:
            yield from scene.layout.places(letter)
    yield from (cell for cell, lying in scene.counters.items() if lying == thing)


def _takes_one(scene: Scene, cell: Cell) -> bool:
    pot = scene.pots.get(cell)
    return pot is None or (pot.left is None and len(pot.contents) < FULL)


def _whatever(layout: Layout) -> Iterator[Cell]:
    """Where it goes if it can reach no goal."""
    for letter in (*DISPENSERS, POT):
        yield from layout.places(letter)


class Way(NamedTuple):
    """The first way that leads to a cell."""

    cell: Cell
    moves: int
    first: str
    """Its first direction; empty without a move."""
    last: str


def go(scene: Scene, seat: int, wanted: Container[Cell]) -> Command | None:
    """The first command of the cheapest way to a goal, the partner ignored; None if none can be reached.

    A way costs its moves, a turn if it ends with another direction than the goal's, and the interact.
    """
    best: tuple[int, Command] | None = None
    for way in ways_from(scene.layout, scene.at[seat]):
        for face in DIRECTIONS:
            if beside(way.cell, face) in wanted:
                cost = way.moves + ((way.last or scene.face[seat]) != face) + 1
                if best is None or cost < best[0]:
                    best = cost, _first_command(way, face, scene.face[seat])
    return best[1] if best else None


def _first_command(way: Way, face: str, facing: str) -> Command:
    if way.first:
        return (way.first,)
    return INTERACT if facing == face else (face,)


@lru_cache(maxsize=4096)
def ways_from(layout: Layout, start: Cell) -> tuple[Way, ...]:
    """Breadth-first over the floor: every cell once, in the order found."""
    found = {start: Way(start, 0, "", "")}
    edge = [start]
    while edge:
        ahead: list[Cell] = []
        for cell in edge:
            for face in DIRECTIONS:
                there, way = beside(cell, face), found[cell]
                if there in layout.floor and there not in found:
                    found[there] = Way(there, way.moves + 1, way.first or face, face)
                    ahead.append(there)
        edge = ahead
    return tuple(found.values())
