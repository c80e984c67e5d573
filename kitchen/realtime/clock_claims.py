"""Claim real-time episodes for a clock process, and count clocks that have stopped.

A clock process takes the ticks (steps) of real-time episodes. An episode belongs to one process at a time,
which claims it under a random name. The claim expires after `LEASE_SECONDS`. Every stored group of ticks
renews it. If the process has certainly ended, others can claim its episodes at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from kitchen.infra.os_processes import process_is_gone, process_name
from kitchen.play.models import Episode, Seat, Ticking
from kitchen.play.turn.step_timer import ARRIVAL
from kitchen.play.turn.turn_claims import MAX_DELAY_SECONDS

LEASE_SECONDS = 1.5
"""Seconds without a renewal after which an owner has lost its episodes."""


def new_owner_name() -> str:
    """Return a unique name for an owner."""
    return f"{process_name()}#{secrets.token_hex(6)}"


@dataclass(frozen=True, slots=True)
class ClockEpisode:
    """The stored claim of a real-time episode."""

    episode_id: int
    owner: str
    until: datetime | None
    seats_given: str
    """Text that changes whenever an agent takes over a seat."""


def clock_episodes() -> list[ClockEpisode]:
    """Return the real-time episodes that have begun or can begin.

    An episode can begin when everybody has opened their page, or when one person has waited long enough for
    the others.
    """
    playing = Episode.objects.filter(status=Episode.Status.PLAYING)
    if not playing.filter(tick_ms__isnull=False).exists():  # the usual case, and a fast query
        return []
    opened = Seat.objects.filter(episode=OuterRef("episode"), mind=None)
    missing, come = opened.filter(page=""), opened.exclude(page="")
    awaited = timezone.now() - ARRIVAL
    begun = Q(episode__step__gt=0) | ~Q(owner="") | ~Exists(missing)
    ready = begun | Q(Exists(come), episode__created_at__lt=awaited)
    rows = Ticking.objects.filter(ready, episode__status=Episode.Status.PLAYING).order_by("pk")
    found = rows.values_list("episode_id", "owner", "until", "episode__gone")
    return [ClockEpisode(pk, owner, until, str(gone or "")) for pk, owner, until, gone in found]


def is_clock_unclaimed(one: ClockEpisode) -> bool:
    """Return True if no process takes its ticks (any more)."""
    return _lapsed(one.until) or process_is_gone(one.owner.partition("#")[0])


def _lapsed(until: datetime | None) -> bool:
    """Return True if the claim has expired, or ends implausibly late because somebody set the clock back."""
    now = timezone.now()
    return until is None or not now <= until <= now + timedelta(seconds=MAX_DELAY_SECONDS)


def take_clock_claim(owner: str, one: ClockEpisode) -> bool:
    """Claim this episode. Returns False if another owner has claimed it since it was read."""
    until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    free = Ticking.objects.filter(pk=one.episode_id, owner=one.owner, until=one.until)
    return bool(free.update(owner=owner, until=until))


def renew_clock_claims(owner: str, episode_ids: Collection[int]) -> set[int]:
    """Renew the claims inside a transaction; return the ids of the episodes that the owner still has."""
    ours = _of(owner, episode_ids)
    ours.update(until=timezone.now() + timedelta(seconds=LEASE_SECONDS))
    return set(ours.values_list("pk", flat=True))


def release_clock_claims(owner: str, episode_ids: Collection[int]) -> None:
    """Release the claims, so that others can take them at once."""
    _of(owner, episode_ids).update(until=None)


def _of(owner: str, episode_ids: Collection[int]) -> QuerySet[Ticking]:
    return Ticking.objects.filter(pk__in=list(episode_ids), owner=owner)


STILL_AFTER = timedelta(seconds=5)
"""Time after a claim's end in which another owner takes over. Then the clock counts as stopped."""


@dataclass(frozen=True, slots=True)
class ClockTotals:
    """Counts over the running real-time episodes."""

    running: int
    still: int
    """Number of episodes whose clock has stopped."""
    steps: int
    """Number of steps taken in these episodes."""
    late: int
    """Number of these steps that were late."""


def clock_totals() -> ClockTotals:
    """Return the counts over all real-time episodes that have begun or can begin."""
    playing, now = clock_episodes(), timezone.now()
    ids = [one.episode_id for one in playing]
    rows = Ticking.objects.filter(pk__in=ids).values_list(
        "late", "episode__step", "until", "episode__turn_opened_at"
    )
    taken = [(late, step, max(until or opened, opened)) for late, step, until, opened in rows]
    still = sum(last + STILL_AFTER < now for _, _, last in taken)
    return ClockTotals(len(playing), still, sum(row[1] for row in taken), sum(row[0] for row in taken))
