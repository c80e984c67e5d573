"""Send heartbeats of this process every few seconds, and record the outage that ends with one.

Each heartbeat is one small transaction that locks the row of its part. Of many processes that come back
together, the first one records the outage and the others find nothing. The signals `outage_over` and
`clock_set` are sent within that transaction.
"""

from __future__ import annotations

import logging
import threading
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
"""An outage was recorded: `part`, and `spans` of it that no other outage had covered, in their order."""

clock_set = Signal()
"""The clock was set `by` so much (a timedelta; negative: back), at the moment `at` of the new time or up to
`unsure` before it: what is dated in between may be dated by either."""

MAX_PROCESSES_OF_PART = 64
"""Processes of a part that are known by name; the oldest are forgotten."""

TWO_CLOCKS = "by the clocks of two machines, or of one before and after it was started"
CLOCK_BEHIND = "how long is not known: the clock was behind afterwards"


def last_heartbeats() -> dict[str, Sign]:
    """The last sign of every part that ever gave one."""
    return {sign.part: sign for sign in Sign.objects.all()}


def is_heartbeat_due(signs: Signs, part: str, moment: Moment) -> bool:
    """Whether this process should give a sign: another one of its kind has not done so just now."""
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
    """This process lives, and so does its part; the outages that are over with that, written down.

    `redis_answers`: whether Redis does, too. `failed_at`: since when this process could not reach the
    database until now.
    """
    named = [part, Part.REDIS] if redis_answers else [part]
    Sign.objects.bulk_create([_first(one, now()) for one in named], ignore_conflicts=True)
    signs = {sign.part: sign for sign in Sign.objects.select_for_update().order_by("part")}
    moment = now()  # behind whoever had to be waited for
    found = _clock(signs, moment) + _database(signs, moment, failed_at)
    if failed_at is None and _was_away(signs[part], moment):
        found.append(_record(part, signs[part], moment))
    if redis_answers and _was_missed(signs):
        found.append(_record(Part.REDIS, signs[Part.REDIS], moment))
    _register(signs[part])
    for one in named:
        _refresh(signs[one], moment)
    return found


def _first(part: str, moment: Moment) -> Sign:
    return Sign(part=part, seen_at=moment.at, ticks=moment.ticks, place=moment.place)


def _clock(signs: Signs, moment: Moment) -> list[Outage]:
    """The clock was set: signs are as if they had been given by the clock as it is now."""
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
    """Nobody has reached the database since this process failed to."""
    last = max((signs[one] for one in REPORTING_PARTS if one in signs), key=lambda sign: sign.seen_at)
    if failed_at is None or failed_at <= last.seen_at:
        return []
    return [_record(Part.DATABASE, last, moment)]


def _was_away(sign: Sign, moment: Moment) -> bool:
    if is_ahead(sign, moment):  # of another clock: it tells nothing of now
        return True
    return is_silent(sign, moment.at) or (process_name() not in sign.processes and have_all_ended(sign))


def _was_missed(signs: Signs) -> bool:
    """Others gave signs for long while Redis did not answer."""
    return is_silent(signs[Part.REDIS], last_own_heartbeat(signs))


def _record(part: str, last: Sign, moment: Moment) -> Outage:
    """Write it down, and tell of what no other outage had covered."""
    behind = is_ahead(last, moment)
    note = CLOCK_BEHIND if behind else "" if last.place == moment.place else TWO_CLOCKS
    span = Span(moment.at if behind else last.seen_at, moment.at)
    known = Outage.objects.filter(until__gt=span.since).exclude(part=Part.CLOCK)
    fresh = subtract_spans(span, [Span(one.since, one.until) for one in known])
    outage: Outage = Outage.objects.create(part=part, since=span.since, until=span.until, note=note)
    if fresh:
        outage_over.send(Outage, part=part, spans=fresh)
    return outage


def _refresh(sign: Sign, moment: Moment) -> None:
    sign.seen_at, sign.ticks, sign.place = moment.at, moment.ticks, moment.place
    sign.save()


def _register(own: Sign) -> None:
    """This process is one of its part; those that have ended are forgotten."""
    name = process_name()
    if name and name not in own.processes:
        own.processes = [*(one for one in own.processes if not process_is_gone(one)), name][
            -MAX_PROCESSES_OF_PART:
        ]


log = logging.getLogger(__name__)

FIRST_SECONDS = 2.0
"""Who begins waits so long for the first sign: with it turns get back the time that was lost."""
PING_SECONDS = 1.0
"""Time for Redis to answer."""


class Heartbeat:
    """One process's signs; `once` is called again and again."""

    def __init__(
        self,
        part: str,
        *,
        redis_answers: Callable[[], bool],
        now: Callable[[], Moment] = current_moment,
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
    """Give signs for this part from now on, in a thread of its own; the first one has been tried then."""
    tried, beat = threading.Event(), Heartbeat(part, redis_answers=_ping())
    threading.Thread(target=_go_on, args=(beat, tried), name="signs-of-life", daemon=True).start()
    tried.wait(FIRST_SECONDS)


def _go_on(beat: Heartbeat, tried: threading.Event) -> None:
    never = threading.Event()
    while True:
        try:
            close_old_connections()
            beat.once()
        except Exception:  # whatever it was, the next sign may succeed
            log.exception("no sign of life could be given")
            connection.close()
        tried.set()
        never.wait(HEARTBEAT_SECONDS)


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
