"""codebook.csv: what every column of every file means; dictionary.csv is the same by its older name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from study.design.models import Study
from study.exports.base import Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch

COLUMNS = (
    Column("file", "text", "Name of the file, as CSV; as Parquet it has the same columns."),
    Column("column", "text", "Name of the column."),
    Column("type", "text", "Type of its values.", levels="text, integer, number, boolean, time, json"),
    Column("unit", "text", "Unit, where it has one."),
    Column("meaning", "text", "What it says."),
    Column("levels", "text", "Its values, where they are few."),
)


def codebook(name: str, meaning: str, tables: Callable[[], Iterable[ExportTable]]) -> ExportTable:
    """The table, under this name, of what every column of these tables means; it may be one of them."""
    return ExportTable(name, meaning, COLUMNS, partial(_rows, tables))


def _rows(tables: Callable[[], Iterable[ExportTable]], study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per column, in the order of the files."""
    for table in tables():
        yield Stretch([f"{table.name}.csv"], [_cells(column) for column in table.columns_of(study)])


def _cells(column: Column) -> tuple[str | None, ...]:
    return column.name, column.kind, column.unit or None, column.meaning, column.levels or None
