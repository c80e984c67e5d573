"""Logs of episodes as files of one folder, `log/`: each is added to while its episode is played.

What a machine that stopped left of a piece is cut off when the episode goes on. A log that cannot be gone on
with stays under another name, for what it says of calls that were paid.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from kitchen.experiments.log import Log, LogError, Sink, read_log
from kitchen.experiments.plan import Key
from kitchen.machine.atomic import put

FOLDER, SUFFIX = "log", ".jsonl.gz"
ASIDE = ".before"


def file_name(key: Key) -> str:
    """Of one episode's log: its name within the experiment."""
    named = (part if isinstance(part, str) else f"{part:g}" for part in key)
    return "-".join(quote(part, safe="") for part in named if part) + SUFFIX


class LogFolder:
    """The logs of an experiment in this folder."""

    def __init__(self, out: Path) -> None:
        self.folder = out / FOLDER

    def data(self, key: Key) -> bytes:
        """The bytes of an episode's log; empty where there is none. OSError."""
        path = self._path(key)
        return path.read_bytes() if path.exists() else b""

    def read(self, key: Key) -> Log | None:
        """What was kept of an episode, None for nothing; LogError."""
        data = self.data(key)
        return read_log(data) if data else None

    def begun(self, key: Key) -> Log | None:
        """What was kept of an episode that is to go on now, None for nothing. LogError, OSError."""
        log = self.read(key)
        if log is not None:
            os.truncate(self._path(key), log.size)
        return log

    def sink(self, key: Key) -> Sink:
        """Who keeps the pieces of an episode's log. OSError."""

        def keep(piece: bytes) -> None:
            self.folder.mkdir(exist_ok=True)
            with self._path(key).open("ab") as out:
                out.write(piece)
                out.flush()
                os.fsync(out.fileno())

        return keep

    def put(self, key: Key, data: bytes) -> None:
        """Keep a whole log that was kept elsewhere, in the place of what is here."""
        self.folder.mkdir(exist_ok=True)
        put(self._path(key), data)

    def set_aside(self, key: Key) -> None:
        """Keep under another name what cannot be gone on with."""
        path = self._path(key)
        stem, number = path.name.removesuffix(SUFFIX), 1
        while (other := path.with_name(f"{stem}{ASIDE}{number}{SUFFIX}")).exists():
            number += 1
        path.rename(other)

    def of(self, keys: Iterable[Key]) -> Iterator[Log]:
        """The logs of these episodes that can be read, in this order."""
        for key in keys:
            with suppress(LogError):
                if log := self.read(key):
                    yield log

    def all(self) -> Iterator[Log]:
        """Every log that can be read, in the order of their names, those that were set aside among them."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            with suppress(LogError):
                yield read_log(path.read_bytes())

    def _path(self, key: Key) -> Path:
        return self.folder / file_name(key)
