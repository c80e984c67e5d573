"""Whether the database is what this version wants it to be."""

from __future__ import annotations

from functools import cache

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def migrations_missing() -> list[str]:
    """Migrations of this version that the database does not have, as `kitchen 0001_initial`."""
    applied = MigrationRecorder(connection).applied_migrations()
    return [f"{app} {name}" for app, name in sorted(_ours() - applied.keys())]


@cache
def _ours() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations or {})
