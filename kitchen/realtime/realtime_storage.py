"""Store the steps (ticks) of real-time episodes, and which clock process owns each episode.

A clock process claims an episode before it computes ticks. The claim expires after `LEASE_SECONDS` unless the
process renews it. Rows of ticks are collected in memory. Then one transaction stores the ticks of many
episodes, if the process still has its claims.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from kitchen.contract.language_model import Call
from kitchen.infra.database_writes import RowWriter, Values, insert_rows, update_row_where
from kitchen.infra.os_processes import process_is_gone, process_name
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Decision, Episode, Message, Seat, SeatCommand, StateChange, Step, Ticking
from kitchen.play.turn.audience_news import EpisodeNews
from kitchen.play.turn.decision_records import store_calls
from kitchen.play.turn.page_broadcast import notify_audience
from kitchen.play.turn.step_timer import ARRIVAL
from kitchen.play.turn.turn_claims import MAX_DELAY_SECONDS

LEASE_SECONDS = 1.5
"""Seconds without a renewal after which an owner has lost its episodes."""


def new_owner_name() -> str:
    """Return a new unique name, under which a clock process claims episodes."""
    return f"{process_name()}#{secrets.token_hex(6)}"


@dataclass(frozen=True, slots=True)
class ClockEpisode:
    """A real-time episode that is being played, and the claim on it."""

    episode_id: int
    owner: str
    until: datetime | None
    seats_given: str
    """Text that changes whenever an agent takes over a seat."""
    world: str = ""
    """The kind of its world, if it was read from the database."""


def clock_episodes() -> list[ClockEpisode]:
    """Return the real-time episodes that are being played or can begin.

    An episode can begin when all people have opened their page. It can also begin when one person has
    waited for `ARRIVAL`.
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
    found = rows.values_list("episode_id", "owner", "until", "episode__gone", "episode__world")
    return [ClockEpisode(pk, owner, until, str(gone or ""), kind) for pk, owner, until, gone, kind in found]


def is_clock_unclaimed(one: ClockEpisode) -> bool:
    """Return whether no process owns this episode: there is no claim, it has expired, or its process has
    ended."""
    return _lapsed(one.until) or process_is_gone(one.owner.partition("#")[0])


def _lapsed(until: datetime | None) -> bool:
    """Return whether the claim has expired. A claim that ends implausibly late counts as expired, because
    somebody set the clock back."""
    now = timezone.now()
    return until is None or not now <= until <= now + timedelta(seconds=MAX_DELAY_SECONDS)


def take_clock_claim(owner: str, one: ClockEpisode) -> bool:
    """Claim this episode for the clock process with the name `owner`. Returns False if another process has
    claimed the episode since `one` was read."""
    until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    free = Ticking.objects.filter(pk=one.episode_id, owner=one.owner, until=one.until)
    return bool(free.update(owner=owner, until=until))


def renew_clock_claims(owner: str, episode_ids: Collection[int]) -> set[int]:
    """Renew the claims of `owner` on these episodes. Return the ids of the episodes that `owner` still
    owns. Call this inside a transaction."""
    ours = _of(owner, episode_ids)
    ours.update(until=timezone.now() + timedelta(seconds=LEASE_SECONDS))
    return set(ours.values_list("pk", flat=True))


def release_clock_claims(owner: str, episode_ids: Collection[int]) -> None:
    """Release the claims of `owner` on these episodes, so that other processes can claim them at once."""
    _of(owner, episode_ids).update(until=None)


def _of(owner: str, episode_ids: Collection[int]) -> QuerySet[Ticking]:
    return Ticking.objects.filter(pk__in=list(episode_ids), owner=owner)


def stored_hold(episode_id: int) -> tuple[bool, Any]:
    """Return whether probes hold this episode now, and the stored state of its probes. True if the episode is
    over or erased: its clock does not go on."""
    playing = Episode.objects.filter(pk=episode_id, status=Episode.Status.PLAYING)
    return playing.values_list("probing", "probe_state").first() or (True, None)


STILL_AFTER = timedelta(seconds=5)
"""Time after a claim's end in which another owner takes over. Then the clock counts as stopped."""


@dataclass(frozen=True, slots=True)
class ClockTotals:
    """Counts over the real-time episodes that are being played."""

    running: int
    stopped: int
    """Number of episodes whose clock has stopped."""
    steps: int
    """Number of steps taken in these episodes."""
    late: int
    """Number of these steps that were late."""


def clock_totals() -> ClockTotals:
    """Return counts of real-time episodes: those that are played or can begin, their steps, late steps, and
    stopped clocks."""
    playing, now = clock_episodes(), timezone.now()
    ids = [one.episode_id for one in playing]
    rows = Ticking.objects.filter(pk__in=ids).values_list(
        "late", "episode__step", "until", "episode__turn_opened_at"
    )
    taken = [(late, step, max(until or opened, opened)) for late, step, until, opened in rows]
    still = sum(last + STILL_AFTER < now for _, _, last in taken)
    return ClockTotals(len(playing), still, sum(row[1] for row in taken), sum(row[0] for row in taken))


TICK_MODELS: Sequence[type[models.Model]] = (SeatCommand, Decision, Step, StateChange, Message)
"""Models whose rows ticks write."""
_COUNT_LATE = (
    f"UPDATE {Ticking._meta.db_table} SET late = late + %s, lost_ms = lost_ms + %s "  # noqa: S608 - our name
    "WHERE episode_id = %s"
)
ROWS_PER_INSERT = 500
"""Number of rows in one INSERT statement."""


