"""Prepare the database before the app starts: `python manage.py prepare`.

The command migrates the database. It creates the demo study and an administrator if they are missing. It
prints lines such as `name: value` for the person who starts the app. One of them has the new administrator's
password.
"""

from __future__ import annotations

from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.urls import reverse

from study.design.models import Study


class Command(BaseCommand):
    """Migrates the database, and creates the demo study and an administrator. It can be run again at any
    time."""

    help = "Migrate, seed the demo study, and make an administrator where there is none."

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate the database, and create the demo study and an administrator if they are missing. Print
        their addresses."""
        call_command("migrate", interactive=False, verbosity=0)
        call_command("seed_demo", stdout=StringIO())
        call_command("ensure_admin", stdout=(admin := StringIO()))
        for line in admin.getvalue().splitlines():
            self._say(*line.split(": ", 1))
        for study in Study.objects.filter(slug="demo"):
            self._say("demo study, for participants", settings.PUBLIC_URL + study.get_absolute_url())
        self._say("researcher's pages", settings.PUBLIC_URL + reverse("study:staff"))
        self._say("administration", settings.PUBLIC_URL + reverse("admin:index"))

    def _say(self, name: str, value: str) -> None:
        self.stdout.write(f"  {name + ':':<34} {value}")
