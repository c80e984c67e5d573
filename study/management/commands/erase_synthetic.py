"""`python manage.py erase_synthetic SLUG`: erase all that programs left in a study.

What `dry_run` and `make_synthetic` made is gone then, as if it had never been; people's data stay.
"""

from __future__ import annotations

from typing import Any

from kitchen.words.english_text import counted_noun
from study.management.study_command import StudyCommand
from study.pilot.synthetic.synthetic_participants import synthetic_erase


class Command(StudyCommand):
    """Erases them one after another; what is stopped in the middle leaves whole participants."""

    help = __doc__

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Erase, say how many there were."""
        erased = synthetic_erase(study_id=self.study(slug).pk)
        self.stdout.write(f"{counted_noun(erased, 'synthetic participant')} erased in {slug}")
