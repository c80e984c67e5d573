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
from functools import partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

from kitchen.infra.postgres_pipeline import PostgresPipeline


@dataclass(frozen=True, slots=True)
class Statement:
    """An SQL statement with its parameter values."""

    text: str
    values: Sequence[Any]
    error_if_unchanged: Exception | None = None
    """The error to raise if the statement changes no row; None if it may change none."""


@dataclass(frozen=True, slots=True)
class StatementResult:
    """The number of rows that a statement read or changed, and the rows that it read."""

    count: int
    rows: list[tuple[Any, ...]]


_thread = threading.local()
"""`delayed`: the statements of this thread that wait, inside `delayed_statements`. `pipeline`: the
`PostgresPipeline` of this thread's connection."""


def run_statements(statements: Sequence[Statement]) -> list[StatementResult]:
    """Run these statements in this order, on PostgreSQL in one round trip. Return their results.

    Raises the first error: that of the database, or `error_if_unchanged` of a statement that changed no row.
    Call this in a transaction if there are several.
    """
    run = _run_prepared if connection.vendor == "postgresql" else _run_each
    results = []
    for each, result in zip(statements, run(statements), strict=True):
        if each.error_if_unchanged is not None and not result.count:
            raise each.error_if_unchanged
        results.append(result)
    return results


def _run_each(statements: Sequence[Statement]) -> Iterator[StatementResult]:
    with connection.cursor() as cursor:
        for each in statements:
            cursor.execute(each.text, each.values)
            yield _result(cursor)


def _run_prepared(statements: Sequence[Statement]) -> Iterator[StatementResult]:
    wrapper: Any = connections[DEFAULT_DB_ALIAS]
    wrapper.close_if_health_check_failed()
    wrapper.ensure_connection()
    wrapper.validate_no_broken_transaction()
    _run_delayed()
    _announce(wrapper, statements)
    with wrapper.wrap_database_errors:
        pipeline: PostgresPipeline | None = getattr(_thread, "pipeline", None)
        if pipeline is None or pipeline.connection is not wrapper.connection:
            pipeline = _thread.pipeline = PostgresPipeline(wrapper.connection)
        for answer in pipeline.run([(each.text, each.values) for each in statements]):
            yield StatementResult(*answer)


def _announce(wrapper: Any, statements: Sequence[Statement]) -> None:
    """Show statements to the functions that watch all queries of this connection (see Django's
    `execute_wrapper`), and to its log of queries."""
    for each in statements:
        execute: Callable[..., Any] = _do_nothing
        for watching in reversed(wrapper.execute_wrappers):
            if watching is not _run_delayed_first:
                execute = partial(watching, execute)
        execute(each.text, each.values, False, {"connection": wrapper, "cursor": None})
        if wrapper.queries_logged:
            wrapper.queries_log.append({"sql": each.text, "time": "0.000"})


def _do_nothing(*arguments: Any) -> None:
    """Take the place of a query that runs elsewhere."""


def _result(cursor: Any) -> StatementResult:
    rows = cursor.fetchall() if cursor.description else []
    return StatementResult(len(rows) if cursor.description else cursor.rowcount, rows)


@contextmanager
def delayed_statements() -> Iterator[None]:
    """Context manager: on PostgreSQL, collect the statements given to `run_later` in this block, and run them
    together at its end. They run earlier if another statement follows, so that it sees what they stored.

    Use it inside a transaction. If the block fails, those that still wait are not run. Their errors come from
    the statement that follows, or from the end of the block.
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
    """Run a statement that returns no rows. Inside `delayed_statements`, it runs later with others; otherwise
    this raises the errors of `run_statements`."""
    if getattr(_thread, "delayed", None) is None:
        run_statements([statement])
    else:
        _thread.delayed.append(statement)


def _run_delayed() -> None:
    if waiting := getattr(_thread, "delayed", None):
        _thread.delayed = []
        run_statements(waiting)


def _run_delayed_first(execute: Callable[..., Any], *arguments: Any) -> Any:
    _run_delayed()
    return execute(*arguments)
