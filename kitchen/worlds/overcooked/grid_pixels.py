"""Draw the grids as pixels, for environments (`render_mode="rgb_array"`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kitchen.contract.cell_painter import DONE, FLOOR, IN_PROGRESS, PLAYERS, CellPainter, Colour
from kitchen.contract.world import Json, World

if TYPE_CHECKING:
    from numpy import ndarray

FURNITURE: dict[str, Colour] = {
    "X": (190, 168, 138),
    "P": (120, 120, 126),
    "O": (190, 168, 138),
    "T": (190, 168, 138),
    "D": (190, 168, 138),
    "S": (126, 170, 130),
}
THINGS: dict[str, Colour] = {
    "onion": (222, 184, 62),
    "tomato": (205, 62, 52),
    "dish": (246, 246, 246),
    "soup": (150, 84, 40),
}
DISPENSED = {"O": "onion", "T": "tomato", "D": "dish"}


def draw_grid(world: World) -> ndarray:
    """Return the kitchen as an array (32 times height, 32 times width, 3)."""
    seen, rows = world.observe(0), world.brief(0)["grid"]
    painter = CellPainter(len(rows[0]), len(rows), FLOOR)
    painter.furniture(rows, FURNITURE)
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            if letter in DISPENSED:
                painter.dot(x, y, THINGS[DISPENSED[letter]], radius=0.3)
    for pot in seen["pots"]:
        _draw_pot(painter, pot, world.brief(0))
    for counter in seen["counters"]:
        _draw_thing(painter, counter["at"], counter["thing"])
    for number, player in enumerate(seen["players"]):
        painter.player(player["at"], PLAYERS[number], player["face"])
        _draw_thing(painter, player["at"], player["holds"])
    return painter.pixels


def _draw_thing(painter: CellPainter, at: Sequence[int], thing: Json) -> None:
    x, y = at
    if thing is None:
        return
    if isinstance(thing, str):
        painter.dot(x, y, THINGS[thing], radius=0.2)
    else:
        painter.dot(x, y, THINGS["dish"], radius=0.26)
        painter.dot(x, y, THINGS["soup"], radius=0.18)


def _draw_pot(painter: CellPainter, pot: Json, brief: Json) -> None:
    x, y = pot["at"]
    painter.dot(x, y, (60, 60, 64), radius=0.42)
    for number, name in enumerate(pot["contents"]):
        painter.dot(x, y, THINGS[name], (0.28 + 0.22 * number, 0.45), 0.12)
    if pot["left"] is not None:
        longest = max(order["ticks"] for order in brief["orders"])
        painter.bar(x, y, IN_PROGRESS if pot["left"] else DONE, 1 - min(pot["left"] / longest, 1) or 0.05)
