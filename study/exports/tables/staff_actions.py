"""staff_actions.csv: what staff did to participants, and why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from study.design.models import Study
from study.exports.base import PERSON_MARKS, WHO, Column, ExportTable, in_chunks
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import PEOPLE, people
from study.people.models import StaffAction

COLUMNS = (
    *WHO,
    Column("at", "time", "When it was done."),
    Column("user", "text", "Login of who did it, as it was then."),
    Column("action", "text", "What was done.", levels=", ".join(StaffAction.Action.values)),
    Column("reason", "text", "Why."),
    *PERSON_MARKS,
)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per deed: by participant, as they were done."""
    for chunk in in_chunks(people(study, chosen), PEOPLE):
        everybody = {who.pk: who for who in chunk}
        actions = StaffAction.objects.filter(participant__in=everybody)
        fields = ("participant_id", "at", "user_name", "action", "reason")
        deeds = actions.order_by("participant__number", "at", "pk").values_list(*fields)
        for pk, theirs in groupby(deeds, itemgetter(0)):
            who = everybody[pk]
            yield Stretch(who.cells, [deed[1:] for deed in theirs], who.marks)


TABLE = ExportTable("staff_actions", "What staff did to participants, and why.", COLUMNS, rows)
