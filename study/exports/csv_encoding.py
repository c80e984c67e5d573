"""Encode table rows as CSV (UTF-8, RFC 4180, as Python's `csv` writes it), column by column.

The cells that a group of rows shares are encoded once. Distinct texts of a batch are escaped and quoted
once. This and joining strings make most of the speed of an export. JSON and times are read from the
database as text, because parsing them and writing them again would take most of the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Any

from django.db.models import Func, TextField
from django.db.models.functions import Cast

from study.exports.row_groups import RowBatch

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A text that begins with one of these would be run by a spreadsheet; it is exported behind an apostrophe."""
LINE_END = "\r\n"

NEEDS_QUOTES = re.compile('[",\r\n]').search


class JsonText(str):
    """A value of a `json` column that is JSON already: it is not read and written again."""

    __slots__ = ()


compact = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
"""A value as JSON on one line."""


def lines(kinds: Sequence[str], batch: RowBatch) -> Iterator[str]:
    """The lines of a batch, of which every row has a value for each kind."""
    before, own, after = batch.split(kinds)
    columns = (
        *_common(before, batch.before, batch.lengths),
        *_columns(own, batch.own),
        *_common(after, batch.after, batch.lengths),
    )
    return map(",".join, zip(*columns, strict=True))


def _columns(kinds: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Iterable[str]]:
    turned = zip(*rows, strict=True)
    return [cells(kind, values) for kind, values in zip(kinds, turned, strict=True)]


def _common(
    kinds: Sequence[str], shared: Iterable[Sequence[Any]], lengths: Iterable[int]
) -> list[Iterable[str]]:
    """What stretches of these lengths share, as a single column for all rows; no column if it is nothing."""
    if not kinds:
        return []
    texts = map(",".join, zip(*_columns(kinds, shared), strict=True))
    return [chain.from_iterable(map(repeat, texts, lengths))]


def cells(kind: str, values: Sequence[Any]) -> Iterable[str]:
    """The values of one column as they stand in the file; blank for None."""
    classes = set(map(type, values))
    if kind == "time" and classes == {str}:
        return values
    if kind == "json" and not classes <= ALIKE:
        return map(json_cell, values)
    if write := WRITERS.get(kind):
        written = {value: cell(write, value) for value in set(values)}
        return map(written.__getitem__, values)
    return map(str, values) if classes in PLAIN else map(number, values)


def cell(write: Callable[[Any], str], value: Any) -> str:
    """One value as it stands in the file."""
    if value.__class__ is str and value.isalnum():  # a hash, say: nothing to quote, and no formula
        return value
    return "" if value is None else quoted(write(value))


PLAIN: tuple[set[type], ...] = ({int}, {float})
"""Classes of the values of a column that are written as they are, if there are no others."""
ALIKE = {JsonText, type(None)}
"""Classes of JSON that can be looked up."""


def json_cell(value: Any) -> str:
    """A value as JSON; not remembered, as lists cannot be."""
    return "" if value is None else quoted(value if isinstance(value, JsonText) else compact(value))


def quoted(text: str) -> str:
    """The cell of a text."""
    return '"' + text.replace('"', '""') + '"' if NEEDS_QUOTES(text) else text


def number(value: Any) -> str:
    """A number; a text that came into a column of numbers is a text."""
    if value is None:
        return ""
    return quoted(harmless(value)) if isinstance(value, str) else str(value)


def harmless(value: object) -> str:
    """The text in a form that no spreadsheet takes for a formula; its line breaks stay, in quotes."""
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def iso(value: datetime | str) -> str:
    """The moment in UTC with milliseconds, `2026-11-21T07:30:00.123Z`; a text is one already."""
    if isinstance(value, str):
        return value
    moment = value if value.tzinfo is UTC else value.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def _boolean(value: Any) -> str:
    return "1" if value else "0"


WRITERS: dict[str, Callable[[Any], str]] = {
    "text": harmless,
    "boolean": _boolean,
    "time": iso,
    "json": str,
}
"""What makes a text of a value that is no number and not None, by kind of column; JSON is a text already."""


def json_as_text(field: str) -> Cast:
    """The JSON text of a field, for `annotate`."""
    return Cast(field, output_field=TextField())


class MomentText(Func):
    """The text of a DateTimeField in UTC, for `annotate`: `2026-11-21 07:30:00.123456`; SQLite holds whole
    seconds without a fraction."""

    template = "CAST(%(expressions)s AS text)"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        """A moment has no text of its own there."""
        form = "to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
        return self.as_sql(compiler, connection, template=form)


def iso_from_text(moment: str) -> str:
    """A `MomentText` as `iso` writes the moment."""
    return f"{moment[:10]}T{moment[11:23]}Z" if len(moment) == 26 else f"{moment[:10]}T{moment[11:19]}.000Z"


def seconds_between(earlier: str, later: str) -> float:
    """Seconds from one `MomentText` to another, to the millisecond."""
    return round((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds(), 3)
