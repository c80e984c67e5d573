"""Distinguish database outages from programming errors, and list missing or newer migrations.

A database is unusable if it is locked, full, read-only, unreachable, or has the wrong version. The module
reads the driver's error codes, because the texts of errors change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pkgutil import iter_modules

from django.apps import apps
from django.db import Error, InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


class DatabaseProblem(StrEnum):
    """Reasons why the database cannot store data. The values are texts for the server's operator."""

    BUSY = "something else holds the database locked"
    FULL = "the database has no room left on its disk, or cannot write there"
    READ_ONLY = "the database may only be read"
    AWAY = "the database cannot be reached"
    DAMAGED = "the database says that its file is damaged"
    UPDATING = "database and app are of different versions: an update is under way, or migrate was forgotten"

    @property
    def passes(self) -> bool:
        """Return True if the problem usually ends without any action, such as a locked or unreachable
        database."""
        return self in {DatabaseProblem.BUSY, DatabaseProblem.AWAY, DatabaseProblem.UPDATING}


SQLITE_PROBLEMS = {
    **dict.fromkeys((5, 6), DatabaseProblem.BUSY),  # BUSY, LOCKED
    **dict.fromkeys((3, 8), DatabaseProblem.READ_ONLY),  # PERM, READONLY
    **dict.fromkeys((10, 13), DatabaseProblem.FULL),  # IOERR, FULL
    14: DatabaseProblem.AWAY,  # CANTOPEN
    **dict.fromkeys((11, 26), DatabaseProblem.DAMAGED),  # CORRUPT, NOTADB
    17: DatabaseProblem.UPDATING,  # SCHEMA
}
"""Problems by the lowest byte of SQLite's error number."""
MISSING_SCHEMA_WORDS = ("no such table", "no such column", "has no column named")
"""SQLite's messages for a missing table or column. The error number is too general."""
NOT_NULL_OF_SQLITE, NOT_NULL = 1299, "23502"
POSTGRESQL_PROBLEMS = {
    **dict.fromkeys(("55P03", "40001", "40P01", "57014"), DatabaseProblem.BUSY),
    **dict.fromkeys(("53100", "53200", "58030"), DatabaseProblem.FULL),
    "25006": DatabaseProblem.READ_ONLY,
    **dict.fromkeys(("53300", "57P01", "57P02", "57P03", "57P05"), DatabaseProblem.AWAY),
    **dict.fromkeys(("XX001", "XX002"), DatabaseProblem.DAMAGED),
    **dict.fromkeys(("42P01", "42703", "0A000"), DatabaseProblem.UPDATING),
}


def database_problem(error: BaseException | None) -> DatabaseProblem | None:
    """Return the problem of the database that caused this error. None if there is another cause, such as a
    programming error."""
    return next((found for each in _led_to(error) if (found := _trouble(each))), None)


def _led_to(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error, then the errors that caused it (`__cause__` or `__context__`), one after another."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _trouble(error: BaseException) -> DatabaseProblem | None:
    """Return the kind of database problem behind an error, according to the error number of the driver. A
    database error without a number means a lost connection. Return None for any other error."""
    if not isinstance(error, Error):
        return None
    said = error.__cause__
    number, state = getattr(said, "sqlite_errorcode", None), getattr(said, "sqlstate", None)
    if number is None and state is None:
        return DatabaseProblem.AWAY if isinstance(error, (OperationalError, InterfaceError)) else None
    if state == NOT_NULL or number == NOT_NULL_OF_SQLITE:
        return DatabaseProblem.UPDATING if database_is_newer() else None
    if state is not None:
        return DatabaseProblem.AWAY if state.startswith("08") else POSTGRESQL_PROBLEMS.get(state)
    if any(words in str(said) for words in MISSING_SCHEMA_WORDS):
        return DatabaseProblem.UPDATING
    return SQLITE_PROBLEMS.get((number or 0) & 0xFF)


OUR_APPS = ("kitchen", "study")
"""Apps whose migrations belong to this program."""


def close_failed_connection(trouble: DatabaseProblem) -> None:
    """Close this thread's database connection after a problem, so that the next query opens a new one. Does
    nothing if the database is only locked, or inside a transaction."""
    if trouble is not DatabaseProblem.BUSY and not connection.in_atomic_block:
        with suppress(Error):
            connection.close()


def database_is_newer() -> bool:
    """Return whether a later version of the app has migrated the database while this process ran. The
    database may then refuse rows of this process, which lack the new columns."""
    try:
        applied = set(MigrationRecorder(connection).applied_migrations())
    except Error:
        return False
    return any(app in OUR_APPS for app, _ in newer_migrations(applied))


def newer_migrations(applied: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the applied migrations (app, name) with a number above the highest one that this version knows
    for the app."""
    newest: dict[str, int] = defaultdict(int)
    for app, name in known_migrations():
        newest[app] = max(newest[app], _number(name))
    return [(app, name) for app, name in sorted(applied) if app in newest and _number(name) > newest[app]]


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Return (app, name) of all migration files that were present when this was first called.

    Call it at the start of the process, because later the files may belong to another version.
    """
    return frozenset(
        (app.label, module.name)
        for app in apps.get_app_configs()
        for module in iter_modules([f"{app.path}/migrations"])
    )


def missing_migrations() -> list[str]:
    """Return the migrations of this version that are not applied to the database, such as `kitchen
    0001_initial`."""
    applied = MigrationRecorder(connection).applied_migrations()
    return [f"{app} {name}" for app, name in sorted(known_migrations() - applied.keys())]


def _number(name: str) -> int:
    """Return the number of a migration, such as 32 for `0032_seats` and for `0001_squashed_0032_seats`."""
    found = re.match(r"(?:.*_squashed_)?(\d+)", name)
    return int(found[1]) if found else 0


LAST_UNSQUASHED = "de2f8d1e"
"""The last commit that had the migrations one by one."""


def squash_problem(applied: Container[tuple[str, str]]) -> str:
    """Return why a database with these `applied` migrations cannot be migrated. Empty if it can.

    The migrations before version 0.2.0 were combined into one for each app. A database must have all of them
    or none.
    """
    loader = MigrationLoader(None)
    for (app, _), migration in loader.disk_migrations.items():
        missing = [name for label, name in migration.replaces if (label, name) not in applied]
        if app in OUR_APPS and 0 < len(missing) < len(migration.replaces):
            return (
                f"its tables are of an older version, without {app} {missing[0]}: migrate it with commit "
                f"{LAST_UNSQUASHED} first, then with this version"
            )
    return ""