@dataclass(slots=True)
class TickGroup:
    """Rows and changes of one episode from one or more ticks, to be stored together."""

    before: dict[str, Any] = field(default_factory=dict)
    """The episode's old column values."""
    fresh: dict[str, Any] = field(default_factory=dict)
    """The episode's new column values."""
    rows: dict[type[models.Model], list[Values]] = field(default_factory=dict)
    calls: list[tuple[Decision, Sequence[Call]]] = field(default_factory=list)
    """Calls of language models, with the decisions that they belong to."""

    def then(self, later: TickGroup) -> TickGroup:
        """Return one group with the rows and changes of this group and of a later one."""
        rows = {each: [*self.rows.get(each, ()), *later.rows.get(each, ())] for each in TICK_MODELS}
        fresh = {**self.fresh, **later.fresh}
        return TickGroup(self.before or later.before, fresh, rows, [*self.calls, *later.calls])


class TickBuffer(RowWriter):
    """Collects the rows of one episode's ticks in memory until they are stored."""

    def __init__(self) -> None:
        self.group = TickGroup()

    def insert(self, model: type[models.Model], rows: Sequence[Values]) -> None:
        """Add rows of this model to the buffer."""
        self.group.rows.setdefault(model, []).extend(rows)

    def change(
        self,
        model: type[models.Model],
        fresh: Values,
        *,
        where: Values,
        error_if_unchanged: Exception | None = None,
    ) -> None:
        """Add new column values (`fresh`) of the episode to the buffer. Nothing is written yet, so that
        `error_if_unchanged` is never raised.

        `where` are the values that the row must still have when the buffer is stored. Only rows of `Episode`
        can be changed.
        """
        self.group.before = self.group.before or dict(where)
        self.group.fresh.update(fresh)

    def called(self, row: Decision, calls: Sequence[Call]) -> None:
        """Add the model calls of this decision to the buffer."""
        if calls:
            self.group.calls.append((row, calls))

    def take(self) -> TickGroup:
        """Return everything in the buffer, and empty it."""
        taken, self.group = self.group, TickGroup()
        return taken

    def put_back(self, group: TickGroup) -> None:
        """Put a group that could not be stored back in front of the buffer's content."""
        self.group = group.then(self.group)


@dataclass(frozen=True, slots=True)
class UnstoredTicks:
    """The ticks of one episode that must be stored, with counts of delays."""

    episode_id: int
    group: TickGroup
    late: int = 0
    lost_ms: int = 0
    audience: str = ""
    """The audience to notify. Empty if it has just been notified."""
    key: str = ""

    @property
    def is_over(self) -> bool:
        """Return True if the episode's last tick is one of these unstored ticks."""
        return bool(self.group.fresh.get("status", Episode.Status.PLAYING) != Episode.Status.PLAYING)


def store_tick_groups(owner: str, written: Sequence[UnstoredTicks], receiver: str = "") -> set[int]:
    """Store these ticks in one transaction, renew the claims of `owner`, and seal (sign) episodes that are
    over. Return the ids of the episodes whose ticks were stored.

    With `receiver`, the claims on these episodes belong to that process from then on.
    Ticks are not stored if another process owns the episode, or if the episode is already over or erased.
    """
    with transaction.atomic():
        ours = renew_clock_claims(owner, [each.episode_id for each in written])
        stored = [each for each in written if each.episode_id in ours and _changed(each)]
        for model in TICK_MODELS:
            rows = [row for each in stored for row in each.group.rows.get(model, ())]
            for first in range(0, len(rows), ROWS_PER_INSERT):
                insert_rows(model, rows[first : first + ROWS_PER_INSERT])
        _store_calls([called for each in stored for called in each.group.calls])
        _count_late([each for each in stored if each.late or each.lost_ms])
        if receiver:
            _of(owner, {each.episode_id for each in stored}).update(owner=receiver)
        for each in stored:
            if each.is_over:
                seal_episode(Episode.objects.get(pk=each.episode_id))
            if each.audience and "step" in each.group.fresh:  # without a step, there are only messages
                transaction.on_commit(partial(notify_audience, each.audience, _news(each)))
    return {each.episode_id for each in stored}


def _count_late(late: Sequence[UnstoredTicks]) -> None:
    """Add the late ticks to the stored counts. Plain SQL, because late processes are busy."""
    if late:
        rows = [(one.late, one.lost_ms, one.episode_id) for one in late]
        with connection.cursor() as cursor:
            cursor.executemany(_COUNT_LATE, rows)


def _changed(each: UnstoredTicks) -> bool:
    """Store the episode's new values, if no other process has changed the old ones. Return True if they are
    stored, or if there are none."""
    if not each.group.fresh:
        return True
    before = {**each.group.before, "status": Episode.Status.PLAYING}
    return update_row_where(Episode, each.group.fresh, where={"id": each.episode_id, **before})


def _store_calls(called: Sequence[tuple[Decision, Sequence[Call]]]) -> None:
    """Store model calls whose decisions have just been stored. The number of a decision identifies its
    row."""
    for row, calls in called:
        row.pk = Decision.objects.values_list("pk", flat=True).get(mind=row.mind_id, number=row.number)
        store_calls([(row, calls)])


def _news(each: UnstoredTicks) -> EpisodeNews:
    fresh = each.group.fresh
    return EpisodeNews(episode=each.key, step=fresh["step"], status=str(fresh["status"]))
