"""Build the SQL of frequent searches once.

Django takes up to 30 ms to build the SQL of a large query. The database runs it in a few milliseconds. Where
a search runs every second and only the time in it changes, the SQL is kept, and each run inserts the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec

from django.db import connection
from django.db.models import QuerySet

from kitchen.infra.database_writes import select_rows, time_from_driver

P = ParamSpec("P")
_EXAMPLES = datetime(1971, 2, 3, 4, 5, 6, 789012, tzinfo=UTC), datetime(1972, 4, 6, 8, 1, 3, 579, tzinfo=UTC)
"""Two times for which the SQL is built. The values that differ are those that depend on the time."""


@dataclass(frozen=True, slots=True)
class _CompiledQuery:
    text: str
    values: Sequence[Any]
    """The values for the first of `_EXAMPLES`."""
    delays: dict[int, timedelta]
    """For the position of each value that is a time: how much later it is than the time of the search."""

    def values_at(self, now: datetime) -> list[Any]:
        values = list(self.values)
        for position, delay in self.delays.items():
            values[position] = connection.ops.adapt_datetimefield_value(now + delay)
        return values


def compiled_query(
    build: Callable[Concatenate[datetime, P], QuerySet[Any, Any]],
) -> Callable[Concatenate[datetime, P], list[tuple[Any, ...]]]:
    """Decorator for a function that returns a query of certain columns (`values_list`).

    The function's first argument is the time of the search. All times in the query must have a fixed distance
    from it, or be constant; otherwise the first run raises ValueError. The SQL is kept for each different
    combination of the other arguments.

    The decorated function runs the query. It returns the rows as the database driver delivers them: convert
    times in them with `time_from_driver`.
    """

    @cache
    def compile_for(vendor: str, *arguments: P.args, **named: P.kwargs) -> _CompiledQuery:
        queries = [build(time, *arguments, **named).query for time in _EXAMPLES]
        (text, first), (_, second) = (each.sql_with_params() for each in queries)
        pairs = enumerate(zip(first, second, strict=True))
        return _CompiledQuery(text, first, {n: _delay(*pair) for n, pair in pairs if _is_changed(*pair)})

    @wraps(build)
    def search(now: datetime, /, *arguments: P.args, **named: P.kwargs) -> list[tuple[Any, ...]]:
        compiled = compile_for(connection.vendor, *arguments, **named)  # type: ignore[arg-type]  # hashable
        return select_rows(compiled.text, compiled.values_at(now))

    return search


def _is_changed(first: Any, second: Any) -> bool:
    return isinstance(first, (str, datetime)) and first != second


def _delay(*found: Any) -> timedelta:
    first, second = (time_from_driver(time) - example for time, example in zip(found, _EXAMPLES, strict=True))
    if first != second:
        raise ValueError("a time in this query has no fixed distance from the time of the search")
    return first
