"""Traces as the commands ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kitchen.contract.recordings import Recordings, read_lines
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.speed import measure
from kitchen.worlds.cuisine.traces import Trace, difference, parse_trace


class CuisineTraces(Recordings[Trace]):
    """Traces of the authors' released game."""

    def parse(self, raw: Json) -> Trace:
        """One trace."""
        return parse_trace(raw)

    def difference(self, recorded: Trace) -> str | None:
        """The first one: set-up, step, what differs."""
        return difference(recorded)

    def speeds(self, recorded: Sequence[Trace], rounds: int) -> list[float]:
        """Without the decoding."""
        return measure(recorded, rounds)


TRACES = CuisineTraces()


def read_traces(path: Path) -> list[Trace]:
    """Every trace of a file; TraceFileError."""
    return [line.parsed(TRACES) for line in read_lines(path)]
