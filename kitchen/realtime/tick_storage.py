"""Buffer the rows of ticks in memory, and store the groups of many episodes in one transaction.

A group is stored completely or not at all. It is stored only if the episode is unchanged, is still played,
and still belongs to the clock process (`kitchen.realtime.clock_claims`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import models, transaction
from django.db.models import F

from kitchen.contract.language_model import Call
from kitchen.infra.database_writes import RowWriter, Values, insert_rows, update_row_where
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Decision, Episode, SeatCommand, StateChange, Step, Ticking
from kitchen.play.turn.decision_records import store_calls
from kitchen.play.turn.page_broadcast import notify_audience
from kitchen.play.turn.websocket_messages import EpisodeNews
from kitchen.realtime.clock_claims import renew_clock_claims

TICK_MODELS: Sequence[type[models.Model]] = (SeatCommand, Decision, Step, StateChange)
"""Models whose rows ticks write."""
ROWS_PER_INSERT = 500
"""Number of rows in one INSERT statement."""


@dataclass(slots=True)
class TickGroup:
    """Rows and changes that ticks of one episode have made since it was last stored."""

    before: dict[str, Any] = field(default_factory=dict)
    """The episode's old column values."""
    fresh: dict[str, Any] = field(default_factory=dict)
    """The episode's new column values."""
    rows: dict[type[models.Model], list[Values]] = field(default_factory=dict)
    calls: list[tuple[Decision, Sequence[Call]]] = field(default_factory=list)
    """Calls of language models, with the decisions that they belong to."""

    def then(self, later: TickGroup) -> TickGroup:
        """Return this group followed by a later one, as one group."""
        rows = {each: [*self.rows.get(each, ()), *later.rows.get(each, ())] for each in TICK_MODELS}
        fresh = {**self.fresh, **later.fresh}
        return TickGroup(self.before or later.before, fresh, rows, [*self.calls, *later.calls])


class TickBuffer(RowWriter):
    """Keeps the rows of one turn in memory."""

    def __init__(self) -> None:
        self.group = TickGroup()

    def insert(self, model: type[models.Model], rows: Sequence[Values]) -> None:
        """Keep rows for later."""
        self.group.rows.setdefault(model, []).extend(rows)

    def change(self, model: type[models.Model], fresh: Values, *, where: Values) -> bool:
        """Keep the episode's new column values. Other models are never changed."""
        self.group.before = self.group.before or dict(where)
        self.group.fresh.update(fresh)
        return True

    def called(self, row: Decision, calls: Sequence[Call]) -> None:
        """Keep the model calls of this decision."""
        if calls:
            self.group.calls.append((row, calls))

    def take(self) -> TickGroup:
        """Return everything kept, and empty the buffer."""
        taken, self.group = self.group, TickGroup()
        return taken

    def put_back(self, group: TickGroup) -> None:
        """Take back a group that could not be stored."""
        self.group = group.then(self.group)


@dataclass(frozen=True, slots=True)
class UnstoredTicks:
    """The ticks of one episode to be stored."""

    episode_id: int
    group: TickGroup
    late: int = 0
    lost_ms: int = 0
    audience: str = ""
    """The audience to notify. Empty if it has just been notified."""
    key: str = ""

    @property
    def is_over(self) -> bool:
        """True if the last tick of the episode is included."""
        return bool(self.group.fresh.get("status", Episode.Status.PLAYING) != Episode.Status.PLAYING)


def store_tick_groups(owner: str, written: Sequence[UnstoredTicks]) -> set[int]:
    """Store these groups and renew the owner's claims. Return the ids of the episodes that were stored.

    Nothing is stored of the others: another process owns them, or they are over or erased.
    """
    with transaction.atomic():
        ours = renew_clock_claims(owner, [each.episode_id for each in written])
        stored = [each for each in written if each.episode_id in ours and _changed(each)]
        for model in TICK_MODELS:
            rows = [row for each in stored for row in each.group.rows.get(model, ())]
            for first in range(0, len(rows), ROWS_PER_INSERT):
                insert_rows(model, rows[first : first + ROWS_PER_INSERT])
        _store_calls([called for each in stored for called in each.group.calls])
        for each in stored:
            if each.late or each.lost_ms:
                counts = Ticking.objects.filter(pk=each.episode_id)
                counts.update(late=F("late") + each.late, lost_ms=F("lost_ms") + each.lost_ms)
            if each.is_over:
                seal_episode(Episode.objects.get(pk=each.episode_id))
            if each.audience and each.group.fresh:
                transaction.on_commit(partial(notify_audience, each.audience, _news(each)))
    return {each.episode_id for each in stored}


def _changed(each: UnstoredTicks) -> bool:
    """Store the episode's new values if its old values are unchanged. Return True if they were."""
    if not each.group.fresh:
        return True
    before = {**each.group.before, "status": Episode.Status.PLAYING}
    return update_row_where(Episode, each.group.fresh, where={"id": each.episode_id, **before})


def _store_calls(called: Sequence[tuple[Decision, Sequence[Call]]]) -> None:
    """Store model calls. Their decisions have just been stored, and are found by number."""
    for row, calls in called:
        row.pk = Decision.objects.values_list("pk", flat=True).get(mind=row.mind_id, number=row.number)
        store_calls([(row, calls)])


def _news(each: UnstoredTicks) -> EpisodeNews:
    fresh = each.group.fresh
    return EpisodeNews(episode=each.key, step=fresh["step"], status=str(fresh["status"]))
