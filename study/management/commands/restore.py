"""Replace all stored data by a backup: `python manage.py restore FILE`. Stop the app first.

The backup is checked before anything is changed. Stored data are replaced only with `--yes`; the old data are
moved aside. The backup's secret key is restored, too. If the backup's key is lost, `--without-key` keeps the
current key; then no log can be verified. Participants who were erased since the backup are erased again.
Finally, the logs are verified. The exit code is 1 if a log was changed, and 2 if nothing was done.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.management.command_helpers import OneLineCommand
from kitchen.words.english_text import counted_noun
from study.backups.backup_archive import BackupError
from study.backups.restore_backup import RestoreResult, restore
from study.management.study_command import bad_input


class Command(OneLineCommand):
    """Replaces all stored data by a backup."""

    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the backup file, the confirmation, and whether to keep the
        current secret key."""
        parser.add_argument("file", metavar="FILE", type=Path, help="a backup, as back_up makes them")
        parser.add_argument("--yes", action="store_true", help="replace what is there")
        parser.add_argument("--without-key", action="store_true", help="go on with the present secret key")

    def handle(self, *args: Any, file: Path, yes: bool, without_key: bool, **options: Any) -> None:
        """Restore the backup and print what was done.

        Raises CommandError with exit code 2 if nothing was restored, 1 if a restored log has been changed.
        """
        with bad_input(BackupError):
            restored = restore(file, sure=yes, with_key=not without_key)
        for line in result_lines(restored):
            self.stdout.write(line)
        if wrong := [verdict.episode for verdict in restored.verdicts if not verdict.holds]:
            raise CommandError(
                f"the log of {counted_noun(len(wrong), 'episode')} does not hold: manage.py verify_log"
            )


def result_lines(restored: RestoreResult) -> list[str]:
    """Return the lines that tell the user what was restored and verified. They also name erased data that
    came back with the backup and were erased again."""
    manifest = restored.manifest
    lines = [f"restored what was stored at {manifest.made_at}: {manifest.words}"]
    if restored.aside:
        lines.append(f"what was there before is in {restored.aside}: remove it when you need it no more")
    for study, count in sorted(restored.erased.items()):
        lines.append(
            f"erased again in {study}: {counted_noun(count, 'participant')}, erased since the backup"
        )
    if not restored.key_is_ours:
        return [*lines, "not verified: the secret key is another one; old cookies and receipts are void"]
    held = sum(verdict.holds for verdict in restored.verdicts)
    lines.append(f"verified: the logs of {held} of {counted_noun(len(restored.verdicts), 'episode')} hold")
    return lines
