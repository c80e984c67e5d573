"""How the machine is: database, disk, clock, backup, versions."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django
from django.conf import settings
from django.db import connection
from django.utils import timezone

from kitchen.machine.backups import backup_last
from kitchen.machine.guards import tables_unguarded
from kitchen.machine.migrated import migrations_missing
from kitchen.words.counting import counted
from study.operation.lines import BROKEN, LOOK, WELL, Line, seconds_said, size_said

SLOW_SECONDS = 0.25
LITTLE, HARDLY = 0.1, 0.02
"""Shares of a disk that are left."""
LITTLE_BYTES, HARDLY_BYTES = 2e9, 2e8
MUCH_LOG, MUCH_WAL = 1e9, 5e8
CLOCK_OFF, CLOCK_WRONG = 1.0, 30.0
"""Seconds between two clocks."""
OLD = timedelta(days=7)
"""Of a backup."""


def database() -> Line:
    """Whether it answers, and how soon."""
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    took = time.perf_counter() - began
    means = f"{connection.display_name} answers within {seconds_said(took)}."
    if took < SLOW_SECONDS:
        return Line("Database", WELL, means)
    return Line("Database", LOOK, means, "Look for what else it is doing, and at the disk it is on.")


def migrations() -> Line:
    """Whether the database fits this version."""
    missing = migrations_missing()
    if missing:
        means = f"{counted(len(missing), 'migration')} not applied: {missing[0]}{' …' * (len(missing) > 1)}."
        return Line("Migrations", BROKEN, means, "Run manage.py migrate (Update).")
    open_tables = tables_unguarded()
    if open_tables:
        means = f"All are applied, but the log can be changed: {', '.join(open_tables)}."
        return Line("Migrations", BROKEN, means, "Run manage.py verify_log, and see CONTRIBUTING on guards.")
    return Line("Migrations", WELL, "All are applied, and the database refuses to change rows of the log.")


def disk() -> Line:
    """What is left where the app writes."""
    left = min((shutil.disk_usage(folder) for folder in _folders()), key=lambda usage: usage.free)
    share = left.free / left.total
    means = f"{size_said(left.free)} of {size_said(left.total)} are free where the app writes."
    if share > LITTLE and left.free > LITTLE_BYTES:
        return Line("Disk", WELL, means)
    state = BROKEN if share < HARDLY or left.free < HARDLY_BYTES else LOOK
    return Line("Disk", state, means, "Make room before it is full: nothing is stored then. Logs come first.")


def _folders() -> list[Path]:
    """Where we write, as far as that is on this machine."""
    file = _sqlite_file()
    return [settings.VAR_DIR, *([file.parent] if file else [])]


def _sqlite_file() -> Path | None:
    file = Path(str(connection.settings_dict["NAME"]))
    return file if connection.vendor == "sqlite" and file.is_file() else None


def sizes() -> Line:
    """How large database and logs have become."""
    wal = _bytes([file.with_name(f"{file.name}-wal")]) if (file := _sqlite_file()) else 0
    logs = _bytes(settings.LOG_DIR.glob("*"))
    means = f"The database takes {size_said(_database_bytes() + wal)}, logs take {size_said(logs)}."
    if wal > MUCH_WAL:
        do = "SQLite's write-ahead log is not folded in: somebody reads without end. Restart the app."
        return Line("Sizes", LOOK, f"{means} {size_said(wal)} of it are not folded in.", do)
    if logs > MUCH_LOG:
        return Line("Sizes", LOOK, means, "Put logs aside, with logrotate for example (Logs).")
    return Line("Sizes", WELL, means)


def _database_bytes() -> int:
    if connection.vendor != "postgresql":
        return _bytes(filter(None, [_sqlite_file()]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def _bytes(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


def clock() -> Line:
    """Whether the app and its database mean the same by now."""
    if connection.vendor != "postgresql":
        return Line("Clock", WELL, f"App and database share one clock: {timezone.now():%Y-%m-%d %H:%M} UTC.")
    with connection.cursor() as cursor:
        began = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        apart = abs(float(cursor.fetchone()[0]) - (began + time.time()) / 2)
    means = f"The clocks of app and database are {seconds_said(apart)} apart."
    if apart < CLOCK_OFF:
        return Line("Clock", WELL, means)
    state = BROKEN if apart > CLOCK_WRONG else LOOK
    do = "Set both by NTP: step timers, tokens and second factors go by the clock."
    return Line("Clock", state, means, do)


def backup() -> Line:
    """When the last one was made, if that is known."""
    last = backup_last(settings.VAR_DIR)
    if last is None:
        means = "None is known here. One that was made by other means is not seen from here."
        return Line("Backup", LOOK, means, "Make one, and have one made every day (Backup and restore).")
    age = datetime.now(UTC) - last
    means = f"The last one was made on {last.astimezone(UTC):%Y-%m-%d at %H:%M} UTC."
    if age < OLD:
        return Line("Backup", WELL, means)
    return Line("Backup", LOOK, means, "Make one, and look why none was made (Backup and restore).")


def versions() -> Line:
    """What is running."""
    here = f"Python {platform.python_version()}, Django {django.get_version()}"
    return Line("Versions", WELL, f"Brigade {settings.VERSION}, {here}, {_database_version()}.")


def _database_version() -> str:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            return f"PostgreSQL {cursor.fetchone()[0]}"
    import sqlite3  # another database has another driver

    return f"SQLite {sqlite3.sqlite_version}"
