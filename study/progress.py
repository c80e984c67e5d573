"""How far a study is, in numbers: for programs that read the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from kitchen.models import Spending
from study.models import Participant, Study


@dataclass(frozen=True, slots=True)
class Cell:
    """One sequence of the order scheme: how many hold it. Excluded ones and previews are not counted."""

    sequence: int
    finished: int
    playing: int


def statuses(study: Study, **which: Any) -> dict[str, int]:
    """Participants by exit status; every status is there."""
    rows = study.participants.filter(**which).order_by().values_list("status").annotate(Count("pk"))
    return dict.fromkeys(Participant.Status.values, 0) | dict(rows)


def cells(study: Study, *, synthetic: bool = False) -> list[Cell]:
    """The sequences that anybody holds, over all versions; none for orders of chance."""
    held = study.participants.filter(synthetic=synthetic, preview=False, excluded_at=None)
    rows = (
        held.exclude(sequence=None)
        .order_by("sequence")
        .values("sequence")
        .annotate(
            finished=Count("pk", filter=Q(status=Participant.Status.COMPLETE)),
            playing=Count("pk", filter=Q(status=Participant.Status.ACTIVE)),
        )
    )
    return [Cell(row["sequence"] or 0, row["finished"], row["playing"]) for row in rows]


def spent(study: Study) -> float:
    """US dollars: what ended calls cost, and what is set aside for those under way."""
    ledger = Spending.objects.filter(budget=study.budget_id) if study.budget_id else Spending.objects.none()
    sums = ledger.aggregate(ended=Sum("spent"), under_way=Sum("reserved", filter=Q(spent=None)))
    return float(sum(amount or 0 for amount in sums.values()))
