"""Write files atomically, build ZIP archives, record backups, and buffer streamed output. Plain Python.

An atomic file is written completely or not at all. The time of the last backup is kept in a small file.
`StreamBuffer` connects a library that writes to a file with a download that is sent in parts.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


def write_atomically(path: Path, data: bytes) -> Path:
    """These bytes as this file."""
    with atomic_writer(path) as out:
        out.write(data)
    return path


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Beside its place under a name of its own first, so that nobody ever reads half a file; put there at the
    end, unless something was raised."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with beside.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def zip_files(files: Mapping[str, bytes], *, folder: str, at: datetime) -> bytes:
    """These files, by name, in a folder of the archive; always the same bytes for the same."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", at.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return out.getvalue()


BACKUP_RECORD = "last-backup"
"""A file that holds a moment (ISO 8601), in the folder of what the app writes. Other tools may write it."""
BACKUP_ARCHIVES = "backups/brigade-*.tar"
"""Backups that were made there."""


def record_backup(folder: Path, at: datetime) -> None:
    """A backup was made then; OSError."""
    write_atomically(
        folder / BACKUP_RECORD, at.astimezone(UTC).isoformat(timespec="seconds").encode() + b"\n"
    )


def last_backup_at(folder: Path) -> datetime | None:
    """When the last one was made that was noted or lies there; None if there is none."""
    made = [datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in folder.glob(BACKUP_ARCHIVES)]
    return max([*made, *_noted(folder / BACKUP_RECORD)], default=None)


def _noted(file: Path) -> list[datetime]:
    try:
        at = datetime.fromisoformat(file.read_text().strip())
    except (OSError, ValueError):
        return []
    return [at if at.tzinfo else at.replace(tzinfo=UTC)]


class StreamBuffer:
    """A file that can only be written: what was written waits until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._told = 0

    def write(self, data: bytes) -> int:
        """Keep these bytes until `take`."""
        piece = bytes(data)
        self._waiting.append(piece)
        self._told += len(piece)
        return len(piece)

    def tell(self) -> int:
        """Bytes written so far."""
        return self._told

    def flush(self) -> None:
        """Nothing to do."""

    def writable(self) -> bool:
        """Always."""
        return True

    def readable(self) -> bool:
        """Never."""
        return False

    def seekable(self) -> bool:
        """Never: what was sent is gone."""
        return False

    def close(self) -> None:
        """Nothing to do: what waits can still be taken."""

    def take(self) -> bytes:
        """What was written since the last time."""
        written = b"".join(self._waiting)
        self._waiting.clear()
        return written
