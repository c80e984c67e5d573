"""Declare the option `--people` of commands with synthetic participants, and read its file."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError, CommandParser

from kitchen.agents.human_like.play_habits import PlayHabits, read_habits
from kitchen.contract.world_errors import SettingsError
from kitchen.words.english_text import os_error_words

MAX_BYTES = 100_000
"""Size of the largest file that is read."""


def add_people_option(parser: CommandParser) -> None:
    """Declare `--people FILE`."""
    parser.add_argument(
        "--people",
        metavar="FILE",
        type=Path,
        help="let them play like the people in this file, which `fit_people` has written",
    )


def people_in_file(path: Path | None) -> tuple[PlayHabits, ...]:
    """Return the people in a file of `fit_people`; none without a path.

    Raises CommandError (exit code 2) if the file cannot be read, is too large or holds nobody.
    """
    if path is None:
        return ()
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        people = read_habits(data.decode()) if len(data) <= MAX_BYTES else ()
    except OSError as error:
        raise CommandError(f"--people: cannot read {path}: {os_error_words(error)}", returncode=2) from error
    except (SettingsError, UnicodeDecodeError) as error:
        raise CommandError(f"--people: {path}: {error}", returncode=2) from error
    if len(data) > MAX_BYTES:
        raise CommandError(f"--people: {path} is larger than {MAX_BYTES:,} bytes", returncode=2)
    if not people:
        raise CommandError(f"--people: {path} holds nobody", returncode=2)
    return people
