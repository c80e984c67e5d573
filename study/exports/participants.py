"""participants.csv: a row per participant who entered and did not withdraw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Count, Q

from study.exports.base import WHO, Column, Table
from study.models import Participant, Study

COLUMNS = (
    *WHO,
    Column("number", "integer", "Order of entering the study.", levels="1 = first"),
    Column(
        "exit_status", "text", "How far the participant came.", levels=", ".join(Participant.Status.values)
    ),
    Column("sequence", "text", "Keys of the conditions in the order given to this participant."),
    Column("rounds_completed", "integer", "Conditions played and answered.", unit="conditions"),
    Column("consented_at", "time", "When the participant agreed; blank if that was not asked or refused."),
    Column("consent_hash", "text", "SHA-256 of the text and statements that were agreed to."),
    Column("ended_at", "time", "When the participant came to an end, good or bad."),
    Column(
        "completion_code",
        "text",
        "What the participant was given to hand in as a proof; blank before the end. Take it out before you "
        "publish the data.",
    ),
)


def rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per participant, by number."""
    people = study.participants.annotate(done=Count("rounds", filter=Q(rounds__answered_at__isnull=False)))
    for person in people.prefetch_related("rounds__condition").order_by("number").iterator(chunk_size=500):
        sequence = " ".join(found.condition.key for found in person.rounds.all())
        yield (
            person.code,
            person.synthetic,
            person.number,
            person.status,
            sequence,
            person.done,
            person.consented_at,
            person.consent_hash,
            person.ended_at,
            person.completion_code if person.status == person.Status.COMPLETE else None,
        )


TABLE = Table("participants", "Everybody who agreed to take part and did not withdraw.", COLUMNS, rows)
