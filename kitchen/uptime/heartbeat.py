"""Record every few seconds that this process is alive (a heartbeat), and record outages and clock changes.

All processes of one part of the app (`Part`), such as pages or workers, share one row. The first heartbeat
after a gap records an outage and sends the signal `outage_over`. If somebody has set the system clock, the
stored times are corrected.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, close_old_connections, connection, transaction
from django.dispatch import Signal

from kitchen.infra.os_processes import process_is_gone, process_name
from kitchen.uptime.models import Outage, Part, Sign
from kitchen.uptime.outage_detection import (
    HEARTBEAT_SECONDS,
    REPORTING_PARTS,
    SILENCE_SECONDS,
    Moment,
    Signs,
    Span,
    clock_shift,
    current_moment,
    have_all_ended,
    is_ahead,
    is_silent,
    last_own_heartbeat,
    on_one_machine,
    subtract_spans,
)

outage_over = Signal()
"""Signal: an outage was recorded. `part`; `spans` of it that no other outage covers, in order."""

clock_set = Signal()
"""Signal: the system clock was set.

Arguments: `by` (a timedelta, negative if set back), `at` (the moment, in the new time) and `unsure` (the
clock was set up to this long before `at`). Times in that interval may follow either clock.
"""

MAX_PROCESSES_OF_PART = 64
"""Maximum number of processes of a part that are known by name. The oldest are forgotten."""

TWO_CLOCKS = "by the clocks of two machines, or of one before and after it was started"
CLOCK_BEHIND = "how long is not known: the clock was behind afterwards"


def last_heartbeats() -> dict[str, Sign]:
    """Return the last heartbeat of each part of the app, by part. Parts that never sent one are left out."""
    return {sign.part: sign for sign in Sign.objects.all()}


def is_heartbeat_due(signs: Signs, part: str, moment: Moment) -> bool:
    """Return whether this process must send a heartbeat now. False if a process of the same part has sent
    one a moment ago."""
    sign = signs.get(part)
    if sign is None or process_name() not in sign.processes:
        return True
    return not 0 <= (moment.at - sign.seen_at).total_seconds() < 0.75 * HEARTBEAT_SECONDS


@transaction.atomic
def record_heartbeat(
    part: str,
    *,
    now: Callable[[], Moment] = current_moment,
    redis_answers: bool = True,
    failed_at: datetime | None = None,
) -> list[Outage]:
    """Store a heartbeat of this part of the app. Return the outages that ended with it.

    `now` returns the present moment. `redis_answers` is True if Redis can be reached. `failed_at` is the time
    since which this process could not reach the database; None if it could.
    """
    named = [part, Part.REDIS] if redis_answers else [part]
    Sign.objects.bulk_create([_first(one, now()) for one in named], ignore_conflicts=True)
    signs = {sign.part: sign for sign in Sign.objects.select_for_update().order_by("part")}
    moment = now()  # after the wait for the lock
    found = _clock(signs, moment) + _database(signs, moment, failed_at)
    if failed_at is None and _was_away(signs[part], moment):
        found.append(_record(part, signs[part], moment))
    if redis_answers and is_silent(signs[Part.REDIS], last_own_heartbeat(signs)):
        found.append(_record(Part.REDIS, signs[Part.REDIS], moment))
    _register(signs[part])
    for one in named:
        sign = signs[one]
        sign.seen_at, sign.ticks, sign.place = moment.at, moment.ticks, moment.place
        sign.save()
    return found


def _first(part: str, moment: Moment) -> Sign:
    return Sign(part=part, seen_at=moment.at, ticks=moment.ticks, place=moment.place)


def _clock(signs: Signs, moment: Moment) -> list[Outage]:
    """Correct the stored heartbeats if the system clock was set since the last one. Return the record of the
    change in a list; empty if the clock was not set."""
    by = clock_shift(signs.values(), moment)
    if not by:
        return []
    here = [sign for sign in signs.values() if sign.place == moment.place]
    alone, last = on_one_machine(signs.values(), moment), max(here, key=lambda sign: sign.ticks)
    unsure = timedelta(seconds=moment.ticks - last.ticks)
    old = last.seen_at
    for sign in here:
        sign.seen_at += by
        sign.save(update_fields=["seen_at"])
    if alone:
        clock_set.send(Outage, by=by, at=moment.at, unsure=unsure)
    way = "forward" if by > timedelta() else "back"
    note = f"set {way} by {abs(by.total_seconds()):.0f} s"
    since = old if way == "forward" else moment.at
    return [Outage.objects.create(part=Part.CLOCK, since=since, until=moment.at, note=note)]


def _database(signs: Signs, moment: Moment, failed_at: datetime | None) -> list[Outage]:
    """Record an outage of the database that began at `failed_at`, if no process has reached the database
    since. Return it in a list; empty if there was none."""
    last = max((signs[one] for one in REPORTING_PARTS if one in signs), key=lambda sign: sign.seen_at)
    return [_record(Part.DATABASE, last, moment)] if failed_at and failed_at > last.seen_at else []


def _was_away(sign: Sign, moment: Moment) -> bool:
    if is_ahead(sign, moment):  # the other machine's clock is ahead, so its heartbeat says nothing about now
        return True
    return is_silent(sign, moment.at) or (process_name() not in sign.processes and have_all_ended(sign))


def _record(part: str, last: Sign, moment: Moment) -> Outage:
    """Store an outage. The signal that is sent covers only the time that is not part of other outages."""
    behind = is_ahead(last, moment)
    note = CLOCK_BEHIND if behind else "" if last.place == moment.place else TWO_CLOCKS
    span = Span(moment.at if behind else last.seen_at, moment.at)
    known = Outage.objects.filter(until__gt=span.since).exclude(part=Part.CLOCK)
    fresh = subtract_spans(span, [Span(one.since, one.until) for one in known])
    outage: Outage = Outage.objects.create(part=part, since=span.since, until=span.until, note=note)
    if fresh:
        outage_over.send(Outage, part=part, spans=fresh)
    return outage


def _register(own: Sign) -> None:
    """Add this process to the known processes of its part of the app (`own`). Remove those that have
    ended."""
    name = process_name()
    if name and name not in own.processes:
        alive = [one for one in own.processes if not process_is_gone(one)]
        own.processes = [*alive, name][-MAX_PROCESSES_OF_PART:]


log = logging.getLogger(__name__)

FIRST_SECONDS = 2.0
"""Seconds for a starting process's first heartbeat, after which turns get their lost time back."""
PING_SECONDS = 1.0
"""Seconds that Redis has to answer."""


