"""Files that are written whole or not at all. Plain Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


def put(path: Path, data: bytes) -> Path:
    """These bytes as this file."""
    with draft(path) as out:
        out.write(data)
    return path


@contextmanager
def draft(path: Path) -> Iterator[BinaryIO]:
    """Beside its place under a name of its own first, so that nobody ever reads half a file; put there at the
    end, unless something was raised."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with beside.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
