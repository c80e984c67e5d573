"""Read and write single rows with plain SQL, and insert or delete many rows in batches.

Plain SQL is for rows that are written at every step, because Django's ORM is too slow for them. Each batch
has its own transaction, so that players do not wait for locks. `BatchedDeleteMixin` lets Django admin pages
delete in batches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.joined_statements import Statement, run_later, run_statements

Values = Mapping[str, Any]
"""Values by field name. JSON that is already text is passed as `RawJson`."""


class RawJson(str):
    """A text that is already JSON. It is stored without being encoded again."""


def insert_rows(model: type[models.Model], rows: Sequence[Values]) -> None:
    """Insert rows in one SQL statement, which `delayed_statements` may delay. All rows must have the same
    columns. Raises IntegrityError if a row already exists."""
    if not rows:
        return
    names = tuple(rows[0])
    values = [_stored(model, name, row[name]) for row in rows for name in names]
    marks = f"({', '.join(['%s'] * len(names))})"
    run_later(Statement(_insertion(model, names) + ", ".join([marks] * len(rows)), values))


@cache
def _insertion(model: type[models.Model], names: tuple[str, ...]) -> str:
    return f"INSERT INTO {_table(model)} ({_columns(model, names)}) VALUES "  # noqa: S608 - names of models


def update_row_where(model: type[models.Model], fresh: Values, *, where: Values) -> bool:
    """Update the row whose columns have the values `where` with the values `fresh`. Returns False, and
    changes nothing, if there is no such row."""
    (result,) = run_statements([_update(model, fresh, where, None)])
    return bool(result.count)


def _update(
    model: type[models.Model], fresh: Values, where: Values, error_if_unchanged: Exception | None
) -> Statement:
    values = [_stored(model, name, value) for given in (fresh, where) for name, value in given.items()]
    return Statement(_update_text(model, tuple(fresh), tuple(where)), values, error_if_unchanged)


@cache
def _update_text(model: type[models.Model], fresh: tuple[str, ...], where: tuple[str, ...]) -> str:
    sets = ", ".join([f"{_columns(model, (name,))} = %s" for name in fresh])
    still = " AND ".join([f"{_columns(model, (name,))} = %s" for name in where])
    return f"UPDATE {_table(model)} SET {sets} WHERE {still}"  # noqa: S608 - as above


class RowWriter:
    """Writes rows to the database: immediately, or with others at the end of `delayed_statements`. Subclasses
    may collect rows and write them later."""

    def insert(self, model: type[models.Model], rows: Sequence[Values]) -> None:
        """Insert rows of this model into the database (see `insert_rows`)."""
        insert_rows(model, rows)

    def change(
        self,
        model: type[models.Model],
        fresh: Values,
        *,
        where: Values,
        error_if_unchanged: Exception | None = None,
    ) -> None:
        """Update the row whose columns have the values `where` with the values `fresh`. If there is no such
        row, raise `error_if_unchanged` unless it is None."""
        run_later(_update(model, fresh, where, error_if_unchanged))


def select_rows(statement: str, values: Sequence[Any], *, lock: str = "") -> list[tuple[Any, ...]]:
    """Run an SQL query with these parameter values, and return the rows as the driver delivers them. Convert
    times and JSON in them with `time_from_driver` and `json_from_driver`.

    `lock` is a query with the same values that locks a row first. The other query then sees all that was
    stored before the lock was given.
    """
    locks = [Statement(lock, values)] if lock else []
    return run_statements([*locks, Statement(statement, values)])[-1].rows


def among_ids(ids: Sequence[int]) -> tuple[str, Any]:
    """Return the right side of an SQL condition that a column has one of these ids, and its parameter value.
    The statement is the same for any number of ids, so that it stays prepared."""
    if connection.vendor == "postgresql":
        return "= ANY(%s)", [*ids]
    return "IN (SELECT value FROM json_each(%s))", json.dumps([*ids])


def time_from_driver(value: datetime | str) -> datetime:
    """Return a time from the database driver, with a time zone. SQLite's driver returns times without one, in
    UTC, and as text if they are computed."""
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def json_from_driver(value: Any) -> Any:
    """Return a JSON value from the database driver. Some drivers deliver it as text, which is decoded
    here."""
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


_PLAIN: Mapping[type[models.Field[Any, Any]], type] = {
    models.CharField: str,
    models.TextField: str,
    models.IntegerField: int,
    models.FloatField: float,
    models.BooleanField: bool,
}
"""Fields, each with the type of values that drivers accept as they are."""


@cache
def _plain_type(model: type[models.Model], name: str) -> type | None:
    field = _field(model, name)
    while field.is_relation:
        field = field.target_field
    return next((kind for base, kind in _PLAIN.items() if isinstance(field, base)), None)


@cache
def _is_json(model: type[models.Model], name: str) -> bool:
    field = _field(model, name)
    return type(field) is models.JSONField and field.encoder is None


def _stored(model: type[models.Model], name: str, value: Any) -> Any:
    """Convert a field's value to the form that the database driver accepts."""
    if value is None or type(value) is _plain_type(model, name):
        return value  # the usual cases, without the many calls of Django's fields
    if isinstance(value, RawJson):
        return str(value)
    if _is_json(model, name):
        return json.dumps(value)
    return _field(model, name).get_db_prep_save(value, connections[DEFAULT_DB_ALIAS])


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
    """Insert rows in batches, and commit each batch before the next one. If a row already exists,
    IntegrityError is raised or, with `leave_those_there`, the row is skipped."""
    for piece in batches_of(rows):
        model._default_manager.bulk_create(piece, ignore_conflicts=leave_those_there)


class BatchedDeleteMixin:
    """A `ModelAdmin` mixin that first deletes a row's many dependent rows in batches (`clear`), then the
    row itself."""

    def clear(self, obj: Any, /) -> None:
        """Delete all rows that depend on this row, but not the row itself. Subclasses must override this,
        with a separate transaction for each batch."""
        raise NotImplementedError

    def delete_view(
        self: Any, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Delete one row and its dependent rows after a confirmation (Django admin view)."""
        if request.method == "POST" and "post" in request.POST:
            obj = self.get_object(request, object_id)
            if obj is not None and self.has_delete_permission(request, obj):
                self.clear(obj)
        answer: HttpResponse = super().delete_view(request, object_id, extra_context)  # type: ignore[misc]
        return answer

    def delete_model(self: Any, request: HttpRequest, obj: Any) -> None:
        """Delete one row, with rows of append-only tables that were written since `clear`."""
        with erasure_allowed():
            super().delete_model(request, obj)  # type: ignore[misc]

    def delete_queryset(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the selected rows and their dependent rows, one after another (Django admin action)."""
        for obj in queryset:
            self.clear(obj)
            self.delete_model(request, obj)
