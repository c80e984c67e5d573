"""Traces as the commands ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kitchen.contract.recordings import Recordings
from kitchen.worlds.cuisine.speed import measure
from kitchen.worlds.cuisine.traces import Trace, difference, read_traces


class CuisineTraces(Recordings[Trace]):
    """Traces of the authors' released game."""

    def read(self, file: Path) -> Sequence[Trace]:
        """Every trace of a file."""
        return read_traces(file)

    def difference(self, recorded: Trace) -> str | None:
        """The first one: set-up, step, what differs."""
        return difference(recorded)

    def speeds(self, recorded: Sequence[Trace], rounds: int) -> list[float]:
        """Without the decoding."""
        return measure(recorded, rounds)


TRACES = CuisineTraces()
