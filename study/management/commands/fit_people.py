"""Measure how the people of a study play, so that programs can play as they do.

Usage: `python manage.py fit_people SLUG --out people.txt`. Every finished episode is played again, and each
command of a person is compared with what the world's adviser program recommends. The file has a line for each
person, without codes or names. `dry_run`, `make_synthetic` and the co-player `human_like` read it. The exit
code is 2 if there is nothing to measure. `--imported` in place of SLUG measures the people of imported games.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.agents.human_like.play_habits import KINDS, PlayHabits, habits_text
from study.management.study_command import StudyCommand, writing_to
from study.pilot.fit_people import people_of_imported, people_of_study


class Command(StudyCommand):
    """Prints the habits of people, or writes them to a file, and prints the means."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the study, the file, and whose episodes are measured."""
        parser.add_argument("slug", metavar="SLUG", nargs="?", default="", help="the study's slug")
        parser.add_argument(
            "--imported",
            metavar="HASH",
            nargs="?",
            const="",
            help="measure imported games instead; of one file, by the beginning of its hash",
        )
        parser.add_argument("--out", metavar="FILE", type=Path, help="write them there (default: print them)")
        parser.add_argument(
            "--synthetic", action="store_true", help="measure synthetic participants instead of people"
        )

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Measure, write the lines, and print the means. Raises CommandError (exit code 2) without episodes
        or if the file cannot be written."""
        imported = options["imported"]
        if bool(slug) == (imported is not None):
            raise CommandError("name a study, or give --imported", returncode=2)
        if slug:
            people = people_of_study(self.study(slug), synthetic=options["synthetic"])
        else:
            people, slug = people_of_imported(imported), "imported games"
        if not people:
            whose = "synthetic participants" if options["synthetic"] else "people"
            raise CommandError(f"{slug} has no finished episodes of {whose}", returncode=2)
        text = f"# {MARK if options['synthetic'] else 'people'} of {slug}\n{habits_text(people)}\n"
        if options["out"] is None:
            self.stdout.write(text)
        else:
            with writing_to(options["out"].parent):
                options["out"].write_text(text)
        self.stdout.write(means(people))


MARK = "SYNTHETIC participants"


def means(people: tuple[PlayHabits, ...]) -> str:
    """Return the number of people and steps, and the mean share of each kind of step, as one line."""
    shares = [each.shares() for each in people]
    parts = [f"{kind} {sum(one[kind] for one in shares) / len(shares):.2f}" for kind in KINDS]
    return f"{len(people)} people, {sum(each.steps for each in people)} steps: {', '.join(parts)}"
