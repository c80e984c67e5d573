"""Describe the two rooms of Collab-Overcooked: cells, places that each cook can reach, and paths.

x increases to the east, y to the south. Each room is a column of three floor cells, so there is only one path
to a cell. The released rooms are those of the benchmark. The others are ours: the floor is the same, but the
places are elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.collab_overcooked.food_rules import BLENDER, BOARD, OVEN, POT

Cell = tuple[int, int]

CHEF, ASSISTANT = 0, 1
SEATS = (CHEF, ASSISTANT)
SEAT_NAMES = ("chef", "assistant")
COUNTER = "counter"
INGREDIENTS, DISHES, SERVING = "ingredient_dispenser", "dish_dispenser", "serving"
PLACE_LETTERS: Mapping[str, str] = {
    "P": POT,
    "O": OVEN,
    "B": BOARD,
    "M": BLENDER,
    "I": INGREDIENTS,
    "D": DISHES,
    "G": SERVING,
}
"""The places, by their letters in a grid."""
ROOM_COLUMNS = (3, 1)
ROOM_ROWS = (1, 3)
"""The first and the last row of both rooms."""
START_CELLS: tuple[Cell, ...] = ((3, 1), (1, 2))
OWN_UTENSILS: tuple[tuple[str, ...], ...] = ((POT, OVEN), (BOARD, BLENDER))
DISPENSERS = (INGREDIENTS, DISHES)
OWN_PLACES: tuple[frozenset[str], ...] = (
    frozenset((COUNTER, *OWN_UTENSILS[CHEF])),
    frozenset((COUNTER, *OWN_UTENSILS[ASSISTANT], *DISPENSERS)),
)
"""The places from which each seat can pick something up."""

NORTH, SOUTH, EAST, WEST = "north", "south", "east", "west"
INTERACT, STAY = "interact", "stay"
ROWS_AFTER: Mapping[str, Mapping[int, int]] = {
    NORTH: {1: 1, 2: 1, 3: 2},
    SOUTH: {1: 2, 2: 3, 3: 3},
    EAST: {1: 1, 2: 2, 3: 3},
    WEST: {1: 1, 2: 2, 3: 3},
}
"""The row after a direction, by the row before. East and west only turn."""


@dataclass(frozen=True)
class Layout:
    """Where everything is in the two rooms.

    Letters of the grid: X wall, C counter of one room, S shared counter, a space floor; others are places
    (`PLACE_LETTERS`).
    """

    grid: tuple[str, ...]

    @cached_property
    def places(self) -> Mapping[str, Cell]:
        """Return the cell of each place."""
        return {PLACE_LETTERS[letter]: cell for letter, cell in self._cells() if letter in PLACE_LETTERS}

    @cached_property
    def shared(self) -> tuple[Cell, ...]:
        """Return the shared counters, by y."""
        return tuple(cell for letter, cell in self._cells() if letter == "S")

    @cached_property
    def own(self) -> tuple[tuple[Cell, ...], ...]:
        """Return the counters that only the chef, and only the assistant, can reach."""
        counters = [cell for letter, cell in self._cells() if letter == "C"]
        return tuple(tuple(cell for cell in counters if abs(cell[0] - x) <= 1) for x in ROOM_COLUMNS)

    @cached_property
    def counters(self) -> tuple[Cell, ...]:
        """Return all counters, by y, then x. The state lists their things in this order."""
        return tuple(cell for letter, cell in self._cells() if letter in "SC")

    @cached_property
    def counter_index(self) -> Mapping[Cell, int]:
        """Return the number of each counter in `counters`."""
        return {cell: number for number, cell in enumerate(self.counters)}

    @cached_property
    def reached(self) -> tuple[tuple[Cell, ...], ...]:
        """Return the counters that each seat can reach, the shared ones first."""
        return tuple((*self.shared, *own) for own in self.own)

    def _cells(self) -> list[tuple[str, Cell]]:
        return [(letter, (x, y)) for y, row in enumerate(self.grid) for x, letter in enumerate(row)]


RELEASED = "released"
LAYOUTS: Mapping[str, Layout] = {
    RELEASED: Layout(("XCXPX", "I S C", "B S C", "D S O", "XMXGX")),
    "turned": Layout(("XDXOX", "M S C", "I S G", "B S C", "XCXPX")),
    "pillar": Layout(("XIXGX", "B S C", "C X O", "M S P", "XDXCX")),
    "corner": Layout(("XMXGX", "C X C", "D S O", "B S C", "XIXPX")),
}
"""The rooms that can be chosen, by name."""


def layout_of(brief: Mapping[str, Json]) -> Layout:
    """Return where everything is, from what a seat knows before the episode."""
    return _layout(tuple(brief["grid"]))


@cache
def _layout(grid: tuple[str, ...]) -> Layout:
    return Layout(grid)


class Approach(NamedTuple):
    """The next low-level action towards a cell (turn, move or interact), and the number of actions up to
    and including the interaction."""

    action: str
    cost: int


@cache
def approach(seat: int, row: int, face: str, cell: Cell) -> Approach:
    """Return the next low-level action (turn, move or interact) of a seat that wants to use `cell`. Also
    return the number of actions needed.

    The seat is in row `row` of its room and looks in the direction `face`.
    """
    x, y = cell
    column = ROOM_COLUMNS[seat]
    first, last = ROOM_ROWS
    stand = min(max(y, first), last)
    need = (EAST if x > column else WEST) if x != column else (NORTH if y < stand else SOUTH)
    if row == stand:
        return Approach(INTERACT, 1) if face == need else Approach(need, 2)
    way = NORTH if stand < row else SOUTH
    return Approach(way, abs(row - stand) + (way != need) + 1)


def nearest(seat: int, row: int, face: str, cells: Sequence[Cell]) -> Cell | None:
    """Return the cell that the seat can use with the fewest actions; ties: smaller y, then x. None if
    `cells` is empty."""
    if len(cells) == 1:
        return cells[0]
    return min(cells, key=lambda cell: (approach(seat, row, face, cell).cost, cell[1], cell[0]), default=None)
