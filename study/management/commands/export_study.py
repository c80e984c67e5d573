"""Export a study's data as tidy CSV files with a codebook: `python manage.py export_study SLUG --out DIR`.

`--format parquet` writes Parquet files instead, `--format sav` labelled files for SPSS, and `--format dta`
labelled files for Stata. `--format zip` writes one ZIP file of the CSV files; `--out` is then a file or a
folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from study.exports.export_files import FORMATS, write_study, write_zip
from study.exports.export_table import ALL_KINDS, KINDS, OUTAGES, ExportSelection
from study.exports.tables.played_episodes import touched_count
from study.management.study_command import StudyCommand, writing_to


class Command(StudyCommand):
    """Writes every file of the export. Each file completely replaces an older one."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the study, the folder, the format, and whose data to leave out."""
        super().add_arguments(parser)
        parser.add_argument(
            "--out", metavar="DIR", type=Path, required=True, help="folder for the files; or the ZIP's name"
        )
        parser.add_argument("--format", choices=[*FORMATS, "zip"], default="csv", help="csv (default)")
        parser.add_argument(
            "--without",
            metavar="KIND",
            nargs="+",
            choices=list(ALL_KINDS),
            default=[],
            help=f"whose rows to leave out: {', '.join(KINDS)}; or what an outage of ours touched: "
            f"{', '.join(OUTAGES)} (default: nothing, all are marked)",
        )

    def handle(self, *args: Any, slug: str, out: Path, **options: Any) -> None:
        """Write the export's files and print the number of rows in each.

        Raises CommandError with exit code 2 if the folder cannot be written.
        """
        study, form = self.study(slug), options.get("format", "csv")
        chosen = ExportSelection.without(options.get("without", ()))
        if form == "zip" and out.suffix != ".zip":
            out /= f"{study.slug}.zip"
        with writing_to(out):
            if form == "zip":
                written = write_zip(study, out, chosen=chosen)
            else:
                written = write_study(study, out, form, chosen)
        if said := touched_count(study, chosen).left_out(chosen):
            self.stdout.write(f"left out: {said}")
        for name, count in written.items():
            self.stdout.write(f"{name}: {count} rows")
        self.stdout.write(f"{len(written)} files, {sum(written.values())} rows in {out}")
