#!/usr/bin/env python
"""Every command of the project. Bad settings and data files end it with one line and exit code 2."""

import os
import re
import sys

LASTING_REFUSAL = re.compile(
    r"password authentication failed|no password supplied|no pg_hba\.conf entry"
    r'|(role|database) "[^"]*" (does not exist|is not permitted to log in)'
)
"""Reasons for which PostgreSQL refuses a connection until somebody changes `DATABASE_URL` or the server.
psycopg has no error code for them, and PostgreSQL may say them in another language: they then count as an
outage."""


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from brigade.paths import PathError
    from brigade.server_limits import raise_open_file_limit
    from kitchen.contract.world_errors import WorldError

    raise_open_file_limit()
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        refuse(f"{database_answer(error)}: {error}")
    except (ImproperlyConfigured, PathError, WorldError) as error:
        refuse(str(error))


def database_answer(error: Exception) -> str:
    """Return whether the database refuses the connection for good, or does not answer now, as text."""
    lasts = LASTING_REFUSAL.search(str(error))
    return "the database refuses the connection" if lasts else "the database does not answer"


def refuse(why: str) -> None:
    """End with one line and exit code 2."""
    print(f"manage.py: {' '.join(why.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
