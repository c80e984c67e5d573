"""Files that are written whole or not at all. Plain Python."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4


def put(path: Path, data: bytes) -> Path:
    """Beside its place under a name of its own first, so that nobody ever reads half a file."""
    draft = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with draft.open("xb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        return draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
