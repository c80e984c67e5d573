"""Create an administrator with a random password, unless one exists: `python manage.py ensure_admin`."""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import transaction


class Command(BaseCommand):
    """Creates an administrator if there is no superuser, and prints the password. It is not shown again."""

    help = "Make an administrator with a generated password, if there is none yet."

    def handle(self, *args: Any, **options: Any) -> None:
        """Create an administrator and print name and password. Do nothing if a superuser exists."""
        with transaction.atomic():
            if get_user_model().objects.filter(is_superuser=True).exists():
                return
            name, password = free_name(), secrets.token_urlsafe(15)
            get_user_model().objects.create_superuser(username=name, email="", password=password)
        self.stdout.write(f"admin name: {name}")
        self.stdout.write(f"admin password (shown once): {password}")
        again = f"{os.path.relpath(sys.executable)} manage.py changepassword {name}"
        self.stdout.write(f"another one, if it gets lost: {again}")


def free_name() -> str:
    """Return the first user name of `admin`, `admin2`, `admin3`, … that is not taken."""
    taken = set(
        get_user_model().objects.filter(username__startswith="admin").values_list("username", flat=True)
    )
    number = 1
    while (name := "admin" if number == 1 else f"admin{number}") in taken:
        number += 1
    return name
