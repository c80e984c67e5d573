"""Turns that somebody has to see to, as the looks of workers find them. Nothing here changes anything."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Case, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY
from kitchen.contract.organisation import END, PAIR, TALK
from kitchen.contract.plans import WORLD
from kitchen.play.claims import LONGEST_SECONDS, is_free, unclaimed_minds
from kitchen.play.clock import ARRIVAL, OF_PEOPLE
from kitchen.play.models import Episode, Message, Seat, SeatCommand


def is_anything_played() -> bool:
    """Whether there is anything that a look could find: its questions are long, and most of the time nobody
    plays."""
    return Episode.objects.filter(status=Episode.Status.PLAYING).exists()


def open_turns() -> list[tuple[int, int]]:
    """(episode, step) of the turns where all people have commanded and no worker holds a claim on one of the
    co-players that still have to decide, and those that should have run. A turn that has only just opened is
    left to the task that was queued for it, unless the clock was set back since.
    """
    now = timezone.now()
    fresh = Q(turn_opened_at__range=(now - timedelta(seconds=1), now + timedelta(seconds=1)))
    waiting = _unseen(now).filter(~fresh)
    return [(pk, step + 1) for pk, step in waiting.values_list("pk", "step")]


def minds_apart(episode_id: int, step: int) -> list[int]:
    """The numbers of the co-players that are still to decide this step, where each is asked by itself; none
    where one is asked after the other."""
    apart = Episode.objects.filter(pk=episode_id, step=step - 1).exclude(knowing=EVERYBODY)
    done = SeatCommand.objects.filter(episode=episode_id, step=step, seat=OuterRef("number"))
    left = Seat.objects.filter(~Exists(done), ~_may_act(), episode__in=apart, mind__isnull=False)
    return sorted(set(left.values_list("mind__number", flat=True)))


def unanswered_turns(fresh: timedelta = timedelta(seconds=1)) -> list[int]:
    """Episodes in whose open step minds may have something to say before anybody chooses, since longer ago
    than `fresh`, and nobody asks one of them. Whether that is to speak is not looked at.

    Of a pair: a person has said the last word. Where members talk `within` the step: somebody has said
    something, or a mind comes before a person, so that it may open the talk.
    """
    now = timezone.now()
    span = (now - timedelta(seconds=LONGEST_SECONDS), now - fresh)
    said = Message.objects.filter(
        episode=OuterRef("pk"), step=OuterRef("step") + 1, kind__in=TALK - {END}, sent_at__range=span
    )
    last = said.filter(number=OuterRef("messages"), decision=None)
    later_person = Seat.objects.filter(episode=OuterRef("episode"), mind=None, number__gt=OuterRef("number"))
    opener = Seat.objects.filter(Exists(later_person), episode=OuterRef("pk"), mind__isnull=False)
    opens = Q(Exists(opener), turn_opened_at__range=span)
    of_pair = Q(Exists(last), organisation__kind=PAIR, messages__gt=0)
    within = Q(Q(Exists(said)) | opens, organisation__within=True)
    unasked = unclaimed_minds(now).filter(episode=OuterRef("pk"))
    playing = Episode.objects.filter(of_pair | within, Exists(unasked), status=Episode.Status.PLAYING)
    return list(playing.values_list("pk", flat=True))


def undecided_turns(beyond: timedelta, *, free: bool = False) -> list[tuple[int, int]]:
    """(episode, step) of the turns where all people have commanded, and co-players had their time and so
    much more since; of the `free` ones, if those alone are meant, that no worker holds."""
    now = timezone.now()
    waiting = _unseen(now) if free else _commanded()
    given = SeatCommand.objects.filter(
        episode=OuterRef("pk"), step=OuterRef("step") + 1, chosen_by__in=(*OF_PEOPLE, WORLD)
    )
    last = given.order_by().values("episode").annotate(at=Max("received_at")).values("at")
    led = Case(When(_only_led(), then=F("turn_closes_at")))
    unasked = Seat.objects.filter(_may_act(), episode=OuterRef("pk"), mind=None)
    opened = Case(When(Exists(unasked), then=F("turn_opened_at")))
    times = waiting.annotate(came=Coalesce(Subquery(last), led, opened)).values_list(
        "pk", "step", "came", "decision_seconds", "thinking_seconds"
    )
    return [
        (pk, step + 1)
        for pk, step, came, deciding, thinking in times
        if came and came + timedelta(seconds=max(deciding, thinking)) + beyond < now
    ]


def _unseen(now: datetime) -> QuerySet[Episode]:
    """Those of them that nobody looks after: one of the co-players that are to decide has no claim on it, or
    all have decided, and the step is due."""
    done = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    left = Seat.objects.exclude(Exists(done.filter(seat=OuterRef("number")))).exclude(_may_act())
    undecided = left.filter(episode=OuterRef("pk"), mind__isnull=False)
    unclaimed = unclaimed_minds(now).filter(Exists(left.filter(mind=OuterRef("pk"))), episode=OuterRef("pk"))
    return _commanded().filter(is_free(now), Exists(unclaimed) | ~Exists(undecided))


def _commanded() -> QuerySet[Episode]:
    """Episodes that wait for no person: for co-players, or only for somebody who runs their step."""
    done = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    idle_person = _people().exclude(Exists(done.filter(seat=OuterRef("number")))).exclude(_may_act())
    playing = Episode.objects.filter(~Exists(idle_person), status=Episode.Status.PLAYING, tick_ms=None)
    return playing.filter(~_only_led() | Q(turn_closes_at__lt=timezone.now()))


def _people() -> QuerySet[Seat]:
    """Those of an episode who act."""
    return Seat.objects.filter(episode=OuterRef("pk"), mind=None, acts=True)


def _may_act() -> Q:
    """Seats that the open step does not wait for, although they may act in it."""
    return Q(may_act_in__isnull=False, may_act_in=F("episode__step") + 1)


def _only_led() -> Q:
    """Episodes in which no person acts: co-players are asked when the time of who leads is over."""
    leaders = Seat.objects.filter(episode=OuterRef("pk"), acts=False)
    return Q(Exists(leaders), ~Exists(_people()), step_seconds__isnull=False)


def overdue_turns(since: timedelta = timedelta(0)) -> list[tuple[int, int]]:
    """(episode, step) of the turns whose time is over, for so long, and where a person has not commanded."""
    done = SeatCommand.objects.filter(episode=OuterRef("episode"), step=OuterRef("episode__step") + 1)
    late = Episode.objects.filter(
        Exists(_people().exclude(Exists(done.filter(seat=OuterRef("number")))).exclude(_may_act())),
        status=Episode.Status.PLAYING,
        turn_closes_at__lt=timezone.now() - since,
    )
    return [(pk, step + 1) for pk, step in late.values_list("pk", "step")]


def clocks_awaited() -> list[int]:
    """Episodes of several people whose clock has not begun although somebody has been waiting for others to
    open their page for as long as they are given."""
    come = Seat.objects.filter(episode=OuterRef("pk"), mind=None).exclude(page="")
    waiting = Episode.objects.filter(
        Exists(come),
        status=Episode.Status.PLAYING,
        step_seconds__isnull=False,
        turn_closes_at=None,
        absence__isnull=False,
        created_at__lt=timezone.now() - ARRIVAL,
    )
    return list(waiting.values_list("pk", flat=True))
