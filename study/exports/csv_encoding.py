"""Encode the rows of export tables as CSV (UTF-8, RFC 4180), in the same form as Python's module `csv`.

For speed, rows are encoded column by column, and equal values only once. JSON values and times are read from
the database as text. So they need not be parsed and written again. Texts that a spreadsheet would run as a
formula get an apostrophe in front (`harmless`). So do whole numbers above 2^53 that are stored as text, such
as seeds, because R and spreadsheets would round them.
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
"""Starts of texts that a spreadsheet would run as formulas; such texts are exported with an apostrophe in
front."""
LARGEST_EXACT = 2**53
"""The largest whole number up to which programs that compute with doubles keep every number."""
EXACT_DIGITS = 15
"""Every whole number of this many digits is below `LARGEST_EXACT`."""
LINE_END = "\r\n"

NEEDS_QUOTES = re.compile('[",\r\n]').search


class JsonText(str):
    """A text that is already JSON. The cells of `json` columns that have this type are written unchanged."""

    __slots__ = ()


compact = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
"""Return a value as JSON on one line."""


def lines(kinds: Sequence[str], batch: RowBatch) -> Iterator[str]:
    """Return the CSV lines of a batch of rows, without line ends. `kinds` are the types of the columns, in
    order."""
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
    """Return the columns of cells that the rows of each group share, repeated for all rows. `lengths` has the
    number of rows of each group. Return an empty list if there are no shared cells."""
    if not kinds:
        return []
    texts = map(",".join, zip(*_columns(kinds, shared), strict=True))
    return [chain.from_iterable(map(repeat, texts, lengths))]


def cells(kind: str, values: Sequence[Any]) -> Iterable[str]:
    """Return the values of one column of this kind as CSV cells. None becomes an empty cell."""
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
    """Return one value as a CSV cell. `write` converts the value to text; None becomes an empty cell."""
    if value.__class__ is str and value.isalnum() and not is_rounded(value):
        # a hash, for example: nothing to quote, and no formula
        return value
    return "" if value is None else quoted(write(value))


PLAIN: tuple[set[type], ...] = ({int}, {float})
"""Types of columns whose values are written unchanged, if there are no other types."""
ALIKE = {JsonText, type(None)}
"""Types of JSON values that are hashable, so that their cells can be cached."""


def json_cell(value: Any) -> str:
    """Return a value as a CSV cell with JSON; None becomes an empty cell."""
    return "" if value is None else quoted(value if isinstance(value, JsonText) else compact(value))


def quoted(text: str) -> str:
    """Return the text, in double quotes if CSV requires them."""
    return '"' + text.replace('"', '""') + '"' if NEEDS_QUOTES(text) else text


def number(value: Any) -> str:
    """Return a number as a CSV cell; None becomes an empty cell. A text in a column of numbers is escaped
    like other texts."""
    if value is None:
        return ""
    return quoted(harmless(value)) if isinstance(value, str) else str(value)


def harmless(value: object) -> str:
    """Return the value as text. If a spreadsheet would run the text as a formula, or round it, an apostrophe
    is put in front of it."""
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) or is_rounded(text) else text


def is_rounded(text: str) -> bool:
    """Return whether the text is a whole number that programs which compute with doubles would round."""
    if len(text) <= EXACT_DIGITS or not text.isdecimal():
        return False
    digits = text.lstrip("0")  # Python refuses to convert several thousand digits, so look at their number
    return len(digits) > EXACT_DIGITS and (len(digits) > EXACT_DIGITS + 1 or int(digits) > LARGEST_EXACT)


def iso(value: datetime | str) -> str:
    """Return a time as text in UTC with milliseconds: `2026-11-21T07:30:00.123Z`. A text is returned
    unchanged."""
    if isinstance(value, str):
        return value
    moment = value if value.tzinfo is UTC else value.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


WRITERS: dict[str, Callable[[Any], str]] = {
    "text": harmless,
    "boolean": lambda value: "1" if value else "0",
    "time": iso,
    "json": str,
}
"""Functions that write values as text, by kind of column; numbers need none."""


def json_as_text(field: str) -> Cast:
    """Return a query expression for the text of a JSON field, for `annotate`."""
    return Cast(field, output_field=TextField())


class MomentText(Func):
    """A query expression for a DateTimeField as text in UTC, for `annotate`: `2026-11-21 07:30:00.123456`.
    SQLite omits the fraction of whole seconds."""

    template = "CAST(%(expressions)s AS text)"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        """Return the SQL for PostgreSQL. It sets the format explicitly, because the default format depends
        on the server's settings."""
        form = "to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
        return self.as_sql(compiler, connection, template=form)


def iso_from_text(moment: str) -> str:
    """Return the time of a `MomentText` value in the format of `iso`."""
    return f"{moment[:10]}T{moment[11:23]}Z" if len(moment) == 26 else f"{moment[:10]}T{moment[11:19]}.000Z"


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds from `earlier` to `later`, two `MomentText` values, rounded to milliseconds."""
    return round((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds(), 3)
