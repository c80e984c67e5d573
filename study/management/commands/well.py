"""Check whether all parts of the installation work: `python manage.py well`.

The command prints one line for each check, with advice if something is wrong. The page `/staff/well/` shows
the same checks. The exit code is 1 if something is broken.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from kitchen.management.command_helpers import OneLineCommand
from study.operation.installation_status import installation_lines
from study.operation.status_checks import BROKEN, status_summary, worst_state


class Command(OneLineCommand):
    """Checks the state of the installation. Nothing is changed."""

    help = __doc__
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line for each check, then a summary. Raises CommandError if something is broken."""
        lines = installation_lines()
        for line in lines:
            self.stdout.write(f"{line.state:<7} {line.name}: {line.means}")
            if line.do:
                self.stdout.write(f"        {line.do}")
        if worst_state(lines) == BROKEN:
            raise CommandError(status_summary(lines))
        self.stdout.write(status_summary(lines))
