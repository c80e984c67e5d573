"""Create a backup of all stored data while the app runs, and remove old backups."""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from kitchen.words.english_text import os_error_words
from study.backups import postgres_dump, sqlite_copy
from study.backups.backup_archive import BackupError, Manifest, archive_write, key_hash

TABLES = {"studies": "study_study", "participants": "study_participant", "episodes": "kitchen_episode"}
"""The tables that a manifest counts."""

OWN_NAME = re.compile(r"brigade-\d{8}T\d{6}Z\.tar")


def backup_path(named: Path | None) -> Path:
    """Return the path of a new backup. If `named` is a folder or None, the file's name contains the
    current time."""
    folder = named or Path(settings.VAR_DIR) / "backups"
    is_file = named is not None and not folder.is_dir()
    return folder if is_file else folder / f"brigade-{timezone.now():%Y%m%dT%H%M%SZ}.tar"


def prune_old_backups(made: Path, keep: int) -> int:
    """Remove old backups with generated names, and return how many were removed. `keep` backups remain,
    including `made`. Raises OSError if one cannot be removed."""
    others = (file for file in made.parent.iterdir() if OWN_NAME.fullmatch(file.name) and file != made)
    too_many = sorted(others, reverse=True)[keep - 1 :]
    for file in too_many:
        file.unlink()
    return len(too_many)


def back_up(file: Path, *, with_key: bool) -> Manifest:
    """Write a backup of all stored data at one moment, and return its manifest. Raises BackupError if this
    fails."""
    if file.exists():
        raise BackupError(f"{file} is there already: choose another name")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".backup-") as folder:
            database = Path(folder) / "database"
            manifest = COPIES[connection.vendor](database)
            archive_write(file, manifest, database, settings.SECRET_KEY if with_key else "")
    except OSError as error:
        raise BackupError(f"cannot write to {file.parent}: {os_error_words(error)}") from error
    except sqlite3.Error as error:
        raise BackupError(f"the database cannot be copied: {error}") from error
    return manifest


def _sqlite(to: Path) -> Manifest:
    os.close(os.open(to, os.O_CREAT | os.O_EXCL, 0o600))
    sqlite_copy.copy(Path(str(connection.settings_dict["NAME"])), to)
    with closing(sqlite3.connect(to)) as copied:
        return _manifest(lambda statement: copied.execute(statement).fetchall(), server=0)


def _postgresql(to: Path) -> Manifest:
    with transaction.atomic(), connection.cursor() as cursor:

        def ask(statement: str) -> list[Any]:
            cursor.execute(statement)
            return list(cursor.fetchall())

        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        ((snapshot,),) = ask("SELECT pg_export_snapshot()")
        postgres_dump.dump(to, snapshot)
        return _manifest(ask, server=postgres_dump.server_major())


COPIES = {"sqlite": _sqlite, "postgresql": _postgresql}
"""Copy functions by Django's name of the kind of database."""


def _manifest(ask: Callable[[str], list[Any]], server: int) -> Manifest:
    """Return the manifest, a description of the stored data for a backup. `ask` runs an SQL statement and
    returns its rows. `server` is the version of the database server."""
    migrations: dict[str, list[str]] = {}
    for app, name in ask("SELECT app, name FROM django_migrations ORDER BY app, name"):
        migrations.setdefault(app, []).append(name)
    return Manifest(
        made_at=timezone.now().isoformat(timespec="seconds"),
        database=connection.vendor,
        server=server,
        migrations=migrations,
        counts={name: ask(f"SELECT count(*) FROM {table}")[0][0] for name, table in TABLES.items()},  # noqa: S608
        key=key_hash(settings.SECRET_KEY),
    )
