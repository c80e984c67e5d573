"""Convert a JSON object to facts and tables that a page can show.

A single value becomes a fact (a name and a text). A list of lists, a list of objects, or an object becomes a
table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import pgettext

CodeWord = Callable[[str], str]
"""Return the words for a code."""


class Fact(NamedTuple):
    """One value of a JSON object as text, with its label. `code` is the value's key in the object."""

    code: str
    label: str
    text: str


class Table(NamedTuple):
    """A table with a title. The first cell of each row is its name. `head` is empty if the columns have no
    names."""

    code: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class FactsAndTables(NamedTuple):
    """All facts and tables that a JSON object was converted to."""

    facts: tuple[Fact, ...]
    tables: tuple[Table, ...]


def facts_and_tables(values: Mapping[str, Json], word: CodeWord) -> FactsAndTables:
    """Convert a JSON object to facts and tables, in its order. `word` returns the text for a code."""
    facts, tables = [], []
    for code, value in values.items():
        title = sentence_case(word(code))
        if _is_table(value):
            tables.append(_table(code, title, value, word))
        else:
            facts.append(Fact(code, title, value_text(value, word)))
    return FactsAndTables(tuple(facts), tuple(tables))


def value_text(value: Json, word: CodeWord) -> str:
    """Return a JSON value as text, such as `lamp 3`, `4, 7` or `yes`. `word` returns the text for a code."""
    if value is None or value in ([], {}, ""):
        return pgettext("there is no value", "none")
    if isinstance(value, bool):
        return pgettext("a value", "yes") if value else pgettext("a value", "no")
    if isinstance(value, str):
        return word(value)
    if isinstance(value, Mapping):
        return _joined(f"{word(code)}: {value_text(one, word)}" for code, one in value.items())
    if isinstance(value, list | tuple):
        return _joined(value_text(one, word) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _joined(texts: Iterable[str]) -> str:
    return pgettext("between the things of a list", ", ").join(texts)


def _is_table(value: Json) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list | tuple) and any(isinstance(one, Mapping | list | tuple) for one in value)


def _table(code: str, title: str, value: Json, word: CodeWord) -> Table:
    """Return a table with one row for each entry of `value`.

    If all entries are objects, each key has a column. If all are lists of the same length, each position
    has a column. Otherwise each entry is text in a single column.
    """
    named = list(value.items() if isinstance(value, Mapping) else enumerate(value, start=1))
    names = [word(name) if isinstance(name, str) else str(name) for name, _ in named]
    entries = [entry for _, entry in named]
    columns = _columns(entries)
    head = ("", *(sentence_case(word(column)) for column in columns)) if columns else ()
    lengths = {len(entry) if isinstance(entry, list | tuple) else 0 for entry in entries}
    is_list = len(lengths) == 1 and 0 not in lengths
    rows = (
        (name, *_cells(entry, columns, word, is_list=is_list))
        for name, entry in zip(names, entries, strict=True)
    )
    return Table(code, title, head, tuple(rows))


def _columns(entries: Sequence[Json]) -> tuple[str, ...]:
    """Return the keys that occur in these entries, in order, if all entries are objects. Otherwise return an
    empty tuple."""
    if not all(isinstance(entry, Mapping) for entry in entries):
        return ()
    return tuple(dict.fromkeys(key for entry in entries for key in entry))


def _cells(entry: Json, columns: Sequence[str], word: CodeWord, *, is_list: bool) -> tuple[str, ...]:
    """Return the cells of one table row, without its name. A cell is empty if an object lacks the key."""
    if columns:
        return tuple(value_text(entry[column], word) if column in entry else "" for column in columns)
    return tuple(value_text(one, word) for one in entry) if is_list else (value_text(entry, word),)
