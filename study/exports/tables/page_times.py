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
from study.people.devices import KINDS, OTHER, SYSTEMS
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
    Column(
        "device",
        "text",
        "What it was seen on last; blank where the study keeps none.",
        levels=", ".join(KINDS),
    ),
    Column("browser", "text", "Family of the browser."),
    Column("browser_version", "integer", "Its major version; blank if it does not tell."),
    Column("system", "text", "Family of the system.", levels=", ".join((*SYSTEMS, OTHER))),
    Column("window_width", "integer", "Inside of the window when it was loaded last.", unit="CSS px"),
    Column("window_height", "integer", "Likewise.", unit="CSS px"),
    Column(
        "times_away", "integer", "How often it went out of sight, in all loads; blank if it told nothing."
    ),
    Column("seconds_away", "number", "For how long, all together, as far as they came back to it.", unit="s"),
    *PERSON_MARKS,
)
DEVICE = ("device", "browser", "browser_version", "system", "window_width", "window_height", "times_away")


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per page and participant: by participant, as they came to them."""
    for chunk in in_chunks(people(study, chosen), PEOPLE):
        everybody = {who.pk: who for who in chunk}
        conditions = _conditions(everybody)
        visits = PageVisit.objects.filter(participant__in=everybody).order_by(
            "participant__number", "opened_at", "pk"
        )
        rows = visits.values_list(
            "participant_id", "page", "position", "opened_at", "done_at", "loads", *DEVICE, "away_ms"
        )
        for pk, theirs in groupby(rows, itemgetter(0)):
            who = everybody[pk]
            yield Stretch(
                who.cells,
                [
                    (page, place, conditions.get((pk, place)), *_times(opened, done, loads), *_device(*seen))
                    for _, page, place, opened, done, loads, *seen in theirs
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


def _device(*seen: Any) -> tuple[Any, ...]:
    """What was never told is blank, as a text, too."""
    *told, away_ms = (None if one == "" else one for one in seen)
    return *told, None if away_ms is None else away_ms / 1000


TABLE = ExportTable("page_times", "When everybody was on every page, and for how long.", COLUMNS, rows)
