"""`python manage.py experiment_replay DIR`: an experiment played again from what models answered.

DIR is the folder of `experiment --out`. Each step is given what it was given then; what is asked, commanded
and remembered is compared, and the state that follows. A line for each difference, then how many there were.
No key is needed, and nobody is called. Exit code 1 where something is not as it was, 2 for a folder that
cannot be read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from kitchen.experiments import files
from kitchen.experiments.log import LogError
from kitchen.experiments.log_files import LogFolder
from kitchen.experiments.plan import Key, jobs_of
from kitchen.experiments.replay import Replay, replay
from kitchen.experiments.rows import Row
from kitchen.management.base import OneLineCommand
from kitchen.management.progress import Progress
from kitchen.words.counting import counted


class Command(OneLineCommand):
    """Reads, and changes nothing."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder."""
        parser.add_argument("folder", metavar="DIR", type=Path, help="of `experiment --out`")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        """Play every episode again, and say what differs."""
        try:
            setup = files.setup_of(folder)
            _, rows = files.open_folder(folder, setup)
        except (files.FolderError, OSError) as error:
            raise CommandError(str(error), returncode=2) from error
        named = [(job.key, rows.get(job.key)) for job in jobs_of(setup)]
        progress = Progress(sys.stderr, len(named), 0, "episodes")
        done = list(self._told(_replays(LogFolder(folder), named), progress))
        progress.close()
        line = summary(done)
        if any(each.faults for each in done) or not done:
            raise CommandError(line)
        self.stdout.write(line)

    def _told(self, replays: Iterator[Replay], progress: Progress) -> Iterator[Replay]:
        for number, each in enumerate(replays, start=1):
            progress.show(number)
            for fault in each.faults:
                self.stdout.write(f"{each.episode}: {fault}")
            yield each


def _replays(logs: LogFolder, named: Iterable[tuple[Key, Row | None]]) -> Iterator[Replay]:
    """Every episode that was played, with its row, or was begun."""
    for key, row in named:
        try:
            if log := logs.read(key):
                yield replay(log, row, settings.VERSION)
            elif row:
                yield Replay(str(key), faults=("there is no log of it",))
        except LogError as error:
            yield Replay(str(key), faults=(f"its log {error}",))


def summary(done: list[Replay]) -> str:
    """`6 episodes, 360 steps, from 412 stored calls, at no cost: the same prompts, commands and states`."""
    steps, calls = sum(each.steps for each in done), sum(each.calls for each in done)
    other = sum(bool(each.faults) for each in done)
    what = f"{counted(len(done), 'episode')}, {counted(steps, 'step')}, from {counted(calls, 'stored call')}"
    if not done:
        return "nothing was played yet: there is nothing to play again"
    if other:
        return f"{what}: {counted(other, 'episode')} not as then"
    return f"{what}, at no cost: the same prompts, commands and states"
