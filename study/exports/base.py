"""What an exported table is: columns that explain themselves, rows that come one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from kitchen.deciding import FALLBACKS
from kitchen.llm.base import error_codes
from study.models import Study

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins with one of these would be run by a spreadsheet; it is exported behind an apostrophe."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    `kind` is `text`, `integer`, `number`, `boolean` (1/0), `time` (ISO 8601, UTC) or `json`.
    """

    name: str
    kind: str
    meaning: str
    unit: str = ""
    levels: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One file: `rows` yields the cells in the order of `columns`, never all rows at once."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    rows: Callable[[Study], Iterable[Sequence[Any]]]

    def lines(self, study: Study) -> Iterator[list[str]]:
        """The header, then every row as texts ready for CSV."""
        yield [column.name for column in self.columns]
        kinds = [column.kind for column in self.columns]
        for row in self.rows(study):
            yield [cell(value, kind) for value, kind in zip(row, kinds, strict=True)]


def cell(value: Any, kind: str) -> str:
    """One value as it stands in a CSV file; blank for None."""
    if value is None:
        return ""
    if kind == "boolean":
        return "1" if value else "0"
    if kind == "time":
        return iso(value)
    if kind == "json":
        return json.dumps(value, separators=(",", ":"), sort_keys=True)
    return harmless(value) if kind == "text" else repr(value)


def iso(value: datetime) -> str:
    """The moment in UTC with milliseconds: `2026-11-21T07:30:00.123Z`."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def harmless(value: object) -> str:
    """The text on one line, in a form that no spreadsheet takes for a formula."""
    text = " ".join(str(value).splitlines())
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


Row = TypeVar("Row")


def in_chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """The rows in lists of `size`; the last one may be shorter."""
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk


WHO = (
    Column("participant", "text", "The participant's code; the same in every file."),
    Column("synthetic", "boolean", "1 for a program that took part to test the study, 0 for a person."),
)
"""The first columns of every file."""

WHERE = (
    *WHO,
    Column("condition", "text", "Key of the condition."),
    Column("order_position", "integer", "When the participant played it.", levels="1 = first"),
    Column("episode", "text", "Key of the episode; the same in every file."),
)
"""The first columns of every file about episodes."""
MODEL_ERRORS = "; ".join(f"{code} ({words})" for code, words in error_codes().items())
FALLBACK_LEVELS = "; ".join(f"{code} ({words})" for code, words in (error_codes() | FALLBACKS).items())
"""Every code that can be there, as the code that writes it has it."""
EPISODE_LEVELS = (
    "playing, over (it ended by its rules), cut_off (it was ended from outside), aborted (staff ended it)"
)
