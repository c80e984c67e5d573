"""Return the rows of an export table one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from study.design.models import Study
from study.exports.export_table import EVERYBODY, ExportSelection, ExportTable


def rows_of(
    table: ExportTable, study: Study, chosen: ExportSelection = EVERYBODY
) -> Iterator[tuple[Any, ...]]:
    """Yield all cells of every row, in the order in which they are read."""
    _, batches = table.opened(study, chosen)
    for batch in batches:
        for before, rows, after in batch.groups:
            yield from ((*before, *row, *after) for row in rows)
