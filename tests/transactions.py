"""Record how many rows each transaction writes, and how long it blocks other writers. SQLite only, one
connection.

SQLite counts the rows, with those of cascades and triggers. The time runs from getting the lock to releasing
it, without writing to the log.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection


@dataclass(slots=True)
class Held:
    """One transaction that wrote: its rows and its time."""

    began_with: str
    """The first statement of the transaction that is more than a keyword of SQL."""
    rows: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    """Processor seconds of this process during the transaction, which other programs do not change."""


@dataclass(slots=True)
class Watch:
    """Records the transactions of this connection that wrote."""

    all: list[Held] = field(default_factory=list)
    _open: Held | None = None
    _rows: int = 0
    _began: tuple[float, float] = (0.0, 0.0)

    @property
    def most(self) -> Held:
        """Return the transaction that wrote the most rows."""
        return max(self.all, key=lambda held: held.rows)

    @property
    def longest(self) -> Held:
        """Return the transaction that blocked others for the longest time."""
        return max(self.all, key=lambda held: held.seconds)

    def statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Wrap every database statement. COMMIT and ROLLBACK are handled by `ended`."""
        if sql.startswith("BEGIN") or not connection.in_atomic_block:
            self.ended()
            before, began = self._changes(), _now()
            done = execute(sql, params, many, context)
            self._open, self._rows = Held(sql), before
            self._began = _now() if sql.startswith("BEGIN") else began
            if not connection.in_atomic_block and not sql.startswith("BEGIN"):
                self.ended()
            return done
        if self._open and self._open.began_with.startswith("BEGIN"):
            self._open.began_with = sql
        return execute(sql, params, many, context)

    def traced(self, statement: str) -> None:
        """Handle a statement that SQLite is about to run."""
        if statement.startswith(("COMMIT", "ROLLBACK")) and "TO SAVEPOINT" not in statement:
            self.ended()

    def ended(self) -> None:
        """Record the end of the open transaction."""
        if self._open is not None:
            self._open.rows = self._changes() - self._rows
            self._open.seconds, self._open.processor = (
                now - began for now, began in zip(_now(), self._began, strict=True)
            )
            if self._open.rows:
                self.all.append(self._open)
        self._open = None

    def _changes(self) -> int:
        return int(connection.connection.total_changes)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


@contextmanager
def watched() -> Iterator[Watch]:
    """Record every transaction of this block."""
    watch = Watch()
    connection.ensure_connection()
    connection.connection.set_trace_callback(watch.traced)
    try:
        with connection.execute_wrapper(watch.statement):
            yield watch
    finally:
        watch.ended()
        connection.connection.set_trace_callback(None)
