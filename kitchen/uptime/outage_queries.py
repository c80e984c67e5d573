"""Read recorded outages: the time lost in a period, the affected steps, and a list for staff.

The module changes no data.
"""

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
"""Maximum number of outages in a list for staff."""


class OutageEffect(NamedTuple):
    """The outages in a period: their total time and the parts of the app that were down. False (as a bool)
    if there were none."""

    ms: int = 0
    """Milliseconds in which any part was down."""
    parts: tuple[str, ...] = ()
    """Parts that were down at some time in the interval, and `clock` if the clock was set."""

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def cells(self) -> tuple[int, str | None]:
        """Return two cells of an export file: the lost time in milliseconds, and the names of the parts of
        the app that were down. The names are None if there are none."""
        return self.ms, " ".join(self.parts) or None


NO_EFFECT = OutageEffect()


class Downtime:
    """A set of outages in memory, so that many periods can be checked without further queries."""

    def __init__(self, outages: Iterable[tuple[str, datetime, datetime]]) -> None:
        self._outages = [(part, Span(since, until)) for part, since, until in outages]
        self._away = merge_spans(span for part, span in self._outages if part != Part.CLOCK)

    def __bool__(self) -> bool:
        return bool(self._outages)

    def touch(self, begin: datetime, end: datetime) -> OutageEffect:
        """Return how outages affected the period from `begin` to `end`: the lost time, and the parts of the
        app that were down.

        If `end` is before `begin`, the system clock was set back in between. The result says this, too.
        """
        if begin <= end and all(span.until < begin or end < span.since for _, span in self._outages):
            return NO_EFFECT
        first, last = min(begin, end), max(begin, end)
        parts = {part for part, span in self._outages if span.since <= last and first <= span.until}
        if end < begin:
            parts.add(Part.CLOCK)
        away = sum(span.seconds for span in clip_spans(self._away, first, last))
        return OutageEffect(round(1000 * away), tuple(part for part in Part.values if part in parts))


def downtime_since(since: datetime) -> Downtime:
    """Read all outages that ended at this time or later."""
    return Downtime(Outage.objects.filter(until__gte=since).values_list("part", "since", "until"))


def lost_seconds(since: datetime, until: datetime) -> float:
    """Return for how many seconds between these times some part of the app was down. Ongoing outages and time
    skipped by a clock change are included."""
    known = Outage.objects.filter(since__lt=until, until__gt=since).values_list("since", "until")
    spans = [Span(*one) for one in known] + list(_going_on(last_heartbeats(), current_moment()))
    return sum(span.seconds for span in clip_spans(merge_spans(spans), since, until))


def _going_on(signs: Signs, moment: Moment) -> Iterator[Span]:
    for part, sign in signs.items():
        if is_down(signs, part, moment) and sign.seen_at < moment.at:
            yield Span(sign.seen_at, moment.at)


def deadline_counts(deadline: datetime) -> bool:
    """Return whether a past deadline counts: pages and database worked until then, so the person could have
    met it."""
    return was_playable_until(last_heartbeats(), deadline, current_moment())


@dataclass(frozen=True, slots=True)
class RecentOutage:
    """An outage or a clock change in a list for staff."""

    since: datetime
    until: datetime | None
    """The end. None while the outage goes on."""
    what: str
    note: str

    @property
    def seconds(self) -> float | None:
        """Return the length of the outage in seconds. None while it continues, and for a change of the system
        clock."""
        if self.until is None or self.what == str(Part.CLOCK.label):
            return None
        return (self.until - self.since).total_seconds()


WHOLE_INSTALLATION = "the whole installation"


def recent_outages(lately: timedelta = RECENT, *, most: int = MAX_RECENT) -> list[RecentOutage]:
    """Return the outages that are ongoing or happened within the period `lately`, newest first. At most
    `most` ended ones are returned.

    If pages and workers were down at about the same time, a single outage is listed.
    """
    moment = current_moment()
    rows = Outage.objects.filter(until__gte=moment.at - lately).order_by("-since", "-id")[:most]
    signs = last_heartbeats()
    now = [(one, sign.seen_at) for one, sign in signs.items() if is_down(signs, one, moment)]
    outages = [RecentOutage(since, None, str(Part(part).label), "") for part, since in now]
    outages += [RecentOutage(one.since, one.until, str(Part(one.part).label), one.note) for one in rows]
    return sorted(_together(outages), key=lambda one: one.since, reverse=True)


def _together(outages: list[RecentOutage]) -> Iterator[RecentOutage]:
    """Merge outages of pages with outages of workers that mostly overlap."""
    pages, workers = (
        [one for one in outages if one.what == str(Part(part).label)] for part in (Part.WEB, Part.WORKERS)
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
    yield from (one for one in outages if one not in joined)


def _same_time(one: RecentOutage, other: RecentOutage) -> bool:
    now = current_moment().at
    spans = [Span(each.since, each.until or now) for each in (one, other)]
    common = sum(span.seconds for span in clip_spans(spans[:1], *spans[1]))
    return common > 0.5 * min(span.seconds for span in spans)
