"""What the app writes is its user's alone: sessions, personal links and keys are in it. Plain Python.

Everything that starts calls this, by way of the settings or the runner. New files have the modes of the
umask; loose ones of earlier versions are put right. Only what is ours is touched, and no folder that many
users share.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from brigade import places

UMASK = 0o077
LOOSE = stat.S_IRWXG | stat.S_IRWXO
"""The rights of everybody but the owner."""
OF_SQLITE = ("", "-wal", "-shm", "-journal")
"""A database's own file and those beside it."""


def keep_private(database: str | Path | None = None) -> str:
    """From now on nobody else may read what this process writes; `var/`, and the SQLite file if one is named,
    are put right. One line for whoever looks on, or nothing where all was well."""
    os.umask(UMASK)
    loose = [path for path in _ours(database) if _is_loose(path)]
    kept = [path for path in loose if not _close(path)]
    closed = len(loose) - len(kept)
    said = (
        [f"closed to other users: {closed} of our files and folders ({places.var_dir()})"] if closed else []
    )
    said += [f"{kept[0]} can be read by other users, and is not ours to close"] if kept else []
    return "; ".join(said)


def say_private(database: str | Path | None = None) -> None:
    """The same; what there is to say goes to standard error."""
    if said := keep_private(database):
        print(f"brigade: {said}", file=sys.stderr, flush=True)


def _ours(database: str | Path | None) -> Iterator[Path]:
    """What the app writes, as far as it is there."""
    var = places.var_dir()
    yield from (var, places.log_dir(), *places.log_dir().glob("*"), var / "secret.key", var / "run.lock")
    for file in {str(places.database_file()), *([str(database)] if database else [])}:
        yield from (Path(file + end) for end in OF_SQLITE)


def _is_loose(path: Path) -> bool:
    """Whether others have a right to it. A link is what it leads to; a shared folder is nobody's own."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & LOOSE) and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)


def _close(path: Path) -> bool:
    """Take all rights from everybody but the owner; False where we may not, or where it belongs to somebody
    else: whoever may write in `var/` could name any file there, and root may close them all."""
    with suppress(OSError):
        found = path.stat()
        if found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & ~LOOSE)
            return True
    return False
