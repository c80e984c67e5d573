"""When the last backup was made, as far as that is to be seen from here. Plain Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from kitchen.machine import atomic

NAME = "last-backup"
"""A file that holds a moment (ISO 8601), in the folder of what the app writes. Other tools may write it."""
ARCHIVES = "backups/brigade-*.tar"
"""Backups that were made there."""


def backup_note(folder: Path, at: datetime) -> None:
    """A backup was made then; OSError."""
    atomic.put(folder / NAME, at.astimezone(UTC).isoformat(timespec="seconds").encode() + b"\n")


def backup_last(folder: Path) -> datetime | None:
    """When the last one was made that was noted or lies there; None if there is none."""
    made = [datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in folder.glob(ARCHIVES)]
    return max([*made, *_noted(folder / NAME)], default=None)


def _noted(file: Path) -> list[datetime]:
    try:
        at = datetime.fromisoformat(file.read_text().strip())
    except (OSError, ValueError):
        return []
    return [at if at.tzinfo else at.replace(tzinfo=UTC)]
