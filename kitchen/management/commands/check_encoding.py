"""`python manage.py check_encoding [FILE...]`: compare encodings with arrays from another program.

Without FILE, the command checks the arrays that come with the project.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kitchen.contract.reference_recordings import TraceFileError, read_recording_file
from kitchen.management.command_helpers import OWN_TRACES, OneLineCommand
from kitchen.opened.recorded_arrays import parse_arrays

OWN_ARRAYS = OWN_TRACES / "overcooked_encoding.jsonl.gz"


class Command(OneLineCommand):
    """Compare and count recorded arrays. Exit code 1 if one differs, 2 if a file cannot be read."""

    help = "Encode recorded states and compare every number; the last line counts the arrays that agree."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the argument: the files of recorded arrays."""
        words = ".jsonl or .jsonl.gz (default: the arrays in tests/kitchen/data)"
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help=words)

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        """Print a line with the first difference of each array that differs. The last line says how many
        arrays agree."""
        try:
            lines = [line for file in files or [OWN_ARRAYS] for line in read_recording_file(file)]
            states = [parse_arrays(line, "overcooked") for line in lines]
        except TraceFileError as error:
            raise CommandError(str(error), returncode=2) from error
        differences = [problem for state in states for problem in state.differences()]
        for problem in differences:
            self.stdout.write(problem)
        arrays = sum(len(state.seats) for state in states)
        self.stdout.write(f"{arrays - len(differences)} of {arrays} arrays agree")
        if differences:
            sys.exit(1)
