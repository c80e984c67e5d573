"""Encode the grids as Overcooked-AI's `lossless_state_encoding` does: 26 layers over all cells.

Policies published for Overcooked-AI read these layers. Source: HumanCompatibleAI/overcooked_ai 739950a0,
`overcooked_mdp.py`. It returns int64; here the numbers are uint8, and larger ones become 255.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Command, Json
from kitchen.worlds.overcooked.game_rules import INTERACT, STAY
from kitchen.worlds.overcooked.layout import FLOOR, STARTS

if TYPE_CHECKING:
    from numpy import ndarray

LAYERS = 26
LARGEST = 255
ACTIONS: Sequence[Command] = (("north",), ("south",), ("east",), ("west",), STAY, INTERACT)
"""The actions in the released order."""
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


def thing_layers(thing: Json) -> Iterator[tuple[int, int]]:
    """Yield (layer, value) of a thing that is held or lies on a counter."""
    if isinstance(thing, str):
        yield LOOSE[thing], 1
    elif thing is not None:
        ingredients = thing[1]
        yield from ((layer, ingredients.count(name)) for name, layer in IN_SOUP.items())
        yield SOUP_DONE, 1


def pot_layers(contents: Sequence[str], left: int | None) -> Iterator[tuple[int, int]]:
    """Yield (layer, value) of a pot with these contents. `left` is None if it is not started."""
    layers = IN_POT if left is None else IN_SOUP
    yield from ((layer, contents.count(name)) for name, layer in layers.items())
    if left is not None:
        yield TIME_LEFT, min(left, LARGEST)
        yield SOUP_DONE, int(not left)


class LosslessEncoding(Encoding):
    """Overcooked-AI's 26 layers, shape (width, height, 26): first x, then y."""

    name: ClassVar[str] = "overcooked.lossless_26/1"
    dtype: ClassVar[str] = "uint8"
    largest: ClassVar[float] = LARGEST
    masked: ClassVar[bool] = False

    def shape(self, brief: Mapping[str, Json]) -> tuple[int, ...]:
        """Return (width, height, 26)."""
        rows = brief["grid"]
        return len(rows[0]), len(rows), LAYERS

    def action_count(self, brief: Mapping[str, Json]) -> int:
        """Return 6."""
        return len(ACTIONS)

    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return the six commands in the released order."""
        return ACTIONS

    def encode(self, brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> ndarray:
        """Return the layers as this seat's policy reads them: its own cook comes first."""
        array = fixed_layers(tuple(brief["grid"])).copy()
        players = observation["players"]
        for order, player in enumerate((players[seat], players[1 - seat])):
            x, y = player["at"]
            array[x, y, HERE[order]] = 1
            array[x, y, FACING[order] + FACES.index(player["face"])] = 1
            for layer, value in thing_layers(player["holds"]):
                array[x, y, layer] += value
        for counter in observation["counters"]:
            x, y = counter["at"]
            for layer, value in thing_layers(counter["thing"]):
                array[x, y, layer] += value
        for pot in observation["pots"]:
            x, y = pot["at"]
            for layer, value in pot_layers(pot["contents"], pot["left"]):
                array[x, y, layer] += value
        if observation["ticks_left"] < URGENT_TICKS:
            array[..., URGENT] = 1
        return array


LOSSLESS_ENCODING = LosslessEncoding()
