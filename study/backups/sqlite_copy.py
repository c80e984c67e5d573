"""Copy a SQLite database while others write to it, and replace one with a copy."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from study.backups.backup_archive import BackupError

PAGES = 250
"""Pages that are copied at a time, a megabyte."""
REST = 0.002
"""Seconds between two times."""
ENDS = ("", "-wal", "-shm", "-journal")
"""Of the files of a database."""


def copy(source: Path, to: Path, rest: Callable[[float], None] = time.sleep) -> None:
    """The database as it was when this began, in one file. Whoever writes meanwhile waits for nothing: a
    reader holds nobody up, only SQLite's log grows. sqlite3.Error."""
    with closing(_open(source)) as live, closing(_open(to)) as made:
        live.execute("BEGIN")
        live.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on it stays as it is
        live.backup(made, pages=PAGES, progress=lambda *_: rest(REST), sleep=0)
        made.execute("PRAGMA journal_mode=DELETE")


def _open(file: Path, patience: float = 5.0) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=patience, isolation_level=None)


def check(file: Path) -> None:
    """BackupError unless it is a whole database."""
    try:
        with closing(_open(file)) as copied:
            said = copied.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise BackupError(f"the backup is damaged: {said}")


def check_alone(file: Path) -> None:
    """BackupError while another program has the database open."""
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
    except sqlite3.DatabaseError:  # damaged: that is why a backup is put back
        return


def replace(file: Path, new: Path, aside: Path, *, is_empty: bool) -> None:
    """Put the new database in the place of the old one, which goes aside with all its files, unless there was
    nothing in it. OSError."""
    for old in (Path(f"{file}{end}") for end in ENDS[::-1]):
        if is_empty:
            old.unlink(missing_ok=True)
        elif old.exists():
            aside.mkdir(mode=0o700, exist_ok=True)
            old.rename(aside / old.name)
    new.rename(file)
