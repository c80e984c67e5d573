"""Write a whole study as one file, without data: `python manage.py dump_study SLUG --out FILE`.

A FILE that ends in .zip has the design, translations and media, one that ends in .toml the design and its
translations. `load_study` reads both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.infra.file_writing import write_atomically
from study.design.study_errors import DesignError
from study.design.study_file_writer import study_as_toml, study_as_zip
from study.management.study_command import StudyCommand, bad_input, writing_to


class Command(StudyCommand):
    """Writes the file. It replaces an older one completely."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the study and the file."""
        super().add_arguments(parser)
        parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="a .zip or .toml file")

    def handle(self, *args: Any, slug: str, out: Path, **options: Any) -> None:
        """Write the file and print its name. Raises CommandError with exit code 2 if it cannot be written."""
        study = self.study(slug)
        if out.suffix not in (".zip", ".toml"):
            raise CommandError("the name of the file ends in .zip or .toml", returncode=2)
        with writing_to(out), bad_input(DesignError):
            data = study_as_zip(study) if out.suffix == ".zip" else study_as_toml(study).encode()
            write_atomically(out, data)
        self.stdout.write(f"study {study.slug}: {out}")
