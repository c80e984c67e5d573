"""Encode any world's observation as the bytes of its JSON text.

It suits worlds without an encoding of their own. Policies that learn find it hard to read; programs that
parse the text do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.encoding import Encoding, EncodingError
from kitchen.contract.world import Command, Json, canonical_json

if TYPE_CHECKING:
    from numpy import ndarray

MAX_BYTES = 8192
MAX_COMMANDS = 64


class JsonEncoding(Encoding):
    """The canonical JSON text of an observation in UTF-8, with zeros after it. Action k is the k-th command
    that is possible now."""

    name: ClassVar[str] = "json/1"
    dtype: ClassVar[str] = "uint8"
    largest: ClassVar[float] = 255

    def shape(self, brief: Mapping[str, Json]) -> tuple[int, ...]:
        """Return (`MAX_BYTES`,)."""
        return (MAX_BYTES,)

    def action_count(self, brief: Mapping[str, Json]) -> int:
        """Return `MAX_COMMANDS`."""
        return MAX_COMMANDS

    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return the possible commands. Raises EncodingError if there are more than `MAX_COMMANDS`."""
        if len(possible) > MAX_COMMANDS:
            raise EncodingError(f"{self.name}: {len(possible)} commands are possible, and {MAX_COMMANDS} fit")
        return possible

    def encode(self, brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> ndarray:
        """Return the bytes of the observation's JSON text, shape (`MAX_BYTES`,). Raises EncodingError if it
        is longer."""
        import numpy

        text = canonical_json(observation).encode()
        if len(text) > MAX_BYTES:
            raise EncodingError(f"{self.name}: an observation has {len(text)} bytes, and {MAX_BYTES} fit")
        array = numpy.zeros(MAX_BYTES, numpy.uint8)
        array[: len(text)] = numpy.frombuffer(text, numpy.uint8)
        return array


JSON_ENCODING = JsonEncoding()
