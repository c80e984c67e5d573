"""Define the base class of management commands about one study.

The class finds the study by the command's first argument. It reports errors in one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q, QuerySet

from kitchen.management.command_helpers import OneLineCommand
from kitchen.play.models import Episode
from kitchen.words.english_text import os_error_words
from study.design.models import Study


class StudyCommand(OneLineCommand):
    """Base class of commands whose first argument is the slug of a study."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the argument `slug`. Subclasses declare their own arguments after it."""
        parser.add_argument("slug", metavar="SLUG", help="the study's slug, as in its link /s/SLUG/")

    def study(self, slug: str) -> Study:
        """Return the study with this slug. Raises CommandError (exit code 2), which lists the existing
        studies, if there is none."""
        try:
            return Study.objects.get(slug=slug)
        except Study.DoesNotExist:
            known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"there is no study {slug!r} (studies: {known})", returncode=2) from None

    def episodes(self, slug: str) -> QuerySet[Episode]:
        """Return a query of all episodes of the study, with practice. Raises CommandError (exit code 2) if
        there is no such study."""
        study = self.study(slug)
        practised = Q(practised_by__study=study) | Q(first_practised_by__study=study)
        practised |= Q(warmed_up_by__study=study)
        theirs = Q(rounds__participant__study=study) | practised
        return Episode.objects.filter(pk__in=Episode.objects.filter(theirs).values("pk"))


@contextmanager
def bad_input(*errors: type[Exception]) -> Iterator[None]:
    """Context manager: raise a CommandError with exit code 2 in place of the exceptions in `errors`."""
    try:
        yield
    except errors as error:
        raise CommandError(str(error), returncode=2) from error


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Context manager: raise a CommandError with exit code 2, which names the folder, in place of an
    OSError."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"cannot write to {folder}: {os_error_words(error)}", returncode=2) from error
