"""jobs.csv: what members asked of one another, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kitchen.contract.jobs import (
    ACCEPTED,
    DECLINED,
    DONE,
    FAILED,
    GIVEN,
    STARTED,
    WITHDRAWN,
    Job,
    course_of,
)
from kitchen.play.models import Message
from kitchen.play.saying import as_said, as_written
from study.design.models import Study
from study.exports.base import MARKS, OUTAGE, WHERE, Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.messages import Cells, Share, told_of

STATES = (ACCEPTED, DECLINED, STARTED, DONE, FAILED, WITHDRAWN)
"""What can become of a job that is given, as columns say it."""
WORDS = {
    ACCEPTED: "the worker accepted it",
    DECLINED: "the worker declined it",
    STARTED: "the worker said that it had begun",
    DONE: "it was reported as done",
    FAILED: "it was reported as not possible",
    WITHDRAWN: "it was taken back",
}


def _of(state: str) -> tuple[Column, Column]:
    """When a job came to stand so."""
    return (
        Column(f"{state}_step", "integer", f"The step that was open when {WORDS[state]}; blank if never."),
        Column(f"{state}_at", "time", f"When {WORDS[state]}; blank if never."),
    )


COLUMNS = (
    *WHERE,
    Column("step", "integer", "Number of the step that was open when it was given.", levels="1 = first"),
    Column("job", "integer", "Number of the message that gave it (`message` in messages.csv)."),
    Column("giver", "integer", "Member who gave it, by number of its first seat (0 = player 1)."),
    Column("worker", "integer", "Member who was asked. A message to several is a job, and a row, for each."),
    Column("text", "text", "What was asked, word for word."),
    Column("data", "json", "What else the message said."),
    Column("given_at", "time", "When it was given."),
    *(column for state in STATES for column in _of(state)),
    Column("state", "text", "How it stood last.", levels="; ".join((GIVEN, *STATES))),
    Column("why", "text", "What was said when it came to stand so."),
    Column(
        "known",
        "boolean",
        "1 if this participant gave it or was asked; 0 for what is between co-players, which stands with "
        "the participant in the first seat alone.",
    ),
    *MARKS,
    *OUTAGE,
)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per job and participant who gave it or was asked, and of what is between co-players once."""
    return told_of(study, chosen, _rows)


def _rows(share: Share) -> Iterable[Cells]:
    messages = {row.number: row for row, _ in share.said}
    courses: dict[tuple[int, int], list[tuple[Message, Job]]] = {}
    for said, job in course_of(map(as_said, messages.values())):
        courses.setdefault((job.number, job.worker), []).append((messages[said.number], job))
    for course in courses.values():
        given, job = course[0]
        of = {job.giver, job.worker} & share.there(given.number)
        if share.is_theirs(of):
            yield _cells(course, known=share.member in of)


def _cells(course: list[tuple[Message, Job]], *, known: bool) -> Cells:
    """A job from the message that gave it to the last that changed it. What it came to twice is told of the
    first time."""
    (given, job), last = course[0], course[-1][1]
    when = {one.state: (row.step, row.sent_at) for row, one in reversed(course[1:])}
    became = [cell for state in STATES for cell in when.get(state, (None, None))]
    asked = (
        given.step,
        job.number,
        job.giver,
        job.worker,
        as_written(given),
        as_said(given).data,
        given.sent_at,
    )
    return (*asked, *became, last.state, last.why, known)


TABLE = ExportTable("jobs", "What members asked of one another, and what became of it.", COLUMNS, rows)
