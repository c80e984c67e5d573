"""Help management commands to print one-line errors, show progress, and read recorded episodes."""

from __future__ import annotations

import argparse
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandParser

from kitchen.contract.reference_recordings import (
    RecordedLine,
    Recordings,
    TraceFileError,
    read_recording_file,
)
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME, get_kit, known_worlds, world_families


class OneLineCommand(BaseCommand):
    """A command that reports a wrong argument in one line, without its whole usage, and with exit code 2."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return Django's argument parser, set to print no usage text with an error."""
        return super().create_parser(prog_name, subcommand, usage=argparse.SUPPRESS, **kwargs)


BAR = 30


class Progress:
    """A progress bar in the terminal, from 0 to `total` items. `what` is the plural name of the items."""

    def __init__(self, out: TextIO, total: int, done: int, what: str) -> None:
        self.out, self.total, self.first, self.what = out, total, done, what
        self.began, self.shown = time.monotonic(), -1
        self.tty = bool(getattr(out, "isatty", lambda: False)())
        self.show(done)

    def show(self, done: int) -> None:
        """Draw the progress bar for `done` finished items. Without a terminal, print a line from time to
        time."""
        if done == self.shown or not self.total:
            return
        if self.tty:
            filled = BAR * done // self.total
            self.out.write(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {self._words(done)}  ")
        elif done == self.total or self.shown < 0 or done * 20 // self.total > self.shown * 20 // self.total:
            self.out.write(f"{self._words(done)}\n")
        self.out.flush()
        self.shown = done

    def close(self) -> None:
        """End the line of the progress bar, so that the next output starts on a new line."""
        if self.tty:
            self.out.write("\n")

    def _words(self, done: int) -> str:
        left = ""
        if self.first < done < self.total:
            pace = (time.monotonic() - self.began) / (done - self.first)
            left = f", about {_time(pace * (self.total - done))} to go"
        return f"{done} of {self.total} {self.what}{left}"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def worlds_with_recordings() -> list[str]:
    """Return the names of the worlds for which recorded episodes of another implementation can be read."""
    return [name for name in known_worlds() if get_kit(name).recordings]


TRACE_FILE_HELP = ".jsonl or .jsonl.gz (default: the episodes of this world in tests/kitchen/data)"
"""Help text of arguments that name files of recorded episodes."""


def add_world_argument(parser: ArgumentParser, what: str) -> None:
    """Add the option `--world`. `what` says in its help text what the world is used for."""
    parser.add_argument(
        "--world",
        choices=[*worlds_with_recordings(), *_families_with_recordings()],
        default=DEFAULT_WORLD_NAME,
        help=f"{what}; or a family of worlds (default: {DEFAULT_WORLD_NAME})",
    )


def _families_with_recordings() -> dict[str, tuple[str, ...]]:
    """Return the families of worlds in which every world has recordings, by name."""
    there = set(worlds_with_recordings())
    return {name: worlds for name, worlds in world_families().items() if there.issuperset(worlds)}


def worlds_of(name: str) -> tuple[str, ...]:
    """Return the worlds with recordings that a name means: those of a family, or the world itself."""
    return _families_with_recordings().get(name, (name,))


def recordings_of_world(world: str) -> Recordings[Any]:
    """Return the reader of recorded episodes (traces) for this world. Raises UnknownNameError if the world
    has none."""
    recordings = get_kit(world).recordings
    if not recordings:
        raise UnknownNameError(f"there are no recordings of {world!r}")
    return recordings()


def recordings_for_line(line: RecordedLine, default: str) -> Recordings[Any]:
    """Return the reader of recorded episodes for one line of a recording file. The world is the one that the
    line names or, without a name, `default`.

    Raises TraceFileError if this world has no reader.
    """
    world = line.world(default)
    if world not in worlds_with_recordings():
        raise line.error(f"{world!r} is not one of {', '.join(worlds_with_recordings())}")
    return recordings_of_world(world)


OWN_TRACES = Path(__file__).resolve().parents[2] / "tests" / "kitchen" / "data"
"""The folder with the recorded episodes that come with the project."""
ARRAYS_ENDING = "_encoding.jsonl.gz"
"""The end of the names of files in this folder that hold arrays of encodings instead."""


def own_trace_lines(world: str) -> list[RecordedLine]:
    """Return the project's own recorded episodes of this world, or of this family of worlds, as unparsed
    lines. Raises TraceFileError if there are none."""
    worlds = worlds_of(world)
    paths = [path for path in sorted(OWN_TRACES.glob("*.jsonl.gz")) if not path.name.endswith(ARRAYS_ENDING)]
    files = map(read_recording_file, paths)
    found = [line for lines in files for line in lines if line.world(DEFAULT_WORLD_NAME) in worlds]
    if not found:
        raise TraceFileError(f"{OWN_TRACES}: holds no trace of {world}; name a FILE")
    return found


def read_traces(world: str, path: Path | None) -> list[Any]:
    """Return all recorded episodes (traces) of this world, or of this family of worlds, in a file; without
    `path`, those that come with the project. Raises TraceFileError if there are none."""
    worlds = worlds_of(world)
    found = [
        line.parsed(recordings_of_world(line.world(world)))
        for line in (read_recording_file(path) if path else own_trace_lines(world))
        if line.world(world) in worlds
    ]
    if not found:
        raise TraceFileError(f"{path}: holds no trace of {world}")
    return found
