"""Let model providers count the tokens of a study's prompts: `python manage.py count_tokens SLUG`.

The command prints each count beside the estimate that the cost forecast uses. Counting costs nothing, but
needs an API key of each provider. The exit code is 2 if there is no such study, and 1 if a prompt could not
be counted.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from kitchen.management.command_helpers import OneLineCommand
from study.design.models import Study
from study.planning.condition_prompt_preview import count_study_tokens


class Command(OneLineCommand):
    """Prints the counted tokens, one line per condition."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's argument, the study's slug."""
        parser.add_argument("slug")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Count the tokens of the study's prompts and print one line per condition.

        Raises CommandError with exit code 2 if there is no such study, 1 if a prompt could not be counted.
        """
        study = Study.objects.filter(slug=slug).first()
        if study is None:
            raise CommandError(f"no study is called {slug!r}", returncode=2)
        found = list(count_study_tokens(study))
        for each in found:
            self.stdout.write(str(each))
        if any(each.why.startswith("not counted") for each in found):
            raise CommandError("not every prompt could be counted", returncode=1)
