"""Query outages: lost time, their effect on a time span, and recent ones for staff. Read-only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from kitchen.uptime.heartbeat import last_heartbeats
from kitchen.uptime.models import Outage, Part
from kitchen.uptime.outage_detection import (
    Moment,
    Signs,
    Span,
    clip_spans,
    current_moment,
    is_down,
    merge_spans,
    was_playable_until,
)

RECENT = timedelta(days=7)
MAX_RECENT = 50
"""Outages in a list for staff."""


class OutageEffect(NamedTuple):
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


NO_EFFECT = OutageEffect()


class Downtime:
    """Some outages, read once."""

    def __init__(self, outages: Iterable[tuple[str, datetime, datetime]]) -> None:
        self._outages = [(part, Span(since, until)) for part, since, until in outages]
        self._away = merge_spans(span for part, span in self._outages if part != Part.CLOCK)

    def __bool__(self) -> bool:
        return bool(self._outages)

    def touch(self, begin: datetime, end: datetime) -> OutageEffect:
        """What they did to this stretch of time. One that ends before it begins shows that the clock was set
        back in it."""
        if not self._outages or (self._is_outside(begin, end) and begin <= end):
            return NO_EFFECT
        first, last = min(begin, end), max(begin, end)
        parts = {part for part, span in self._outages if span.since <= last and first <= span.until}
        if end < begin:
            parts.add(Part.CLOCK)
        away = sum(span.seconds for span in clip_spans(self._away, first, last))
        return OutageEffect(round(1000 * away), tuple(part for part in Part.values if part in parts))

    def _is_outside(self, begin: datetime, end: datetime) -> bool:
        return all(span.until < begin or end < span.since for _, span in self._outages)


def downtime_since(since: datetime) -> Downtime:
    """All outages that were not over by then."""
    return Downtime(Outage.objects.filter(until__gte=since).values_list("part", "since", "until"))


def lost_seconds(since: datetime, until: datetime) -> float:
    """How much of this time was away from people: outages, one that goes on among them, and what was only
    skipped by a clock that was set forward."""
    known = Outage.objects.filter(since__lt=until, until__gt=since).values_list("since", "until")
    spans = [Span(*one) for one in known] + list(_going_on(last_heartbeats(), current_moment()))
    return sum(span.seconds for span in clip_spans(merge_spans(spans), since, until))


def _going_on(signs: Signs, moment: Moment) -> Iterator[Span]:
    for part, sign in signs.items():
        if is_down(signs, part, moment) and sign.seen_at < moment.at:
            yield Span(sign.seen_at, moment.at)


def deadline_counts(deadline: datetime) -> bool:
    """Whether people can be held to this deadline, which is over: everything was there, and is."""
    return was_playable_until(last_heartbeats(), deadline, current_moment())


@dataclass(frozen=True, slots=True)
class RecentOutage:
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


WHOLE_INSTALLATION = "the whole installation"


def recent_outages(lately: timedelta = RECENT, *, most: int = MAX_RECENT) -> list[RecentOutage]:
    """What was away lately or is away now, the newest first. Pages and workers that were away together are
    told once, as the whole installation."""
    moment = current_moment()
    rows = Outage.objects.filter(until__gte=moment.at - lately).order_by("-since", "-id")[:most]
    signs = last_heartbeats()
    now = [(one, sign.seen_at) for one, sign in signs.items() if is_down(signs, one, moment)]
    told = [RecentOutage(since, None, str(Part(part).label), "") for part, since in now]
    told += [RecentOutage(one.since, one.until, str(Part(one.part).label), one.note) for one in rows]
    return sorted(_together(told), key=lambda one: one.since, reverse=True)


def _together(told: list[RecentOutage]) -> Iterator[RecentOutage]:
    """Those of the pages and of the workers of which one lies, for the most part, in the other are one."""
    pages, workers = (
        [one for one in told if one.what == str(Part(part).label)] for part in (Part.WEB, Part.WORKERS)
    )
    joined: list[RecentOutage] = []
    for one in pages:
        other = next((other for other in workers if _same_time(one, other)), None)
        if other is not None:
            workers.remove(other)
            joined += [one, other]
            ends = [each.until for each in (one, other)]
            until = None if None in ends else max(end for end in ends if end)
            yield RecentOutage(min(one.since, other.since), until, WHOLE_INSTALLATION, one.note or other.note)
    yield from (one for one in told if one not in joined)


def _same_time(one: RecentOutage, other: RecentOutage) -> bool:
    now = current_moment().at
    spans = [Span(each.since, each.until or now) for each in (one, other)]
    common = sum(span.seconds for span in clip_spans(spans[:1], *spans[1]))
    return common > 0.5 * min(span.seconds for span in spans)
