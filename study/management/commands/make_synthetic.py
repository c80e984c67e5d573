"""Write many synthetic participants (not people) into the database, to test exports and analyses.

Usage: `python manage.py make_synthetic SLUG --participants N --seed S`. The command really plays a few
episodes of each condition. All other episodes are copies of these, with new keys and times. It calls no
language model, so it costs nothing. Synthetic participants give random answers and are marked as synthetic.
In contrast, the command `dry_run` lets programs use the real pages.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.contract.world_errors import WorldError
from study.design.study_errors import DesignError
from study.management.people_option import add_people_option, people_in_file
from study.management.study_command import StudyCommand, bad_input
from study.pilot.synthetic.synthetic_participants import SyntheticRequest, make_participants


class Command(StudyCommand):
    """Writes synthetic participants in batches. An interrupted run leaves only complete participants."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the study, the number of participants, the seed, and settings
        of episodes."""
        super().add_arguments(parser)
        parser.add_argument("--participants", metavar="N", type=int, default=100, help="(default: 100)")
        parser.add_argument("--seed", metavar="S", type=int, default=1, help="who they are (default: 1)")
        parser.add_argument(
            "--steps-per-episode", metavar="N", type=int, help="shorter episodes (default: as in the study)"
        )
        parser.add_argument(
            "--recordings", metavar="N", type=int, default=2, help="really played per condition (default: 2)"
        )
        add_people_option(parser)

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Check the options, write the synthetic participants and print their number.

        Raises CommandError with exit code 2 for wrong options.
        """
        study = self.study(slug)
        wish = SyntheticRequest(
            options["participants"],
            options["seed"],
            options["steps_per_episode"],
            options["recordings"],
            people_in_file(options["people"]),
        )
        for name, value in (("participants", wish.participants), ("recordings", wish.recordings)):
            if value < 1:
                raise CommandError(f"--{name}: {value} is not 1 or more", returncode=2)
        if wish.steps is not None and wish.steps < 1:
            raise CommandError(f"--steps-per-episode: {wish.steps} is not 1 or more", returncode=2)
        if not study.conditions.exists():
            raise CommandError(f"{slug} has no conditions: nobody can take part", returncode=2)
        try:
            with bad_input(WorldError):
                made = make_participants(study, wish, self.stdout.write)
        except DesignError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{made} synthetic participants made in {slug}")
