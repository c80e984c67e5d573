"""Write datasets that pages have ordered, in workers, and pack finished ones as ZIP files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from kitchen.infra.file_writing import stream_zip
from study.design.models import Study
from study.exports.dataset_export import DatasetError, DatasetRequest, export_dataset
from study.participants.stored_datasets import FAILED, FINISHED, RUNNING, WAITING, StoredDataset

NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)
"""The earliest date that a ZIP file can have: equal datasets then give equal files."""


def folder_zip_pieces(folder: Path, name: str) -> Iterator[bytes]:
    """Return a folder's files as one ZIP file, in pieces of bytes, each file below `name`."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    files = ((f"{name}/{path.relative_to(folder)}", _file_pieces(path)) for path in paths)
    return stream_zip(files, at=NO_DATE)


def _file_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(256 * 1024):
            yield piece


def write_dataset(study: Study, key: str) -> None:
    """Write an ordered dataset, or go on with it. Does nothing if it is finished, deleted, or being written.
    A reason why it cannot be written is stored for the page."""
    stored = StoredDataset(study.pk, key)
    facts = stored.read()
    if facts.get("state") not in {WAITING, RUNNING}:
        return

    def show(done: int, total: int) -> None:
        stored.beat()
        stored.note(state=RUNNING, done=done, total=total)

    with stored.claimed() as is_mine:
        if not is_mine:
            return
        request = DatasetRequest(facts["form"], facts["licence"], study, facts["synthetic"])
        try:
            state = export_dataset(request, stored.files, show)
        except DatasetError as error:
            stored.note(state=FAILED, error=str(error))
        except FileNotFoundError:
            if stored.read():
                raise  # else it was deleted, because somebody's data were erased
        else:
            left_out = [f"{number} ({why})" for why, number in sorted(state.left_out.items())]
            stored.note(state=FINISHED, exported=state.exported, steps=state.steps, left_out=left_out)
