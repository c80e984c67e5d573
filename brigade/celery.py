"""The Celery application: `celery -A brigade.celery worker`."""

from __future__ import annotations

import logging
import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, worker_init, worker_ready

from brigade import places
from brigade.limits import more_files
from brigade.notify import say_ready
from kitchen.machine.redis_access import open_to_others

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")

app = Celery("brigade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def outlive_the_broker(**_: object) -> None:
    """A worker connects again when its broker is back. It says if others could be the broker's masters."""
    from brigade import broker_loss  # noqa: F401 - takes a second, and only workers need it

    if said := open_to_others(places.redis_url()):
        logging.getLogger(__name__).warning(said)


@celeryd_init.connect
def begin(**_: Any) -> None:
    """A worker begins: what it opens is counted."""
    more_files()


@worker_ready.connect
def work(**_: Any) -> None:
    """It takes tasks from now on."""
    say_ready()
