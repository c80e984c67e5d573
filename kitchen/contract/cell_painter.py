"""Paint simple shapes into the cells of a grid, as pixels in a NumPy array. Needs no browser and no fonts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray

CELL = 32
"""Width and height of a cell in pixels."""
Colour = tuple[int, int, int]
FLOOR: Colour = (236, 228, 214)
PLAYERS: tuple[Colour, Colour] = (45, 95, 190), (40, 140, 90)
"""The colours of seats 0 and 1."""
DONE: Colour = (70, 200, 90)
IN_PROGRESS: Colour = (240, 150, 40)
AHEAD = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


class CellPainter:
    """A picture of `width` times `height` cells. Places in a cell are shares of its size, from 0 to 1."""

    def __init__(self, width: int, height: int, background: Colour) -> None:
        import numpy

        self.pixels: ndarray = numpy.empty((height * CELL, width * CELL, 3), numpy.uint8)
        self.pixels[:] = background
        self._y, self._x = numpy.mgrid[: height * CELL, : width * CELL]

    def furniture(self, rows: Sequence[str], colours: Mapping[str, Colour]) -> None:
        """Fill the cells of a grid whose letters have a colour."""
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                if letter in colours:
                    self.fill(x, y, colours[letter])

    def fill(self, x: int, y: int, colour: Colour, inset: int = 1) -> None:
        """Fill a cell, without `inset` pixels at its edges."""
        top, left = y * CELL + inset, x * CELL + inset
        size = CELL - 2 * inset
        self.pixels[top : top + size, left : left + size] = colour

    def dot(
        self, x: int, y: int, colour: Colour, at: tuple[float, float] = (0.5, 0.5), radius: float = 0.4
    ) -> None:
        """Paint a disc into a cell."""
        across, down = (x + at[0]) * CELL - 0.5, (y + at[1]) * CELL - 0.5
        inside = (self._x - across) ** 2 + (self._y - down) ** 2 <= (radius * CELL) ** 2
        self.pixels[inside] = colour

    def bar(self, x: int, y: int, colour: Colour, share: float) -> None:
        """Paint a bar at the lower edge of a cell, of this share of its width."""
        left, bottom = x * CELL + 2, (y + 1) * CELL - 2
        self.pixels[bottom - 4 : bottom, left : left + round((CELL - 4) * share)] = colour

    def player(self, at: Sequence[int], colour: Colour, face: str) -> None:
        """Paint a player, with a nose in the direction that it faces."""
        (x, y), by = at, AHEAD[face]
        self.dot(x, y, colour)
        self.dot(x, y, (250, 250, 250), (0.5 + 0.3 * by[0], 0.5 + 0.3 * by[1]), 0.12)
