"""Describe the two rooms of Collab-Overcooked: cells, places that each cook can reach, and paths.

x increases to the east, y to the south. Each room is a column of three floor cells, so there is only one path
to a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kitchen.worlds.collab_overcooked.food_rules import BLENDER, BOARD, OVEN, POT

Cell = tuple[int, int]

CHEF, ASSISTANT = 0, 1
SEATS = (CHEF, ASSISTANT)
SEAT_NAMES = ("chef", "assistant")
COUNTER = "counter"
INGREDIENTS, DISHES, SERVING = "ingredient_dispenser", "dish_dispenser", "serving"
GRID = ("XCXPX", "I S C", "B S C", "D S O", "XMXGX")
"""Letters of the cells: X wall, C counter of one room, S shared counter, a space floor; others are places."""
PLACE_LETTERS: Mapping[str, str] = {
    "P": POT,
    "O": OVEN,
    "B": BOARD,
    "M": BLENDER,
    "I": INGREDIENTS,
    "D": DISHES,
    "G": SERVING,
}
PLACE_CELLS: Mapping[str, Cell] = {
    PLACE_LETTERS[letter]: (x, y)
    for y, row in enumerate(GRID)
    for x, letter in enumerate(row)
    if letter in PLACE_LETTERS
}
SHARED_COUNTERS: tuple[Cell, ...] = ((2, 1), (2, 2), (2, 3))
OWN_COUNTERS: tuple[tuple[Cell, ...], ...] = (((4, 1), (4, 2)), ((1, 0),))
"""The counters that only the chef, and only the assistant, can reach."""
COUNTERS: tuple[Cell, ...] = tuple(
    sorted((*SHARED_COUNTERS, *OWN_COUNTERS[CHEF], *OWN_COUNTERS[ASSISTANT]), key=lambda cell: cell[::-1])
)
"""All counters, by y, then x. The state lists their things in this order."""
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
