"""Claims: who is asking a mind for its decision of a step, so that two workers do not both pay a model.

A claim is a word that only its owner has: on one mind, or on all minds of an episode, where one decides after
the other. It holds for `CLAIM_SECONDS` and is kept up while the decision is made. It is of one step and ends
with it, when its worker is seen to be dead, or when nobody has kept it up.
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
from functools import partial

from django.db import Error, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from kitchen.contract.agent import EVERYBODY
from kitchen.machine.outage import outlast
from kitchen.machine.processes import process_is_gone, process_name
from kitchen.play.models import Episode, Mind

log = logging.getLogger(__name__)

CLAIM_SECONDS = 15.0
"""A worker that has not said for so long that it is alive has lost its claim. Long enough for a machine that
swaps or a database that starts anew: after less, the same call would be paid twice. A worker that was killed
is found at once by the next one of its machine (`claims_free_dead`): only the loss of a machine takes so
long."""

LONGEST_SECONDS = 600.0
"""Nothing is put off for longer (claims, thinking times): what seems to be was written before somebody set
the clock back."""

KEEP_SECONDS = 3.0
"""How often it says so: four can be lost."""


def decision_claim(*, episode_id: int, step: int, mind: int | None = None) -> str:
    """Take up the decision of this mind, by its number, for this step, or that of all minds: the claim, or
    nothing for whoever comes second. Where minds are asked one after the other, all of them are taken up or
    none: another worker may be asking one for an answer. While the database is away it is tried again: a try
    may have been stored although that could not be said.

    It lapses after `CLAIM_SECONDS` unless it is kept (`kept_claim`).
    """
    claim = f"{process_name()}#{secrets.token_hex(6)}"
    take = partial(_take, episode_id, step, mind, claim)
    taken = outlast(take, f"taking up step {step} of episode {episode_id}")
    return claim if taken else ""


def _take(episode_id: int, step: int, mind: int | None, claim: str) -> bool:
    now = timezone.now()
    turn = Episode.objects.filter(pk=episode_id, step=step - 1, status=Episode.Status.PLAYING)
    minds = Mind.objects.filter(episode__in=turn.filter(is_free(now)))
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


def is_free(now: datetime) -> Q:
    """Rows of which nobody has said, or no longer, that they are looked after: episodes whose step is due
    later, or that a worker of before has taken up; minds with a claim."""
    longest = now + timedelta(seconds=LONGEST_SECONDS)
    return Q(deciding_until=None) | Q(deciding_until__lt=now) | Q(deciding_until__gt=longest)


def _unclaimed(now: datetime, step: int) -> Q:
    return Q(deciding_step=None) | ~Q(deciding_step=step) | is_free(now)


def unclaimed_minds(now: datetime) -> QuerySet[Mind]:
    """Minds that nobody asks for the step that is open."""
    other = Q(deciding_step=None) | ~Q(deciding_step=F("episode__step") + 1)
    return Mind.objects.filter(other | is_free(now))


def claims_keep(held: Mapping[str, int]) -> int:
    """Whoever has these claims, each on minds of this episode, is alive and still deciding; on how many minds
    they are still its own."""
    until = timezone.now() + timedelta(seconds=CLAIM_SECONDS)
    minds = Mind.objects.filter(episode__in=set(held.values()), deciding_by__in=list(held))
    return minds.update(deciding_until=until)


def claim_free(claim: str) -> None:
    """Give a claim back before its time."""
    Mind.objects.filter(deciding_by=claim).update(deciding_until=None, deciding_by="")


@dataclass(frozen=True, slots=True)
class MindStanding:
    """How a mind stands, as it is stored."""

    claimed: int | None
    """The step of its newest claim."""
    until: datetime | None
    by: str
    decided: int
    """The number of its last decision; 0 before the first, and in logs of before."""

    def is_claimed_by_another(self, step: int, claim: str) -> bool:
        """Whether somebody without this claim has to leave its decision of this step alone."""
        if self.claimed != step or self.until is None or self.by in {"", claim}:
            return False
        return timedelta() <= self.until - timezone.now() <= timedelta(seconds=LONGEST_SECONDS)


def claims_free_dead() -> int:
    """Free what workers of this machine had taken up and can no longer make; how many decisions."""
    now = timezone.now()
    playing = Episode.objects.filter(status=Episode.Status.PLAYING)
    held = Mind.objects.filter(episode__in=playing, deciding_until__gte=now)
    claims = set(held.exclude(deciding_by="").values_list("deciding_by", flat=True))
    dead = [claim for claim in claims if process_is_gone(claim.partition("#")[0])]
    return held.filter(deciding_by__in=dead).update(deciding_until=None, deciding_by="") if dead else 0


@contextmanager
def kept_claim(episode_id: int, claim: str) -> Iterator[None]:
    """Say every few seconds that this decision is being made, for as long as it is."""
    _keeper.add(episode_id, claim)
    try:
        yield
    finally:
        _keeper.discard(claim)


class _Keeper:
    """One thread keeps all claims of this process up, for as long as there are some."""

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
        """A database that is away for a moment ends no claim: the next try has a connection of its own."""
        time.sleep(KEEP_SECONDS)
        while held := self._left():
            try:
                claims_keep(held)
            except Error as error:
                log.warning("%s claims could not be kept: %s", len(held), error)
                _hang_up()
            time.sleep(KEEP_SECONDS)
        _hang_up()


_keeper = _Keeper()


def _hang_up() -> None:
    with suppress(Error):
        connection.close()
