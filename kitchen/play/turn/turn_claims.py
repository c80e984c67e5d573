"""Reserve an agent's decision for one worker, and find open turns that need work.

An open turn is a step that waits for commands. A reservation, called a claim, prevents two workers from
paying a language model for the same decision. If an episode's agents decide one after another, one claim
covers them all. A claim expires after `CLAIM_SECONDS` unless the worker renews it.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial, reduce
from itertools import chain
from operator import or_
from typing import Any

from django.db import Error, connection, transaction
from django.db.models import Case, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY, REASON_TO_ANSWER
from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.organisation import END, PAIR, TALK_KINDS
from kitchen.contract.team_schedules import IN_ROUNDS
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.infra.os_processes import process_is_gone, process_is_here, process_name
from kitchen.infra.renewal_watch import RenewalWatch
from kitchen.play.models import Decision, Episode, Message, Mind, PendingQuestion, Seat, SeatCommand
from kitchen.play.turn.step_timer import ARRIVAL, PEOPLE_CODES

log = logging.getLogger(__name__)

CLAIM_SECONDS = 15.0
"""A worker that does not renew its claim for this many seconds loses it.

This is long enough for a database that restarts. A shorter time could make two workers pay for the same call.
While the database answers, others look once a second for workers that are gone (`release_dead_claims`). They
release the claims of a killed worker on their machine at once, and those of another machine 2 to 5 s after
its last sign.
"""
VANISHED_SECONDS = 3.0
"""A worker on another machine has vanished if nobody saw it renew its claim for this many seconds.

This is shorter than a statement waits for a lock, so renewals do not wait (`_update_unlocked`).
"""

MAX_DELAY_SECONDS = 600.0
"""Longest delay of a claim or a thinking time, in seconds. A longer one was written before somebody set the
clock back.
"""

RENEW_SECONDS = 1.0
"""Seconds between two renewals of a claim."""


def claim_decision(*, episode_id: int, step: int, mind: int | None = None) -> str:
    """Claim an agent's decision for this step, so that no other worker asks the agent. Return the claim, or
    an empty text if another worker has it.

    `mind` is the agent's number. Without `mind`, all agents are claimed. If the agents decide one after
    another, either all are claimed or none. The claim expires after `CLAIM_SECONDS`, unless `renewed_claim`
    renews it.
    """
    claim = f"{process_name()}#{secrets.token_hex(6)}"
    take = partial(_take, episode_id, step, mind, claim)
    taken = retry_while_unreachable(take, f"taking up step {step} of episode {episode_id}")
    return claim if taken else ""


def _take(episode_id: int, step: int, mind: int | None, claim: str) -> bool:
    now = timezone.now()
    turn = Episode.objects.filter(pk=episode_id, step=step - 1, status=Episode.Status.PLAYING)
    minds = Mind.objects.filter(episode__in=turn.filter(is_unclaimed(now)))
    if mind is not None:
        minds = minds.filter(number=mind)
    until = now + timedelta(seconds=CLAIM_SECONDS)
    ours = minds.filter(_unclaimed(now, step) | Q(deciding_by=claim))
    with transaction.atomic():
        taken = ours.update(deciding_step=step, deciding_until=until, deciding_by=claim)
        together = Mind.objects.filter(episode=episode_id, episode__knowing=EVERYBODY)
        if mind is None and taken and together.exclude(deciding_by=claim).exists():
            transaction.set_rollback(True)
            return False
    return bool(taken)


def is_unclaimed(now: datetime) -> Q:
    """Return a query filter for rows of `Episode` or `Mind` that no worker has claimed at the time `now`.

    A claim is ignored if it has expired, or if it ends implausibly late (the system clock was set back).
    """
    longest = now + timedelta(seconds=MAX_DELAY_SECONDS)
    return Q(deciding_until=None) | Q(deciding_until__lt=now) | Q(deciding_until__gt=longest)


def _unclaimed(now: datetime, step: int) -> Q:
    return Q(deciding_step=None) | ~Q(deciding_step=step) | is_unclaimed(now)


def unclaimed_minds(now: datetime) -> QuerySet[Mind]:
    """Return the agents whose decision for the open step no worker has claimed at the time `now`."""
    other = Q(deciding_step=None) | ~Q(deciding_step=F("episode__step") + 1)
    return Mind.objects.filter(other | is_unclaimed(now))


def renew_claims(held: Mapping[str, int]) -> int:
    """Renew these claims, given as a mapping from claim to episode id. Return the number of renewed claims,
    counted once for each agent."""
    until = timezone.now() + timedelta(seconds=CLAIM_SECONDS)
    minds = Mind.objects.filter(episode__in=set(held.values()))
    questions = PendingQuestion.objects.filter(mind__in=minds)
    rows = [each.filter(deciding_by__in=list(held)) for each in (minds, questions)]
    return sum(_update_unlocked(each, deciding_until=until) for each in rows)


def _update_unlocked(rows: QuerySet[Any], **fresh: Any) -> int:
    """Update those of these rows that no other transaction is changing, without a wait. Return their number.

    Their transaction may be slow, and must not delay the renewal of all other claims.
    """
    with transaction.atomic():
        unlocked = rows.select_for_update(skip_locked=True, no_key=True)
        count: int = rows.model._default_manager.filter(pk__in=unlocked.values("pk")).update(**fresh)
        return count


def release_claim(claim: str) -> None:
    """Release this claim before it expires, so that other workers can claim the agents' decisions at once."""
    Mind.objects.filter(deciding_by=claim).update(deciding_until=None, deciding_by="")


