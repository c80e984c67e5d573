"""How long whoever wants to write waits for the database, as seen by one more who asks now and then."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.live.stack import Running

PAUSE = 0.2
"""Seconds between two questions."""
PATIENCE = 10.0
"""Seconds that SQLite's lock is waited for."""
_WAITING = """SELECT count(*) FROM pg_stat_activity
WHERE state = 'active' AND wait_event_type IN ('Lock', 'LWLock', 'BufferPin', 'IO')"""


@dataclass(slots=True)
class Waiting:
    """What was found: milliseconds until SQLite's lock was there, or statements that waited in PostgreSQL."""

    unit: str = ""
    found: list[float] = field(default_factory=list)

    @property
    def most(self) -> str:
        """The largest, in words."""
        return f"{max(self.found):.0f} {self.unit}" if self.found else ""


@asynccontextmanager
async def waiting_at(stack: Running) -> AsyncIterator[Waiting]:
    """Asks until the block ends."""
    url = stack.environment.get("DATABASE_URL", "")
    waiting = Waiting("statements" if url else "ms")
    asking = asyncio.create_task(ask(_postgres(url) if url else _sqlite(stack), waiting))
    try:
        yield waiting
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def ask(once: Callable[[], float], waiting: Waiting) -> None:
    """For ever."""
    while True:
        waiting.found.append(await asyncio.to_thread(once))
        await asyncio.sleep(PAUSE)


def _sqlite(stack: Running) -> Callable[[], float]:
    file = Path(stack.environment["BRIGADE_VAR"]) / "db.sqlite3"

    def once() -> float:
        with closing(sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)) as connection:
            began = time.perf_counter()
            with suppress(sqlite3.OperationalError):  # it was not there in time
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            return 1000 * (time.perf_counter() - began)

    return once


def _postgres(url: str) -> Callable[[], float]:
    def once() -> float:
        with psycopg.connect(url) as connection:
            row = connection.execute(_WAITING).fetchone()
        return float(row[0]) if row else 0.0

    return once
