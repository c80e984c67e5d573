"""The log of one episode as bytes: JSON lines, gzipped piece by piece, so that it can be added to as it is
played, in a file or in rows of a database; pieces one after another are one `.jsonl.gz`.

The first line is the head (`entries.Head`). A line `{"text": SHA-256, "is": …}` has a text that models were
sent, once, before the first line that names it. The others are steps (`Entry`) or what was asked for a step
that was not taken (`Untaken`). A piece that is not whole, because a machine stopped while it was written, is
left out.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kitchen.contract.model import Call
from kitchen.contract.world import Json
from kitchen.experiments.entries import Entry, EntryError, Head, Untaken, text_key

FORMAT = 1
PATIENCE = 5.0
"""Seconds that steps which cost nothing wait to be kept together."""

Sink = Callable[[bytes], None]
"""Keeps one piece for good, after all pieces before it."""


class LogError(Exception):
    """A log that cannot be read, or that is of another episode; one line."""


@dataclass(slots=True)
class Log:
    """What was kept of one episode."""

    head: Head
    entries: list[Entry] = field(default_factory=list)
    untaken: list[Untaken] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """Every text that models were sent, by its SHA-256."""
    lines: bytearray = field(default_factory=bytearray)
    size: int = 0
    """Bytes of the whole pieces that it was read from."""

    @property
    def hash(self) -> str:
        """SHA-256 of its lines."""
        return hashlib.sha256(self.lines).hexdigest()

    @property
    def asked(self) -> list[Entry | Untaken]:
        """All for which something may have been asked."""
        return [*self.entries, *self.untaken]

    @property
    def decided(self) -> list[Entry | Untaken]:
        """Those of them for which somebody was."""
        return [each for each in self.asked if isinstance(each, Untaken) or each.asked]

    @property
    def calls(self) -> list[Call]:
        """Every call that was made for it."""
        return [call for each in self.asked for call in each.calls]


def read_log(data: bytes) -> Log:
    """The log in these bytes, as far as it was written whole; LogError."""
    lines, size = _whole(data)
    try:
        objects = [json.loads(line) for line in lines.splitlines()]
        if not objects or objects[0].pop("format", None) != FORMAT:
            raise LogError("is no log of an episode of this format")
        head, texts = Head.from_json(objects[0]), _texts(objects[1:])
        steps = [Entry.from_json(each, texts) for each in objects[1:] if "step" in each]
        untaken = [Untaken.from_json(each, texts) for each in objects[1:] if "untaken" in each]
    except (ValueError, AttributeError, TypeError, RecursionError, EntryError) as error:
        raise LogError(f"is no log of an episode: {error}") from error
    if [each.step for each in steps] != list(range(1, len(steps) + 1)):
        raise LogError("does not have every step once, in order")
    return Log(head, steps, untaken, texts, lines, size)


def _texts(objects: list[Any]) -> dict[str, str]:
    """The texts by their hashes; LogError for one that is not that of its hash."""
    texts: dict[str, str] = {each["text"]: each["is"] for each in objects if "text" in each}
    for key, text in texts.items():
        if text_key(text) != key:
            raise LogError(f"a text that a model was sent is not what was written ({key[:12]})")
    return texts


def _whole(data: bytes) -> tuple[bytearray, int]:
    """The lines of all whole pieces, and how many bytes those are; LogError for what is damaged within."""
    lines, size = bytearray(), 0
    while size < len(data):
        piece = zlib.decompressobj(wbits=31)  # of gzip
        try:
            found = piece.decompress(data[size:])
        except zlib.error as error:
            raise LogError(f"is damaged after {size} bytes: {error}") from error
        if not piece.eof:
            break
        lines += found
        size = len(data) - len(piece.unused_data)
    return lines, size


class Recording:
    """Keeps an episode while it is played: what a model was paid for at once, the rest every few seconds and
    at the end. Goes on after `before`, the same episode as far as it was kept."""

    def __init__(
        self, head: Head, sink: Sink, before: Log | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.log = before or Log(head)
        self.sink, self.clock = sink, clock
        self._fresh, self._last = list[str](), clock()
        if before is None:
            self._write({"format": FORMAT, **head.to_json()})

    def add(self, entry: Entry) -> None:
        """One more step. TypeError or ValueError where it is no JSON; what the sink raises."""
        self._keep(entry)
        self.log.entries.append(entry)

    def add_untaken(self, untaken: Untaken) -> None:
        """What was asked for a step that is not taken."""
        self._keep(untaken)
        self.log.untaken.append(untaken)

    def close(self) -> None:
        """Keep what is left."""
        if self._fresh:
            lines = "".join(self._fresh).encode()
            self._fresh, self._last = [], self.clock()
            self.sink(gzip.compress(lines, mtime=0))

    def _keep(self, each: Entry | Untaken) -> None:
        self._write(each.to_json(self._name))
        if any(call.cost != 0 for call in each.calls) or self.clock() - self._last > PATIENCE:
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
