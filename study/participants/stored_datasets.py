"""Store the datasets that a study's page has asked for, in `datasets/` of the data folder.

Each has a folder with its order, its progress, and the files so far. A worker that dies leaves them, and the
next one goes on. All of a study's datasets are deleted when somebody's data are erased.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings

from kitchen.infra.file_writing import write_atomically

SILENT_SECONDS = 90.0
"""Seconds without progress after which a worker counts as dead. A piece of long games takes some seconds."""
KEEP_SECONDS = 7 * 86_400.0
"""Seconds for which a dataset is stored."""
MOST_DATASETS = 5
"""Maximum number of stored datasets of a study; the oldest are deleted."""
WAITING, RUNNING, FINISHED, FAILED = "waiting", "running", "finished", "failed"


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """One dataset of a study: ordered, being written, or finished."""

    study_id: int
    key: str

    @property
    def folder(self) -> Path:
        """Return the folder with the order and the files."""
        return datasets_folder(self.study_id) / self.key

    @property
    def files(self) -> Path:
        """Return the folder with the files of the dataset."""
        return self.folder / "files"

    def read(self) -> dict[str, Any]:
        """Return the order and the progress; empty if there is no such dataset."""
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads((self.folder / "order.json").read_text())
            with suppress(OSError, ValueError):
                found |= json.loads((self.folder / "progress.json").read_text())
            return found
        return {}

    def note(self, **facts: Any) -> None:
        """Store facts about the progress. Does nothing if the dataset was deleted meanwhile."""
        with suppress(FileNotFoundError):
            path = self.folder / "progress.json"
            known = json.loads(path.read_text()) if path.exists() else {}
            write_atomically(path, json.dumps({**known, **facts}).encode())

    def is_silent(self) -> bool:
        """Return whether no worker is writing it."""
        return _age(self.folder / "running") > SILENT_SECONDS

    @contextmanager
    def claimed(self) -> Iterator[bool]:
        """Claim the dataset for this worker within the block. Yield False if another worker has it."""
        mark = self.folder / "running"
        if self.is_silent():
            mark.unlink(missing_ok=True)
        try:
            mark.touch(exist_ok=False)
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            mark.unlink(missing_ok=True)

    def beat(self) -> None:
        """Show that the worker lives. Raises FileNotFoundError if the dataset was deleted."""
        (self.folder / "running").open("r+b").close()
        (self.folder / "running").touch()


def datasets_folder(study_id: int) -> Path:
    """Return the folder of a study's datasets."""
    return Path(settings.VAR_DIR) / "datasets" / str(study_id)


def order_dataset(study_id: int, **order: Any) -> StoredDataset:
    """Store an order for a dataset, and return it. The oldest datasets of the study are deleted if there are
    too many."""
    made = StoredDataset(study_id, uuid4().hex[:16])
    made.folder.mkdir(parents=True, mode=0o700)
    facts = {**order, "asked_at": time.time(), "state": WAITING, "done": 0, "total": 0}
    write_atomically(made.folder / "order.json", json.dumps(facts).encode())
    for old in datasets_of(study_id)[MOST_DATASETS:]:
        shutil.rmtree(old.folder, ignore_errors=True)
    return made


def datasets_of(study_id: int) -> list[StoredDataset]:
    """Return the datasets of a study, the newest first. Delete those that are too old."""
    found = []
    for path in datasets_folder(study_id).glob("*/order.json"):
        if _age(path) > KEEP_SECONDS:
            shutil.rmtree(path.parent, ignore_errors=True)
        else:
            found.append(StoredDataset(study_id, path.parent.name))
    return sorted(found, key=lambda each: -float(each.read().get("asked_at", 0)))


def forget_datasets(study_id: int, **_: Any) -> None:
    """Delete all datasets of a study. The signal `participant_erased` calls this function."""
    shutil.rmtree(datasets_folder(study_id), ignore_errors=True)


def _age(path: Path) -> float:
    """Return the seconds since the file was changed; infinity if there is none."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except OSError:
        return float("inf")
