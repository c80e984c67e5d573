"""Read episodes that were recorded in another program, such as a paper's original game.

They serve to check that our version of the world behaves like the original. A file (`.jsonl` or `.jsonl.gz`)
has one episode per line, as a JSON object. Its key `world` names our version.
"""

from __future__ import annotations

import gzip
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from kitchen.contract.data_limits import (
    MAX_FILE_BYTES,
    MAX_VALUES_IN_LINES,
    DataLimitError,
    check_size,
    more_json_values_than,
    read_json,
)
from kitchen.contract.world import Json
from kitchen.contract.world_errors import WorldError
from kitchen.words.english_text import os_error_words

Recording = TypeVar("Recording")


class TraceFileError(WorldError):
    """Raised if a recording file cannot be read. The message is one line with the file, the line number
    and the reason."""


class RecordedLine(NamedTuple):
    """One line of a recording file, before it is parsed. Each line is one episode."""

    path: Path
    number: int
    """Line number from 1; empty lines count."""
    raw: Json

    def world(self, default: str) -> str:
        """Return the name of the world in this line, or `default` if it names none. Raises TraceFileError
        if the line is not a JSON object."""
        if not isinstance(self.raw, Mapping):
            raise self.error("is no object")
        return str(self.raw.get("world", default))

    def parsed(self, recordings: Recordings[Recording]) -> Recording:
        """Return the episode that `recordings` parses from this line. Raises TraceFileError if this fails."""
        try:
            return recordings.parse(self.raw)
        except KeyError as error:
            raise self.error(f"{error} is missing") from error
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
            raise self.error(str(error)) from error

    def error(self, reason: str) -> TraceFileError:
        """Return an error that names the file and number of this line."""
        return TraceFileError(f"{self.path}: line {self.number}: {reason}")


class Recordings(ABC, Generic[Recording]):
    """Parses the recorded episodes of one world, and plays them again to compare."""

    @abstractmethod
    def parse(self, raw: Json) -> Recording:
        """Return the episode that the JSON value of a line describes. Raises KeyError for a missing entry,
        and ValueError or a similar error for a wrong one."""

    @abstractmethod
    def difference(self, recorded: Recording) -> str | None:
        """Replay the episode in our world. Return the first difference as one line of text; None if there
        is none."""

    @abstractmethod
    def speeds(self, recorded: Sequence[Recording], rounds: int) -> list[float]:
        """Play all recordings `rounds` times, and return the steps per second of each round. Raises
        SettingsError if a recording cannot be played."""


def read_recording_file(path: Path) -> list[RecordedLine]:
    """Return all episodes of a file, as unparsed lines. Raises TraceFileError if the file is missing,
    damaged or empty."""
    path = Path(path)
    texts = _text(path).split("\n")
    lines = [_line(path, number, text) for number, text in enumerate(texts, 1) if text.strip()]
    if not lines:
        raise TraceFileError(f"{path}: holds no trace")
    return lines


def _text(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            text = check_size(file.read(MAX_FILE_BYTES + 1)).decode("utf-8")
    except DataLimitError as error:
        raise TraceFileError(f"{path}: {error}") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise TraceFileError(f"{path}: cannot be read: {os_error_words(error)}") from error
    if more_json_values_than(MAX_VALUES_IN_LINES, text):
        raise TraceFileError(f"{path}: has more than {MAX_VALUES_IN_LINES:,} values")
    return text


def _line(path: Path, number: int, text: str) -> RecordedLine:
    try:
        return RecordedLine(path, number, read_json(text))
    except ValueError as error:
        raise TraceFileError(f"{path}: line {number}: {error}") from error
