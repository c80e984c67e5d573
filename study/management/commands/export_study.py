"""Export a study's data as tidy CSV files with a codebook: `python manage.py export_study SLUG --out DIR`.

`--format parquet` writes Parquet files instead, `--format sav` labelled files for SPSS, and `--format dta`
labelled files for Stata. `--format zip` writes one ZIP file of the CSV files; `--out` is then a file or a
folder. `--format publication` writes one ZIP file to publish, with a de-identified copy of the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from kitchen.infra.file_writing import atomic_writer
from study.design.models import Study
from study.exports.dataset_descriptions import LICENCES
from study.exports.deidentify import CopyOptions
from study.exports.export_files import FORMATS, write_study, write_zip
from study.exports.export_table import ALL_KINDS, KINDS, OUTAGES, ExportSelection
from study.exports.publication_package import LEAST_K, MOST_K, PackageOptions, package_pieces
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
        parser.add_argument(
            "--format", choices=[*FORMATS, "zip", "publication"], default="csv", help="csv (default)"
        )
        parser.add_argument(
            "--k",
            type=int,
            choices=range(LEAST_K, MOST_K + 1),
            metavar="K",
            default=5,
            help="publication: least number of people who share an answer about themselves (default 5)",
        )
        parser.add_argument("--replays", action="store_true", help="publication: keep seeds")
        parser.add_argument(
            "--identified", action="store_true", help="publication: the data as they are, not de-identified"
        )
        parser.add_argument(
            "--licence", choices=list(LICENCES), default="cc-by", help="publication: cc-by (default)"
        )
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
        if form == "publication":
            self._publish(study, out, chosen, options)
            return
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

    def _publish(self, study: Study, out: Path, chosen: ExportSelection, options: dict[str, Any]) -> None:
        copy = None if options["identified"] else CopyOptions(options["k"], options["replays"])
        package = PackageOptions(copy, options["licence"])
        path = out if out.suffix == ".zip" else out / package.saved_as(study)
        with writing_to(out):
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_writer(path) as file:
                file.writelines(package_pieces(study, chosen, package))
        self.stdout.write(f"{path}")
