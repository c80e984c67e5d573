"""Create a study from a TOML file such as `study/data/demo.toml`, or from a ZIP file of a whole study.

Usage: `python manage.py load_study FILE`. `dump_study` writes such files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from kitchen.contract.data_files import DataError
from kitchen.management.command_helpers import OneLineCommand
from study.design.models import Study
from study.design.study_files import study_from_file
from study.management.study_command import bad_input
from study.researchers.models import SecurityEvent
from study.researchers.security_events import log_security_event


class Command(OneLineCommand):
    """Creates the study that a file describes. If the file is invalid or the slug is taken, nothing is
    created."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's argument, the file of a study."""
        parser.add_argument("file", metavar="FILE", type=Path, help="a study in TOML, or as a ZIP")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        """Create the study and print its link. Raises CommandError with exit code 2 for an invalid file."""
        with bad_input(DataError):
            study = study_from_file(file)
        if study.status == Study.Status.OPEN:
            log_security_event(SecurityEvent.Kind.STUDY_OPENED, study=study, what=f"from {file.name}")
        self.stdout.write(f"study {study.slug}: {study.get_absolute_url()}")
