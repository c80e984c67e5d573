"""Define the export table payments.csv: the bonus of each participant who completed, with its parts."""

from __future__ import annotations

from collections.abc import Iterator

from study.design.models import Study
from study.exports.export_table import (
    PARTICIPANT_COLUMNS,
    PERSON_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import participant_chunks
from study.participants.bonuses import compute_bonuses
from study.participants.models import Participant
from study.participants.payments import Payment

COLUMNS = (
    *PARTICIPANT_COLUMNS,
    *file_columns("payments", state=Payment.State.values),
    *PERSON_MARKS,
)


def payment_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row for each participant with a bonus by the rule or a confirmed one, by number."""
    for everybody in participant_chunks(study, chosen):
        people = Participant.objects.filter(pk__in=everybody).only("pk", "status", "version")
        bonuses = compute_bonuses(study, people)
        payments = {one.participant_id: one for one in Payment.objects.filter(participant__in=everybody)}
        for pk, who in everybody.items():
            bonus, payment = bonuses.get(pk), payments.get(pk)
            if bonus or payment:
                row = (
                    float(bonus.amount) if bonus else None,
                    bonus.currency if bonus else payment.currency if payment else None,
                    payment.parts if payment else bonus.to_json() if bonus else None,
                    float(payment.amount) if payment else None,
                    payment.state if payment else None,
                    payment.confirmed_at if payment else None,
                    payment.paid_at if payment else None,
                )
                yield RowGroup(who.cells, [row], who.marks)


TABLE = ExportTable(
    "payments", "Bonuses: by the rule, with their parts, confirmed, and paid.", COLUMNS, payment_rows
)
