"""Return the rows of an export table one by one, or as its CSV file has them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from study.design.models import Study
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.exports.export_table import EVERYBODY, ExportSelection, ExportTable


def rows_of(
    table: ExportTable, study: Study, chosen: ExportSelection = EVERYBODY
) -> Iterator[tuple[Any, ...]]:
    """Yield all cells of every row, in the order in which they are read."""
    _, batches = table.opened(study, chosen)
    for batch in batches:
        for before, rows, after in batch.groups:
            yield from ((*before, *row, *after) for row in rows)


def csv_rows(study: Study, name: str, chosen: ExportSelection = EVERYBODY) -> list[dict[str, str]]:
    """Return the rows of this table's CSV file. No other file is made."""
    text = b"".join(csv_pieces(get_table(name), study, chosen)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))
