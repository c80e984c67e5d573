"""Whether the database was prepared before, by this very version: then nothing need wait for `prepare`.

A stamp in `var/` holds a hash over what decides it: the migrations, the requirements (other apps bring
migrations too) and our variables, so that wrong ones are still found by `prepare` alone. Where the stamp is
wrong, because somebody put an older database there, pages fail for the seconds that `prepare` takes. Plain
Python, no Django.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from brigade import places

VARIABLES = ("BRIGADE_", "DATABASE_URL", "REDIS_URL")
"""How the names of the variables begin that the settings read."""


def is_prepared() -> bool:
    """Whether the stamp is that of this version and database, and a SQLite file is still there."""
    try:
        noted = _stamp().read_text(encoding="ascii")
    except (OSError, ValueError):
        return False
    there = bool(os.environ.get("DATABASE_URL")) or places.database_file().exists()
    return there and noted == _fingerprint()


def note_prepared() -> None:
    """Write the stamp, after `prepare` has succeeded; OSError."""
    _stamp().write_text(_fingerprint(), encoding="ascii")


def _stamp() -> Path:
    return places.var_dir() / "prepared.stamp"


def _fingerprint() -> str:
    base = places.base_dir()
    ours = sorted(item for item in os.environ.items() if item[0].startswith(VARIABLES))
    digest = hashlib.sha256(repr(ours).encode())
    for file in [base / "requirements.txt", *sorted(base.glob("*/migrations/*.py"))]:
        digest.update(f"\0{file.relative_to(base)}\0".encode() + file.read_bytes())
    return digest.hexdigest()
