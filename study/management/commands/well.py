"""`python manage.py well`: is everything well?

A line for each thing that is looked at, with what to do where it is not well: the same as the page
`/staff/well/`. Exit code 1 where something is broken.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from kitchen.management.base import OneLineCommand
from study.operation.lines import BROKEN, summary, worst
from study.operation.well import installation_lines


class Command(OneLineCommand):
    """Reads, and changes nothing."""

    help = __doc__
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """All lines, then what they come to."""
        lines = installation_lines()
        for line in lines:
            self.stdout.write(f"{line.state:<7} {line.name}: {line.means}")
            if line.do:
                self.stdout.write(f"        {line.do}")
        if worst(lines) == BROKEN:
            raise CommandError(summary(lines))
        self.stdout.write(summary(lines))
