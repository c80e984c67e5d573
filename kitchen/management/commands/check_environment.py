"""Check an environment that an adapter describes, and say how long a step and a frame take."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from kitchen.opened.environment_check import CHECKED_STEPS, check_environment
from kitchen.opened.environment_world import EnvironmentWorld
from kitchen.registry.world_registry import get_world, known_worlds


class Command(BaseCommand):
    """The command `check_environment`."""

    help = "Play 100 steps of an environment in two processes, and compare what they see."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the name of the world."""
        parser.add_argument("world", help="the name of the world, as in BRIGADE_WORLDS")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the environment and print the result. Raises CommandError if it is refused, with
        the exit code 2 if there is no such environment."""
        name = options["world"]
        try:
            made = get_world(name)
        except LookupError as error:
            raise CommandError(str(error), returncode=2) from error
        if not issubclass(made, EnvironmentWorld):
            raise CommandError(f"{name} is not made from an adapter", returncode=2)
        refusal, play = check_environment(name, known_worlds()[name])
        if refusal or play is None:
            raise CommandError(refusal)
        self.stdout.write(
            f"{name}: {CHECKED_STEPS} steps agree in two processes. "
            f"One step takes {play.step_ms:g} ms (replay_ms), one frame {play.frame_ms:g} ms "
            f"and {play.frame_bytes} bytes."
        )
