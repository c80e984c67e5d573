"""Who can come to what in a layout, each as if the other stood nowhere in the way. Plain Python."""

from __future__ import annotations

from dataclasses import dataclass

from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DIRECTIONS,
    INGREDIENTS,
    POT,
    SERVING,
    Cell,
    Layout,
    Soup,
    beside,
)

_LETTERS = {name: letter for letter, name in INGREDIENTS.items()}


@dataclass(frozen=True, slots=True)
class Reach:
    """What the seats come to from where they start."""

    layout: Layout
    rooms: tuple[frozenset[Cell], frozenset[Cell]]
    """By seat, the floor that it can walk on."""
    places: tuple[frozenset[Cell], frozenset[Cell]]
    """By seat, what is no floor and stands beside that."""

    @property
    def is_cut(self) -> bool:
        """The seats cannot come to each other."""
        return self.rooms[0] != self.rooms[1]

    @property
    def shared(self) -> tuple[Cell, ...]:
        """Counters that both come to, in reading order: there they hand things over."""
        both = self.places[0] & self.places[1]
        return tuple(cell for cell in self.layout.places(COUNTER) if cell in both)

    def letters(self, seat: int) -> set[str]:
        """Of what a seat comes to."""
        return {self.layout.furniture[cell] for cell in self.places[seat]}

    def lost(self) -> tuple[Cell, ...]:
        """What is of use, and nobody comes to it, in reading order."""
        there = self.places[0] | self.places[1]
        furniture = self.layout.furniture.items()
        return tuple(cell for cell, letter in furniture if letter != COUNTER and cell not in there)

    def idle_floor(self) -> tuple[Cell, ...]:
        """Floor on which nobody can walk, in reading order."""
        return tuple(cell for cell in self.layout.floor if cell not in self.rooms[0] | self.rooms[1])

    def gets(self, seat: int, letter: str) -> bool:
        """Whether it comes to such a place, or is handed what is taken from there or brought to it."""
        helped = bool(self.shared) and letter in self.letters(1 - seat)
        return letter in self.letters(seat) or helped

    def can_serve(self, soup: Soup) -> bool:
        """Whether there is a pot to which all that the soup needs can be brought, and from which somebody
        brings it, by way of the other or not, to a serving place."""
        return any(self._made_in(pot, soup) for pot in self.layout.places(POT))

    def _made_in(self, pot: Cell, soup: Soup) -> bool:
        cooks = [seat for seat in (0, 1) if pot in self.places[seat]]
        filled = all(any(self.gets(seat, _LETTERS[each]) for seat in cooks) for each in soup)
        return filled and any(self.gets(seat, "D") and self.gets(seat, SERVING) for seat in cooks)


def reach_of(layout: Layout) -> Reach:
    """Who comes to what in it."""
    rooms = tuple(frozenset(layout.room(start)) for start in layout.starts)
    places = tuple(_beside(room, layout) for room in rooms)
    return Reach(layout, (rooms[0], rooms[1]), (places[0], places[1]))


def _beside(room: frozenset[Cell], layout: Layout) -> frozenset[Cell]:
    near = (beside(cell, face) for cell in room for face in DIRECTIONS)
    return frozenset(cell for cell in near if cell in layout.furniture)
