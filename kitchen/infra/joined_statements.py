"""Run the SQL statements of each step with little work: prepared, and several in one round trip.

PostgreSQL parses and plans a statement once for each connection, and then runs it by name. Statements that
are run together are sent at once, as a pipeline, and their results are read together. On SQLite, which has no
round trips, all statements run one after another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor


class _PreparedCursor(ServerBindingCursor):
    """A cursor of PostgreSQL whose parameters the server binds, so that its statements can be prepared. It
    keeps the statement for Django's log of queries."""

    def _send_query_prepared(self, name: bytes, pgq: Any, **options: Any) -> None:
        self._query = pgq
        super()._send_query_prepared(name, pgq, **options)  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Statement:
    """An SQL statement with its parameter values."""

    text: str
    values: Sequence[Any]
    unchanged: Exception | None = None
    """The error to raise if the statement changes no row; None if it may change none."""


@dataclass(frozen=True, slots=True)
class StatementResult:
    """The number of rows that a statement read or changed, and the rows that it read."""

    count: int
    rows: list[tuple[Any, ...]]


_thread = threading.local()
"""`delayed`: the statements of this thread that wait, inside `delayed_statements`."""


def run_statements(statements: Sequence[Statement]) -> list[StatementResult]:
    """Run these statements in this order, on PostgreSQL in one round trip. Return their results.

    Raises a database error, or the error `unchanged` of a statement that changed no row. Call this in a
    transaction if there are several.
    """
    if connection.vendor == "postgresql":
        results = _run_prepared(statements)
    else:
        with connection.cursor() as cursor:
            results = [_result(cursor.execute(each.text, each.values) or cursor) for each in statements]
    for each, result in zip(statements, results, strict=True):
        if each.unchanged is not None and not result.count:
            raise each.unchanged
    return results


def _run_prepared(statements: Sequence[Statement]) -> list[StatementResult]:
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if len(statements) == 1:
            return [_result(_sent(statements[0]))]
        with connection.connection.pipeline():
            cursors = [_sent(each) for each in statements]
        return [_result(cursor) for cursor in cursors]


def _sent(statement: Statement) -> Any:
    """Send a statement through Django's wrappers of cursors, and return the cursor."""
    wrapper: Any = connection
    cursor = wrapper._prepare_cursor(_PreparedCursor(wrapper.connection))  # type: ignore[call-arg]
    cursor.execute(statement.text, statement.values)
    return cursor


def _result(cursor: Any) -> StatementResult:
    rows = cursor.fetchall() if cursor.description else []
    return StatementResult(len(rows) or cursor.rowcount, rows)


@contextmanager
def delayed_statements() -> Iterator[None]:
    """Context manager: on PostgreSQL, collect the statements given to `run_later` in this block, and run them
    together at its end. They run earlier if another statement follows, so that it sees what they stored.

    Use it inside a transaction. If the block fails, those that still wait are not run.
    """
    if connection.vendor != "postgresql" or getattr(_thread, "delayed", None) is not None:
        yield
        return
    _thread.delayed = []
    try:
        with connection.execute_wrapper(_run_delayed_first):
            yield
            _run_delayed()
    finally:
        _thread.delayed = None


def run_later(statement: Statement) -> None:
    """Run a statement that returns no rows: inside `delayed_statements` with those that follow, else now.
    Raises the errors of `run_statements`, perhaps later."""
    if getattr(_thread, "delayed", None) is None:
        run_statements([statement])
    else:
        _thread.delayed.append(statement)


def _run_delayed() -> None:
    waiting, _thread.delayed = _thread.delayed, []
    if waiting:
        run_statements(waiting)


def _run_delayed_first(execute: Callable[..., Any], *arguments: Any) -> Any:
    _run_delayed()
    return execute(*arguments)
