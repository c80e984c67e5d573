"""Write and read an episode's log as gzipped JSON lines, in memory or in the folder `log/`.

The first line is the head (`LogHead`). A line `{"text": SHA-256, "is": …}` holds a prompt text. Every other
line is a step (`StepEntry`), or the paid model calls of an interrupted step (`UntakenStep`). Compressed
pieces are appended during the episode. A last piece that is incomplete is ignored.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kitchen.contract.data_limits import MAX_VALUES_IN_LINES, more_json_values_than
from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.language_model import Call
from kitchen.contract.world import Json
from kitchen.experiments.experiment_setup import EpisodeKey
from kitchen.experiments.log_entries import EntryError, LogHead, StepEntry, UntakenStep, text_key
from kitchen.infra.file_writing import write_atomically

LOG_FORMAT = 1
MAX_LOG_BYTES = 256 * 2**20
"""Maximum size of an unpacked log."""
CHUNK_BYTES = 65_536
"""Number of bytes that are unpacked at once."""
FLUSH_SECONDS = 5.0
"""Seconds for which steps without costs are collected before they are written together."""

WritePiece = Callable[[bytes], None]
"""Stores one piece permanently, after all earlier pieces."""


class LogError(Exception):
    """Raised when a log cannot be read or belongs to another episode. The message is one line."""


@dataclass(slots=True)
class PlayedLog:
    """The log of one episode, as read or as recorded so far."""

    head: LogHead
    entries: list[StepEntry] = field(default_factory=list)
    untaken: list[UntakenStep] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """Every text that was sent to models, by its SHA-256."""
    lines: bytearray = field(default_factory=bytearray)
    size: int = 0
    """Number of bytes of the complete pieces that the log was read from."""
    replayed: EpisodeLog | None = field(default=None, compare=False, repr=False)
    """The episode in the form that metrics read, once it has been replayed."""

    @property
    def hash(self) -> str:
        """Return the SHA-256 of all lines of the log."""
        return hashlib.sha256(self.lines).hexdigest()

    @property
    def asked(self) -> list[StepEntry | UntakenStep]:
        """Return all steps of the log. Steps that a spent budget or an error prevented are included."""
        return [*self.entries, *self.untaken]

    @property
    def decided(self) -> list[StepEntry | UntakenStep]:
        """Return the steps in which an agent was asked for a decision. Steps that a spent budget or an error
        prevented are included."""
        return [each for each in self.asked if isinstance(each, UntakenStep) or each.asked]

    @property
    def calls(self) -> list[Call]:
        """Return all model calls of the episode. Calls in steps that a spent budget or an error prevented are
        included."""
        return [call for each in self.asked for call in each.calls]


def read_log(data: bytes) -> PlayedLog:
    """Read a log from bytes, up to its last complete piece. Raises LogError if it is invalid."""
    lines, size = _whole(data)
    try:
        if more_json_values_than(MAX_VALUES_IN_LINES, lines.decode()):
            raise LogError(f"has more than {MAX_VALUES_IN_LINES:,} values")
        objects = [json.loads(line) for line in lines.splitlines()]
        if not objects or objects[0].pop("format", None) != LOG_FORMAT:
            raise LogError("is no log of an episode of this format")
        head, texts = LogHead.from_json(objects[0]), _texts(objects[1:])
        steps = [StepEntry.from_json(each, texts) for each in objects[1:] if "step" in each]
        untaken = [UntakenStep.from_json(each, texts) for each in objects[1:] if "untaken" in each]
    except (ValueError, AttributeError, TypeError, RecursionError, EntryError) as error:
        raise LogError(f"is no log of an episode: {error}") from error
    if [each.step for each in steps] != list(range(1, len(steps) + 1)):
        raise LogError("does not have every step once, in order")
    return PlayedLog(head, steps, untaken, texts, lines, size)


def _texts(objects: list[Any]) -> dict[str, str]:
    """Return the texts by their hashes. Raises LogError if a text does not match its hash."""
    texts: dict[str, str] = {each["text"]: each["is"] for each in objects if "text" in each}
    for key, text in texts.items():
        if text_key(text) != key:
            raise LogError(f"a text that a model was sent is not what was written ({key[:12]})")
    return texts


def _whole(data: bytes) -> tuple[bytearray, int]:
    """Return two things: the lines of all complete pieces in `data`, and the size of these pieces in bytes.
    Raises LogError if a piece is damaged, or if there are too many lines."""
    lines, size = bytearray(), 0
    while size < len(data):
        try:
            found, end = _piece(data, size, MAX_LOG_BYTES - len(lines))
        except zlib.error as error:
            raise LogError(f"is damaged after {size} bytes: {error}") from error
        if not end:
            break
        lines += found
        size = end
    return lines, size


def _piece(data: bytes, begin: int, most: int) -> tuple[bytearray, int]:
    """Unpack the piece that begins at this byte. Return its lines, and where it ends; 0 if it is incomplete.
    Raises LogError if it unpacks to more than `most` bytes, and `zlib.error` if it is damaged."""
    piece, found = zlib.decompressobj(wbits=31), bytearray()  # wbits of the gzip format
    for at in range(begin, len(data), CHUNK_BYTES):
        chunk = data[at : at + CHUNK_BYTES]
        found += piece.decompress(chunk, most - len(found) + 1)
        if len(found) > most:
            raise LogError(f"has more than {MAX_LOG_BYTES // 2**20} MiB")
        if piece.eof:
            return found, at + len(chunk) - len(piece.unused_data)
    return found, 0


class LogRecorder:
    """Record the log of an episode while it is played.

    Steps with paid calls are written at once, others every few seconds and at the end. If `before` is a
    log of the same episode, the recorder continues it.
    """

    def __init__(
        self,
        head: LogHead,
        sink: WritePiece,
        before: PlayedLog | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.log = before or PlayedLog(head)
        self.sink, self.clock = sink, clock
        self._fresh, self._last = list[str](), clock()
        if before is None:
            self._write({"format": LOG_FORMAT, **head.to_json()})

    def add(self, entry: StepEntry) -> None:
        """Record one step. Raises TypeError or ValueError if it cannot be written as JSON, and any error
        of the function that stores the log."""
        self._record(entry)
        self.log.entries.append(entry)

    def add_untaken(self, untaken: UntakenStep) -> None:
        """Record the model calls of a step that was not taken because of a spent budget or an error."""
        self._record(untaken)
        self.log.untaken.append(untaken)

    def close(self) -> None:
        """Write all entries that are not yet written."""
        if self._fresh:
            lines = "".join(self._fresh).encode()
            self._fresh, self._last = [], self.clock()
            self.sink(gzip.compress(lines, mtime=0))

    def _record(self, each: StepEntry | UntakenStep) -> None:
        self._write(each.to_json(self._name))
        if any(call.cost != 0 for call in each.calls) or self.clock() - self._last > FLUSH_SECONDS:
            self.close()

    def _name(self, text: str) -> str:
        key = text_key(text)
        if key not in self.log.texts:
            self.log.texts[key] = text
            self._write({"text": key, "is": text})
        return key

    def _write(self, line: Json) -> None:
        written = json.dumps(line, separators=(",", ":")) + "\n"
        self._fresh.append(written)
        self.log.lines.extend(written.encode())


LOG_FOLDER, LOG_SUFFIX = "log", ".jsonl.gz"
RENAMED = ".before"
"""Part of the name of a file whose log is not the one in the database."""


def log_file_name(key: EpisodeKey) -> str:
    """Return the file name of an episode's log within its experiment."""
    named = (part if isinstance(part, str) else f"{part:g}" for part in key)
    return "-".join(quote(part, safe="") for part in named if part) + LOG_SUFFIX


