"""What rows have in common is written once for all of them, and they come out as if it were not."""

from __future__ import annotations

import csv
import io
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.design.models import Study
from study.exports.export_files import FORMATS
from study.exports.export_table import Column, ExportSelection, ExportTable
from study.exports.row_groups import RowGroup, in_batches
from tests.study.exports.rows import rows_of

CELL = st.text(alphabet="ab,\"'=\n ", max_size=4)
NUMBER = st.integers(-9, 9) | st.none()
STRETCHES = st.lists(
    st.builds(
        RowGroup, st.tuples(CELL, NUMBER), st.lists(st.tuples(NUMBER, CELL), max_size=5), st.tuples(CELL)
    )
)
COLUMNS = tuple(
    Column(f"{number}", kind, "A cell.")
    for number, kind in enumerate(("text", "integer", "integer", "text", "text"))
)


def whole(groups: list[RowGroup]) -> list[tuple[Any, ...]]:
    return [(*before, *row, *after) for before, rows, after in groups for row in rows]


@given(STRETCHES, st.integers(1, 7))
def test_batches_are_full_and_hold_every_row_in_its_place(groups: list[RowGroup], size: int) -> None:
    batches = list(in_batches(groups, size))
    assert whole([group for batch in batches for group in batch.groups]) == whole(groups)
    assert all(sum(batch.lengths) == size for batch in batches[:-1])
    assert all(0 < sum(batch.lengths) <= size and all(batch.lengths) for batch in batches)


@given(STRETCHES, st.integers(1, 7))
def test_files_have_the_rows_whatever_these_share(groups: list[RowGroup], size: int) -> None:
    table = ExportTable("some", "Some rows.", COLUMNS, lambda *_: groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("study.exports.export_table.AT_ONCE", size)
        assert list(rows_of(table, Study())) == whole(groups)
        apart = ExportTable("some", "Some rows.", COLUMNS, lambda *_: [RowGroup((), whole(groups))])
        found, alone = (written(one, "csv") for one in (table, apart))
        parquet = pq.read_table(io.BytesIO(written(table, "parquet")))
    assert found == alone
    assert len(list(csv.reader(io.StringIO(found.decode(), newline="")))) == 1 + len(whole(groups))
    assert [tuple(row.values()) for row in parquet.to_pylist()] == whole(groups)


def written(table: ExportTable, form: str) -> bytes:
    return b"".join(FORMATS[form].pieces(table, Study(), ExportSelection(), None))
