"""`python manage.py migrate`: run Django's command, and say so if the data are from a version
that is too old to be migrated."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from kitchen.infra.db_errors import squash_problem


class Command(migrate.Command):
    """Migrate the database. Refuse a database that has only some of the old migrations that are now
    squashed into one."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Check that the database can be migrated, then migrate it. Raises CommandError if the check
        fails."""
        connection = connections[options["database"]]
        if problem := squash_problem(MigrationRecorder(connection).applied_migrations()):
            raise CommandError(f"the database cannot be migrated: {problem}")
        super().handle(*args, **options)
