"""Export finished games as a dataset for programs that learn.

Usage: `python manage.py export_datasets SLUG --form minari --out DIR --licence "CC BY 4.0"`. The form is
`minari`, `steps` (Parquet) or `overcooked_ai` (CSV and JSON). `--imported` in place of SLUG exports imported
games. An interrupted export goes on with the same command. The exit code is 2 if nothing can be exported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.management.command_helpers import Progress
from kitchen.opened.dataset_forms import FORMS
from kitchen.words.english_text import counted_noun
from study.exports.dataset_export import DatasetError, DatasetRequest, export_dataset
from study.management.study_command import StudyCommand, writing_to


class Command(StudyCommand):
    """Writes a dataset into a folder, in pieces."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the study or `--imported`, the form, the folder and the licence."""
        parser.add_argument("slug", metavar="SLUG", nargs="?", default="", help="the study's slug")
        parser.add_argument("--imported", action="store_true", help="export imported games, not a study")
        parser.add_argument("--form", choices=list(FORMS), required=True, help="the form of the dataset")
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="an empty folder")
        parser.add_argument(
            "--licence", metavar="TEXT|FILE", required=True, help="the licence's text, or a file with it"
        )
        parser.add_argument("--synthetic", action="store_true", help="export synthetic participants, too")

    def handle(self, *args: Any, slug: str, out: Path, licence: str, **options: Any) -> None:
        """Export, and print a summary. Raises CommandError with exit code 2."""
        if bool(slug) == options["imported"]:
            raise CommandError("name a study, or give --imported", returncode=2)
        study = self.study(slug) if slug else None
        request = DatasetRequest(options["form"], licence_text(licence), study, options["synthetic"])
        bar: list[Progress] = []

        def show(done: int, total: int) -> None:
            if not bar:
                bar.append(Progress(sys.stderr, total, done, "games"))
            bar[0].show(done)

        with writing_to(out):
            try:
                state = export_dataset(request, out, show)
            except DatasetError as error:
                raise CommandError(str(error), returncode=2) from error
        bar[0].close()
        for why, number in sorted(state.left_out.items()):
            self.stdout.write(f"left out: {number} ({why})")
        self.stdout.write(f"{counted_noun(state.exported, 'game')}, {state.steps} steps in {out}")


def licence_text(given: str) -> str:
    """Return the content of the file with this name, if there is one; else the text itself."""
    path = Path(given)
    try:
        return path.read_text("utf-8") if len(given) < 1000 and path.is_file() else given
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--licence: {path} cannot be read", returncode=2) from error
