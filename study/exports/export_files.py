"""Write export tables as CSV, Parquet or ZIP files, either streamed as a download or into a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone

from kitchen.infra.file_downloads import as_attachment, streaming_download
from kitchen.infra.file_writing import StreamBuffer, atomic_writer, stream_zip
from kitchen.registry.dotted_paths import UnknownNameError
from study.design.models import Study
from study.exports.csv_encoding import JsonText, compact
from study.exports.export_registry import CODEBOOK, documents, get_document, get_table, tables
from study.exports.export_table import EVERYBODY, Column, ExportSelection, ExportTable
from study.exports.exports_by_worker import export_pieces
from study.exports.labelled_files import LABELLED, LABELLED_FORMS, labelled_pieces
from study.exports.publication_package import package_options, package_pieces
from study.exports.row_groups import RowBatch
from study.exports.sound_files import SOUND_FILE, sound_zip_pieces

ROW_GROUP = 16 * 1024 * 1024
"""Bytes of Arrow data held in memory before they are written as one row group."""


def _time(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _json(value: Any) -> str:
    return str(value) if isinstance(value, JsonText) else compact(value)


ARROW: dict[str, tuple[str, set[type], Callable[[Any], Any]]] = {
    "text": ("string", {str}, str),
    "integer": ("int64", {int}, int),
    "number": ("float64", {int, float}, float),
    "boolean": ("bool", {bool}, bool),
    "time": ("timestamp", {datetime}, _time),
    "json": ("string", {JsonText}, _json),
}
"""By kind of column: the Arrow type, the types that Arrow takes for it, and the converter of other values.

Texts stay unescaped, because nothing runs formulas here.
"""


def parquet_pieces(
    table: ExportTable, study: Study, chosen: ExportSelection = EVERYBODY, rows: Counter[str] | None = None
) -> Iterator[bytes]:
    """Yield a table as a Parquet file, in pieces of bytes. Memory use does not grow with the study. The
    number of rows is added to `rows` under the table's name."""
    import pyarrow as pa  # takes memory and time that only this function needs
    import pyarrow.parquet as pq

    (columns, batches), pipe = table.opened(study, chosen), StreamBuffer()
    schema = _schema(columns)
    with pq.ParquetWriter(pa.PythonFile(pipe, mode="w"), schema, compression="zstd") as writer:
        for group in _groups(_record_batches(batches, columns, schema)):
            writer.write_table(pa.Table.from_batches(group))
            if rows is not None:
                rows[table.name] += sum(batch.num_rows for batch in group)
            yield pipe.take()
    yield pipe.take()


def _schema(columns: Sequence[Column]) -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(column.name, _arrow_type(column.kind), metadata={"meaning": column.meaning})
            for column in columns
        ]
    )


def _arrow_type(kind: str) -> Any:
    import pyarrow as pa

    return pa.timestamp("us", tz="UTC") if kind == "time" else pa.type_for_alias(ARROW[kind][0])


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield lists of batches of about `ROW_GROUP` bytes each. The number of rows varies, because rows differ
    in size."""
    group, size = list[Any](), 0
    for batch in batches:
        group.append(batch)
        size += batch.nbytes
        if size >= ROW_GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _record_batches(batches: Iterable[RowBatch], columns: Sequence[Column], schema: Any) -> Iterator[Any]:
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
    """Yield one Arrow array for each column of these rows. `typed` are the columns with their types."""
    for (kind, into), values in zip(typed, zip(*rows, strict=True), strict=True):
        yield _array(kind, values, into)


def _array(kind: str, values: Sequence[Any], into: Any) -> Any:
    import pyarrow as pa

    classes = set(map(type, values)) - {type(None)}
    if kind == "time" and classes == {str}:
        return pa.array(values).cast(into)
    _, taken, read = ARROW[kind]
    if classes <= taken:
        return pa.array(values, type=into)
    return pa.array([None if value is None else read(value) for value in values], type=into)


PIECE = 64 * 1024
"""Characters of CSV that are sent at once, or slightly more."""


def csv_pieces(
    table: ExportTable, study: Study, chosen: ExportSelection = EVERYBODY, rows: Counter[str] | None = None
) -> Iterator[bytes]:
    """Yield a table as a CSV file in UTF-8, in pieces of bytes. Memory use does not grow with the study.
    The number of rows is added to `rows` under the table's name."""
    waiting, size = list[str](), 0
    for text, length in table.lines(study, chosen):
        waiting.append(text)
        size += len(text)
        if rows is not None:
            rows[table.name] += length
        if size >= PIECE:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


@dataclass(frozen=True, slots=True)
class Format:
    """A file format for tables: its content type, and the function that yields a file in pieces."""

    content_type: str
    pieces: Callable[[ExportTable, Study, ExportSelection, Counter[str] | None], Iterator[bytes]]


FORMATS: dict[str, Format] = {
    "csv": Format("text/csv; charset=utf-8", csv_pieces),
    "parquet": Format("application/vnd.apache.parquet", parquet_pieces),
    "sav": Format("application/x-spss-sav", partial(labelled_pieces, "sav")),
    "dta": Format("application/x-stata-dta", partial(labelled_pieces, "dta")),
}
"""Formats by the ending of the file's name."""


