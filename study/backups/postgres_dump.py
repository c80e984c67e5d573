"""Copy a PostgreSQL database with pg_dump, and replace its tables with pg_restore.

A restore renames the schema with the old tables and keeps it. So you can undo a failed restore. The database
user needs no right to create databases.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any

from django.db import Error, connection, transaction

from study.backups.backup_archive import BackupError

LOOKS, LOOK_SECONDS = 20, 0.1
"""Number of checks for other connections, and seconds after each check."""
CREATES_SCHEMA = re.compile(r"\d+; \d+ \d+ (SCHEMA|COMMENT - SCHEMA|ACL - SCHEMA) ")
"""Lines of a dump's list that create the schema itself, which exists already."""
VARIABLES = {
    "HOST": "PGHOST",
    "PORT": "PGPORT",
    "USER": "PGUSER",
    "PASSWORD": "PGPASSWORD",
    "NAME": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "service": "PGSERVICE",
}
"""Variables for PostgreSQL's programs. A password in arguments would be visible to others."""


def server_major() -> int:
    """Return the major version of the database server, such as 15 for PostgreSQL 15.8."""
    connection.ensure_connection()
    return int(connection.pg_version) // 10000  # type: ignore[attr-defined]


def program(name: str) -> str:
    """Return the path of the program `name` (pg_dump or pg_restore). Raises BackupError if it is missing
    or too old."""
    major, found = server_major(), which(name)
    advice = f"install it (on Debian and Ubuntu: apt-get install postgresql-client-{major})"
    if not found:
        raise BackupError(f"{name} is not on the path: {advice}")
    said = _run(found, "--version")
    version = re.search(r"\b(\d+)[.\d]*", said)
    if not version or int(version[1]) < major:
        own = version[1] if version else "of an unknown version"
        raise BackupError(f"{name} is {own}, the server PostgreSQL {major}: {advice}")
    return found


def dump(to: Path, snapshot: str) -> None:
    """Write a dump of the database as the transaction with this snapshot id sees it. Others can write
    meanwhile. Raises BackupError if pg_dump fails."""
    schema = schema_now()
    chosen = (f"--schema={schema}", f"--snapshot={snapshot}", f"--file={to}")
    _run(program("pg_dump"), "--format=custom", *chosen)


def schema_now() -> str:
    """Return the name of the schema that holds the app's tables."""
    return str(_asked("SELECT coalesce(current_schema(), 'public')"))


def check(file: Path, major: int) -> None:
    """Raise BackupError if this server cannot restore the dump. `major` is the major version of the server
    that made the dump."""
    if major > server_major():
        raise BackupError(f"the backup comes from PostgreSQL {major}, this server is {server_major()}")
    _run(program("pg_restore"), "--list", str(file))


def check_alone() -> None:
    """Raise BackupError if other clients are still connected to the database after a short wait."""
    for _ in range(LOOKS):
        others = _asked(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        if not others:
            return
        time.sleep(LOOK_SECONDS)
    raise BackupError(f"{others} others are connected to the database: stop the app and its workers")


def replace(dumped: Path, aside: str, *, is_empty: bool) -> None:
    """Replace the database's tables by the tables of the dump. The old tables are kept in a schema named
    `aside`. Raises BackupError, with no change, if this fails."""
    schema = schema_now()
    contents = dumped.with_suffix(".list")
    listed = _run(program("pg_restore"), "--list", str(dumped)).splitlines()
    contents.write_text("\n".join(line for line in listed if not CREATES_SCHEMA.match(line)))
    _swap(schema, aside, is_empty=is_empty)
    how = ("--no-owner", "--no-privileges", "--single-transaction", f"--use-list={contents}")
    try:
        _run(program("pg_restore"), *how, f"--dbname={connection.settings_dict['NAME']}", str(dumped))
    except BackupError:
        _swap_back(schema, aside, is_empty=is_empty)
        raise


def _swap(schema: str, aside: str, *, is_empty: bool) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if is_empty:
                cursor.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
            else:
                cursor.execute(f'ALTER SCHEMA "{schema}" RENAME TO "{aside}"')
            cursor.execute(f'CREATE SCHEMA "{schema}"')
    except Error as error:
        why = str(error).splitlines()[0]
        raise BackupError(f"the database's user may not put its tables aside: {why}") from error


def _swap_back(schema: str, aside: str, *, is_empty: bool) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f'DROP SCHEMA "{schema}" CASCADE')
        back = f'CREATE SCHEMA "{schema}"' if is_empty else f'ALTER SCHEMA "{aside}" RENAME TO "{schema}"'
        cursor.execute(back)


def _asked(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def _run(*command: str) -> str:
    """Run a command and return its output. Raises BackupError with the first line of its errors."""
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own programs
        command, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if line.strip()), "no word why")
        raise BackupError(f"{Path(command[0]).name}: {said}")
    return done.stdout


def _environment() -> dict[str, str]:
    told: Mapping[str, Any] = {**connection.settings_dict, **connection.settings_dict["OPTIONS"]}
    given = {variable: str(told[name]) for name, variable in VARIABLES.items() if told.get(name)}
    return {**os.environ, **given}
