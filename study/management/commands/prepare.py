"""`manage.py prepare`: all that has to be done before the app is served, in one process.

Prints `name: value` lines for the person who starts it; a value that starts with `/` is a path.
"""

from __future__ import annotations

from io import StringIO
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.urls import reverse

from study.models import Study


class Command(BaseCommand):
    """Migrates the database, seeds the demo study, sees to an administrator. Can be run at any time."""

    help = "Migrate, seed the demo study, and make an administrator where there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        """Quick where everything is done already."""
        call_command("migrate", interactive=False, verbosity=0)
        call_command("seed_demo", stdout=StringIO())
        for study in Study.objects.filter(slug="demo"):
            self.stdout.write(f"demo study, for participants: {study.get_absolute_url()}")
        self.stdout.write(f"researcher's pages: {reverse('study:staff')}")
        self.stdout.write(f"administration: {reverse('admin:index')}")
        call_command("ensure_admin", stdout=self.stdout)
