"""Read episodes recorded in another engine, to compare a world with that engine.

A file (`.jsonl` or `.jsonl.gz`) has one JSON object per episode and line. Its key `world` names the world. No
Django.
"""

from __future__ import annotations

import gzip
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from kitchen.contract.world import Json, WorldError

Recording = TypeVar("Recording")


class TraceFileError(WorldError):
    """A file that cannot be read. The message is one line: the file, the line and the reason."""


class RecordedLine(NamedTuple):
    """One episode of a file, as the file has it."""

    path: Path
    number: int
    """Line number from 1; empty lines count."""
    raw: Json

    def world(self, default: str) -> str:
        """Return the world of the episode, or `default`. Raises TraceFileError if the line is not an
        object."""
        if not isinstance(self.raw, Mapping):
            raise self.error("is no object")
        return str(self.raw.get("world", default))

    def parsed(self, recordings: Recordings[Recording]) -> Recording:
        """Return the parsed episode. Raises TraceFileError if it cannot be read."""
        try:
            return recordings.parse(self.raw)
        except KeyError as error:
            raise self.error(f"{error} is missing") from error
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
            raise self.error(str(error)) from error

    def error(self, reason: str) -> TraceFileError:
        """Return an error about this line."""
        return TraceFileError(f"{self.path}: line {self.number}: {reason}")


class Recordings(ABC, Generic[Recording]):
    """Reads the recorded episodes of one world and plays them again."""

    @abstractmethod
    def parse(self, raw: Json) -> Recording:
        """Parse one line. Raises KeyError for a missing entry; ValueError and similar for a wrong one."""

    @abstractmethod
    def difference(self, recorded: Recording) -> str | None:
        """Return the first difference between this world and the recording in one line, or None."""

    @abstractmethod
    def speeds(self, recorded: Sequence[Recording], rounds: int) -> list[float]:
        """Return the steps per second of each round in which all recordings are played. SettingsError names a
        recording that no world can play."""


def read_recording_file(path: Path) -> list[RecordedLine]:
    """Return every episode of a file. Raises TraceFileError if it is missing, damaged or empty."""
    path = Path(path)
    lines = [_line(path, number, text) for number, text in enumerate(_texts(path), 1) if text.strip()]
    if not lines:
        raise TraceFileError(f"{path}: holds no trace")
    return lines


def _texts(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                yield line.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TraceFileError(f"{path}: cannot be read: {error}") from error


def _line(path: Path, number: int, text: str) -> RecordedLine:
    try:
        return RecordedLine(path, number, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise TraceFileError(f"{path}: line {number}: {error}") from error
