"""`python manage.py export_study SLUG --out DIR`: the data as tidy CSV files with a dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from study.exports.writing import write_study
from study.management.base import StudyCommand, explain


class Command(StudyCommand):
    """Writes every file of the export; each is replaced as a whole."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """The study and the folder."""
        super().add_arguments(parser)
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the files")

    def handle(self, *args: Any, slug: str, out: Path, **options: Any) -> None:
        """Write, and say how many rows each file has."""
        study = self.study(slug)
        try:
            written = write_study(study, out)
        except OSError as error:
            raise explain(error, out) from error
        for name, count in written.items():
            self.stdout.write(f"{name}: {count} rows")
        self.stdout.write(f"{len(written)} files, {sum(written.values())} rows in {out}")