class LogFolder:
    """The logs of an experiment as files in the folder `log/`."""

    def __init__(self, out: Path) -> None:
        self.folder = out / LOG_FOLDER

    def data(self, key: EpisodeKey) -> bytes:
        """Return the bytes of an episode's log. Return empty bytes if the episode has no log. Raises
        OSError if the log cannot be read."""
        path = self._path(key)
        return path.read_bytes() if path.exists() else b""

    def read(self, key: EpisodeKey) -> PlayedLog | None:
        """Return the log of an episode. Return None if the episode has no log. Raises LogError if the log
        is invalid."""
        data = self.data(key)
        return read_log(data) if data else None

    def write(self, key: EpisodeKey, data: bytes) -> None:
        """Write the log of an episode. A file that holds another log is renamed first."""
        self.folder.mkdir(exist_ok=True)
        if not data.startswith(there := self.data(key)):
            self._rename(self._path(key))
        if data != there:
            write_atomically(self._path(key), data)

    def _rename(self, path: Path) -> None:
        stem, number = path.name.removesuffix(LOG_SUFFIX), 1
        while (other := path.with_name(f"{stem}{RENAMED}{number}{LOG_SUFFIX}")).exists():
            number += 1
        path.rename(other)

    def all(self) -> Iterator[PlayedLog]:
        """Yield every readable log in the order of file names. This includes logs that `_rename` moved aside
        because a newer log took their file name."""
        for path in sorted(self.folder.glob(f"*{LOG_SUFFIX}")):
            with suppress(LogError):
                yield read_log(path.read_bytes())

    def _path(self, key: EpisodeKey) -> Path:
        return self.folder / log_file_name(key)
