"""Claims: which process takes the ticks of an episode.

A claim is a word that only its owner has. It is kept up with every group that is stored, and lapses `LEASE`
after that; the claim of a process that can be seen to have ended is free at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from kitchen.machine.processes import process_is_gone, process_name
from kitchen.play.claims import LONGEST_SECONDS
from kitchen.play.clock import ARRIVAL
from kitchen.play.models import Episode, Seat, Ticking

LEASE = 1.5
"""Seconds after which an owner that says nothing has lost its episodes."""


def owner_name() -> str:
    """A name that only this owner has."""
    return f"{process_name()}#{secrets.token_hex(6)}"


@dataclass(frozen=True, slots=True)
class Standing:
    """How an episode stands that a clock plays."""

    episode_id: int
    owner: str
    until: datetime | None
    seats_given: str
    """Of whose seats somebody else has taken over; another one when that changes."""


def episodes_ticking() -> list[Standing]:
    """All that are played and have begun, or can: everybody has opened their page, or one has been waiting
    for the others for as long as they are given."""
    playing = Episode.objects.filter(status=Episode.Status.PLAYING)
    if not playing.filter(tick_ms__isnull=False).exists():  # most of the time, and asked in no time
        return []
    opened = Seat.objects.filter(episode=OuterRef("episode"), mind=None)
    missing, come = opened.filter(page=""), opened.exclude(page="")
    awaited = timezone.now() - ARRIVAL
    begun = Q(episode__step__gt=0) | ~Q(owner="") | ~Exists(missing)
    ready = begun | Q(Exists(come), episode__created_at__lt=awaited)
    rows = Ticking.objects.filter(ready, episode__status=Episode.Status.PLAYING).order_by("pk")
    found = rows.values_list("episode_id", "owner", "until", "episode__gone")
    return [Standing(pk, owner, until, str(gone or "")) for pk, owner, until, gone in found]


def is_free(one: Standing) -> bool:
    """Whether nobody takes its ticks (any more)."""
    return _lapsed(one.until) or process_is_gone(one.owner.partition("#")[0])


def _lapsed(until: datetime | None) -> bool:
    """Until a moment that is over, or that cannot have been meant: somebody set the clock back."""
    now = timezone.now()
    return until is None or not now <= until <= now + timedelta(seconds=LONGEST_SECONDS)


def claim_take(owner: str, one: Standing) -> bool:
    """Take this one, unless somebody else has since it was read."""
    until = timezone.now() + timedelta(seconds=LEASE)
    free = Ticking.objects.filter(pk=one.episode_id, owner=one.owner, until=one.until)
    return bool(free.update(owner=owner, until=until))


def claims_keep(owner: str, episode_ids: Collection[int]) -> set[int]:
    """This owner is alive; which of these are still its own. Needs a transaction around it: nobody else takes
    them before its end."""
    ours = _of(owner, episode_ids)
    ours.update(until=timezone.now() + timedelta(seconds=LEASE))
    return set(ours.values_list("pk", flat=True))


def claims_free(owner: str, episode_ids: Collection[int]) -> None:
    """Others may take these at once."""
    _of(owner, episode_ids).update(until=None)


def _of(owner: str, episode_ids: Collection[int]) -> QuerySet[Ticking]:
    return Ticking.objects.filter(pk__in=list(episode_ids), owner=owner)


def ticks_tell(episode_id: int, *, late: int, lost_ms: int) -> None:
    """So many more ticks were late, and so much more time was lost."""
    Ticking.objects.filter(pk=episode_id).update(late=F("late") + late, lost_ms=F("lost_ms") + lost_ms)
