"""Find open turns that need work: agents' decisions, answers to messages, closing, or a time limit.

An open turn is a step that waits for commands. Workers search every second, and web processes every few
seconds, for work that was lost.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY, REASON_TO_ANSWER
from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.organisation import END, TALK_KINDS
from kitchen.contract.organisation_settings import PAIR
from kitchen.contract.team_schedules import IN_ROUNDS
from kitchen.infra.compiled_queries import compiled_query
from kitchen.infra.database_writes import time_from_driver
from kitchen.play.models import Decision, Episode, Message, PendingQuestion, Seat, SeatCommand
from kitchen.play.turn.step_timer import ARRIVAL, PEOPLE_CODES
from kitchen.play.turn.turn_claims import MAX_DELAY_SECONDS, is_unclaimed, unclaimed_minds


def is_any_episode_played() -> bool:
    """Return whether any episode is being played. Check this before the slow searches of this module."""
    return Episode.objects.filter(status=Episode.Status.PLAYING).exists()


def turns_to_decide() -> list[tuple[int, int]]:
    """Return the turns that wait for a worker and not for a person, as (episode id, step).

    In such a turn, no worker has claimed an agent that must decide, or the step is ready to run. Turns opened
    within the last second are left out, because a task is already queued for them.
    """
    return [(pk, step + 1) for pk, step in _turns_to_decide(timezone.now())]


@compiled_query
def _turns_to_decide(now: datetime) -> QuerySet[Any, Any]:
    fresh = Q(turn_opened_at__range=(now - timedelta(seconds=1), now + timedelta(seconds=1)))
    return _answers_due(now).filter(~fresh).values_list("pk", "step")


def minds_asked_separately(episode_id: int, step: int) -> list[int]:
    """Return the numbers of the agents that still have to decide this step and are asked by separate tasks.
    Empty if agents are asked one after another."""
    apart = Episode.objects.filter(pk=episode_id, step=step - 1).exclude(knowing=EVERYBODY)
    left = _awaited(Seat.objects.filter(episode__in=apart, mind__isnull=False))
    return sorted(set(left.values_list("mind__number", flat=True)))


def unanswered_turns(fresh: timedelta = timedelta(seconds=1)) -> list[int]:
    """Return the ids of episodes in which an agent may have to answer a message or open a conversation, and
    no worker asks it yet.

    The search is quick and may find too many episodes: `speaking_order.minds_to_answer` decides. Messages and
    steps newer than `fresh`, or older than `MAX_DELAY_SECONDS`, are left out. Old ones are included where two
    members take turns to speak, because a person may be waiting.
    """
    return [pk for (pk,) in _unanswered_turns(timezone.now(), fresh)]


@compiled_query
def _unanswered_turns(now: datetime, fresh: timedelta) -> QuerySet[Any, Any]:
    span, lately = (now - timedelta(seconds=MAX_DELAY_SECONDS), now - fresh), (now - fresh, now + fresh)
    words = Message.objects.filter(
        episode=OuterRef("pk"), step=OuterRef("step") + 1, kind__in=TALK_KINDS - {END}
    )
    said = words.filter(sent_at__range=span)
    last = said.filter(number=OuterRef("messages"), decision=None)
    later_person = Seat.objects.filter(episode=OuterRef("episode"), mind=None, number__gt=OuterRef("number"))
    opener = Seat.objects.filter(Exists(later_person), episode=OuterRef("pk"), mind__isnull=False)
    opens = Q(Exists(opener), turn_opened_at__range=span)
    of_pair = Q(Exists(last), organisation__kind=PAIR, messages__gt=0)
    within = Q(Q(Exists(said)) | opens, organisation__within=True)
    held = Q(Exists(words.exclude(sent_at__range=lately))) | (
        Q(Exists(opener)) & ~Q(turn_opened_at__range=lately)
    )
    in_turn = held & Q(organisation__kind=PAIR, organisation__within=True)
    unasked = unclaimed_minds(now).filter(episode=OuterRef("pk"))
    playing = Episode.objects.filter(
        of_pair | within | in_turn, Exists(unasked), status=Episode.Status.PLAYING
    )
    return playing.values_list("pk")


def undecided_turns(beyond: timedelta, *, free: bool = False) -> list[tuple[int, int]]:
    """Return the turns in which agents are late by more than `beyond`, as (episode id, step). In these turns,
    no person still has to choose.

    With `free`, turns that a worker has claimed are left out.
    """
    now, late = timezone.now(), []
    for pk, step, deciding, thinking, *times in _times_of_undecided_turns(now, free):
        since = [time_from_driver(each) for each in times if each]
        if times[0] and max(since) + timedelta(seconds=max(deciding, thinking)) + beyond < now:
            late.append((pk, step + 1))
    return late


@compiled_query
def _times_of_undecided_turns(now: datetime, free: bool) -> QuerySet[Any, Any]:
    waiting = _answers_due(now) | _awaits_unclaimed(now) if free else _commanded(now)
    given = SeatCommand.objects.filter(
        episode=OuterRef("pk"), step=OuterRef("step") + 1, chosen_by__in=(*PEOPLE_CODES, *NOT_ASKED)
    )
    last = given.order_by().values("episode").annotate(at=Max("received_at")).values("at")
    led = Case(When(_only_led(), then=F("turn_closes_at")))
    unasked = _people().filter(_may_act() | Q(acts=False))
    opened = Case(When(Exists(unasked), then=F("turn_opened_at")))
    written = Message.objects.filter(episode=OuterRef("pk"), step=OuterRef("step") + 1, kind__in=TALK_KINDS)
    waits = Q(organisation__kind=PAIR, organisation__within=True) | Q(organisation__schedule=IN_ROUNDS)
    said = Case(When(waits, then=Subquery(written.order_by("-number").values("sent_at")[:1])))
    return waiting.annotate(came=Coalesce(Subquery(last), led, opened), said=said).values_list(
        "pk", "step", "decision_seconds", "thinking_seconds", "came", "said"
    )


def _answers_due(now: datetime) -> QuerySet[Episode]:
    """Return the episodes from `_commanded` in which a worker is needed and none is at work. An agent must be
    asked, or all agents have decided and the step must run."""
    left = _awaited(Seat.objects.all())
    undecided = left.filter(episode=OuterRef("pk"), mind__isnull=False)
    unclaimed = unclaimed_minds(now).filter(Exists(left.filter(mind=OuterRef("pk"))), episode=OuterRef("pk"))
    is_due = ~Exists(undecided) & ~Exists(_awaited_in_next_step())
    return _commanded(now).filter(is_unclaimed(now), Exists(unclaimed) | is_due)


def _awaits_unclaimed(now: datetime) -> QuerySet[Episode]:
    """Return the episodes from `_commanded` whose next step waits for a decision that no worker has
    claimed."""
    return _commanded(now).filter(
        is_unclaimed(now), Exists(_awaited_in_next_step().filter(is_unclaimed(now)))
    )


def _awaited_in_next_step() -> QuerySet[PendingQuestion]:
    """Return the open questions whose decisions take effect in the next step, for a subquery on episodes."""
    return PendingQuestion.objects.filter(mind__episode=OuterRef("pk"), due_step=OuterRef("step") + 2)


def _commanded(now: datetime) -> QuerySet[Episode]:
    """Return the turn-based episodes that no longer wait for a person. They wait for an agent, or for a
    worker that runs the step."""
    playing = Episode.objects.filter(
        ~Exists(_awaited(_people())), status=Episode.Status.PLAYING, tick_ms=None, probing=False
    )
    return playing.filter(~_only_led() | Q(turn_closes_at__lt=now))


def _people() -> QuerySet[Seat]:
    """Return a subquery for the seats of an episode's people, including leaders without a seat."""
    return Seat.objects.filter(episode=OuterRef("pk"), mind=None)


