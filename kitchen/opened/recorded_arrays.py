"""Compare encodings with arrays that another program recorded.

A line of a file (`kitchen.contract.reference_recordings`) is one state: `id`, `world`, `encoding`, the
`state` of our world (`World.to_dict`), the `shape` of the arrays, and `layers`. These are one object per
seat: the number of each layer → a list of [x, y, value]. All other values are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kitchen.contract.encoding import EncodingError
from kitchen.contract.reference_recordings import RecordedLine
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import WorldError
from kitchen.registry.world_registry import get_encoding, get_world

if TYPE_CHECKING:
    from numpy import ndarray

Values = Mapping[tuple[int, ...], int]
"""The values of an array that are not 0, by their place."""


@dataclass(frozen=True, slots=True)
class RecordedArrays:
    """One recorded state, and the array of each of its seats."""

    id: str
    encoding: str
    world: World
    shape: tuple[int, ...]
    seats: Sequence[Values]

    def differences(self) -> Iterator[str]:
        """Yield the first difference of each seat whose array is not the recorded one, as one line. Raises
        UnknownNameError if there is no such encoding."""
        for seat, values in enumerate(self.seats):
            if problem := self._difference(seat, values):
                yield f"{self.id}: seat {seat}: {problem}"

    def _difference(self, seat: int, values: Values) -> str:
        encoding, brief = get_encoding(self.world.kind, self.encoding), self.world.brief(seat)
        shape = encoding.shape(brief)
        if shape != self.shape:
            return f"the shape is {list(shape)}, recorded is {list(self.shape)}"
        try:
            array = encoding.encode(brief, self.world.observe(seat), seat)
        except EncodingError as error:
            return str(error)
        return _first_difference(array, values)


def _first_difference(array: ndarray, values: Values) -> str:
    import numpy

    recorded = numpy.zeros(array.shape, numpy.int64)
    for place, value in values.items():
        recorded[place] = value
    wrong = numpy.argwhere(array != recorded)
    if not len(wrong):
        return ""
    # layers first: a reader looks for a layer, then for cells
    places: list[list[int]] = wrong.tolist()
    first = min(places, key=lambda each: (each[-1], each))
    place = tuple(first)
    *cell, layer = first
    return f"layer {layer} at {cell} is {array[place]}, recorded is {recorded[place]}"


def parse_arrays(line: RecordedLine, default: str) -> RecordedArrays:
    """Return the recorded state of this line; `default` is the world if it names none. Raises TraceFileError
    if the line is none."""
    kind = line.world(default)
    try:
        shape = tuple(map(_count, line.raw["shape"]))
        found = RecordedArrays(
            id=str(line.raw["id"]),
            encoding=str(line.raw["encoding"]),
            world=get_world(kind).from_dict(line.raw["state"]),
            shape=shape,
            seats=[_values(layers, shape) for layers in line.raw["layers"]],
        )
        get_encoding(kind, found.encoding)
    except KeyError as error:
        raise line.error(f"{error} is missing") from error
    except (WorldError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise line.error(str(error)) from error
    if len(found.seats) != found.world.seats:
        raise line.error(f"layers: {len(found.seats)} seats, and the state has {found.world.seats}")
    return found


def _values(layers: Mapping[str, Json], shape: tuple[int, ...]) -> Values:
    """Return the values of one seat by their place. Raises ValueError if one lies outside of `shape`."""
    found: dict[tuple[int, ...], int] = {}
    for layer, cells in layers.items():
        for *cell, value in cells:
            place = (*map(_count, cell), int(layer))
            if len(place) != len(shape) or any(at >= size for at, size in zip(place, shape, strict=True)):
                raise ValueError(f"layers: {list(place)} is not inside {list(shape)}")
            found[place] = _count(value)
    return found


def _count(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"{value!r} is no whole number from 0")
    return value
