"""Build the SQL of frequent searches once.

Django takes up to 30 ms to build the SQL of a large query, and the database a few milliseconds to run it. The
searches here run every second, and only the time in them changes. So their SQL is kept, and each run inserts
the new time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils.dateparse import parse_datetime

from kitchen.infra.database_writes import select_rows, time_from_driver

_EXAMPLE = datetime(1971, 2, 3, 4, 5, 6, 789012, tzinfo=UTC)
"""The time for which the SQL is built. No other value of a query is a time near it."""
_NEAR = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _CompiledQuery:
    text: str
    values: Sequence[Any]
    """The values for `_EXAMPLE`."""
    delays: dict[int, timedelta]
    """For the position of each value that is a time: how much later it is than the time of the search."""

    def values_at(self, now: datetime) -> list[Any]:
        values = list(self.values)
        for position, delay in self.delays.items():
            values[position] = connection.ops.adapt_datetimefield_value(now + delay)
        return values


def compiled_query(build: Callable[..., QuerySet[Any, Any]]) -> Callable[..., list[tuple[Any, ...]]]:
    """Decorator for a function that returns a query of certain columns (`values_list`). Its first argument is
    the time of the search, and all times in the query must be a fixed distance from it. For each different
    tuple of its other arguments, the SQL is kept.

    The decorated function runs the query and returns the rows as the database driver delivers them. Convert
    times in them with `time_from_driver`.
    """

    @cache
    def compile_for(vendor: str, *arguments: Hashable) -> _CompiledQuery:
        text, values = build(_EXAMPLE, *arguments).query.sql_with_params()
        times = {position: found for position, value in enumerate(values) if (found := _time_in(value))}
        delays = {position: found - _EXAMPLE for position, found in times.items()}
        near = {position: delay for position, delay in delays.items() if abs(delay) <= _NEAR}
        return _CompiledQuery(text, values, near)

    @wraps(build)
    def search(now: datetime, *arguments: Hashable) -> list[tuple[Any, ...]]:
        compiled = compile_for(connection.vendor, *arguments)
        return select_rows(compiled.text, compiled.values_at(now))

    return search


def _time_in(value: Any) -> datetime | None:
    """Return the time that this value of a query is, or None if it is something else."""
    found = value if isinstance(value, datetime) else None
    if isinstance(value, str):
        try:
            found = parse_datetime(value)
        except ValueError:
            return None
    return found and time_from_driver(found)
