"""Plain statements for the few rows that every step writes and reads: the models say which table, which
columns and how a value is stored, and nothing is built anew at every step.

For rows that are only inserted, and for rows that are changed where they still are what they were. Everything
else asks the models' managers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, models

Values = Mapping[str, Any]
"""Values by the name of their column; JSON that is text already goes as `Text`."""


class Text(str):
    """JSON that is written out already."""


def insert(model: type[models.Model], rows: Sequence[Values]) -> None:
    """Insert rows that all name the same columns, in one statement. IntegrityError where one is there
    already."""
    if not rows:
        return
    names = tuple(rows[0])
    marks = f"({', '.join(['%s'] * len(names))})"
    into = f"INSERT INTO {_table(model)} ({_columns(model, names)}) VALUES "  # noqa: S608 - names of models
    values = [_stored(model, name, row[name]) for row in rows for name in names]
    with connection.cursor() as cursor:
        cursor.execute(into + ", ".join([marks] * len(rows)), values)


def change(model: type[models.Model], fresh: Values, *, where: Values) -> bool:
    """Change the row that has these values; False, and nothing changed, if there is none (any more)."""
    sets = ", ".join(f"{_columns(model, (name,))} = %s" for name in fresh)
    still = " AND ".join(f"{_columns(model, (name,))} = %s" for name in where)
    values = [_stored(model, name, value) for given in (fresh, where) for name, value in given.items()]
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {_table(model)} SET {sets} WHERE {still}", values)  # noqa: S608 - as above
        return bool(cursor.rowcount)


class Statements:
    """Where rows go that are inserted and changed: to the database, at once. Whoever keeps them for a while
    puts another one in its place."""

    def insert(self, model: type[models.Model], rows: Sequence[Values]) -> None:
        """As `insert`."""
        insert(model, rows)

    def change(self, model: type[models.Model], fresh: Values, *, where: Values) -> bool:
        """As `change`."""
        return change(model, fresh, where=where)


def select(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement, as the database's driver gives them (see `as_time`, `as_json`)."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def as_time(value: datetime) -> datetime:
    """A moment as a driver gives it: from SQLite without its zone, which is UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def as_json(value: Any) -> Any:
    """JSON as a driver gives it: text."""
    return json.loads(value) if isinstance(value, str) else value


@cache
def _table(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


@cache
def _columns(model: type[models.Model], names: tuple[str, ...]) -> str:
    return ", ".join(connection.ops.quote_name(_field(model, name).column) for name in names)


@cache
def _field(model: type[models.Model], name: str) -> Any:
    return model._meta.get_field(name)


def _stored(model: type[models.Model], name: str, value: Any) -> Any:
    """The value as the driver takes it."""
    return str(value) if isinstance(value, Text) else _field(model, name).get_db_prep_save(value, connection)
