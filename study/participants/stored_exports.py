"""Store export files for some minutes, in `exports/` of the data folder.

Each file lies under a hash of the study's data. It is deleted when it is old, when there are too many, or
when somebody's data are erased.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from kitchen.infra.file_writing import atomic_writer
from study.participants.models import Participant

SILENT_SECONDS = 30.0
"""Seconds without a new piece after which a worker counts as dead."""
KEEP_SECONDS = 600.0
"""Seconds for which a file is stored."""
MOST_FILES = 20
"""Maximum number of stored files; the oldest are deleted."""


@dataclass(frozen=True, slots=True)
class StoredExport:
    """An export file of one study, with data of one state."""

    study_id: int
    name: str
    left_out: tuple[str, ...]
    key: str
    """A hash of the data and of what is exported."""

    @property
    def path(self) -> Path:
        """Return the path of the stored file. It exists if the file is complete."""
        return folder(self.study_id) / self.key

    @property
    def sign(self) -> Path:
        """Return the path of an empty file that a worker touches while it makes the export."""
        return self.path.with_suffix(".made")

    def is_being_made(self) -> bool:
        """Return whether a worker makes this file now."""
        return 0 <= _age(self.sign) < SILENT_SECONDS


def folder(study_id: int) -> Path:
    """Return the folder of a study's stored exports."""
    return _all_folders() / str(study_id)


def _all_folders() -> Path:
    return Path(settings.VAR_DIR) / "exports"


def _age(path: Path) -> float:
    """Return the seconds since the file was changed, or -1 if there is none."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except OSError:
        return -1.0


def make_export(wanted: StoredExport, pieces: Callable[[], Iterator[bytes]]) -> None:
    """Make and store an export file, unless it is stored or another worker makes it. If somebody's data were
    erased meanwhile, the file is deleted, and the requests that wait make it themselves."""
    folder(wanted.study_id).mkdir(parents=True, exist_ok=True, mode=0o700)
    remove_old_exports()
    if wanted.path.exists() or not _begin(wanted.sign):
        return
    before = _people(wanted.study_id)
    try:
        with suppress(FileNotFoundError), atomic_writer(wanted.path) as out:  # the folder may be deleted
            for piece in pieces():
                out.write(piece)
                wanted.sign.touch()
        if not _people(wanted.study_id) >= before:  # `forget_exports` came too early
            wanted.path.unlink(missing_ok=True)
    finally:
        wanted.sign.unlink(missing_ok=True)


def _begin(sign: Path) -> bool:
    """Create the sign that a worker makes a file. Return False if another worker has begun."""
    if _age(sign) >= SILENT_SECONDS:  # it died
        sign.unlink(missing_ok=True)
    try:
        sign.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _people(study_id: int) -> set[tuple[int, str]]:
    """Return ids and labels of the participants. Some of these are missing later if data were erased."""
    return set(Participant.objects.filter(study=study_id).values_list("pk", "label"))


def remove_old_exports() -> None:
    """Delete stored files that are too old or too many, and what died workers left."""
    found = sorted((path for path in _all_folders().glob("*/*") if path.is_file()), key=_age)
    for number, path in enumerate(found):
        if _age(path) > KEEP_SECONDS or number >= MOST_FILES:
            path.unlink(missing_ok=True)


def forget_exports(study_id: int, **_: Any) -> None:
    """Delete all stored files of a study. The signal `participant_erased` calls this function."""
    shutil.rmtree(folder(study_id), ignore_errors=True)
