"""Read and write rows with plain SQL, and insert or delete many rows in batches.

The plain statements bypass the ORM, which is too slow for rows written at every step. Use them only to insert
rows, and to update rows that still have their old values. Each batch is a transaction of its own, so that
players do not wait. `BatchedDeleteMixin` does the same for deletions in the Django admin.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

Values = Mapping[str, Any]
"""Values by field name. JSON that is already text is passed as `RawJson`."""


class RawJson(str):
    """JSON that is already serialised."""


def insert_rows(model: type[models.Model], rows: Sequence[Values]) -> None:
    """Insert rows with the same columns in one statement. Raises IntegrityError if one already exists."""
    if not rows:
        return
    names = tuple(rows[0])
    marks = f"({', '.join(['%s'] * len(names))})"
    into = f"INSERT INTO {_table(model)} ({_columns(model, names)}) VALUES "  # noqa: S608 - names of models
    values = [_stored(model, name, row[name]) for row in rows for name in names]
    with connection.cursor() as cursor:
        cursor.execute(into + ", ".join([marks] * len(rows)), values)


def update_row_where(model: type[models.Model], fresh: Values, *, where: Values) -> bool:
    """Update the row that has the values `where`. Return False, without a change, if there is none."""
    sets = ", ".join(f"{_columns(model, (name,))} = %s" for name in fresh)
    still = " AND ".join(f"{_columns(model, (name,))} = %s" for name in where)
    values = [_stored(model, name, value) for given in (fresh, where) for name, value in given.items()]
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {_table(model)} SET {sets} WHERE {still}", values)  # noqa: S608 - as above
        return bool(cursor.rowcount)


class RowWriter:
    """Writes rows to the database at once. A subclass may buffer them instead."""

    def insert(self, model: type[models.Model], rows: Sequence[Values]) -> None:
        """Insert rows, as `insert_rows` does."""
        insert_rows(model, rows)

    def change(self, model: type[models.Model], fresh: Values, *, where: Values) -> bool:
        """Update a row, as `update_row_where` does, and return whether it was updated."""
        return update_row_where(model, fresh, where=where)


def select_rows(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return a statement's rows from the driver (see `time_from_driver`, `json_from_driver`)."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def time_from_driver(value: datetime) -> datetime:
    """Convert a time from the driver. SQLite returns it without its time zone, UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def json_from_driver(value: Any) -> Any:
    """Convert JSON from the driver, which may be text."""
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
    """Convert the value for the driver."""
    return (
        str(value) if isinstance(value, RawJson) else _field(model, name).get_db_prep_save(value, connection)
    )


Item = TypeVar("Item")
Row = TypeVar("Row", bound=models.Model)

BATCH_ROWS = 200
"""Number of rows written together, which takes about 3 ms."""
MAX_TRANSACTION_ROWS = 2000
"""Maximum number of rows that one transaction writes, even for rows that belong together."""


def batches_of(items: Iterable[Item], size: int = BATCH_ROWS) -> Iterator[list[Item]]:
    """Yield the items in order, in lists of at most `size`."""
    left = iter(items)
    while piece := list(islice(left, size)):
        yield piece


def insert_in_batches(model: type[Row], rows: Iterable[Row], *, leave_those_there: bool = False) -> None:
    """Insert rows in batches, each committed before the next one.

    Existing rows are skipped with `leave_those_there`, and otherwise raise IntegrityError.
    """
    for piece in batches_of(rows):
        model._default_manager.bulk_create(piece, ignore_conflicts=leave_those_there)


class BatchedDeleteMixin:
    """A ModelAdmin mixin for rows with many dependent rows, which `clear` deletes in batches."""

    def clear(self, obj: Any, /) -> None:
        """Delete everything that depends on this row, but not the row itself. Must be overridden. Each batch
        is deleted in a separate transaction."""
        raise NotImplementedError

    def delete_view(
        self: Any, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Delete one row after confirmation: clear it first."""
        if request.method == "POST" and "post" in request.POST:
            obj = self.get_object(request, object_id)
            if obj is not None and self.has_delete_permission(request, obj):
                self.clear(obj)
        answer: HttpResponse = super().delete_view(request, object_id, extra_context)  # type: ignore[misc]
        return answer

    def delete_queryset(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Clear and delete the selected rows, one after another."""
        for obj in queryset:
            self.clear(obj)
            self.delete_model(request, obj)
