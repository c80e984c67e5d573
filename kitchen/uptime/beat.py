"""The beat of a process: a thread that gives a sign of life every few seconds, for as long as it lives."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import Error, close_old_connections, connection

from kitchen.uptime.gaps import INTERVAL, LONGEST
from kitchen.uptime.moments import Moment, moment_now
from kitchen.uptime.signs import is_due, sign_give, signs_now

log = logging.getLogger(__name__)

FIRST_SECONDS = 2.0
"""Who begins waits so long for the first sign: with it turns get back the time that was lost."""
PING_SECONDS = 1.0
"""Time for Redis to answer."""


class Beat:
    """One process's signs; `once` is called again and again."""

    def __init__(
        self,
        part: str,
        *,
        redis_answers: Callable[[], bool],
        now: Callable[[], Moment] = moment_now,
    ) -> None:
        self.part = part
        self.failed_at: datetime | None = None
        """Since when the database has not been reached."""
        self._redis_answers, self._now = redis_answers, now

    def once(self) -> None:
        """Give a sign if it is time for one. That the database is away, or hangs, is remembered until it is
        back."""
        moment = self._now()
        try:
            signs = signs_now()
            if self._now().ticks - moment.ticks > LONGEST:
                self.failed_at = self.failed_at or moment.at
            if self.failed_at or is_due(signs, self.part, moment):
                self._give()
        except Error as error:
            if self.failed_at is None:
                log.warning("no sign of life could be given: %s: %s", type(error).__name__, error)
            self.failed_at = self.failed_at or moment.at

    def _give(self) -> None:
        answers = self._redis_answers()
        found = sign_give(self.part, now=self._now, redis_answers=answers, failed_at=self.failed_at)
        self.failed_at = None
        for one in found:
            log.warning("outage: %s%s", one, f" ({one.note})" if one.note else "")


def beat_begin(part: str) -> None:
    """Give signs for this part from now on, in a thread of its own; the first one has been tried then."""
    tried, beat = threading.Event(), Beat(part, redis_answers=_ping())
    threading.Thread(target=_go_on, args=(beat, tried), name="signs-of-life", daemon=True).start()
    tried.wait(FIRST_SECONDS)


def _go_on(beat: Beat, tried: threading.Event) -> None:
    never = threading.Event()
    while True:
        try:
            close_old_connections()
            beat.once()
        except Exception:  # whatever it was, the next sign may succeed
            log.exception("no sign of life could be given")
            connection.close()
        tried.set()
        never.wait(INTERVAL)


def _ping() -> Callable[[], bool]:
    """Asks Redis whether it is there."""
    from redis import Redis, RedisError  # takes a second to import

    client = Redis.from_url(
        settings.REDIS_URL, socket_timeout=PING_SECONDS, socket_connect_timeout=PING_SECONDS
    )

    def answers() -> bool:
        try:
            return bool(client.ping())
        except (RedisError, OSError):
            return False

    return answers
