"""Tables of events around play: page_times.csv, outages.csv and staff_actions.csv.

page_times.csv has the time on each page, like oTree's PageTimes.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from kitchen.uptime.models import Part
from study.design.models import Study
from study.design.page_and_item_order import PAGES, WELCOME
from study.exports.export_table import (
    PARTICIPANT_COLUMNS,
    PERSON_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    in_chunks,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import PEOPLE, exported_participants
from study.participants.episode_owners_and_outages import outages_of
from study.participants.models import PageVisit, Round, StaffAction
from study.participation.device_records import KINDS, OTHER, SYSTEMS

PAGE_TIME_COLUMNS = (
    *PARTICIPANT_COLUMNS,
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


def page_time_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per page and participant: by participant, in the order in which pages were opened."""
    for chunk in in_chunks(exported_participants(study, chosen), PEOPLE):
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
            yield RowGroup(
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
    """Return the device cells; values that were never reported are None, texts too."""
    *told, away_ms = (None if one == "" else one for one in seen)
    return *told, None if away_ms is None else away_ms / 1000


PAGE_TIMES = ExportTable(
    "page_times", "When everybody was on every page, and for how long.", PAGE_TIME_COLUMNS, page_time_rows
)

OUTAGE_COLUMNS = (
    Column(
        "part",
        "text",
        "What was away.",
        levels="; ".join(f"{value} ({label})" for value, label in Part.choices),
    ),
    Column("since", "time", "Its last sign of life before."),
    Column("until", "time", "Its first sign of life after."),
    Column(
        "seconds",
        "number",
        "How long that is, up to two seconds longer than it was away; 0 for a clock that was set.",
        unit="s",
    ),
    Column("note", "text", "What is not certain about it, or how the clock was set."),
)


def outage_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per outage since the first participant entered."""
    found = outages_of(study).values_list("part", "since", "until", "note")
    yield RowGroup(
        (),
        [
            (part, since, until, 0.0 if part == Part.CLOCK else _seconds(since, until), note or None)
            for part, since, until, note in found
        ],
    )


def _seconds(since: datetime, until: datetime) -> float:
    return round((until - since).total_seconds(), 3)


OUTAGES = ExportTable(
    "outages", "When something of ours was away while the study ran.", OUTAGE_COLUMNS, outage_rows
)

STAFF_ACTION_COLUMNS = (
    *PARTICIPANT_COLUMNS,
    Column("at", "time", "When it was done."),
    Column("user", "text", "Login of who did it, as it was then."),
    Column("action", "text", "What was done.", levels=", ".join(StaffAction.Action.values)),
    Column("reason", "text", "Why."),
    *PERSON_MARKS,
)


def staff_action_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per staff action: by participant, in the order of the actions."""
    for chunk in in_chunks(exported_participants(study, chosen), PEOPLE):
        everybody = {who.pk: who for who in chunk}
        actions = StaffAction.objects.filter(participant__in=everybody)
        fields = ("participant_id", "at", "user_name", "action", "reason")
        deeds = actions.order_by("participant__number", "at", "pk").values_list(*fields)
        for pk, theirs in groupby(deeds, itemgetter(0)):
            who = everybody[pk]
            yield RowGroup(who.cells, [deed[1:] for deed in theirs], who.marks)


STAFF_ACTIONS = ExportTable(
    "staff_actions", "What staff did to participants, and why.", STAFF_ACTION_COLUMNS, staff_action_rows
)
