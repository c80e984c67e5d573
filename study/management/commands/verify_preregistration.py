"""Check that a preregistration file is unchanged: `python manage.py verify_preregistration FILE`.

FILE is the JSON file that was made when the study's design was frozen.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kitchen.contract.data_limits import read_json, read_text
from study.design.preregistration import bundle_problem, date_is_hashed, has_content


class Command(BaseCommand):
    """Checks the hashes of a preregistration file. Exit code 2 for an unreadable file, 1 for a changed
    one."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's argument, the preregistration file."""
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print that the preregistration is unchanged.

        Raises CommandError that says what differs (exit code 1), or that the file cannot be read (2).
        """
        path: Path = options["file"]
        try:
            bundle = read_json(read_text(path))
        except (OSError, ValueError) as error:
            raise CommandError(f"{path}: {error}", returncode=2) from error
        if problem := bundle_problem(bundle):
            raise CommandError(f"{path}: {problem}", returncode=1 if has_content(bundle) else 2)
        frozen = bundle.get("frozen", {})
        self.stdout.write(f"{bundle['sha256']} fits: version {frozen.get('version')}, {frozen.get('at')}")
        if not date_is_hashed(bundle):
            self.stdout.write("An older program froze it: its hash covers the content, not the date.")
