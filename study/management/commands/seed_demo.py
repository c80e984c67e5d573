"""`python manage.py seed_demo`: create the demo study, once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kitchen.contract.data_files import DataError
from study.design.demo_studies import DEMO_FILE
from study.design.models import Study
from study.design.study_files import study_from_file


class Command(BaseCommand):
    """Creates the demo study if no study has its slug; changes nothing otherwise."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the demo study, or say that it exists."""
        if Study.objects.filter(slug="demo").exists():
            self.stdout.write("the demo study is there already")
            return
        try:
            study = study_from_file(DEMO_FILE, shared=True)
        except DataError as error:
            raise CommandError(str(error), returncode=2) from error
        self.stdout.write(f"demo study: {study.get_absolute_url()}")
