"""Turns that somebody has to see to, as the looks of workers find them. Nothing here changes anything."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from kitchen.play.claims import is_free
from kitchen.play.models import Episode, Mind, Seat, SeatCommand


def open_turns() -> list[tuple[int, int]]:
    """(episode, step) of the turns where all people have commanded and no worker holds a claim: those that
    co-players still have to decide, and those that should have run. A turn that has only just opened is
    left to the task that was queued for it, unless the clock was set back since.
    """
    now = timezone.now()
    fresh = Q(turn_opened_at__range=(now - timedelta(seconds=1), now + timedelta(seconds=1)))
    people = Seat.objects.filter(episode=OuterRef("pk"), mind=None)
    done = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    idle_person = people.exclude(Exists(done.filter(seat=OuterRef("number"))))
    waiting = Episode.objects.filter(
        ~Exists(idle_person),
        Exists(Mind.objects.filter(episode=OuterRef("pk"))),
        is_free(now),
        ~fresh,
        status=Episode.Status.PLAYING,
    )
    return [(pk, step + 1) for pk, step in waiting.values_list("pk", "step")]


def overdue_turns(since: timedelta = timedelta(0)) -> list[tuple[int, int]]:
    """(episode, step) of the turns whose time is over, for so long, and where a person has not commanded."""
    done = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    people = Seat.objects.filter(episode=OuterRef("pk"), mind=None)
    late = Episode.objects.filter(
        Exists(people.exclude(Exists(done.filter(seat=OuterRef("number"))))),
        status=Episode.Status.PLAYING,
        turn_closes_at__lt=timezone.now() - since,
    )
    return [(pk, step + 1) for pk, step in late.values_list("pk", "step")]