@dataclass(frozen=True, slots=True)
class MindClaim:
    """The last claim on an agent's decisions, and the number of its last decision."""

    claimed: int | None
    """The step of its newest claim."""
    until: datetime | None
    by: str
    decided: int
    """The number of its last decision. 0 before the first one, and in older logs."""

    def is_claimed_by_another(self, step: int, claim: str) -> bool:
        """Return whether another worker has a valid claim on the agent's decision for this step. `claim` is
        the own claim."""
        if self.claimed != step or self.until is None or self.by in {"", claim}:
            return False
        return timedelta() <= self.until - timezone.now() <= timedelta(seconds=MAX_DELAY_SECONDS)


def release_dead_claims() -> int:
    """Release the claims of workers that have died on this machine, and of workers on other machines that
    have vanished. Return the number of agents that can now be claimed.

    Call this about once a second. Vanished workers are only found by two calls or more.
    """
    now = timezone.now()
    minds = Mind.objects.filter(episode__in=Episode.objects.filter(status=Episode.Status.PLAYING))
    questions = PendingQuestion.objects.filter(mind__in=minds, deciding_until__gte=now)
    held = [minds.filter(deciding_until__gte=now), questions]
    claims = [_claims_in(each) for each in held]
    dead = _dead_claims(dict(chain.from_iterable(each.items() for each in claims)))
    released = sum(_release(each, dead) for each, there in zip(held, claims, strict=True) if there)
    _watch.begin_anew(dead)  # a row that was locked may be renewed before it is released
    return released


def _claims_in(held: QuerySet[Any]) -> dict[str, datetime]:
    """Return the end of each claim: the last one, if its agents have several."""
    claims = held.exclude(deciding_by="").order_by().values_list("deciding_by")
    return dict(claims.annotate(Max("deciding_until")))


def _dead_claims(ends: Mapping[str, datetime]) -> dict[str, datetime]:
    """Return those of these claims, given with their ends, whose workers have died or vanished."""
    workers = {claim: claim.partition("#")[0] for claim in ends}
    dead = [claim for claim, worker in workers.items() if process_is_gone(worker)]
    elsewhere = {claim: end for claim, end in ends.items() if not process_is_here(workers[claim])}
    return {claim: ends[claim] for claim in (*dead, *_watch.abandoned(elsewhere))}


def _release(held: QuerySet[Any], claims: Mapping[str, datetime]) -> int:
    """Release those of these claims that nobody has renewed since they had these ends. Return the number of
    agents."""
    if not claims:
        return 0
    ends = [Q(deciding_by=claim, deciding_until__lte=end) for claim, end in claims.items()]
    return _update_unlocked(held.filter(reduce(or_, ends)), deciding_until=None, deciding_by="")


_watch = RenewalWatch(VANISHED_SECONDS)
"""Watches the claims of workers on other machines."""


def claim_question(*, episode_id: int, step: int, mind: int) -> str:
    """Claim the open question to this agent, so that no other worker asks the agent. Return the claim. `step`
    is the step in which the question was asked, and `mind` the agent's number.

    The claim is empty if another worker has it, or if the question is already answered. It expires after
    `CLAIM_SECONDS`, unless `renewed_claim` renews it.
    """
    claim = f"{process_name()}#{secrets.token_hex(6)}"
    take = partial(_take_question, episode_id, step, mind, claim)
    taken = retry_while_unreachable(take, f"taking up a question of step {step} of episode {episode_id}")
    return claim if taken else ""


def _take_question(episode_id: int, step: int, mind: int, claim: str) -> bool:
    now = timezone.now()
    free = PendingQuestion.objects.filter(is_unclaimed(now) | Q(deciding_by=claim), asked_step=step)
    ours = free.filter(mind__in=Mind.objects.filter(episode=episode_id, number=mind))
    return bool(ours.update(deciding_by=claim, deciding_until=now + timedelta(seconds=CLAIM_SECONDS)))


def awaited_questions(episode_id: int, step: int) -> list[tuple[int, int]]:
    """Return the open questions that must be answered before `step` can end, as (step asked in, agent
    number)."""
    due = PendingQuestion.objects.filter(mind__episode=episode_id, due_step=step + 1)
    return list(due.values_list("asked_step", "mind__number"))


def unclaimed_questions(fresh: timedelta = timedelta(seconds=1)) -> list[tuple[int, int, int]]:
    """Return (episode id, step, agent number) of the questions that no worker has claimed. Questions newer
    than `fresh` are left out, because a task is already queued for them."""
    now = timezone.now()
    asked = PendingQuestion.objects.filter(is_unclaimed(now), asked_at__lt=now - fresh)
    playing = asked.filter(mind__episode__status=Episode.Status.PLAYING)
    return list(playing.values_list("mind__episode", "asked_step", "mind__number"))


