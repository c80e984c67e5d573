"""The Celery application: `celery -A brigade.celery worker`. It also sets up each worker process when it
starts.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, task_postrun, task_prerun, worker_init, worker_ready

from brigade import paths
from brigade.connection_limits import raise_open_file_limit
from brigade.process_startup import say_ready, share_metrics, share_one_heap
from kitchen.infra.log_context import clear_log_context, extend_log_context
from kitchen.infra.redis_exposure import why_exposed

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")


class App(Celery):
    """Whose worker counts what it does together with all other processes."""

    @property
    def Worker(self) -> Any:  # noqa: N802 - Celery's name
        """What `celery worker` makes and runs. Making it loads the tasks, and with them what is counted into,
        before any signal that a worker begins: the folder must be known by then."""
        share_metrics()
        return super().Worker


app = App("brigade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def reconnect_after_broker_loss(**_: object) -> None:
    """A worker connects again when its broker is back. It says if others could be the broker's masters."""
    from brigade import broker_reconnect  # noqa: F401 - takes a second, and only workers need it

    if said := why_exposed(paths.redis_url()):
        logging.getLogger(__name__).warning(said)


@celeryd_init.connect
def set_up_worker(instance: Any, **_: Any) -> None:
    """A worker begins: it may open more files, its threads share a heap, and it says nothing but what it
    logs."""
    raise_open_file_limit()
    share_one_heap()
    instance.quiet = True


@worker_ready.connect
def report_ready(**_: Any) -> None:
    """It takes tasks from now on."""
    say_ready()


@task_prerun.connect
def enter_task_context(task_id: str, task: Any, **_: Any) -> None:
    """A thread takes up a task: its lines in the log say which, and for which request."""
    from kitchen.infra import prometheus_metrics  # counts into what `App.Worker` has made
    from kitchen.infra.task_broker import REQUEST_HEADER, SENT_AT_HEADER, known_queue

    request = task.request.get(REQUEST_HEADER)
    clear_log_context()
    extend_log_context(task=task_id, **({"request": request} if request else {}))
    if asked_at := task.request.get(SENT_AT_HEADER):
        queue = known_queue((task.request.delivery_info or {}).get("routing_key"))
        prometheus_metrics.task_wait_seconds.labels(queue or prometheus_metrics.OTHER).observe(
            max(0.0, time.time() - asked_at)
        )


@task_postrun.connect
def leave_task_context(**_: Any) -> None:
    """The thread goes on to another task."""
    clear_log_context()
