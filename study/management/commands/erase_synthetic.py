"""Erase all data of a study's synthetic participants (programs): `python manage.py erase_synthetic SLUG`.

The commands `dry_run` and `make_synthetic` create synthetic participants. People's data are not changed.
"""

from __future__ import annotations

from typing import Any

from kitchen.words.english_text import counted_noun
from study.management.study_command import StudyCommand
from study.pilot.synthetic.synthetic_participants import synthetic_erase


class Command(StudyCommand):
    """Erases synthetic participants one by one. An interrupted run leaves only complete participants."""

    help = __doc__

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Erase all synthetic participants of the study and print their number."""
        erased = synthetic_erase(study_id=self.study(slug).pk)
        self.stdout.write(f"{counted_noun(erased, 'synthetic participant')} erased in {slug}")
