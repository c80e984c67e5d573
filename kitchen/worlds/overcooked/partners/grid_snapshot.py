"""Read an Overcooked grid's state from an observation: hands, pots, missing ingredients, distances."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.game_rules import FOOD, Item
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DISPENSERS,
    POT,
    POT_CAPACITY,
    Cell,
    Layout,
    Soup,
    layout_of_rows,
)
from kitchen.worlds.overcooked.partners.path_finding import UNREACHABLE, PoseGraph


@dataclass(frozen=True, slots=True)
class SeenPot:
    """A pot with at least one ingredient."""

    contents: Soup
    left: int | None
    """Ticks until it is ready: None if it is not started, 0 if it is ready."""


@dataclass(frozen=True, slots=True)
class GridScene:
    """The state of the grid at one tick, which is the same for both seats."""

    layout: Layout
    starts_itself: bool
    at: tuple[Cell, Cell]
    face: tuple[str, str]
    hands: tuple[Item | None, Item | None]
    counters: Mapping[Cell, Item]
    pots: Mapping[Cell, SeenPot]
    tick: int
    ticks_left: int

    @property
    def poses(self) -> Json:
        """Return [x, y, direction] of both seats, in the form in which agents store poses in their memory."""
        return [[*at, face] for at, face in zip(self.at, self.face, strict=True)]

    def sources(self, thing: str) -> list[Cell]:
        """Return the cells where this item can be taken: first its dispensers, then the counters on which
        it lies."""
        letters = [letter for letter, given in DISPENSERS.items() if given == thing]
        lying = [cell for cell, what in self.counters.items() if what == thing]
        return [*(cell for letter in letters for cell in self.layout.places(letter)), *lying]

    def moved(self, seat: int, at: Cell, face: str) -> GridScene:
        """Return a copy of the state in which this seat is in the cell `at` and faces `face`."""
        here, facing = [*self.at], [*self.face]
        here[seat], facing[seat] = at, face
        return replace(self, at=(here[0], here[1]), face=(facing[0], facing[1]))


def scene_from_situation(situation: Situation) -> GridScene:
    """Return the state of the grid in this situation."""
    seat = situation.seats[0]
    return scene_from_observation(situation.briefs[seat], situation.observations[seat])


def scene_from_observation(brief: Mapping[str, Json], observation: Mapping[str, Json]) -> GridScene:
    """Return the state of the grid in this observation."""
    first, second = observation["players"]
    return GridScene(
        layout=layout_from_brief(brief),
        starts_itself=brief["cooking"] == "auto",
        at=(_cell(first["at"]), _cell(second["at"])),
        face=(first["face"], second["face"]),
        hands=(_item(first["holds"]), _item(second["holds"])),
        counters={
            _cell(each["at"]): thing for each in observation["counters"] if (thing := _item(each["thing"]))
        },
        pots={
            _cell(each["at"]): SeenPot(tuple(each["contents"]), each["left"]) for each in observation["pots"]
        },
        tick=observation["tick"],
        ticks_left=observation["ticks_left"],
    )


def layout_from_brief(brief: Mapping[str, Json]) -> Layout:
    """Return the layout that a brief (the unchanging facts of the episode) describes. Equal briefs share
    one object."""
    parts = ("layout", "title", "grid", "orders", "value", "time")
    return _layout(json.dumps({key: brief[key] for key in parts}))


@lru_cache(maxsize=64)
def _layout(text: str) -> Layout:
    brief = json.loads(text)
    return layout_of_rows(
        brief["layout"],
        brief["title"],
        tuple(brief["grid"]),
        {tuple(order["ingredients"]): order["bonus"] for order in brief["orders"]},
        brief["value"],
        brief["time"],
    )


def _cell(raw: Json) -> Cell:
    x, y = raw
    return x, y


def _item(raw: Json) -> Item | None:
    return tuple(raw[1]) if isinstance(raw, list) else raw


class CounterRelay(NamedTuple):
    """A plan in which the seat `giver` puts food on the counter `cell`, and the other seat takes the food
    from there."""

    giver: int
    cell: Cell
    food: str


@dataclass(slots=True)
class TaskBoard:
    """The state of the grid with all that is needed to assign errands (which cells each seat uses next).

    `grounds` are the path graphs of both seats. `poses` are the seats' nodes in these graphs. `stuck` is a
    seat that is assumed not to move any more; None if there is none.
    """

    scene: GridScene
    grounds: tuple[PoseGraph, PoseGraph]
    poses: tuple[int, int]
    stuck: int | None = None
    relay: CounterRelay | None = None
    """The current relay over a counter, if one is quicker."""
    _had: frozenset[str] | None = None
    _missing: dict[Cell, list[str]] = field(default_factory=dict)

    def cost(self, seat: int, cell: Cell) -> int:
        """Return the number of ticks until this seat faces the cell; UNREACHABLE if the seat cannot get
        there."""
        way = self.grounds[seat].ways(cell)[self.poses[seat]]
        return UNREACHABLE if seat == self.stuck and way > 0 else way

    def reachable(self, seat: int, cells: Iterator[Cell] | tuple[Cell, ...] | list[Cell]) -> list[Cell]:
        """Return the cells of `cells` that this seat can get to and face."""
        return [cell for cell in cells if self.cost(seat, cell) < UNREACHABLE]

    def places(self, letter: str) -> tuple[Cell, ...]:
        """Return the cells of the layout with this letter, such as `P` for pots."""
        return self.scene.layout.places(letter)

    def free_counters(self) -> list[Cell]:
        """Return all empty counters."""
        return [cell for cell in self.places(COUNTER) if cell not in self.scene.counters]

    def shared(self, seat: int) -> list[Cell]:
        """Return the empty counters that both seats can reach."""
        return self.reachable(1 - seat, self.reachable(seat, self.free_counters()))

    def pot(self, cell: Cell) -> tuple[Soup, int | None]:
        """Return (contents, ticks) of the pot in this cell. `ticks` is the time until the soup is ready; None
        if the pot is not started.

        An empty pot gives `((), None)`.
        """
        pot = self.scene.pots.get(cell)
        return (pot.contents, pot.left) if pot else ((), None)

    def started(self) -> list[tuple[int, Cell]]:
        """Return (ticks until ready, cell) of the pots that cook or are ready, the soonest first."""
        return sorted((pot.left, cell) for cell, pot in self.scene.pots.items() if pot.left is not None)

    def open_pots(self) -> list[Cell]:
        """Return the cells of the pots that are not started, the fullest first."""
        cells = [cell for cell in self.places(POT) if self.pot(cell)[1] is None]
        return sorted(cells, key=lambda cell: -len(self.pot(cell)[0]))

    def aim(self, cell: Cell) -> Soup:
        """Return the ordered soup that should be cooked in this pot. Of the soups that its contents allow, it
        gives the most points per tick. Return an empty tuple if there is none."""
        contents = Counter(self.pot(cell)[0])
        return self.best(soup for soup in self.scene.layout.orders if contents <= Counter(soup))

    def best(self, soups: Iterable[Soup]) -> Soup:
        """Return the soup with the most points per tick. Only soups whose ingredients are available are
        considered. Return an empty tuple if there is none."""
        layout, there = self.scene.layout, self.there()
        whole = (soup for soup in soups if len(soup) == POT_CAPACITY or not self.scene.starts_itself)
        fits = [soup for soup in whole if there.issuperset(soup)]
        return max(fits, key=lambda soup: layout.points(soup) / layout.ticks(soup), default=())

    def there(self) -> frozenset[str]:
        """Return the kinds of food that some seat holds or can take, or that a pot holds."""
        if self._had is None:
            self._had = frozenset(self._find_food())
        return self._had

    def _find_food(self) -> Iterator[str]:
        held = {thing for thing in self.scene.hands if isinstance(thing, str)}
        cooked = {each for pot in self.scene.pots.values() for each in pot.contents}
        for food in FOOD:
            if food in held | cooked or any(
                self.reachable(seat, self.scene.sources(food)) for seat in (0, 1)
            ):
                yield food

    def all_missing(self) -> list[str]:
        """Return the ingredients that pots which are not started still need. The ingredients of the
        fullest pot come first."""
        return [food for cell in self.open_pots() for food in self.missing(cell)]

    def pots_for(self, food: Item | None) -> list[Cell]:
        """Return the cells of the pots that still need this ingredient, the fullest first."""
        return [cell for cell in self.open_pots() if food in self.missing(cell)]

    def missing(self, cell: Cell) -> list[str]:
        """Return the ingredients that the pot in this cell still needs for its intended soup (`aim`)."""
        if cell not in self._missing:
            rest = self._missing[cell] = list(self.aim(cell))
            for each in self.pot(cell)[0]:
                if each in rest:
                    rest.remove(each)
        return self._missing[cell]

    def to_start(self) -> list[Cell]:
        """Return the cells of the pots that hold their intended soup and that a seat must start.

        Return an empty list if pots start by themselves.
        """
        if self.scene.starts_itself:
            return []
        return [cell for cell in self.open_pots() if self.pot(cell)[0] and not self.missing(cell)]
