"""What the commands that play recorded episodes share."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from kitchen.contract.recordings import Line, Recordings, TraceFileError, read_lines
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import DEFAULT, get_kit, known_worlds


def recorded_worlds() -> list[str]:
    """Those that can be compared with episodes recorded elsewhere."""
    return [name for name in known_worlds() if get_kit(name).recordings]


def add_world(parser: ArgumentParser, what: str) -> None:
    """Which world: what the option is for."""
    parser.add_argument(
        "--world", choices=recorded_worlds(), default=DEFAULT, help=f"{what} (default: {DEFAULT})"
    )


def recordings_of(world: str) -> Recordings[Any]:
    """How those of this world are read and played; UnknownNameError if it has none."""
    recordings = get_kit(world).recordings
    if not recordings:
        raise UnknownNameError(f"there are no recordings of {world!r}")
    return recordings()


def recordings_for(line: Line, default: str) -> Recordings[Any]:
    """How this line is read and played; TraceFileError for one of a world that has no recordings."""
    world = line.world(default)
    if world not in recorded_worlds():
        raise line.error(f"{world!r} is not one of {', '.join(recorded_worlds())}")
    return recordings_of(world)


def read_of(world: str, path: Path) -> list[Any]:
    """Every trace of this world in a file, those among them that name none; TraceFileError, also if there is
    none."""
    found = [line.parsed(recordings_of(world)) for line in read_lines(path) if line.world(world) == world]
    if not found:
        raise TraceFileError(f"{path}: holds no trace of {world}")
    return found
