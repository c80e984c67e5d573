"""codebook: what every column of every file means; dictionary is the same by its older name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from study.design.models import Study
from study.exports.base import Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch

COLUMNS = (
    Column("file", "text", "Name of the file, as it stands beside this one."),
    Column("column", "text", "Name of the column."),
    Column("type", "text", "Type of its values.", levels="text, integer, number, boolean, time, json"),
    Column("unit", "text", "Unit, where it has one."),
    Column("meaning", "text", "What it says."),
    Column("levels", "text", "Its values, where they are few."),
)


Tables = Callable[[], Iterable[ExportTable]]


def codebook(name: str, meaning: str, tables: Tables, ending: str = "csv") -> ExportTable:
    """The table, under this name, of what every column of these tables means, which are files with this
    ending; it may be one of them."""
    among = partial(codebook, name, meaning, tables)
    return ExportTable(name, meaning, COLUMNS, partial(_rows, tables, ending), among=among)


def _rows(tables: Tables, ending: str, study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per column, in the order of the files."""
    files = {f"{table.name}.csv": f"{table.name}.{ending}" for table in tables()}
    named = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in files))
    for table in tables():
        told = [_cells(column) for column in table.columns_of(study)]
        rows = [[cell and named.sub(lambda found: files[found[0]], cell) for cell in row] for row in told]
        yield Stretch([f"{table.name}.{ending}"], rows)


def _cells(column: Column) -> tuple[str | None, ...]:
    return column.name, column.kind, column.unit or None, column.meaning, column.levels or None
