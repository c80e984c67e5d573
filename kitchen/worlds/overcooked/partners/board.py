"""One moment as errands are given out: what there is, what is missing, and how far it is. Plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.worlds.overcooked.layout import COUNTER, DISPENSERS, FULL, POT, Cell, Soup
from kitchen.worlds.overcooked.partners.ground import FAR, Ground
from kitchen.worlds.overcooked.partners.scene import Scene
from kitchen.worlds.overcooked.things import FOOD


class Relay(NamedTuple):
    """One lays food on a counter, the other one takes it there."""

    giver: int
    cell: Cell
    food: str


@dataclass(slots=True)
class Board:
    """One moment as errands are given out. `stuck` is a seat that stands there for good."""

    scene: Scene
    grounds: tuple[Ground, Ground]
    poses: tuple[int, int]
    stuck: int | None = None
    relay: Relay | None = None
    """How food goes over a counter now, where that is quicker."""
    _had: frozenset[str] | None = None
    _missing: dict[Cell, list[str]] = field(default_factory=dict)

    def cost(self, seat: int, cell: Cell) -> int:
        """Ticks until this seat faces it; FAR if it cannot, or is stuck elsewhere."""
        way = self.grounds[seat].ways(cell)[self.poses[seat]]
        return FAR if seat == self.stuck and way > 0 else way

    def reachable(self, seat: int, cells: Iterator[Cell] | tuple[Cell, ...] | list[Cell]) -> list[Cell]:
        """Those of them that this seat can face."""
        return [cell for cell in cells if self.cost(seat, cell) < FAR]

    def places(self, letter: str) -> tuple[Cell, ...]:
        """Where such furniture stands."""
        return self.scene.layout.places(letter)

    def sources(self, thing: str) -> list[Cell]:
        """Where such a thing can be taken."""
        given = [letter for letter, what in DISPENSERS.items() if what == thing]
        lying = [cell for cell, what in self.scene.counters.items() if what == thing]
        return [*(cell for letter in given for cell in self.places(letter)), *lying]

    def free_counters(self) -> list[Cell]:
        """Where something can be laid down."""
        return [cell for cell in self.places(COUNTER) if cell not in self.scene.counters]

    def shared(self, seat: int) -> list[Cell]:
        """Free counters that both can reach."""
        return [
            cell for cell in self.reachable(seat, self.free_counters()) if self.cost(1 - seat, cell) < FAR
        ]

    def pot(self, cell: Cell) -> tuple[Soup, int | None]:
        """Its contents, and ticks until it is ready."""
        pot = self.scene.pots.get(cell)
        return (pot.contents, pot.left) if pot else ((), None)

    def started(self) -> list[tuple[int, Cell]]:
        """Pots that cook or are ready: ticks left and cell, the soonest first."""
        return sorted((pot.left, cell) for cell, pot in self.scene.pots.items() if pot.left is not None)

    def open_pots(self) -> list[Cell]:
        """Pots that are not started, those with most in them first."""
        cells = [cell for cell in self.places(POT) if self.pot(cell)[1] is None]
        return sorted(cells, key=lambda cell: -len(self.pot(cell)[0]))

    def aim(self, cell: Cell) -> Soup:
        """The order with most points per tick that what is in this pot can still become; nothing if none."""
        layout, contents = self.scene.layout, self.pot(cell)[0]
        fits = [soup for soup in layout.orders if contains(soup, contents)]
        return self.best(fits)

    def best(self, soups: Iterable[Soup]) -> Soup:
        """That of them with most points per tick of cooking of which everything can be had; nothing if
        none."""
        layout, there = self.scene.layout, self.there()
        fits = [soup for soup in soups if len(soup) == FULL or not self.scene.starts_itself]
        fits = [soup for soup in fits if set(soup) <= there]
        return max(fits, key=lambda soup: layout.points(soup) / layout.ticks(soup), default=())

    def there(self) -> frozenset[str]:
        """Food that somebody holds, that lies in a pot, or that a seat can take."""
        if self._had is None:
            self._had = frozenset(self._find_food())
        return self._had

    def _find_food(self) -> Iterator[str]:
        held = {thing for thing in self.scene.hands if isinstance(thing, str)}
        cooked = {each for pot in self.scene.pots.values() for each in pot.contents}
        for food in FOOD:
            if food in held | cooked or any(self.reachable(seat, self.sources(food)) for seat in (0, 1)):
                yield food

    def missing(self, cell: Cell) -> list[str]:
        """What is to be put into a pot that is not started."""
        if cell not in self._missing:
            self._missing[cell] = self._lacks(cell)
        return self._missing[cell]

    def _lacks(self, cell: Cell) -> list[str]:
        rest = list(self.aim(cell))
        for each in self.pot(cell)[0]:
            if each in rest:
                rest.remove(each)
        return rest

    def to_start(self) -> list[Cell]:
        """Pots that hold what is aimed at, and wait for somebody to start them."""
        if self.scene.starts_itself:
            return []
        return [cell for cell in self.open_pots() if self.pot(cell)[0] and not self.missing(cell)]


def contains(soup: Soup, contents: Soup) -> bool:
    """Whether the contents can still become the soup."""
    return all(soup.count(each) >= contents.count(each) for each in contents)
