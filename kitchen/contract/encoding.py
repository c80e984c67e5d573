"""Define `Encoding`: numbers for a seat's observation and its commands, for programs that learn.

An encoding (an observation function) is a pure function of what a seat may know: its brief and its
observation, never of the world's state. So environments, co-players and exported data share one function. A
world lists its encodings in its kit (`WorldKit.encodings`); `json/1` (`kitchen.contract.json_encoding`) suits
every world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.world import Command, Json, World

if TYPE_CHECKING:
    from numpy import ndarray


class EncodingError(ValueError):
    """Raised if an observation does not fit into an encoding. The message is one line."""


class Encoding(ABC):
    """Numbers for the observations and commands of one world. Objects store nothing between calls."""

    name: ClassVar[str]
    """Unique name with a version, such as `overcooked.lossless_26/1`. Increase the version when the same
    observation gives other numbers."""
    dtype: ClassVar[str]
    """NumPy's name of the numbers' type: `uint8` or `float32`."""
    largest: ClassVar[float]
    """The upper bound of every number; the lower bound is 0."""
    masked: ClassVar[bool] = True
    """True if policies choose among the commands of the mask only, as they did in training."""

    @abstractmethod
    def shape(self, brief: Mapping[str, Json]) -> tuple[int, ...]:
        """Return the shape of `encode`'s array in an episode with this brief (`World.brief`). It is
        the same for all seats of an episode."""

    @abstractmethod
    def action_count(self, brief: Mapping[str, Json]) -> int:
        """Return the number of actions in an episode with this brief. It is the same for all its seats."""

    @abstractmethod
    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return the command of each action, by the action's number.

        `possible` are the seat's legal and anticipated commands now. Encodings with a fixed list of commands
        ignore them. The list may be shorter than `action_count`; other actions have no command.
        """

    @abstractmethod
    def encode(self, brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> ndarray:
        """Return the observation (`World.observe`) of this seat as a new array of `shape` and `dtype`.
        Raises EncodingError if it does not fit."""

    def mask(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> ndarray:
        """Return an int8 array with one entry per action: 1 for actions whose command is possible now."""
        import numpy

        mask = numpy.zeros(self.action_count(brief), numpy.int8)
        listed = set(possible)
        for number, command in enumerate(self.commands(brief, possible)):
            mask[number] = command in listed
        return mask

    def encode_seats(self, world: World, briefs: Mapping[int, Mapping[str, Json]], array: ndarray) -> None:
        """Write what each seat in `briefs` observes now into `array`, shape (seats, …), in that order.

        The numbers are those of `encode`. An encoding may compute them from the state, if that is faster.
        """
        for place, (seat, brief) in enumerate(briefs.items()):
            array[place] = self.encode(brief, world.observe(seat), seat)

    def choices(
        self, world: World, brief: Mapping[str, Json], seat: int
    ) -> tuple[Sequence[Command], ndarray]:
        """Return the commands of this seat's actions now, and their mask. Do not change the mask."""
        possible = possible_commands(world, seat)
        return self.commands(brief, possible), self.mask(brief, possible)


def possible_commands(world: World, seat: int) -> list[Command]:
    """Return the legal and the anticipated commands of this seat; only `idle` if the seat is not asked."""
    if not world.asks(seat):
        return [world.idle]
    return list(dict.fromkeys((*world.legal_actions(seat), *world.anticipated_actions(seat))))