@contextmanager
def renewed_claim(episode_id: int, claim: str) -> Iterator[None]:
    """Context manager: renew this claim every few seconds while the block runs."""
    _keeper.add(episode_id, claim)
    try:
        yield
    finally:
        _keeper.discard(claim)


class _Keeper:
    """One thread that renews all claims of this process while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        self._runs = False

    def add(self, episode_id: int, claim: str) -> None:
        with self._lock:
            self._held[claim] = episode_id
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._keep, name="claims", daemon=True).start()

    def discard(self, claim: str) -> None:
        with self._lock:
            self._held.pop(claim, None)

    def _left(self) -> dict[str, int]:
        with self._lock:
            self._runs = bool(self._held)
            return dict(self._held)

    def _keep(self) -> None:
        """Renew the claims periodically until none is left. After a database error, continue with a new
        connection."""
        time.sleep(RENEW_SECONDS)
        while held := self._left():
            try:
                renew_claims(held)
            except Error as error:
                log.warning("%s claims could not be kept: %s", len(held), error)
                _hang_up()
            time.sleep(RENEW_SECONDS)
        _hang_up()


_keeper = _Keeper()


def _hang_up() -> None:
    with suppress(Error):
        connection.close()


def is_any_episode_played() -> bool:
    """Return whether any episode is being played. Check this before the slow searches of this module."""
    return Episode.objects.filter(status=Episode.Status.PLAYING).exists()


def turns_to_decide() -> list[tuple[int, int]]:
    """Return the turns that wait for a worker and not for a person, as (episode id, step).

    In such a turn, no worker has claimed an agent that must decide, or the step is ready to run. Turns opened
    within the last second are left out, because a task is already queued for them.
    """
    now = timezone.now()
    fresh = Q(turn_opened_at__range=(now - timedelta(seconds=1), now + timedelta(seconds=1)))
    waiting = _answers_due(now).filter(~fresh)
    return [(pk, step + 1) for pk, step in waiting.values_list("pk", "step")]


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
    now = timezone.now()
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
    return list(playing.values_list("pk", flat=True))


def undecided_turns(beyond: timedelta, *, free: bool = False) -> list[tuple[int, int]]:
    """Return the turns in which agents are late by more than `beyond`, as (episode id, step). In these turns,
    no person still has to choose.

    With `free`, turns that a worker has claimed are left out.
    """
    now = timezone.now()
    waiting = _answers_due(now) | _awaits_unclaimed(now) if free else _commanded()
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
    times = waiting.annotate(came=Coalesce(Subquery(last), led, opened), said=said).values_list(
        "pk", "step", "came", "said", "decision_seconds", "thinking_seconds"
    )
    return [
        (pk, step + 1)
        for pk, step, came, said, deciding, thinking in times
        if came and max(came, said or came) + timedelta(seconds=max(deciding, thinking)) + beyond < now
    ]


def _answers_due(now: datetime) -> QuerySet[Episode]:
    """Return the episodes from `_commanded` in which a worker is needed and none is at work. An agent must be
    asked, or all agents have decided and the step must run."""
    left = _awaited(Seat.objects.all())
    undecided = left.filter(episode=OuterRef("pk"), mind__isnull=False)
    unclaimed = unclaimed_minds(now).filter(Exists(left.filter(mind=OuterRef("pk"))), episode=OuterRef("pk"))
    is_due = ~Exists(undecided) & ~Exists(_awaited_in_next_step())
    return _commanded().filter(is_unclaimed(now), Exists(unclaimed) | is_due)


def _awaits_unclaimed(now: datetime) -> QuerySet[Episode]:
    """Return the episodes from `_commanded` whose next step waits for a decision that no worker has
    claimed."""
    return _commanded().filter(is_unclaimed(now), Exists(_awaited_in_next_step().filter(is_unclaimed(now))))


def _awaited_in_next_step() -> QuerySet[PendingQuestion]:
    """Return the open questions whose decisions take effect in the next step, for a subquery on episodes."""
    return PendingQuestion.objects.filter(mind__episode=OuterRef("pk"), due_step=OuterRef("step") + 2)


def _commanded() -> QuerySet[Episode]:
    """Return the turn-based episodes that no longer wait for a person. They wait for an agent, or for a
    worker that runs the step."""
    playing = Episode.objects.filter(
        ~Exists(_awaited(_people())), status=Episode.Status.PLAYING, tick_ms=None
    )
    return playing.filter(~_only_led() | Q(turn_closes_at__lt=timezone.now()))


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
    late = Episode.objects.filter(
        Exists(_awaited(_people())),
        status=Episode.Status.PLAYING,
        turn_closes_at__lt=timezone.now() - since,
    )
    return [(pk, step + 1) for pk, step in late.values_list("pk", "step")]


def episodes_with_timer_due() -> list[int]:
    """Return the ids of episodes whose first time limit must start now. In these, somebody has opened a page,
    and the others did not come within `ARRIVAL`."""
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