def tables_in(form: str) -> list[tuple[str, ExportTable]]:
    """Return the tables that have this format (a key of `FORMATS`), each with its file's name. The codebook
    beside labelled files is a CSV file."""
    if form not in LABELLED_FORMS:
        return [(f"{table.name}.{form}", table) for table in tables()]
    labelled = [(f"{name}.{form}", get_table(name)) for name in LABELLED]
    return [*labelled, ("codebook.csv", in_form(CODEBOOK, form))]


def in_form(table: ExportTable, form: str) -> ExportTable:
    """Return the table as it is in files of this format."""
    return table.in_form(form) if table.in_form else table


def table_pieces(
    table: ExportTable, form: str, study: Study, chosen: ExportSelection, rows: Counter[str] | None = None
) -> Iterator[bytes]:
    """Yield a table as a file of the format `form` (a key of `FORMATS`), in pieces of bytes. The number of
    rows is added to `rows` under the table's name."""
    return FORMATS[form].pieces(in_form(table, form), study, chosen, rows)


def files(
    study: Study, chosen: ExportSelection, form: str, rows: Counter[str] | None = None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield every file of the export as (name, pieces of bytes). `form` is a key of `FORMATS`. For each
    table, the number of rows is added to `rows` under the table's name."""
    for name, table in tables_in(form):
        ending = name.rpartition(".")[2]
        yield name, FORMATS[ending].pieces(in_form(table, form), study, chosen, rows)
    for document in documents():
        shown = document.in_form(form) if document.in_form else document
        yield document.name, iter([shown.text(study, chosen).encode()])


def zip_pieces(
    study: Study, chosen: ExportSelection = EVERYBODY, form: str = "csv", rows: Counter[str] | None = None
) -> Iterator[bytes]:
    """Return all export files as one ZIP file, in pieces of bytes. Memory use does not grow with the study.
    For each table, the number of rows is added to `rows` under the table's name."""
    named = ((f"{study.slug}/{name}", pieces) for name, pieces in files(study, chosen, form, rows))
    return stream_zip(named, at=timezone.now(), is_stored=lambda name: name.endswith(".parquet"))


def write_study(
    study: Study, folder: Path, form: str = "csv", chosen: ExportSelection = EVERYBODY
) -> dict[str, int]:
    """Write every export file of the study into the folder. Return the number of rows by table file. Each
    file appears only when it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = Counter[str]()
    for name, pieces in files(study, chosen, form, rows):
        with atomic_writer(folder / name) as out:
            out.writelines(pieces)
    return {name: rows[table.name] for name, table in tables_in(form)}


def write_zip(
    study: Study, path: Path, form: str = "csv", chosen: ExportSelection = EVERYBODY
) -> dict[str, int]:
    """Write all export files of the study as one ZIP file. Return the number of rows by table file. The
    file appears only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = Counter[str]()
    with atomic_writer(path) as out:
        out.writelines(zip_pieces(study, chosen, form, rows))
    return {name: rows[table.name] for name, table in tables_in(form)}


ZIP = "zip"


def file_response(study: Study, name: str, chosen: ExportSelection) -> HttpResponseBase:
    """Return the response that sends one export file as a download. Names are like `steps.csv`,
    `steps.parquet`, `design.json`, `all.zip` (CSV) or `all_parquet.zip`. Raises UnknownNameError for other
    names."""
    stem, _, form = name.rpartition(".")
    if form == ZIP or form in FORMATS:
        make, saved_as = data_file_pieces(study, name, chosen), f"{study.slug}_{name}"
        if form == ZIP:
            saved_as = f"{study.slug}{stem.removeprefix('all')}.zip"
        if package := package_options(name):
            saved_as = package.saved_as(study)
        if name == SOUND_FILE:
            saved_as = f"{study.slug}_{name}"
        kind = "application/zip" if form == ZIP else FORMATS[form].content_type
        return streaming_download(export_pieces(study, name, chosen, make), kind, saved_as)
    document = get_document(name)
    response = HttpResponse(document.text(study, chosen), content_type=document.content_type)
    return as_attachment(response, f"{study.slug}_{name}")


def data_file_pieces(study: Study, name: str, chosen: ExportSelection) -> Callable[[], Iterator[bytes]]:
    """Return a function that makes the table or ZIP file with this name, in pieces of bytes. Raises
    UnknownNameError if there is no such file."""
    stem, _, form = name.rpartition(".")
    if name == SOUND_FILE:
        return partial(sound_zip_pieces, study, chosen)
    if package := package_options(name):
        return partial(package_pieces, study, chosen, package)
    if form != ZIP:
        if form in LABELLED_FORMS and stem not in LABELLED:
            raise UnknownNameError(f"{name}: no such file; {', '.join(LABELLED)} have this form")
        return partial(table_pieces, get_table(stem), form, study, chosen)
    forms = {"all": "csv", **{f"all_{form}": form for form in FORMATS}}
    if stem not in forms:
        raise UnknownNameError(f"{name}: no such file; there are {', '.join(f'{one}.zip' for one in forms)}")
    return partial(zip_pieces, study, chosen, forms[stem])