def _awaited(seats: QuerySet[Seat]) -> QuerySet[Seat]:
    """Return the seats, among these, that the open step still waits for.

    Two kinds of agents count only until they have decided: agents that only lead, and agents that were asked
    although their seats are busy. A busy person counts as long as the person has to answer a message. A
    person who only leads counts as long as the step waits for more jobs.
    """
    done = SeatCommand.objects.filter(
        episode=OuterRef("episode"), step=OuterRef("episode__step") + 1, seat=OuterRef("number")
    )
    decided = Decision.objects.filter(mind=OuterRef("mind"), step=OuterRef("episode__step") + 1, dropped="")
    has_decided = Q(Exists(decided.exclude(because=REASON_TO_ANSWER)))
    is_called = Q(mind__called_in=F("episode__step") + 1)
    leads = Q(acts=False)
    is_free = ~Q(Exists(done)) & ~_may_act() & ~(leads & (has_decided | Q(mind=None)))
    has_to_answer = Q(mind=None, answer_awaited_in=F("episode__step") + 1)
    return seats.filter(is_free | (is_called & ~has_decided) | has_to_answer)


def _may_act() -> Q:
    """Return a filter for seats that the open step does not wait for, although they may act or lead in it."""
    return Q(may_act_in__isnull=False, may_act_in=F("episode__step") + 1)


