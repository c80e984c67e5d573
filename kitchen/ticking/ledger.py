"""Rows of ticks that are not stored yet, and storing them: those of many episodes in one transaction.

A turn writes into its `Ledger` what it would write into the database. A group is stored whole or not at all,
and only where the episode is still what it was when its first tick was taken, is still played, and still
belongs to whoever took the ticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import models, transaction

from kitchen.contract.model import Call
from kitchen.machine.statements import Statements, Values, change, insert
from kitchen.play.calls import calls_store
from kitchen.play.models import Decision, Episode, SeatCommand, StateChange, Step
from kitchen.play.sealing import episode_seal
from kitchen.play.stream import tell_audience
from kitchen.play.told import EpisodeNews
from kitchen.ticking.claims import claims_keep, ticks_tell

MODELS: Sequence[type[models.Model]] = (SeatCommand, Decision, Step, StateChange)
"""What ticks write."""
ROWS = 500
"""Rows of one statement."""


@dataclass(slots=True)
class Group:
    """What ticks of one episode have written since it was stored last."""

    before: dict[str, Any] = field(default_factory=dict)
    """What the episode was."""
    fresh: dict[str, Any] = field(default_factory=dict)
    """What it is."""
    rows: dict[type[models.Model], list[Values]] = field(default_factory=dict)
    calls: list[tuple[Decision, Sequence[Call]]] = field(default_factory=list)
    """Calls of language models, by the decisions that took them."""

    def then(self, later: Group) -> Group:
        """Both, as one."""
        rows = {each: [*self.rows.get(each, ()), *later.rows.get(each, ())] for each in MODELS}
        fresh = {**self.fresh, **later.fresh}
        return Group(self.before or later.before, fresh, rows, [*self.calls, *later.calls])


class Ledger(Statements):
    """Keeps what one turn writes."""

    def __init__(self) -> None:
        self.group = Group()

    def insert(self, model: type[models.Model], rows: Sequence[Values]) -> None:
        """Keep rows for later."""
        self.group.rows.setdefault(model, []).extend(rows)

    def change(self, model: type[models.Model], fresh: Values, *, where: Values) -> bool:
        """Keep what the episode is now; it changes nothing else."""
        self.group.before = self.group.before or dict(where)
        self.group.fresh.update(fresh)
        return True

    def called(self, row: Decision, calls: Sequence[Call]) -> None:
        """Keep the calls of this decision, too."""
        if calls:
            self.group.calls.append((row, calls))

    def take(self) -> Group:
        """All that was kept; nothing is, then."""
        taken, self.group = self.group, Group()
        return taken

    def put_back(self, group: Group) -> None:
        """It could not be stored."""
        self.group = group.then(self.group)


@dataclass(frozen=True, slots=True)
class Written:
    """What is to be stored of one episode."""

    episode_id: int
    group: Group
    late: int = 0
    lost_ms: int = 0
    audience: str = ""
    """Who is told; nobody where they have just been told."""
    key: str = ""

    @property
    def is_over(self) -> bool:
        """Its last tick is among it."""
        return bool(self.group.fresh.get("status", Episode.Status.PLAYING) != Episode.Status.PLAYING)


def groups_store(owner: str, written: Sequence[Written]) -> set[int]:
    """Store these groups, and keep the owner's claims up; of which episodes that was done. Of the others
    nothing is stored: they belong to somebody else, or are over, or erased."""
    with transaction.atomic():
        ours = claims_keep(owner, [each.episode_id for each in written])
        stored = [each for each in written if each.episode_id in ours and _changed(each)]
        for model in MODELS:
            _insert_all(model, (row for each in stored for row in each.group.rows.get(model, ())))
        _calls_store([called for each in stored for called in each.group.calls])
        for each in stored:
            if each.late or each.lost_ms:
                ticks_tell(each.episode_id, late=each.late, lost_ms=each.lost_ms)
            if each.is_over:
                episode_seal(Episode.objects.get(pk=each.episode_id))
            if each.audience and each.group.fresh:
                transaction.on_commit(partial(tell_audience, each.audience, _news(each)))
    return {each.episode_id for each in stored}


def _changed(each: Written) -> bool:
    """Whether the episode was what it is said to have been; it is what it has become, then."""
    if not each.group.fresh:
        return True
    before = {**each.group.before, "status": Episode.Status.PLAYING}
    return change(Episode, each.group.fresh, where={"id": each.episode_id, **before})


def _insert_all(model: type[models.Model], rows: Iterable[Values]) -> None:
    every = list(rows)
    for first in range(0, len(every), ROWS):
        insert(model, every[first : first + ROWS])


def _calls_store(called: Sequence[tuple[Decision, Sequence[Call]]]) -> None:
    """Their decisions have just been stored, by number."""
    for row, calls in called:
        row.pk = Decision.objects.values_list("pk", flat=True).get(mind=row.mind_id, number=row.number)
        calls_store([(row, calls)])


def _news(each: Written) -> EpisodeNews:
    fresh = each.group.fresh
    return EpisodeNews(episode=each.key, step=fresh["step"], status=str(fresh["status"]))
