"""Combine the Prometheus metrics of all processes on one machine, through files in a shared folder.

Each process writes its own files. When a process has ended, its counts are added to the files named `past`.
The module uses internals of prometheus-client (`MmapedDict`, `ValueClass`), so a test checks that library's
version. Imports no Django.
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
"""Environment variable in which prometheus-client looks for the folder."""
KINDS = ("counter", "gauge_livesum", "histogram")
"""Kinds of metrics. Every process has one file of each."""
LASTING = ("counter", "histogram")
PAST = "past"
LOCK = "lock"
ROOM = 1 << 19
"""Size of each file in bytes, which is more than all metrics need."""
SILENT_SECONDS = 24 * 3600
"""Seconds after which an unwritten file of a process that cannot be seen from here counts as ended."""


_name = [""]
"""The name of this process's files, in a list of one."""


def share_metrics(folder: Path) -> None:
    """Let this process write its metrics to files in this folder.

    Call it before any metric is counted, and again in a forked process. Raises OSError if the folder
    cannot be used; the process then counts only in memory.
    """
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
        setattr(values, "ValueClass", values.MultiProcessValue(lambda: _name[0]))  # noqa: B010 - mypy


def shared_folder() -> Path | None:
    """Return the folder to which this process writes its metrics. None if it counts only in memory."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder) if folder else None


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Context manager: hold the lock of the metrics folder, so that no other process merges its files. Raises
    OSError if the folder does not exist."""
    with (folder / LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def merge_ended_processes(folder: Path) -> None:
    """Add the counts of processes that have ended to the files named `past`, and delete the files of these
    processes. Raises OSError if a file cannot be read or deleted."""
    for file in sorted(folder.glob("*.db")):
        if _is_over(file):
            kind = file.name.partition("_")[0]
            if kind in LASTING:
                # a damaged file must not stop the program
                with suppress(ValueError, RuntimeError, struct.error):
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
