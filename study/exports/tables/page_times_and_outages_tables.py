"""Define the export tables page_times.csv, outages.csv, and staff_actions.csv.

- page_times.csv: each participant's times on each page, like PageTimes of oTree.
- outages.csv: the times at which the app was unavailable.
- staff_actions.csv: the actions of staff on participants.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import participant_chunks
from study.participants.episode_owners_and_outages import outages_of
from study.participants.models import PRIVATE_ACTIONS, PageVisit, Round, StaffAction
from study.participants.staff_messages import ParticipantMessage
from study.participation.device_records import KINDS, OTHER, SYSTEMS

PAGE_TIME_COLUMNS = (
    *PARTICIPANT_COLUMNS,
    *file_columns("page_times", page=(WELCOME, *PAGES), device=KINDS, system=(*SYSTEMS, OTHER)),
    *PERSON_MARKS,
)
DEVICE = ("device", "browser", "browser_version", "system", "window_width", "window_height", "times_away")


def page_time_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per participant and visited page, ordered by participant and time of opening."""
    for everybody in participant_chunks(study, chosen):
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
    """Return the cells about the participant's device. A value that the browser never reported is None,
    even in a text column."""
    *known, away_ms = (None if one == "" else one for one in seen)
    return *known, None if away_ms is None else away_ms / 1000


PAGE_TIMES = ExportTable(
    "page_times", "When everybody was on every page, and for how long.", PAGE_TIME_COLUMNS, page_time_rows
)

OUTAGE_COLUMNS = file_columns("outages", part=dict(Part.choices))


def outage_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per outage of the app since the first participant entered."""
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
    "outages",
    "Times when the server or one of its services did not work while the study ran.",
    OUTAGE_COLUMNS,
    outage_rows,
)

STAFF_ACTION_COLUMNS = (
    *PARTICIPANT_COLUMNS,
    *file_columns(
        "staff_actions", action=[one for one in StaffAction.Action.values if one not in PRIVATE_ACTIONS]
    ),
    *PERSON_MARKS,
)


def staff_action_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per action of staff on a participant, ordered by participant and time. Private notes are
    left out. A message has its text, until names are erased."""
    for everybody in participant_chunks(study, chosen):
        actions = StaffAction.objects.filter(participant__in=everybody).exclude(action__in=PRIVATE_ACTIONS)
        fields = ("participant_id", "at", "user_name", "action", "reason")
        rows = actions.order_by("participant__number", "at", "pk").values_list(*fields)
        sent = _messages(everybody)
        for pk, theirs in groupby(rows, itemgetter(0)):
            who = everybody[pk]
            yield RowGroup(who.cells, list(_with_messages(theirs, sent[pk])), who.marks)


def _messages(everybody: Iterable[int]) -> Mapping[int, list[tuple[Any, ...]]]:
    """Return the messages to each of these participants as (time, text, time of reading), oldest first."""
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    sent = ParticipantMessage.objects.filter(participant__in=everybody).order_by("sent_at", "pk")
    for pk, *message in sent.values_list("participant_id", "sent_at", "text", "read_at"):
        found[pk].append(tuple(message))
    return found


def _with_messages(
    rows: Iterable[tuple[Any, ...]], sent: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of each action of one participant. A message is stored just before its action, so each
    action has the newest message before it that no earlier action has. It may be erased."""
    given = 0
    for _, at, user, action, reason in rows:
        read_at = None
        if action == StaffAction.Action.MESSAGE:
            until = bisect_right(sent, at, key=itemgetter(0))
            if until > given:
                _, reason, read_at = sent[until - 1]
            given = until
        yield at, user, action, reason, read_at


STAFF_ACTIONS = ExportTable(
    "staff_actions", "What staff did to participants, and why.", STAFF_ACTION_COLUMNS, staff_action_rows
)
