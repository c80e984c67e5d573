"""The Celery application: `celery -A brigade.celery worker`."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init

from brigade.limits import more_files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")

app = Celery("brigade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def begin(**_: Any) -> None:
    """A worker begins: what it opens is counted."""
    more_files()
