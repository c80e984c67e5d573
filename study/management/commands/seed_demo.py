"""Create the demo study, unless it exists: `python manage.py seed_demo`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from kitchen.contract.data_files import DataError
from study.design.demo_study_files import DEMO_FILE
from study.design.models import Study
from study.design.study_files import study_from_file
from study.management.study_command import bad_input


class Command(BaseCommand):
    """Creates the demo study, unless a study with its slug exists."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the demo study and print its link. If the study already exists, print that."""
        if Study.objects.filter(slug="demo").exists():
            self.stdout.write("the demo study is there already")
            return
        with bad_input(DataError):
            study = study_from_file(DEMO_FILE, shared=True)
        self.stdout.write(f"demo study: {study.get_absolute_url()}")
