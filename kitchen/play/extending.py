"""Turns with a clock get back the time that an outage took from them.

What was left of a turn's time when something went away is left when it is back, and `COMING_BACK` more where
pages had to connect again. A clock that is set takes the deadlines with it. It hears both
(`kitchen.uptime.news`) in the transaction that writes them down: no outage is recorded without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kitchen.play import clock
from kitchen.play.models import Episode
from kitchen.uptime.gaps import CUT
from kitchen.uptime.spans import Span

COMING_BACK = timedelta(seconds=6)
"""A page that has lost its server tries again after 5 seconds at the latest."""


def turns_extend(*, part: str, spans: Sequence[Span], **_: Any) -> int:
    """Every open turn that was on in these times, which begin in their order, closes later; how many do."""
    more = COMING_BACK if part in CUT else timedelta()
    closing = Episode.objects.filter(status=Episode.Status.PLAYING, turn_closes_at__gt=spans[0].since)
    return sum(_close_at(episode, _later(episode, spans, more)) for episode in _clocked(closing))


def turns_move(*, by: timedelta, at: datetime, unsure: timedelta, **_: Any) -> int:
    """The clock was set: so are the deadlines of turns that were opened before; how many."""
    playing = Episode.objects.filter(status=Episode.Status.PLAYING, turn_closes_at__isnull=False)
    before = playing.exclude(turn_opened_at__range=(at - unsure, at))
    return sum(_close_at(episode, episode.turn_closes_at + by) for episode in _clocked(before))


def _clocked(episodes: Any) -> Any:
    fields = ("pk", "status", "step", "step_seconds", "turn_opened_at", "turn_closes_at")
    return episodes.only(*fields).order_by("pk")


def _later(episode: Episode, spans: Sequence[Span], more: timedelta) -> datetime:
    """A turn whose time was over before something went away gets nothing."""
    assert episode.turn_closes_at  # noqa: S101 - asked for
    closes = episode.turn_closes_at
    for span in spans:
        begin = max(span.since, episode.turn_opened_at)
        if begin < min(closes, span.until):
            closes += span.until - begin
    return closes + more if closes != episode.turn_closes_at else closes


def _close_at(episode: Episode, closes: datetime) -> bool:
    """Unless the step was taken at this moment."""
    if closes == episode.turn_closes_at:
        return False
    still = Episode.objects.filter(pk=episode.pk, step=episode.step, turn_closes_at=episode.turn_closes_at)
    moved = bool(still.update(turn_closes_at=closes))
    if moved:
        episode.turn_closes_at = closes
        clock.arm(episode)
    return moved
