"""Decide from heartbeats which part of the app is or was down, and whether the system clock was set.

A heartbeat is a sign of life that each part, such as pages or workers, gives every few seconds. A part is
down after `SILENCE_SECONDS` without a heartbeat, or when all its processes have ended. Changes of the system
clock are found by comparison with a monotonic clock. A change during a restart of the machine is not found.
The module changes no data.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from kitchen.infra.os_processes import current_machine_run, machine_run_of, process_is_gone, process_is_here
from kitchen.uptime.models import Part, Sign

_TICKS = getattr(time, "CLOCK_BOOTTIME", None)
"""A monotonic clock that continues while the machine sleeps, because a sleeping machine is down."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: the system clock, and the seconds since the machine was started."""

    at: datetime
    ticks: float
    """Seconds since the machine was started."""
    place: str
    """Id of the boot of the machine that `ticks` belong to. Empty if the system does not provide it."""


def current_moment() -> Moment:
    """Return the present time by the system clock and by the machine's monotonic clock."""
    ticks = time.monotonic() if _TICKS is None else time.clock_gettime(_TICKS)
    return Moment(timezone.now(), ticks, current_machine_run())


HEARTBEAT_SECONDS = 2.0
"""Seconds between two heartbeats of a part."""
SILENCE_SECONDS = 6.0
"""Seconds without a heartbeat after which a part is regarded as down: two heartbeats were lost."""
CLOCK_SECONDS = 2.0
"""Smallest difference in seconds that is treated as a change of the clock. A smaller one is a correction."""

Signs = Mapping[str, Sign]
"""The last heartbeats, by part."""

PARTS_NEEDED_TO_PLAY = (Part.WEB, Part.DATABASE)
"""Parts without which nobody can command, because no page has a connection."""
REPORTING_PARTS = (Part.WEB, Part.WORKERS)
"""Parts that send heartbeats themselves. The other parts are observed by them."""


def clock_shift(signs: Iterable[Sign], moment: Moment) -> timedelta:
    """Return by how much the system clock was set since the newest heartbeat on this machine. Zero if it was
    not set, or if the machine was started since."""
    same = [sign for sign in signs if sign.place and sign.place == moment.place]
    if not same:
        return timedelta()
    last = max(same, key=lambda sign: sign.ticks)
    by = moment.at - last.seen_at - timedelta(seconds=moment.ticks - last.ticks)
    return by if abs(by.total_seconds()) > CLOCK_SECONDS else timedelta()


def is_down(signs: Signs, part: str, moment: Moment) -> bool:
    """Return whether this part of the app is known to be down at this moment. False if the part never sent
    a heartbeat."""
    if part not in signs:
        return False
    if part in REPORTING_PARTS:
        return is_silent(signs[part], moment.at) or have_all_ended(signs[part])
    return is_silent(signs[part], last_own_heartbeat(signs))


def last_own_heartbeat(signs: Signs) -> datetime:
    """Return the time of the newest heartbeat of pages or workers, the parts that send heartbeats themselves.
    At least one such heartbeat must exist."""
    return max(signs[one].seen_at for one in REPORTING_PARTS if one in signs)


def is_silent(sign: Sign, at: datetime) -> bool:
    """Return whether this part of the app has been silent for more than `SILENCE_SECONDS` at the time `at`.
    `sign` is its last heartbeat."""
    return (at - sign.seen_at).total_seconds() > SILENCE_SECONDS


def is_ahead(sign: Sign, moment: Moment) -> bool:
    """Return whether this heartbeat is dated more than `SILENCE_SECONDS` after `moment`. The clock of its
    machine is then wrong."""
    return (sign.seen_at - moment.at).total_seconds() > SILENCE_SECONDS


def have_all_ended(sign: Sign) -> bool:
    """Return whether all processes of one part of the app have certainly ended. `sign` is the last
    heartbeat of this part. False if a process may still run on another machine."""
    return bool(sign.processes) and all(process_is_gone(name) for name in sign.processes)


def was_playable_until(signs: Signs, until: datetime, moment: Moment) -> bool:
    """Return whether people could certainly send commands until this time.

    Pages and database must not be down. A process that serves pages must still run, or have sent a heartbeat
    later. Workers and Redis do not matter.
    """
    if clock_shift(signs.values(), moment) or any(
        is_down(signs, part, moment) for part in PARTS_NEEDED_TO_PLAY
    ):
        return False
    web = signs.get(Part.WEB)
    return web is None or web.seen_at >= until or any(map(process_is_here, web.processes))


def on_one_machine(signs: Iterable[Sign], moment: Moment) -> bool:
    """Return whether all processes that sent these heartbeats run on this machine."""
    return {machine_run_of(name) for sign in signs for name in sign.processes} <= {moment.place}


class Span(NamedTuple):
    """A period of time from `since` to `until`."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """Return the length of the period in seconds."""
        return (self.until - self.since).total_seconds()


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the same periods in order, with overlapping and adjacent ones joined."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.since <= found[-1].until:
            found[-1] = Span(found[-1].since, max(found[-1].until, span.until))
        else:
            found.append(span)
    return found


def clip_spans(spans: Iterable[Span], since: datetime, until: datetime) -> Iterator[Span]:
    """Yield the portions of these periods between the times `since` and `until`."""
    for span in spans:
        begin, end = max(span.since, since), min(span.until, until)
        if begin < end:
            yield Span(begin, end)


def subtract_spans(span: Span, others: Iterable[Span]) -> list[Span]:
    """Return the portions of a period that none of the other periods covers, in order."""
    left, begin = [], span.since
    for other in merge_spans(clip_spans(others, *span)):
        if begin < other.since:
            left.append(Span(begin, other.since))
        begin = other.until
    return [*left, Span(begin, span.until)] if begin < span.until else left
