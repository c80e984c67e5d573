"""Run Django's checks of a deployment, and look for missing migrations, in one process: `python -m
tests.django_checks`.

Loading the app takes longer than all of them. `tests/house` runs the checks of the default settings.
"""

from __future__ import annotations

import os

import django
from django.core.management import call_command

DEPLOYED = {"DJANGO_SETTINGS_MODULE": "brigade.settings", "BRIGADE_URL": "https://study.example.org"}
"""Environment variables of a deployment."""


def main() -> None:
    """Run them. Raises SystemCheckError for a warning, and SystemExit for a missing migration."""
    os.environ.update(DEPLOYED)
    django.setup()
    call_command("check", deploy=True, fail_level="WARNING")
    call_command("makemigrations", check_changes=True, dry_run=True, skip_checks=True)


if __name__ == "__main__":
    main()
