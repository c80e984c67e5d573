"""Encode the grids as Overcooked-AI's `lossless_state_encoding` does: 26 layers over all cells.

Policies published for Overcooked-AI read these layers. Source: HumanCompatibleAI/overcooked_ai 739950a0,
`overcooked_mdp.py`. It returns int64; here the numbers are uint8, and larger ones become 255.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Command, Json, World
from kitchen.worlds.overcooked.game_rules import INTERACT, STAY
from kitchen.worlds.overcooked.layer_bytes import may_interact, write_layers
from kitchen.worlds.overcooked.layer_numbers import (
    FACES,
    FACING,
    HERE,
    IN_POT,
    IN_SOUP,
    LARGEST,
    LAYERS,
    LOOSE,
    SOUP_DONE,
    TIME_LEFT,
    URGENT,
    URGENT_TICKS,
    fixed_layers,
)
from kitchen.worlds.overcooked.world import Overcooked

if TYPE_CHECKING:
    from numpy import ndarray

ACTIONS: Sequence[Command] = (("north",), ("south",), ("east",), ("west",), STAY, INTERACT)
"""The actions in the released order."""


@cache
def masks() -> tuple[ndarray, ndarray, ndarray]:
    """Return the masks of the six actions: without `interact`, with it, and after the end. Nobody can change
    them."""
    import numpy

    rows = ([1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0])
    first, second, third = (numpy.array(row, numpy.int8) for row in rows)
    for mask in (first, second, third):
        mask.flags.writeable = False
    return first, second, third


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

    def encode_seats(self, world: World, briefs: Mapping[int, Mapping[str, Json]], array: ndarray) -> None:
        """Write the layers of these seats into `array`. They are computed from the state, without the
        observation."""
        assert isinstance(world, Overcooked)  # noqa: S101 - only these worlds have this encoding
        flat = memoryview(array).cast("B")  # type: ignore[arg-type] # NumPy 2 arrays are buffers
        write_layers(world, briefs, flat)

    def choices(
        self, world: World, brief: Mapping[str, Json], seat: int
    ) -> tuple[Sequence[Command], ndarray]:
        """Return the six commands and their mask. Only `interact` is not always possible."""
        assert isinstance(world, Overcooked)  # noqa: S101 - only these worlds have this encoding
        return ACTIONS, masks()[2 if world.over else may_interact(world, seat)]


LOSSLESS_ENCODING = LosslessEncoding()
