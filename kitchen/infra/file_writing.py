"""Write files atomically, build ZIP archives, record the times of backups, and buffer streamed output.

An atomic write leaves either the complete new file or the old one. `StreamBuffer` collects what a library
writes to a file, so that it can be sent in parts. Imports no Django.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def write_atomically(path: Path, data: bytes) -> Path:
    """Write these bytes to the file atomically: completely or not at all. Return its path."""
    with atomic_writer(path) as out:
        out.write(data)
    return path


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Context manager: yield a temporary file, and rename it to `path` at the end of the block.

    If the block raises an error, `path` is not changed. So nobody can read an incomplete file.
    """
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
    """Return a ZIP archive in which these files (name → content) are in one folder. `at` is their date.
    The same input gives the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", at.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return out.getvalue()


BACKUP_RECORD = "last-backup"
"""File in the data folder with the time (ISO 8601) of the last backup. Other tools may write it."""
BACKUP_ARCHIVES = "backups/brigade-*.tar"
"""Pattern of backup archives in that folder."""


def record_backup(folder: Path, at: datetime) -> None:
    """Store the time of a backup in a file of this folder. Raises OSError if the file cannot be written."""
    write_atomically(
        folder / BACKUP_RECORD, at.astimezone(UTC).isoformat(timespec="seconds").encode() + b"\n"
    )


def last_backup_at(folder: Path) -> datetime | None:
    """Return the time of the last backup of this data folder, from the recorded time and the backup
    archives. None if there is none."""
    made = [datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in folder.glob(BACKUP_ARCHIVES)]
    return max([*made, *_noted(folder / BACKUP_RECORD)], default=None)


def _noted(file: Path) -> list[datetime]:
    try:
        at = datetime.fromisoformat(file.read_text().strip())
    except (OSError, ValueError):
        return []
    return [at if at.tzinfo else at.replace(tzinfo=UTC)]


class StreamBuffer(io.RawIOBase):
    """A write-only file in memory. Its content can be taken at any time, also after it was closed."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._told = 0

    def write(self, data: Buffer, /) -> int:
        """Add these bytes to the buffer. Return their number."""
        piece = bytes(data)
        self._waiting.append(piece)
        self._told += len(piece)
        return len(piece)

    def tell(self) -> int:
        """Return the total number of bytes written so far."""
        return self._told

    def writable(self) -> bool:
        """Return True: the file can be written."""
        return True

    def take(self) -> bytes:
        """Return the bytes written since the last call, and remove them from the buffer."""
        written = b"".join(self._waiting)
        self._waiting.clear()
        return written


def stream_zip(
    files: Iterable[tuple[str, Iterable[bytes]]],
    *,
    at: datetime,
    is_stored: Callable[[str], bool] = lambda name: False,
) -> Iterator[bytes]:
    """Yield files, given as (name, pieces of bytes), as one ZIP archive in pieces of bytes.

    Memory use does not grow with the files. `at` is their date. Files for whose name `is_stored` returns True
    are not compressed.
    """
    pipe = StreamBuffer()
    with zipfile.ZipFile(pipe, "w") as archive:
        for name, pieces in files:
            entry = zipfile.ZipInfo(name, at.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_STORED if is_stored(name) else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as inside:
                for piece in pieces:
                    inside.write(piece)
                    yield pipe.take()
    yield pipe.take()
