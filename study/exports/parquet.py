"""Tables to Parquet: every column in its own type, in row groups of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, count, repeat
from typing import Any

from kitchen.machine.pipe import Pipe
from study.design.models import Study
from study.exports.base import Column, ExportTable
from study.exports.chosen import EVERYBODY, Chosen
from study.exports.csv_text import JsonText, compact
from study.exports.stretches import Batch
from study.exports.tally import Tally

ROW_GROUP = 16 * 1024 * 1024
"""Bytes that are held, as Arrow has them, before they are written together."""


def _time(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _json(value: Any) -> str:
    return str(value) if isinstance(value, JsonText) else compact(value)


VALUES: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "time": _time,
    "json": _json,
}
"""A value as Arrow takes it, by kind of column; texts are not made harmless, nothing runs them here."""


TAKEN: dict[str, set[type]] = {
    "text": {str},
    "integer": {int},
    "number": {int, float},
    "boolean": {bool},
    "time": {datetime},
    "json": {JsonText},
}
"""Classes of values that Arrow takes as they are, by kind of column."""


def parquet_pieces(
    table: ExportTable, study: Study, chosen: Chosen = EVERYBODY, tally: Tally | None = None
) -> Iterator[bytes]:
    """The file in pieces: memory does not grow with the study."""
    import pyarrow as pa  # takes memory and time that only this needs
    import pyarrow.parquet as pq

    (columns, batches), pipe = table.opened(study, chosen), Pipe()
    schema = _schema(columns)
    with pq.ParquetWriter(pa.PythonFile(pipe, mode="w"), schema, compression="zstd") as writer:
        for group in _groups(_record_batches(batches, columns, schema)):
            writer.write_table(pa.Table.from_batches(group))
            if tally:
                tally.rows += sum(batch.num_rows for batch in group)
            yield pipe.take()
    yield pipe.take()


def _schema(columns: Sequence[Column]) -> Any:
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "json": pa.string(),
    }
    return pa.schema(
        [
            pa.field(column.name, types[column.kind], metadata={"meaning": column.meaning})
            for column in columns
        ]
    )


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """The batches in lists of about `ROW_GROUP` bytes: rows may be short or have long texts."""
    group, size = list[Any](), 0
    for batch in batches:
        group.append(batch)
        size += batch.nbytes
        if size >= ROW_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _record_batches(batches: Iterable[Batch], columns: Sequence[Column], schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    typed = [(column.kind, field.type) for column, field in zip(columns, schema, strict=True)]
    for batch in batches:
        before, own, after = batch.split(typed)
        whose = pa.array(list(chain.from_iterable(map(repeat, count(), batch.lengths))))
        arrays = [
            *(array.take(whose) for array in _arrays(before, batch.before)),
            *_arrays(own, batch.own),
            *(array.take(whose) for array in _arrays(after, batch.after)),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _arrays(typed: Sequence[tuple[str, Any]], rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """A column of all rows for each kind, in its type."""
    for (kind, into), values in zip(typed, zip(*rows, strict=True), strict=True):
        yield _array(kind, values, into)


def _array(kind: str, values: Sequence[Any], into: Any) -> Any:
    import pyarrow as pa

    classes = set(map(type, values)) - {type(None)}
    if kind == "time" and classes == {str}:
        return pa.array(values).cast(into)
    if classes <= TAKEN[kind]:
        return pa.array(values, type=into)
    read = VALUES[kind]
    return pa.array([None if value is None else read(value) for value in values], type=into)
