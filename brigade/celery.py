"""The Celery application: `celery -A brigade.celery worker`."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, task_postrun, task_prerun, worker_init, worker_ready

from brigade import places
from brigade.limits import more_files
from brigade.memory import share_one_heap
from brigade.notify import say_ready
from brigade.sharing import count_together
from kitchen.machine.about import forget, note
from kitchen.machine.redis_access import open_to_others

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")


class App(Celery):
    """Whose worker counts what it does together with all other processes."""

    @property
    def Worker(self) -> Any:  # noqa: N802 - Celery's name
        """What `celery worker` makes and runs. Making it loads the tasks, and with them what is counted into,
        before any signal that a worker begins: the folder must be known by then."""
        count_together()
        return super().Worker


app = App("brigade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def outlive_the_broker(**_: object) -> None:
    """A worker connects again when its broker is back. It says if others could be the broker's masters."""
    from brigade import broker_loss  # noqa: F401 - takes a second, and only workers need it

    if said := open_to_others(places.redis_url()):
        logging.getLogger(__name__).warning(said)


@celeryd_init.connect
def begin(instance: Any, **_: Any) -> None:
    """A worker begins: it may open more files, its threads share a heap, and it says nothing but what it
    logs."""
    more_files()
    share_one_heap()
    instance.quiet = True


@worker_ready.connect
def work(**_: Any) -> None:
    """It takes tasks from now on."""
    say_ready()


@task_prerun.connect
def begin_task(task_id: str, task: Any, **_: Any) -> None:
    """A thread takes up a task: its lines in the log say which, and for which request."""
    from kitchen.machine import metrics  # counts into what `App.Worker` has made
    from kitchen.machine.broker import REQUEST
    from kitchen.machine.queues import ASKED_AT, queue_of

    request = task.request.get(REQUEST)
    forget()
    note(task=task_id, **({"request": request} if request else {}))
    if asked_at := task.request.get(ASKED_AT):
        queue = queue_of((task.request.delivery_info or {}).get("routing_key"))
        metrics.task_wait_seconds.labels(queue or metrics.OTHER).observe(max(0.0, time.time() - asked_at))


@task_postrun.connect
def end_task(**_: Any) -> None:
    """The thread goes on to another task."""
    forget()
