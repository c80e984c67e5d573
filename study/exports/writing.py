"""Tables to files: CSV (UTF-8, RFC 4180), Parquet, or all of them in a ZIP; in pieces for a download, or
whole into a folder."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from kitchen.machine.pipe import Pipe
from study.design.models import Study
from study.exports.base import ExportTable
from study.exports.chosen import EVERYBODY, Chosen
from study.exports.parquet import parquet_pieces
from study.exports.registry import documents, tables
from study.exports.tally import Tally

PIECE = 64 * 1024
"""Characters of CSV that are sent at once, or a little more."""


def csv_pieces(
    table: ExportTable, study: Study, chosen: Chosen = EVERYBODY, tally: Tally | None = None
) -> Iterator[str]:
    """The file in pieces of about `PIECE` characters: memory does not grow with the study."""
    waiting, size, count = list[str](), 0, tally or Tally()
    for text, rows in table.lines(study, chosen):
        waiting.append(text)
        size += len(text)
        count.rows += rows
        if size >= PIECE:
            yield "".join(waiting)
            waiting, size = [], 0
    yield "".join(waiting)


def csv_bytes(
    table: ExportTable, study: Study, chosen: Chosen = EVERYBODY, tally: Tally | None = None
) -> Iterator[bytes]:
    """The same in UTF-8."""
    return (piece.encode() for piece in csv_pieces(table, study, chosen, tally))


@dataclass(frozen=True, slots=True)
class Format:
    """One form of a table."""

    content_type: str
    pieces: Callable[[ExportTable, Study, Chosen, Tally | None], Iterator[bytes]]


FORMATS: dict[str, Format] = {
    "csv": Format("text/csv; charset=utf-8", csv_bytes),
    "parquet": Format("application/vnd.apache.parquet", parquet_pieces),
}
"""By the ending of the file's name."""


def table_pieces(
    table: ExportTable, form: str, study: Study, chosen: Chosen, tally: Tally | None = None
) -> Iterator[bytes]:
    """A table as a file with this ending, in pieces."""
    return FORMATS[form].pieces(table.in_form(form), study, chosen, tally)


def files(
    study: Study, chosen: Chosen, form: str, tallies: dict[str, Tally] | None = None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Every file of the export: its name, and its bytes in pieces. `tallies` counts rows by file."""
    for table in tables():
        name, tally = f"{table.name}.{form}", Tally()
        if tallies is not None:
            tallies[name] = tally
        yield name, table_pieces(table, form, study, chosen, tally)
    for document in documents():
        yield document.name, iter([document.text(study, chosen).encode()])


def zip_pieces(
    study: Study,
    chosen: Chosen = EVERYBODY,
    form: str = "csv",
    tallies: dict[str, Tally] | None = None,
) -> Iterator[bytes]:
    """All files in one ZIP, written from front to end: memory does not grow with the study."""
    pipe, now = Pipe(), timezone.now().timetuple()[:6]
    with zipfile.ZipFile(pipe, "w") as archive:
        for name, pieces in files(study, chosen, form, tallies):
            entry = zipfile.ZipInfo(f"{study.slug}/{name}", now)
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as inside:
                for piece in pieces:
                    inside.write(piece)
                    yield pipe.take()
    yield pipe.take()


def write_study(study: Study, folder: Path, form: str = "csv", chosen: Chosen = EVERYBODY) -> dict[str, int]:
    """Every file of the study into the folder, each one whole or not at all; rows by file, for tables."""
    folder.mkdir(parents=True, exist_ok=True)
    tallies: dict[str, Tally] = {}
    for name, pieces in files(study, chosen, form, tallies):
        _write_whole(folder / name, pieces)
    return {name: tally.rows for name, tally in tallies.items()}


def write_zip(study: Study, path: Path, form: str = "csv", chosen: Chosen = EVERYBODY) -> dict[str, int]:
    """All files in one ZIP at this path, whole or not at all; rows by file name, for tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tallies: dict[str, Tally] = {}
    _write_whole(path, zip_pieces(study, chosen, form, tallies))
    return {name: tally.rows for name, tally in tallies.items()}


def _write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
