"""Define the Celery application, and prepare each worker process when it starts.

Start a worker with `celery -A brigade.celery worker`. While a task runs, log lines contain the ids of the
task and of the request that queued it.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from celery import Celery
from celery.signals import celeryd_init, task_postrun, task_prerun, worker_init, worker_ready

from brigade import paths
from brigade.process_startup import report_ready, share_metrics, share_one_heap
from brigade.server_limits import raise_open_file_limit
from kitchen.infra.log_context import clear_log_context, extend_log_context
from kitchen.infra.redis_exposure import why_exposed

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")


class App(Celery):
    """The Celery application. Its workers count their metrics together with all other processes."""

    @property
    def Worker(self) -> Any:  # noqa: N802 - Celery's name
        """Return the worker class that `celery worker` starts. Prepare the metrics folder first, because
        Celery loads the tasks and their metrics right after this call."""
        share_metrics()
        return super().Worker


app = App("brigade")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def reconnect_after_broker_loss(**_: object) -> None:
    """Let a worker reconnect when Redis (its broker) can be reached again. Log a warning if Redis is on
    another machine and has no password."""
    from brigade import broker_reconnect  # noqa: F401 - takes a second, and only workers need it

    if said := why_exposed(paths.redis_url()):
        logging.getLogger(__name__).warning(said)


@celeryd_init.connect
def set_up_worker(instance: Any, **_: Any) -> None:
    """Prepare a worker process. It may open more files, its threads use a single malloc arena (glibc only),
    and all output goes to the log."""
    raise_open_file_limit()
    share_one_heap()
    instance.quiet = True


@worker_ready.connect
def report_worker_ready(**_: Any) -> None:
    """Report that the worker accepts tasks from now on (`process_startup.report_ready`)."""
    report_ready()


@task_prerun.connect
def enter_task_context(task_id: str, task: Any, **_: Any) -> None:
    """Add the ids of the task and of its request to the log lines of this thread. Count how long the task
    waited in its queue."""
    from kitchen.infra import prometheus_metrics  # counts into the folder that `App.Worker` set
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
    """Remove the task's id from the log lines of this thread when the task has ended."""
    clear_log_context()
