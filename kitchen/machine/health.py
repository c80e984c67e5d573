"""Whether anybody answers who decides for co-players: asked in the background, kept for a few seconds.

Whoever wants to know never waits: asking all workers takes as long as the slowest may take.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.cache import cache

log = logging.getLogger(__name__)

KEY = "kitchen.machine.health"
KEPT_SECONDS = 60
"""What was found is shown for so long at most."""
FRESH_SECONDS = 8
"""After so long it is asked anew."""
ANSWER_SECONDS = 1.0
"""Time for workers to answer."""

_asker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="health")


@dataclass(frozen=True, slots=True)
class Health:
    """How many workers take up co-players' decisions, and how many play experiments; None if that is not
    known."""

    workers: int | None = None
    problem: str = ""
    experimenters: int | None = None

    @property
    def words(self) -> str:
        """For a page."""
        if self.problem:
            return self.problem
        if self.workers is None:
            return "being asked"
        return f"{self.workers} answering" if self.workers else "none answers"


def health_known() -> Health:
    """What was found lately; asked again in the background if that is some seconds ago."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        if cache.add(f"{KEY}.asked", 1, FRESH_SECONDS):
            _asker.submit(_ask)
        kept = cache.get(KEY)
    except (RedisError, OSError):
        return Health(problem="Redis does not answer")
    return _read(kept)


def _read(kept: Any) -> Health:
    """What `_ask` kept; nothing known where it is something else."""
    try:
        return Health(**kept)
    except TypeError:
        return Health()


def _ask() -> None:
    try:
        cache.set(KEY, asdict(health_asked()), KEPT_SECONDS)
    except Exception as error:  # the next look asks again
        log.warning("workers could not be asked: %s: %s", type(error).__name__, error)


def health_asked() -> Health:
    """Ask every worker which queues it takes from, and wait for the answers."""
    replies = current_app.control.broadcast("active_queues", reply=True, timeout=ANSWER_SECONDS) or []
    answers = [queues for reply in replies for queues in reply.values()]  # workers may have the same name
    names = [{queue["name"] for queue in queues} for queues in answers]
    return Health(
        workers=sum(settings.CELERY_TASK_DEFAULT_QUEUE in queues for queues in names),
        experimenters=sum(settings.EXPERIMENTS_QUEUE in queues for queues in names),
    )
