"""`manage.py migrate`: Django's command, with a clear error for a database that is too old for it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from kitchen.infra.db_errors import squash_problem


class Command(migrate.Command):
    """Migrate the database, unless it has only some of the migrations that were squashed."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the database, then migrate it."""
        connection = connections[options["database"]]
        if problem := squash_problem(MigrationRecorder(connection).applied_migrations()):
            raise CommandError(f"the database cannot be migrated: {problem}")
        super().handle(*args, **options)
