#!/usr/bin/env python
"""Every command of the project. Bad settings in the environment end it with one line and exit code 2."""

import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, OSError) as error:
        if isinstance(error, OSError) and type(error).__name__ != "PlaceError":
            raise
        print(f"manage.py: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
