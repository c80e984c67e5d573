"""Who holds which sequence of which order scheme."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Q

from study.design.blueprint import Blueprint
from study.design.models import Study
from study.design.orders.issuing import Tally
from study.people.models import Participant


class OrderScheme(NamedTuple):
    """What the sequences of a version rest on; versions that differ in other things are balanced together."""

    name: str
    conditions: tuple[str, ...]
    seed: int


def scheme_of(design: Blueprint) -> OrderScheme:
    """That of one version."""
    conditions = tuple(one.key for one in design.conditions)
    return OrderScheme(str(design.study["orders"]), conditions, int(design.study["seed"]))


def tallies(study: Study, scheme: OrderScheme, *, synthetic: bool, preview: bool) -> dict[int, Tally]:
    """By sequence of a scheme, who holds it: people, programs and staff are counted apart."""
    versions = study.versions.defer("bundle").order_by()
    alike = [one.pk for one in versions if scheme_of(one.blueprint) == scheme]
    held = study.participants.filter(
        version__in=alike, synthetic=synthetic, preview=preview, excluded_at=None
    )
    rows = (
        held.exclude(sequence=None)
        .values("sequence")
        .annotate(
            finished=Count("pk", filter=Q(status=Participant.Status.COMPLETE)),
            playing=Count("pk", filter=Q(status=Participant.Status.ACTIVE)),
        )
    )
    return {row["sequence"] or 0: Tally(row["finished"], row["playing"]) for row in rows.order_by()}
