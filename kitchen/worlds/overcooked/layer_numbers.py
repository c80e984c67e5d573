"""Number the 26 layers of Overcooked-AI's `lossless_state_encoding`, and draw those that never change."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kitchen.worlds.overcooked.layout import FLOOR, STARTS

if TYPE_CHECKING:
    from numpy import ndarray

LAYERS = 26
LARGEST = 255
FACES = ("north", "south", "east", "west")
"""Directions in the order of their layers."""
HERE, FACING = (0, 1), (2, 6)
"""First layers of the seat itself and of the other one: where it is, and where it faces."""
FIXED = {"P": 10, "X": 11, "O": 12, "T": 13, "D": 14, "S": 15}
"""The layer of each letter of a layout."""
IN_POT, IN_SOUP = {"onion": 16, "tomato": 17}, {"onion": 18, "tomato": 19}
TIME_LEFT, SOUP_DONE, URGENT = 20, 21, 25
LOOSE = {"dish": 22, "onion": 23, "tomato": 24}
URGENT_TICKS = 40
"""The last layer is 1 everywhere while fewer ticks than this are left."""


@lru_cache(maxsize=256)
def fixed_layers(rows: tuple[str, ...]) -> ndarray:
    """Return an array with the layers of pots, counters, dispensers and serving places, which never change.
    Do not change it."""
    import numpy

    array = numpy.zeros((len(rows[0]), len(rows), LAYERS), numpy.uint8)
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            if letter != FLOOR and letter not in STARTS:
                array[x, y, FIXED[letter]] = 1
    return array
