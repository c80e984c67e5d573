"""Help to write encodings that put everything into one vector of numbers, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Command, Json

if TYPE_CHECKING:
    from numpy import ndarray


class VectorWriter:
    """A vector that is written from its beginning. Numbers that are not written are 0."""

    def __init__(self, length: int) -> None:
        import numpy

        self.array = numpy.zeros(length, numpy.float32)
        self.at = 0

    def number(self, value: float) -> None:
        """Write one number."""
        self.array[self.at] = value
        self.at += 1

    def one_hot(self, number: int | None, size: int) -> None:
        """Write `size` numbers, of which one is 1: that at place `number`; none if it is None."""
        if number is not None:
            self.array[self.at + number] = 1
        self.at += size

    def counts(self, places: Mapping[int, float], size: int) -> None:
        """Write `size` numbers: `places` has the number at each place, other places are 0."""
        for place, value in places.items():
            self.array[self.at + place] = value
        self.at += size


class FlatEncoding(Encoding):
    """A vector of float32, and a list of commands that depends on the brief only. Subclasses cache the
    list."""

    dtype: ClassVar[str] = "float32"
    largest: ClassVar[float] = 10_000

    def command_numbers(self, brief: Mapping[str, Json]) -> Mapping[Command, int]:
        """Return the number of the action of each command, in the order of the actions."""
        raise NotImplementedError

    def action_count(self, brief: Mapping[str, Json]) -> int:
        """Return the length of the list of commands."""
        return len(self.command_numbers(brief))

    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return the list of commands."""
        return tuple(self.command_numbers(brief))

    def mask(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> ndarray:
        """Return 1 for each action whose command is possible now. Other possible commands are left out."""
        import numpy

        numbers = self.command_numbers(brief)
        mask = numpy.zeros(len(numbers), numpy.int8)
        mask[[numbers[command] for command in possible if command in numbers]] = 1
        return mask
