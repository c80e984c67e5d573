"""`python manage.py experiment_replay DIR`: check that an experiment can be reproduced from recorded model
answers.

DIR is the folder that `experiment --out` wrote. In each step, the agents get their recorded inputs again. The
command compares prompts, commands, memories and states. It prints each difference on one line, then the
number of differences. No model is called, so no API key is needed. Exit code 1: something differs. Exit code
2: the folder cannot be read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from kitchen.experiments import experiment_folder
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_setup import EpisodeKey, episode_jobs
from kitchen.experiments.log_files import LogError, LogFolder
from kitchen.experiments.verify_replay import ReplayResult, replay_log
from kitchen.management.command_helpers import OneLineCommand, Progress
from kitchen.words.english_text import counted_noun


class Command(OneLineCommand):
    """Replay the episodes of an experiment without changing anything."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the argument: the folder of an experiment."""
        parser.add_argument("folder", metavar="DIR", type=Path, help="of `experiment --out`")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        """Replay every episode of the experiment in this folder, and print the differences from the
        recording."""
        try:
            setup = experiment_folder.read_setup_file(folder)
            _, rows = experiment_folder.open_folder(folder, setup)
        except (experiment_folder.FolderError, OSError) as error:
            raise CommandError(str(error), returncode=2) from error
        named = [(job.key, rows.get(job.key)) for job in episode_jobs(setup)]
        progress = Progress(sys.stderr, len(named), 0, "episodes")
        done = list(self._print_faults(_replays(LogFolder(folder), named), progress))
        progress.close()
        line = summary(done)
        if any(each.faults for each in done) or not done:
            raise CommandError(line)
        self.stdout.write(line)

    def _print_faults(self, replays: Iterator[ReplayResult], progress: Progress) -> Iterator[ReplayResult]:
        for number, each in enumerate(replays, start=1):
            progress.show(number)
            for fault in each.faults:
                self.stdout.write(f"{each.episode}: {fault}")
            yield each


def _replays(
    logs: LogFolder, named: Iterable[tuple[EpisodeKey, EpisodeRow | None]]
) -> Iterator[ReplayResult]:
    """Yield the replay result of each episode that has a log. A finished episode is also compared with its
    result row."""
    for key, row in named:
        try:
            if log := logs.read(key):
                yield replay_log(log, row, settings.VERSION)
            elif row:
                yield ReplayResult(str(key), faults=("there is no log of it",))
        except LogError as error:
            yield ReplayResult(str(key), faults=(f"its log {error}",))


def summary(done: list[ReplayResult]) -> str:
    """Return the last line of the output: the numbers of episodes, steps and model calls, and of episodes
    that differ."""
    steps, calls = sum(each.steps for each in done), sum(each.calls for each in done)
    other = sum(bool(each.faults) for each in done)
    what = (
        f"{counted_noun(len(done), 'episode')}, {counted_noun(steps, 'step')}, from "
        f"{counted_noun(calls, 'stored call')}"
    )
    if not done:
        return "nothing was played yet: there is nothing to play again"
    if other:
        return f"{what}: {counted_noun(other, 'episode')} not as then"
    return f"{what}, at no cost: the same prompts, commands and states"