def _only_led() -> Q:
    """Return a filter for episodes with a time limit in which people lead but no person acts. Their agents
    are asked when the leaders' time is over. Episodes whose schedule asks the leaders are left out."""
    leaders, acting = _people().filter(acts=False), _people().filter(acts=True)
    in_rounds = Episode.objects.filter(pk=OuterRef("pk"), organisation__schedule=IN_ROUNDS)
    return Q(Exists(leaders), ~Exists(acting), ~Exists(in_rounds), step_seconds__isnull=False)


def overdue_turns(since: timedelta = timedelta(0)) -> list[tuple[int, int]]:
    """Return the turns in which a person has not commanded, not answered a message, or not given all jobs by
    the deadline, as (episode id, step). The deadline must be more than `since` ago."""
    return [(pk, step + 1) for pk, step in _overdue_turns(timezone.now(), since)]


@compiled_query
def _overdue_turns(now: datetime, since: timedelta) -> QuerySet[Any, Any]:
    late = Episode.objects.filter(
        Q(probing=True) | Exists(_awaited(_people())),
        status=Episode.Status.PLAYING,
        turn_closes_at__lt=now - since,
    )
    return late.values_list("pk", "step")


def episodes_with_timer_due() -> list[int]:
    """Return the ids of episodes whose first time limit must start now. In these, somebody has opened a page,
    and the others did not come within `ARRIVAL`."""
    return [pk for (pk,) in _episodes_with_timer_due(timezone.now())]


@compiled_query
def _episodes_with_timer_due(now: datetime) -> QuerySet[Any, Any]:
    come = Seat.objects.filter(episode=OuterRef("pk"), mind=None).exclude(page="")
    waiting = Episode.objects.filter(
        Exists(come),
        status=Episode.Status.PLAYING,
        step_seconds__isnull=False,
        turn_closes_at=None,
        absence__isnull=False,
        created_at__lt=now - ARRIVAL,
    )
    return waiting.values_list("pk")


def unclaimed_questions(fresh: timedelta = timedelta(seconds=1)) -> list[tuple[int, int, int]]:
    """Return (episode id, step, agent number) of the questions that no worker has claimed. Questions newer
    than `fresh` are left out, because a task is already queued for them."""
    return [(pk, step, number) for pk, step, number in _unclaimed_questions(timezone.now(), fresh)]


@compiled_query
def _unclaimed_questions(now: datetime, fresh: timedelta) -> QuerySet[Any, Any]:
    asked = PendingQuestion.objects.filter(is_unclaimed(now), asked_at__lt=now - fresh)
    playing = asked.filter(mind__episode__status=Episode.Status.PLAYING)
    return playing.values_list("mind__episode", "asked_step", "mind__number")


def awaited_questions(episode_id: int, step: int) -> list[tuple[int, int]]:
    """Return the open questions that must be answered before `step` can end, as (step asked in, agent
    number)."""
    due = PendingQuestion.objects.filter(mind__episode=episode_id, due_step=step + 1)
    return list(due.values_list("asked_step", "mind__number"))
