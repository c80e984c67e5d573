"""Reserve an agent's decision for one worker.

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
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY
from kitchen.infra.compiled_queries import compiled_query
from kitchen.infra.database_writes import time_from_driver
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.infra.os_processes import process_is_gone, process_is_here, process_name
from kitchen.infra.renewal_watch import RenewalWatch
from kitchen.play.models import Episode, Mind, PendingQuestion

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
    held = [_claimed_minds(now), _claimed_questions(now)]
    found = [_ends_of_claims_on_minds(now), _ends_of_claims_on_questions(now)]
    claims = [{claim: time_from_driver(end) for claim, end in each} for each in found]
    dead = _dead_claims(dict(chain.from_iterable(each.items() for each in claims)))
    released = sum(_release(each, dead) for each, there in zip(held, claims, strict=True) if there)
    _watch.begin_anew(dead)  # a row that was locked may be renewed before it is released
    return released


def _claimed_minds(now: datetime) -> QuerySet[Mind]:
    return _playing_minds().filter(deciding_until__gte=now)


def _claimed_questions(now: datetime) -> QuerySet[PendingQuestion]:
    return PendingQuestion.objects.filter(mind__in=_playing_minds(), deciding_until__gte=now)


def _playing_minds() -> QuerySet[Mind]:
    return Mind.objects.filter(episode__in=Episode.objects.filter(status=Episode.Status.PLAYING))


@compiled_query
def _ends_of_claims_on_minds(now: datetime) -> QuerySet[Any, Any]:
    return _ends_of_claims(_claimed_minds(now))


@compiled_query
def _ends_of_claims_on_questions(now: datetime) -> QuerySet[Any, Any]:
    return _ends_of_claims(_claimed_questions(now))


def _ends_of_claims(held: QuerySet[Any]) -> QuerySet[Any, Any]:
    """Return each claim with its end: the last one, if its agents have several."""
    ends: QuerySet[Any, Any] = held.order_by().values_list("deciding_by").annotate(Max("deciding_until"))
    return ends.exclude(deciding_by="")


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
