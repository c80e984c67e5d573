"""Print a finished game as one line, for the co-player `recorded`: `python manage.py recording KEY`.

KEY is the key of an episode, as its replay page has it in the address. The line is the setting `recording` of
the co-player. The exit code is 2 if there is no such game.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from kitchen.management.command_helpers import OneLineCommand
from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_world
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.import_trials import trial_of_record


class Command(OneLineCommand):
    """Prints the recording of one episode."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the key."""
        parser.add_argument("key", metavar="KEY", help="the key of an episode that is over")

    def handle(self, *args: Any, key: str, **options: Any) -> None:
        """Print the line. Raises CommandError with exit code 2."""
        try:
            found = Episode.objects.filter(key=UUID(key)).exclude(status=Episode.Status.PLAYING)
        except ValueError:
            found = Episode.objects.none()
        for record in read_episode_records(found):
            self.stdout.write(trial_of_record(record).to_text(get_world(record.episode.world).idle))
            return
        raise CommandError(f"there is no finished episode {key!r}", returncode=2)
