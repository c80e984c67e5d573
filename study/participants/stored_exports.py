"""Store export files for some minutes, in `exports/` of the data folder.

Each file lies under a hash of the study's data. It is deleted when it is old, when there are too many, or
when somebody's data are erased.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from study.participants.models import Participant

SILENT_SECONDS = 30.0
"""Seconds without a new piece after which a worker counts as dead."""
KEEP_SECONDS = 600.0
"""Seconds for which a file is stored."""
COMPLETE = 0o400
"""The mode of complete files. It stays with an open file, so a slow reader knows it at the end, too."""
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
    def part(self) -> Path:
        """Return the path of the file while a worker writes it."""
        return self.path.with_suffix(".part")

    def is_being_made(self) -> bool:
        """Return whether a worker makes this file now."""
        return 0 <= _age(self.part) < SILENT_SECONDS


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
    """Make and store an export file, unless it is stored or another worker makes it. Requests read the file
    while it grows. If somebody's data were erased meanwhile, the file is deleted."""
    folder(wanted.study_id).mkdir(parents=True, exist_ok=True, mode=0o700)
    remove_old_exports()
    out = None if wanted.path.exists() else _begin(wanted.part)
    if out is None:
        return
    before = _people(wanted.study_id)
    try:
        with out:
            for piece in pieces():
                out.write(piece)
        if _people(wanted.study_id) >= before:  # else `forget_exports` came before the last piece
            with suppress(FileNotFoundError):  # it came just now
                wanted.part.chmod(COMPLETE)
                wanted.part.replace(wanted.path)
    finally:
        wanted.part.unlink(missing_ok=True)


def is_complete(found: BinaryIO) -> bool:
    """Return whether an open stored file is complete, also if it was deleted since."""
    return stat.S_IMODE(os.fstat(found.fileno()).st_mode) == COMPLETE


def _begin(part: Path) -> FileIO | None:
    """Create the file that a worker writes. Return None if another worker has begun."""
    if _age(part) >= SILENT_SECONDS:  # it died
        part.unlink(missing_ok=True)
    try:
        return FileIO(part, "xb")
    except FileExistsError:
        return None


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
