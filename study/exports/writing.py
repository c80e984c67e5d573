"""Tables to CSV (UTF-8, RFC 4180): in pieces for a download, or whole into a folder."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from study.exports.base import Table
from study.exports.registry import tables
from study.models import Study

PIECE = 64 * 1024
"""Characters of CSV that are sent at once."""


def csv_pieces(table: Table, study: Study) -> Iterator[str]:
    """The file in pieces of about `PIECE` characters: memory does not grow with the study."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for line in table.lines(study):
        writer.writerow(line)
        if buffer.tell() >= PIECE:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def write_study(study: Study, folder: Path) -> dict[str, int]:
    """Every file of the study into the folder, each one whole or not at all; rows by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    return {f"{table.name}.csv": _write_table(table, study, folder) for table in tables()}


def _write_table(table: Table, study: Study, folder: Path) -> int:
    handle, beside = tempfile.mkstemp(dir=folder, prefix=f".{table.name}.")
    try:
        count = -1
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            for count, line in enumerate(table.lines(study)):  # noqa: B007 - the last count is the answer
                writer.writerow(line)
        os.chmod(beside, 0o644)  # noqa: PTH101
        Path(beside).replace(folder / f"{table.name}.csv")
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return count
