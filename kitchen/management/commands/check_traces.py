"""`python manage.py check_traces [FILE...]`: check that worlds reproduce recorded episodes (traces).

Without FILE, the command checks the episodes of `--world` that come with the project. It replays each episode
and compares the states step by step.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kitchen.contract.reference_recordings import TraceFileError, read_recording_file
from kitchen.management.command_helpers import (
    TRACE_FILE_HELP,
    OneLineCommand,
    add_world_argument,
    own_trace_lines,
    recordings_for_line,
)


class Command(OneLineCommand):
    """Compare and count recorded episodes. Exit code 1 if one differs, 2 if a file cannot be read."""

    help = "Play recorded episodes and compare every step; the last line counts who agrees."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments: the files of recorded episodes, and the world."""
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help=TRACE_FILE_HELP)
        add_world_argument(parser, "of traces that name none")

    def handle(self, *args: Any, files: list[Path], world: str, **options: Any) -> None:
        """Print a line for each recorded episode that our world plays differently. The last line says how
        many episodes agree."""
        try:
            named = [line for file in files for line in read_recording_file(file)]
            lines = named if files else own_trace_lines(world)
            readers = [recordings_for_line(line, world) for line in lines]
            traces = [line.parsed(reader) for line, reader in zip(lines, readers, strict=True)]
        except TraceFileError as error:
            raise CommandError(str(error), returncode=2) from error
        found = (reader.difference(trace) for reader, trace in zip(readers, traces, strict=True))
        differences = [problem for problem in found if problem]
        for problem in differences:
            self.stdout.write(problem)
        self.stdout.write(f"{len(traces) - len(differences)} of {len(traces)} traces agree")
        if differences:
            sys.exit(1)