class Heartbeat:
    """Sends the heartbeats of one process. Call `once` every few seconds."""

    def __init__(
        self, part: str, *, redis_answers: Callable[[], bool], now: Callable[[], Moment] = current_moment
    ) -> None:
        self.part = part
        self.failed_at: datetime | None = None
        """Time since which the database has not been reached, or None."""
        self._redis_answers, self._now = redis_answers, now

    def once(self) -> None:
        """Send a heartbeat if one is due. If the database cannot be reached, remember the time, and record
        the outage once the database is back."""
        moment = self._now()
        try:
            signs = last_heartbeats()
            if self._now().ticks - moment.ticks > SILENCE_SECONDS:
                self.failed_at = self.failed_at or moment.at
            if self.failed_at or is_heartbeat_due(signs, self.part, moment):
                self._give()
        except Error as error:
            if self.failed_at is None:
                log.warning("no sign of life could be given: %s: %s", type(error).__name__, error)
            self.failed_at = self.failed_at or moment.at

    def _give(self) -> None:
        answers = self._redis_answers()
        found = record_heartbeat(self.part, now=self._now, redis_answers=answers, failed_at=self.failed_at)
        self.failed_at = None
        for one in found:
            log.warning("outage: %s%s", one, f" ({one.note})" if one.note else "")


def start_heartbeat(part: str) -> None:
    """Start a thread that sends heartbeats for this part of the app. Return after the first heartbeat, or
    after `FIRST_SECONDS` at the latest."""
    tried, beat = threading.Event(), Heartbeat(part, redis_answers=_ping())
    threading.Thread(target=_go_on, args=(beat, tried), name="signs-of-life", daemon=True).start()
    tried.wait(FIRST_SECONDS)


def _go_on(beat: Heartbeat, tried: threading.Event) -> None:
    while True:
        try:
            close_old_connections()
            beat.once()
        except Exception:  # the next heartbeat may succeed, whatever failed
            log.exception("no sign of life could be given")
            connection.close()
        tried.set()
        time.sleep(HEARTBEAT_SECONDS)


def _ping() -> Callable[[], bool]:
    """Return a function that asks Redis whether it is alive."""
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
