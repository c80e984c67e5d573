"""When the last backup was made, as far as somebody noted it. Plain Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from kitchen.machine import atomic

NAME = "last-backup"
"""A file that holds a moment (ISO 8601), in the folder of what the app writes."""


def backup_note(folder: Path, at: datetime) -> None:
    """A backup was made then; OSError."""
    atomic.put(folder / NAME, at.astimezone(UTC).isoformat(timespec="seconds").encode() + b"\n")


def backup_last(folder: Path) -> datetime | None:
    """When the last one was made; None if nobody noted it."""
    try:
        at = datetime.fromisoformat((folder / NAME).read_text().strip())
    except (OSError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
