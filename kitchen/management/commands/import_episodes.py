"""Import recorded games, so that they can be replayed, played beside, exported and fitted.

Usage: `python manage.py import_episodes FILE… [--preset 2019]`. A file is a CSV table with the columns of
Overcooked-AI's data of people, a JSON object of lists, or an episode file of this program; each may be
compressed with gzip. Pickles are never read. Every row is compared with the rules. The first difference of a
game is printed, and nothing of that game is imported. `--forget HASH` erases the games of a file again; HASH
is the beginning of its SHA-256, as the list of imported games shows it. The exit code is 1 if a game was
refused, and 2 if a file cannot be read.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.contract.recorded_trial import TrialOptions
from kitchen.contract.world_errors import SettingsError
from kitchen.management.command_helpers import OneLineCommand
from kitchen.opened.trial_files import TrialFileError
from kitchen.registry.world_registry import trial_formats
from kitchen.replay.import_trials import erase_imported_file, import_file
from kitchen.words.english_text import counted_noun, os_error_words

SHORTEST_HASH = 8


class Command(OneLineCommand):
    """Stores the games of files as episodes without participants."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the files, and what their tables do not say."""
        parser.add_argument("files", metavar="FILE", type=Path, nargs="*", help="CSV or JSON, or .gz of it")
        parser.add_argument("--forget", metavar="HASH", default="", help="erase the games of this file")
        parser.add_argument(
            "--preset", default="", metavar="YEAR", help="rules of a known collection: 2019 or 2020"
        )
        rules = (name for form in trial_formats().values() for name in form.rules)
        parser.add_argument(
            "--rule",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            help=f"what the table does not say: {', '.join(rules)}; repeatable",
        )

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        """Import each file, and print refused games and a summary. Raises CommandError as the exit code
        says."""
        if bool(files) == bool(options["forget"]):
            raise CommandError("name files, or give --forget", returncode=2)
        if options["forget"]:
            self._forget(options["forget"])
            return
        pairs = (rule.partition("=") for rule in options["rule"])
        told = TrialOptions(options["preset"], {name: value for name, _, value in pairs})
        count = Counter[str]()
        for path in files:
            self._import(path, told, count)
        games = counted_noun(count["new"], "game")
        summary = f"{games} imported, {count['known']} known before, {count['refused']} refused"
        if count["refused"]:
            raise CommandError(summary)
        self.stdout.write(summary)

    def _forget(self, digest: str) -> None:
        if len(digest) < SHORTEST_HASH:
            raise CommandError(f"--forget: give at least {SHORTEST_HASH} letters of the hash", returncode=2)
        self.stdout.write(f"{counted_noun(erase_imported_file(digest), 'game')} erased")

    def _import(self, path: Path, told: TrialOptions, count: Counter[str]) -> None:
        try:
            for read, is_new in import_file(path, told):
                count["new" if is_new else "known" if read.found else "refused"] += 1
                if not read.found:
                    self.stdout.write(f"{path.name}, {read.name}: {read.refusal}")
        except OSError as error:
            raise CommandError(f"cannot read {path}: {os_error_words(error)}", returncode=2) from error
        except (TrialFileError, SettingsError) as error:
            raise CommandError(f"{path}: {error}", returncode=2) from error
