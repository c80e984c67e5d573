#!/usr/bin/env python
"""Every command of the project. Bad settings and data files end it with one line and exit code 2."""

import os
import sys


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
        refuse(f"the database does not answer: {error}")
    except (ImproperlyConfigured, PathError, WorldError) as error:
        refuse(str(error))


def refuse(why: str) -> None:
    """End with one line and exit code 2."""
    print(f"manage.py: {' '.join(why.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
