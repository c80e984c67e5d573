"""Draw both rooms as pixels, for environments (`render_mode="rgb_array"`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kitchen.contract.cell_painter import DONE, FLOOR, IN_PROGRESS, PLAYERS, CellPainter, Colour
from kitchen.contract.world import Json, World
from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, JOB_STEPS, base_food, food_rules

if TYPE_CHECKING:
    from numpy import ndarray

PLACES: dict[str, Colour] = {
    "X": (150, 138, 124),
    "C": (190, 168, 138),
    "S": (208, 190, 160),
    "P": (120, 120, 126),
    "O": (150, 110, 100),
    "B": (170, 140, 90),
    "M": (130, 130, 170),
    "I": (160, 180, 110),
    "D": (225, 225, 225),
    "G": (126, 170, 130),
}


def draw_rooms(world: World) -> ndarray:
    """Return both rooms as an array (160, 160, 3)."""
    seen, rows = world.observe(0), world.brief(0)["grid"]
    painter = CellPainter(len(rows[0]), len(rows), FLOOR)
    painter.furniture(rows, PLACES)
    for utensil in seen["utensils"]:
        _draw_utensil(painter, utensil)
    for counter in seen["counters"]:
        _draw_thing(painter, counter["at"], counter["thing"])
    for number, player in enumerate(seen["players"]):
        painter.player(player["at"], PLAYERS[number], player["face"])
        _draw_thing(painter, player["at"], player["holds"])
    return painter.pixels


def colour_of(thing: str) -> Colour:
    """Return a colour for a thing. Different things have different colours."""
    number = sorted(food_rules().things).index(base_food(thing))
    return 60 + number * 37 % 180, 60 + number * 71 % 180, 60 + number * 113 % 180


def _draw_utensil(painter: CellPainter, utensil: Json) -> None:
    x, y = utensil["at"]
    for number, thing in enumerate(utensil["contents"]):
        painter.dot(x, y, colour_of(thing), (0.28 + 0.22 * number, 0.45), 0.12)
    if utensil["ready"] is not None:
        painter.bar(x, y, DONE, 1)
    elif utensil["left"] is not None:
        painter.bar(x, y, IN_PROGRESS, 1 - utensil["left"] / (JOB_STEPS + 1))


def _draw_thing(painter: CellPainter, at: Sequence[int], thing: str | None) -> None:
    x, y = at
    if thing is None:
        return
    if thing.endswith(IN_DISH):
        painter.dot(x, y, (246, 246, 246), radius=0.26)
    painter.dot(x, y, colour_of(thing), radius=0.18)
