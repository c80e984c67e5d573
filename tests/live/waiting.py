"""Measure how long a writer waits for the database, with an extra writer that asks from time to time."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.live.stack import Running

PAUSE = 0.2
"""Seconds between two measurements."""
PATIENCE = 10.0
"""Seconds to wait for SQLite's lock."""
_WAITING = """SELECT count(*) FROM pg_stat_activity
WHERE state = 'active' AND wait_event_type IN ('Lock', 'LWLock', 'BufferPin', 'IO')"""


@dataclass(slots=True)
class Waiting:
    """The measured values: milliseconds until SQLite's lock was obtained, or numbers of statements that
    waited in PostgreSQL."""

    unit: str = ""
    found: list[float] = field(default_factory=list)

    @property
    def most(self) -> str:
        """Return the largest value with its unit."""
        return f"{max(self.found):.0f} {self.unit}" if self.found else ""


@asynccontextmanager
async def waiting_at(stack: Running) -> AsyncIterator[Waiting]:
    """Measure the database's waiting time from time to time until the block ends."""
    url = stack.environment.get("DATABASE_URL", "")
    waiting, done = Waiting("statements" if url else "ms"), asyncio.Event()
    with _postgres(url) if url else _sqlite(stack) as once:
        asking = asyncio.create_task(ask(once, waiting, done))
        try:
            yield waiting
        finally:
            done.set()
            await asking


async def ask(once: Callable[[], float], waiting: Waiting, done: asyncio.Event) -> None:
    """Repeat the measurement until `done` is set."""
    while not done.is_set():
        waiting.found.append(await asyncio.to_thread(once))
        await asyncio.sleep(PAUSE)


@contextmanager
def _sqlite(stack: Running) -> Iterator[Callable[[], float]]:
    """Return a function that returns the milliseconds until it gets SQLite's write lock."""
    file = Path(stack.environment["BRIGADE_VAR"]) / "db.sqlite3"
    connected = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None, check_same_thread=False)

    def once() -> float:
        began = time.perf_counter()
        with suppress(sqlite3.OperationalError):  # it was not there in time
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        return 1000 * (time.perf_counter() - began)

    with closing(connected) as connection:
        yield once


@contextmanager
def _postgres(url: str) -> Iterator[Callable[[], float]]:
    """Return a function that counts the waiting statements of PostgreSQL."""

    def once() -> float:
        row = connection.execute(_WAITING).fetchone()
        return float(row[0]) if row else 0.0

    with psycopg.connect(url, autocommit=True) as connection:
        yield once
