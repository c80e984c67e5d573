"""Count the failures of real-time episodes in one clock process, and end an episode that fails each time.

An episode fails if its stored state cannot be read or played again, or if a tick of its world raises an
error. Its claim then expires, and a clock process tries it again. An episode that gets further counts anew.
"""

from __future__ import annotations

import logging

from django.db import Error
from redis.exceptions import RedisError

from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.play.episode.end_episode import end_unplayable_episode

log = logging.getLogger(__name__)

MOST_FAILURES = 4
"""Failures without a step between them after which an episode is ended. A try follows another after about
`realtime_storage.LEASE_SECONDS`."""

OUTAGES = (Error, RedisError, ConnectionError, TimeoutError)
"""Errors of the database and of Redis. Other errors of the operating system, such as a missing file, can come
from an environment."""


def is_outage(error: Exception) -> bool:
    """Return whether the database or Redis caused this error, and not the episode."""
    return isinstance(error, OUTAGES) or database_problem(error) is not None


class ClockFailures:
    """The failures of episodes that have not gone on since."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, int]] = {}
        """Number of failures and the step of the latest one, by episode id."""

    async def add(self, episode_id: int, error: Exception, step: int = 0) -> None:
        """Log a failure. `step` is the number of steps taken, 0 if the state could not be read. End the
        episode after `MOST_FAILURES`."""
        log.error("episode %s cannot be continued: %s", episode_id, error, exc_info=error)
        count, last = self._counts.get(episode_id, (0, step))
        count = count + 1 if step <= last else 1
        self._counts[episode_id] = count, max(last, step)
        if count < MOST_FAILURES:
            return
        try:
            await run_in_db_thread(end_unplayable_episode, episode_id)
            del self._counts[episode_id]
        except Error as failure:  # the next failure tries it again
            log.warning("episode %s could not be ended: %s", episode_id, failure)
