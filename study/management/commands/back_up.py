"""`python manage.py back_up [FILE]`: one file with everything that is stored, made while people play.

Without FILE it is put into `backups/` in `var/` under the present time. The secret key is in it, unless
`--without-key` says otherwise. The file is readable by its user only; `manage.py restore FILE` puts it back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.management.base import OneLineCommand
from study.backups.archive import BackupError
from study.backups.backing_up import back_up, default_file


class Command(OneLineCommand):
    """Reads, and changes nothing."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to, and whether with the key."""
        parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="the backup's name")
        parser.add_argument("--without-key", action="store_true", help="leave the secret key out")

    def handle(self, *args: Any, file: Path | None, without_key: bool, **options: Any) -> None:
        """Make it, and say what is in it."""
        file = file or default_file()
        try:
            manifest = back_up(file, with_key=not without_key)
        except BackupError as error:
            raise CommandError(str(error), returncode=2) from error
        key = "without the secret key" if without_key else "with the secret key: keep it as safe as the data"
        self.stdout.write(f"{file}: {manifest.words}, {file.stat().st_size:,} bytes, {key}")
