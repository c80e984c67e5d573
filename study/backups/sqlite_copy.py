"""Copy a SQLite database while other processes write to it, and replace a database by a copy."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from study.backups.backup_archive import BackupError

PAGES = 250
"""Number of pages copied at a time; together a megabyte."""
REST = 0.002
"""Seconds of rest between two copy steps."""
ENDS = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of a database."""


def copy(source: Path, to: Path, rest: Callable[[float], None] = time.sleep) -> None:
    """Copy the database, as it is when the call begins, into one file. Other connections can write
    meanwhile. Raises sqlite3.Error if it cannot be copied."""
    with closing(_open(source)) as live, closing(_open(to)) as made:
        live.execute("BEGIN")
        live.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on the copy sees one state
        live.backup(made, pages=PAGES, progress=lambda *_: rest(REST), sleep=0)
        made.execute("PRAGMA journal_mode=DELETE")


def _open(file: Path, patience: float = 5.0) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=patience, isolation_level=None)


def check(file: Path) -> None:
    """Raise BackupError if the file is not an intact SQLite database."""
    try:
        with closing(_open(file)) as copied:
            said = copied.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise BackupError(f"the backup is damaged: {said}")


def check_alone(file: Path) -> None:
    """Raise BackupError if another program has the database open."""
    if not file.exists():
        return
    try:
        with closing(_open(file, patience=0)) as mine:
            mine.execute("PRAGMA locking_mode=EXCLUSIVE")
            mine.execute("BEGIN EXCLUSIVE")
            mine.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise BackupError("another program has the database open: stop the app and its workers") from None
    except sqlite3.DatabaseError:  # damaged: this is why a backup is restored
        return


def replace(file: Path, new: Path, aside: Path, *, is_empty: bool) -> None:
    """Replace the database `file` by `new`. If the old database was not empty, it is moved to `aside` with
    all its files.

    Raises OSError if a file cannot be moved.
    """
    for old in (Path(f"{file}{end}") for end in ENDS[::-1]):
        if is_empty:
            old.unlink(missing_ok=True)
        elif old.exists():
            aside.mkdir(mode=0o700, exist_ok=True)
            old.rename(aside / old.name)
    new.rename(file)
