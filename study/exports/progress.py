"""How far a study is, in numbers: for programs that read the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum

from kitchen.money.models import Spending
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.orders.base import SchemeError
from study.design.orders.issuing import Tally
from study.design.orders.registry import sequences
from study.people.held import OrderScheme, scheme_of, tallies
from study.people.models import Participant


@dataclass(frozen=True, slots=True)
class Cell:
    """One sequence of an order scheme: how many hold it. Excluded ones and previews are not counted."""

    versions: list[int]
    """Numbers of the versions that share the scheme; none before anybody came."""
    sequence: int
    order: tuple[str, ...]
    finished: int
    playing: int


def statuses(study: Study, **which: Any) -> dict[str, int]:
    """Participants by exit status; every status is there."""
    rows = study.participants.filter(**which).order_by().values_list("status").annotate(Count("pk"))
    return dict.fromkeys(Participant.Status.values, 0) | dict(rows)


def cells(study: Study, *, synthetic: bool = False) -> list[Cell]:
    """Every sequence of every scheme that a version has, and of the present one: whole blocks, those that
    nobody holds, too. None for orders of chance."""
    return [
        cell
        for scheme, versions in _schemes(study).items()
        for cell in _block(study, scheme, versions, synthetic)
    ]


def _schemes(study: Study) -> dict[OrderScheme, list[int]]:
    schemes: dict[OrderScheme, list[int]] = defaultdict(list)
    met = Participant.objects.filter(version=OuterRef("pk"), preview=False)
    for version in study.versions.filter(Exists(met)).order_by("number"):
        schemes[scheme_of(version.blueprint)].append(version.number)
    schemes.setdefault(scheme_of(blueprint_of(study)), [])
    return schemes


def _block(study: Study, scheme: OrderScheme, versions: list[int], synthetic: bool) -> Iterator[Cell]:
    try:
        block = sequences(scheme.name, scheme.conditions)
    except SchemeError:  # not ready yet: these orders cannot be made
        return
    held = tallies(study, scheme, synthetic=synthetic, preview=False)
    for sequence in block:
        tally = held.get(sequence.id, Tally())
        yield Cell(versions, sequence.id, sequence.order, tally.finished, tally.playing)


def spent(study: Study) -> float:
    """US dollars: what ended calls cost, and what is set aside for those under way."""
    ledger = Spending.objects.filter(budget=study.budget_id) if study.budget_id else Spending.objects.none()
    sums = ledger.aggregate(ended=Sum("spent"), under_way=Sum("reserved", filter=Q(spent=None)))
    return float(sum(amount or 0 for amount in sums.values()))
