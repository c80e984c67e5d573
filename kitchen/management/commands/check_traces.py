"""`python manage.py check_traces FILE...`: does our CuisineWorld agree with recorded behaviour?"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kitchen.management.base import OneLineCommand
from kitchen.worlds.cuisine.traces import TraceFileError, difference, read_traces


class Command(OneLineCommand):
    """Compare and count. Exit 1 where a trace does not agree, 2 where a file cannot be read."""

    help = "Play recorded CuisineWorld episodes and compare every step; the last line counts who agrees."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Files of traces."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=".jsonl or .jsonl.gz")

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        """One line for each trace that differs, then the count."""
        try:
            traces = [trace for file in files for trace in read_traces(file)]
        except TraceFileError as error:
            raise CommandError(str(error), returncode=2) from error
        found = [problem for trace in traces if (problem := difference(trace))]
        for problem in found:
            self.stdout.write(problem)
        self.stdout.write(f"{len(traces) - len(found)} of {len(traces)} traces agree")
        if found:
            sys.exit(1)
