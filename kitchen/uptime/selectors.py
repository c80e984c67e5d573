"""Reading what was away, and when. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from kitchen.uptime.gaps import Signs, all_lived, is_away
from kitchen.uptime.models import Outage, Part
from kitchen.uptime.moments import Moment, moment_now
from kitchen.uptime.signs import signs_now
from kitchen.uptime.spans import Span, merged, within

LATELY = timedelta(days=7)
MOST = 50
"""Outages in a list for staff."""


class Touch(NamedTuple):
    """What outages did to a stretch of time; false where they did nothing."""

    ms: int = 0
    """So long anything was away in it."""
    parts: tuple[str, ...] = ()
    """Which were away at some time in it, or that the clock was set."""

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def cells(self) -> tuple[int, str | None]:
        """As files have it."""
        return self.ms, " ".join(self.parts) or None


UNTOUCHED = Touch()


class Downtime:
    """Some outages, read once."""

    def __init__(self, outages: Iterable[tuple[str, datetime, datetime]]) -> None:
        self._outages = [(part, Span(since, until)) for part, since, until in outages]
        self._away = merged(span for part, span in self._outages if part != Part.CLOCK)

    def __bool__(self) -> bool:
        return bool(self._outages)

    def touch(self, begin: datetime, end: datetime) -> Touch:
        """What they did to this stretch of time. One that ends before it begins shows that the clock was set
        back in it."""
        if not self._outages or (self._is_outside(begin, end) and begin <= end):
            return UNTOUCHED
        first, last = min(begin, end), max(begin, end)
        parts = {part for part, span in self._outages if span.since <= last and first <= span.until}
        if end < begin:
            parts.add(Part.CLOCK)
        away = sum(span.seconds for span in within(self._away, first, last))
        return Touch(round(1000 * away), tuple(part for part in Part.values if part in parts))

    def _is_outside(self, begin: datetime, end: datetime) -> bool:
        return all(span.until < begin or end < span.since for _, span in self._outages)


def downtime_since(since: datetime) -> Downtime:
    """All outages that were not over by then."""
    return Downtime(Outage.objects.filter(until__gte=since).values_list("part", "since", "until"))


def lost_seconds(since: datetime, until: datetime) -> float:
    """How much of this time was away from people: outages, one that goes on among them, and what was only
    skipped by a clock that was set forward."""
    known = Outage.objects.filter(since__lt=until, until__gt=since).values_list("since", "until")
    spans = [Span(*one) for one in known] + list(_going_on(signs_now(), moment_now()))
    return sum(span.seconds for span in within(merged(spans), since, until))


def _going_on(signs: Signs, moment: Moment) -> Iterator[Span]:
    for part, sign in signs.items():
        if is_away(signs, part, moment) and sign.seen_at < moment.at:
            yield Span(sign.seen_at, moment.at)


def time_is_charged(deadline: datetime) -> bool:
    """Whether people can be held to this deadline, which is over: everything was there, and is."""
    return all_lived(signs_now(), deadline, moment_now())


@dataclass(frozen=True, slots=True)
class Lately:
    """An outage as staff are told of it."""

    since: datetime
    until: datetime | None
    """None while it goes on."""
    what: str
    note: str

    @property
    def seconds(self) -> float | None:
        """How long it was; None while it goes on, and for a clock that was set."""
        if self.until is None or self.what == str(Part.CLOCK.label):
            return None
        return (self.until - self.since).total_seconds()


EVERYTHING = "the whole installation"


def outages_lately(lately: timedelta = LATELY, *, most: int = MOST) -> list[Lately]:
    """What was away lately or is away now, the newest first. Pages and workers that were away together are
    told once, as the whole installation."""
    moment = moment_now()
    rows = Outage.objects.filter(until__gte=moment.at - lately).order_by("-since", "-id")[:most]
    signs = signs_now()
    now = [(one, sign.seen_at) for one, sign in signs.items() if is_away(signs, one, moment)]
    told = [Lately(since, None, str(Part(part).label), "") for part, since in now]
    told += [Lately(one.since, one.until, str(Part(one.part).label), one.note) for one in rows]
    return sorted(_together(told), key=lambda one: one.since, reverse=True)


def _together(told: list[Lately]) -> Iterator[Lately]:
    """Those of the pages and of the workers of which one lies, for the most part, in the other are one."""
    pages, workers = (
        [one for one in told if one.what == str(Part(part).label)] for part in (Part.WEB, Part.WORKERS)
    )
    joined: list[Lately] = []
    for one in pages:
        other = next((other for other in workers if _same_time(one, other)), None)
        if other is not None:
            workers.remove(other)
            joined += [one, other]
            ends = [each.until for each in (one, other)]
            until = None if None in ends else max(end for end in ends if end)
            yield Lately(min(one.since, other.since), until, EVERYTHING, one.note or other.note)
    yield from (one for one in told if one not in joined)


def _same_time(one: Lately, other: Lately) -> bool:
    now = moment_now().at
    spans = [Span(each.since, each.until or now) for each in (one, other)]
    common = sum(span.seconds for span in within(spans[:1], *spans[1]))
    return common > 0.5 * min(span.seconds for span in spans)
