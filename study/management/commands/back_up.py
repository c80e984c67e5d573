"""Write all stored data into one backup file, also while people play: `python manage.py back_up [FILE]`.

Without FILE, the backup goes to the folder `backups/` in `var/`, and its name contains the current time. FILE
can be another folder. With `--keep N`, older backups in this folder are then removed, so that N are left. The
backup contains the secret key, unless you give `--without-key`. Only the operating-system user that makes the
backup can read the file. `manage.py restore FILE` restores it.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from kitchen.infra.file_writing import record_backup
from kitchen.management.command_helpers import OneLineCommand
from kitchen.words.english_text import counted_noun
from study.backups.backup_archive import BackupError, Manifest
from study.backups.create_backup import back_up, backup_path, prune_old_backups
from study.management.study_command import bad_input


class Command(OneLineCommand):
    """Writes a backup. The stored data are not changed."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the file, the number of backups to keep, and whether to leave
        out the secret key."""
        parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="its name, or a folder")
        parser.add_argument("--keep", metavar="N", type=_at_least_one, help="keep the newest N there")
        parser.add_argument("--without-key", action="store_true", help="leave the secret key out")

    def handle(self, *args: Any, file: Path | None, without_key: bool, **options: Any) -> None:
        """Write the backup, print what it contains, and remove older backups if requested.

        Raises CommandError if the backup cannot be made.
        """
        file = backup_path(file)
        with bad_input(BackupError):
            manifest = back_up(file, with_key=not without_key)
        key = "without the secret key" if without_key else "with the secret key: keep it as safe as the data"
        self.stdout.write(f"{file}: {manifest.words}, {file.stat().st_size:,} bytes, {key}")
        self._after(file, manifest, options["keep"])

    def _after(self, made: Path, manifest: Manifest, keep: int | None) -> None:
        """Record the time of the backup `made`, and remove old backups if `keep` limits their number."""
        try:
            record_backup(Path(settings.VAR_DIR), datetime.fromisoformat(manifest.made_at))
            removed = prune_old_backups(made, keep) if keep else 0
        except OSError as error:
            raise CommandError(f"the backup is made, but not noted, or old ones stay: {error}") from error
        if removed:
            self.stdout.write(f"removed: {counted_noun(removed, 'older backup')}")


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("give a number from 1 on")
    return int(text)
