"""`manage.py prepare`: all that has to be done before the app is served, in one process.

Prints `name: value` lines for the person who starts it; a value that starts with `/` is a path.
"""

from __future__ import annotations

from typing import Any

from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Migrates the database, seeds the demo study, sees to an administrator. Can be run at any time."""

    help = "Migrate, seed the demo study, and make an administrator where there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        """Quick where everything is done already."""
        call_command("migrate", interactive=False, verbosity=0)
        if "seed_demo" in get_commands():
            call_command("seed_demo", verbosity=0, stdout=self.stdout)
        self.stdout.write("researcher's pages: /staff/")
        self.stdout.write("administration: /admin/")
        call_command("ensure_admin", stdout=self.stdout)
