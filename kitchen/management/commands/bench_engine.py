"""`python manage.py bench_engine [FILE]`: measure how many steps per second the worlds compute.

FILE contains recorded episodes (traces). Without it, the command uses those of the world that come with the
project. It replays them several times. It cannot measure the authors' own program for a world, because that
program is not installed.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from typing import Any

from django.core.management.base import CommandError

from kitchen.contract.reference_recordings import TraceFileError
from kitchen.contract.world_errors import SettingsError
from kitchen.management.command_helpers import (
    OWN_TRACES,
    TRACE_FILE_HELP,
    OneLineCommand,
    add_world_argument,
    read_traces,
    recordings_of_world,
    worlds_of,
)

RELEASED_MISSING = (
    "Our rate only: the released program is not installed. To compare, play the same recordings in it on "
    "this machine, and divide the rates."
)


class Command(OneLineCommand):
    """Replay all recorded episodes of a file several times. Exit code 2 if the file cannot be read or
    replayed."""

    help = "Play recorded episodes for speed; the last line is the best round."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments: the file of recorded episodes, the number of rounds, and the world."""
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=TRACE_FILE_HELP)
        parser.add_argument("--rounds", type=int, default=40, help="how often to play them all (40)")
        add_world_argument(parser, "whose traces are played")

    def handle(self, *args: Any, file: Path | None, rounds: int, world: str, **options: Any) -> None:
        """Print the speed of the world in steps per second: first round (which fills caches), median and, on
        the last line, best round. For a family, print the speed of each of its worlds.

        A line before says how to compare the speed with that of the original program, which is not installed.
        """
        try:
            speeds = {name: self._speeds(name, file, rounds) for name in worlds_of(world)}
        except TraceFileError as error:
            raise CommandError(str(error), returncode=2) from error
        except SettingsError as error:
            raise CommandError(f"{file or OWN_TRACES}: {error}", returncode=2) from error
        self.stdout.write(RELEASED_MISSING)
        for name, each in speeds.items():
            of_world = f"{name}: " if len(speeds) > 1 else ""
            self.stdout.write(
                f"{of_world}first round {each[0]:.0f}, median {median(each):.0f}, best of {len(each)}:"
            )
            self.stdout.write(f"{max(each):.0f} steps/s")

    def _speeds(self, world: str, file: Path | None, rounds: int) -> list[float]:
        return recordings_of_world(world).speeds(read_traces(world, file), max(1, rounds))
