"""Whether a command can work here at all: the database is prepared, the broker answers."""

from __future__ import annotations

from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from kitchen.machine.broker import broker_answers


def require_database() -> None:
    """CommandError with code 2 where the database is not there, or not as this version wants it."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        why = str(error).splitlines()[0]
        raise CommandError(f"the database cannot be used: {why}", returncode=2) from error
    if missing:
        said = "the database is not prepared: `make run` or `manage.py migrate` does it, --local needs none"
        raise CommandError(said, returncode=2)


def require_broker() -> None:
    """CommandError with code 2 where no broker answers."""
    if not broker_answers():
        said = "the broker cannot be reached: `make run` starts one, --local plays here"
        raise CommandError(said, returncode=2)
