"""Turns that somebody has to see to, as the looks of workers find them. Nothing here changes anything."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from kitchen.play.claims import is_free
from kitchen.play.clock import OF_PEOPLE
from kitchen.play.filling import WORLD
from kitchen.play.models import Episode, Seat, SeatCommand


def open_turns() -> list[tuple[int, int]]:
    """(episode, step) of the turns where all people have commanded and no worker holds a claim: those that
    co-players still have to decide, and those that should have run. A turn that has only just opened is
    left to the task that was queued for it, unless the clock was set back since.
    """
    now = timezone.now()
    fresh = Q(turn_opened_at__range=(now - timedelta(seconds=1), now + timedelta(seconds=1)))
    waiting = _commanded().filter(is_free(now), ~fresh)
    return [(pk, step + 1) for pk, step in waiting.values_list("pk", "step")]


def undecided_turns(beyond: timedelta, *, free: bool = False) -> list[tuple[int, int]]:
    """(episode, step) of the turns where all people have commanded, and co-players had their time and so
    much more since; of the `free` ones, if those alone are meant, that no worker holds."""
    now = timezone.now()
    waiting = _commanded().filter(is_free(now)) if free else _commanded()
    given = SeatCommand.objects.filter(
        episode=OuterRef("pk"), step=OuterRef("step") + 1, chosen_by__in=(*OF_PEOPLE, WORLD)
    )
    last = given.order_by().values("episode").annotate(at=Max("received_at")).values("at")
    times = waiting.annotate(came=Subquery(last)).values_list(
        "pk", "step", "came", "decision_seconds", "thinking_seconds"
    )
    return [
        (pk, step + 1)
        for pk, step, came, deciding, thinking in times
        if came and came + timedelta(seconds=max(deciding, thinking)) + beyond < now
    ]


def _commanded() -> QuerySet[Episode]:
    """Episodes that wait for no person: for co-players, or only for somebody who runs their step."""
    people = Seat.objects.filter(episode=OuterRef("pk"), mind=None)
    done = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    idle_person = people.exclude(Exists(done.filter(seat=OuterRef("number"))))
    return Episode.objects.filter(~Exists(idle_person), status=Episode.Status.PLAYING)


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
