"""Giving signs of life, and writing down the outage that is over with one.

Each sign is one small transaction, with the part's row locked: of many processes that come back together the
first one records the outage, and the others find nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from kitchen.machine.processes import process_is_gone, process_name
from kitchen.uptime.gaps import (
    GIVERS,
    INTERVAL,
    Signs,
    all_gone,
    is_ahead,
    is_silent,
    last_given,
    on_one_machine,
    set_by,
)
from kitchen.uptime.models import Outage, Part, Sign
from kitchen.uptime.moments import Moment, moment_now
from kitchen.uptime.news import clock_set, outage_over
from kitchen.uptime.spans import Span, without

MOST_PROCESSES = 64
"""Processes of a part that are known by name; the oldest are forgotten."""

TWO_CLOCKS = "by the clocks of two machines, or of one before and after it was started"
CLOCK_BEHIND = "how long is not known: the clock was behind afterwards"


def signs_now() -> dict[str, Sign]:
    """The last sign of every part that ever gave one."""
    return {sign.part: sign for sign in Sign.objects.all()}


def is_due(signs: Signs, part: str, moment: Moment) -> bool:
    """Whether this process should give a sign: another one of its kind has not done so just now."""
    sign = signs.get(part)
    if sign is None or process_name() not in sign.processes:
        return True
    return not 0 <= (moment.at - sign.seen_at).total_seconds() < 0.75 * INTERVAL


@transaction.atomic
def sign_give(
    part: str,
    *,
    now: Callable[[], Moment] = moment_now,
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
    by = set_by(signs.values(), moment)
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
    last = max((signs[one] for one in GIVERS if one in signs), key=lambda sign: sign.seen_at)
    if failed_at is None or failed_at <= last.seen_at:
        return []
    return [_record(Part.DATABASE, last, moment)]


def _was_away(sign: Sign, moment: Moment) -> bool:
    if is_ahead(sign, moment):  # of another clock: it tells nothing of now
        return True
    return is_silent(sign, moment.at) or (process_name() not in sign.processes and all_gone(sign))


def _was_missed(signs: Signs) -> bool:
    """Others gave signs for long while Redis did not answer."""
    return is_silent(signs[Part.REDIS], last_given(signs))


def _record(part: str, last: Sign, moment: Moment) -> Outage:
    """Write it down, and tell of what no other outage had covered."""
    behind = is_ahead(last, moment)
    note = CLOCK_BEHIND if behind else "" if last.place == moment.place else TWO_CLOCKS
    span = Span(moment.at if behind else last.seen_at, moment.at)
    known = Outage.objects.filter(until__gt=span.since).exclude(part=Part.CLOCK)
    fresh = without(span, [Span(one.since, one.until) for one in known])
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
        own.processes = [*(one for one in own.processes if not process_is_gone(one)), name][-MOST_PROCESSES:]
