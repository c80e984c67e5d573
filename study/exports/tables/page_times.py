"""page_times.csv: how long everybody was on every page, as oTree's PageTimes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from study.design.models import Study
from study.design.page_order import PAGES, WELCOME
from study.exports.base import PERSON_MARKS, WHO, Column, ExportTable, in_chunks
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import PEOPLE, people
from study.people.models import PageVisit, Round

COLUMNS = (
    *WHO,
    Column("page", "text", "The page.", levels=", ".join((WELCOME, *PAGES))),
    Column("order_position", "integer", "Of the condition; 0 outside of the conditions."),
    Column("condition", "text", "Key of the condition; blank outside of the conditions."),
    Column("opened_at", "time", "When the page was seen first; the welcome page, when it was loaded last."),
    Column("done_at", "time", "When it was done; blank if it never was."),
    Column("seconds", "number", "From seeing it first to being done.", unit="s"),
    Column("loads", "integer", "How often it was loaded: more than 1 means a reload or a way back."),
    Column("epoch_time_completed", "integer", "`done_at` as oTree has it: seconds since 1970.", unit="s"),
    *PERSON_MARKS,
)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per page and participant: by participant, as they came to them."""
    for chunk in in_chunks(people(study, chosen), PEOPLE):
        everybody = {who.pk: who for who in chunk}
        conditions = _conditions(everybody)
        visits = PageVisit.objects.filter(participant__in=everybody).order_by(
            "participant__number", "opened_at", "pk"
        )
        rows = visits.values_list("participant_id", "page", "position", "opened_at", "done_at", "loads")
        for pk, theirs in groupby(rows, itemgetter(0)):
            who = everybody[pk]
            yield Stretch(
                who.cells,
                [
                    (page, position, conditions.get((pk, position)), *_times(opened, done, loads))
                    for _, page, position, opened, done, loads in theirs
                ],
                who.marks,
            )


def _conditions(everybody: dict[int, Any]) -> dict[tuple[int, int], str]:
    rounds = Round.objects.filter(participant__in=everybody).order_by()
    rows = rounds.values_list("participant_id", "position", "condition__key")
    return {(pk, position): key for pk, position, key in rows}


def _times(opened: datetime, done: datetime | None, loads: int) -> tuple[Any, ...]:
    if done is None:
        return opened, None, None, loads, None
    return opened, done, round((done - opened).total_seconds(), 3), loads, int(done.timestamp())


TABLE = ExportTable("page_times", "When everybody was on every page, and for how long.", COLUMNS, rows)
