"""Share Prometheus counts between the processes of one machine, in files of one folder. Plain Python.

Each process has files of its own, named by `process_name`. When a process ends, its counts are added to the
files named `past`, so the folder does not grow. Its open gauges are dropped. The space of a file is reserved
when it is made, so that a full disk later does not end the process.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prometheus_client import values
from prometheus_client.mmap_dict import MmapedDict

from kitchen.infra.os_processes import process_is_gone, process_is_here, process_name

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""By which prometheus-client knows the folder."""
KINDS = ("counter", "gauge_livesum", "histogram")
"""One file of each for every process."""
LASTING = ("counter", "histogram")
PAST = "past"
LOCK = "lock"
ROOM = 1 << 19
"""Bytes of each file: more than all our figures take."""
SILENT_SECONDS = 24 * 3600
"""Files of a process that cannot be seen from here, and that were not written for so long, are over."""


_name = [""]
"""That of this process's files."""


def share_metrics(folder: Path) -> None:
    """From now on this process counts into the folder. To be called before anything counts, and again by a
    process that was forked off: by the new name its figures see that they are to open files of its own. With
    a second class of values two would write to one file, each over what the other one wrote. OSError, and it
    counts for itself alone."""
    own = process_name().replace("/", "~") or str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOCK).touch()
    with folder_lock(folder):
        merge_ended_processes(folder)
        for kind in KINDS:
            _take_room(_file(folder, kind, own))
    os.environ[FOLDER_VARIABLE] = str(folder)
    was_forked_off, _name[0] = _name[0] not in {"", own}, own
    if not was_forked_off:
        of_ours = values.MultiProcessValue(lambda: _name[0])
        setattr(values, "ValueClass", of_ours)  # noqa: B010 - of one kind at first


def shared_folder() -> Path | None:
    """Where this process counts; None where it counts for itself."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder) if folder else None


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """In this block nobody else tidies up. The folder may have become read-only; OSError if it is gone."""
    with (folder / LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def merge_ended_processes(folder: Path) -> None:
    """Add what ended processes counted to what is past. OSError."""
    for file in sorted(folder.glob("*.db")):
        if _is_over(file):
            kind = file.name.partition("_")[0]
            if kind in LASTING:
                with suppress(ValueError, RuntimeError, struct.error):  # a damaged file stops no program
                    _add(file, _file(folder, kind, PAST))
            file.unlink()


def _file(folder: Path, kind: str, whose: str) -> Path:
    return folder / f"{kind}_{whose}.db"


def _is_over(file: Path) -> bool:
    whose = file.stem.rpartition("_")[2].replace("~", "/")
    if whose == PAST or process_is_here(whose):
        return False
    return process_is_gone(whose) or time.time() - file.stat().st_mtime > SILENT_SECONDS


def _take_room(file: Path) -> None:
    with file.open("ab") as made:
        made.write(bytes(max(0, ROOM - made.tell())))


def _add(file: Path, past: Path) -> None:
    _take_room(past)
    whole = MmapedDict(str(past))
    try:
        for key, value, at, _ in MmapedDict.read_all_values_from_file(str(file)):
            whole.write_value(key, whole.read_value(key)[0] + value, at)
    finally:
        whole.close()
