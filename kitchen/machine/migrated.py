"""Whether the database is what this version wants it to be."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from kitchen.machine.storage import known_migrations


def migrations_missing() -> list[str]:
    """Migrations of this version that the database does not have, as `kitchen 0001_initial`."""
    applied = MigrationRecorder(connection).applied_migrations()
    return [f"{app} {name}" for app, name in sorted(known_migrations() - applied.keys())]
