"""Decisions of which nothing comes: they came too late, or somebody else's were taken. What they say and cost
is kept with the others, and nobody goes on from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Max

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.agent import Late
from kitchen.contract.model import Call
from kitchen.contract.world import Command, Json
from kitchen.machine.storable import storable
from kitchen.play.calls import calls_store
from kitchen.play.models import Decision, Episode, Mind

LATE = "late"
"""Why: it came after the time that it had, or after its step."""
OVER = "over"
"""Why: it came after the end of its episode, which was sealed without it."""
REMEMBERED = 20
"""For so many steps a mind may be told of what came too late."""
KEY = "dropped"
"""Under which a note has what was not followed: `commands` and `plans` by seat, and what it `says`."""

Row = tuple[Decision, Sequence[Call]]
"""A decision that is not stored yet, with the calls of models that it took."""


def decisions_drop(*, episode: Episode, rows: Sequence[Row], why: str) -> bool:
    """Store decisions of one episode of which nothing comes, and say why; after its end that is `OVER`.
    False, and nothing stored, if the episode is gone."""
    with transaction.atomic():
        there = Episode.objects.select_for_update().filter(pk=episode.pk, key=episode.key).first()
        if there is None:
            return False
        numbers = _numbers(rows)
        for row, _ in rows:
            row.number = numbers[row.mind_id] + 1
            row.dropped = why if there.status == Episode.Status.PLAYING else OVER
        Decision.objects.bulk_create([row for row, _ in rows])
        calls_store(rows)
    return True


def _numbers(rows: Sequence[Row]) -> dict[int, int]:
    """Of the last decision of each mind; 0 before its first."""
    minds = Mind.objects.filter(pk__in=[row.mind_id for row, _ in rows]).order_by()
    return {pk: last or 0 for pk, last in minds.values_list("pk").annotate(Max("decisions__number"))}


def late_decisions(minds: Sequence[Mind], step: int) -> dict[int, tuple[Late, ...]]:
    """By mind: what came too late in the last steps before this one, and after the mind was asked for what it
    decided in time since."""
    if not minds:
        return {}
    rows = Decision.objects.filter(mind__in=minds, step__gte=step - REMEMBERED, dropped__in=("", LATE))
    facts = ("mind", "step", "dropped", "decided_at", "milliseconds", "note")
    found = list(rows.order_by("number").values_list(*facts))
    asked = {
        mind: at - timedelta(milliseconds=took) for mind, _, dropped, at, took, _ in found if not dropped
    }
    late: dict[int, tuple[Late, ...]] = {}
    for mind, of_step, dropped, at, _, note in found:
        if dropped and (mind not in asked or at > asked[mind]):
            late[mind] = (*late.get(mind, ()), Late(of_step, _commanded(note)))
    return late


def _commanded(note: Json) -> dict[int, Command]:
    told = note[KEY].get("commands", {}) if isinstance(note, dict) and KEY in note else {}
    return {int(seat): tuple(command) for seat, command in told.items()}


def told_of(decision: MindDecision) -> MindDecision:
    """The same with all that was not followed in its note: it stands nowhere else."""
    told = {
        "commands": {str(seat): list(command) for seat, command in decision.commands.items()},
        "plans": {str(seat): [list(each) for each in plan] for seat, plan in decision.plans.items()},
        "says": [asdict(say) for say in decision.says],
    }
    note = decision.note if isinstance(decision.note, dict) else {"note": decision.note}
    return replace(
        decision, note={**note, KEY: storable({name: all_ for name, all_ in told.items() if all_})}
    )
