"""The dispatcher as somebody who is led: the jobs that it is told of, and what it answers to them. Only where
somebody may command it by words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from kitchen.contract.jobs import Job
from kitchen.contract.model import Reply
from kitchen.contract.organisation import ACCEPT, DECLINE, REPORT
from kitchen.contract.talk import Say
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.dispatcher.moment import Moment
from kitchen.worlds.cuisine.dispatcher.people import clipped, named, quoted

ANSWERS: Mapping[str, tuple[str, dict[str, Json]]] = {
    "accept": (ACCEPT, {}),
    "decline": (DECLINE, {}),
    "done": (REPORT, {"status": "done"}),
    "failed": (REPORT, {"status": "failed"}),
}
"""What can be said of a job, and the message that says it."""
_LINE = re.compile(
    r"^[ \t>*_-]*job[ \t*_]+(\d{1,6})[ \t*_]*:[ \t*_]*(accept|decline|done|failed)\b[ \t*_:,.-]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def is_led(moment: Moment) -> bool:
    """Whether somebody may give it jobs."""
    return moment.organisation is not None and bool(moment.organisation.commanders_of(moment.member))


def rules(*, as_tool: bool) -> str:
    """How to deal with jobs, as a part of the fixed prompt."""
    how = (
        "one entry of `jobs`, with the number of the job and a few words, or none"
        if as_tool
        else "a line of its own such as `Job 3: accept`, a few words after it if you like"
    )
    return (
        "Who leads you gives you jobs. Those that are open stand in the state under *Jobs for you*, with "
        "their numbers; one that is taken back is there no longer. Answer a new one with accept or decline, "
        f"and say done or failed once it is so: {how}."
    )


def listed(moment: Moment) -> Iterator[str]:
    """The open jobs, oldest first, as lines of the state."""
    if not is_led(moment):
        return
    mine = [job for job in moment.jobs if job.worker == moment.member]
    yield "Jobs for you:" if mine else "Jobs for you: none."
    for job in mine:
        yield f"- job {job.number}, {STATES[job.state]}, from {named(moment, job.giver)}: {quoted(job.text)}"


STATES = {"given": "not answered", "accepted": "accepted", "started": "begun"}
"""How an open job stands."""


def schema() -> dict[str, Json]:
    """What a structured reply says of jobs."""
    entry: Mapping[str, Json] = {
        "job": {"type": "integer"},
        "answer": {"type": "string", "enum": list(ANSWERS)},
        "words": {"type": "string"},
    }
    return {
        "type": "array",
        "description": "What becomes of jobs: new ones accepted or declined, others done or failed.",
        "items": {
            "type": "object",
            "properties": dict(entry),
            "required": list(entry),
            "additionalProperties": False,
        },
    }


def answered_in(reply: Reply, jobs: Iterable[Job]) -> tuple[Say, ...]:
    """What an answer says of these jobs: of each what is said first."""
    by_number = {job.number: job for job in jobs}
    said: dict[int, Say] = {}
    for number, answer, words in _in_call(reply.call) if reply.call else _in_text(reply.text):
        if number in by_number and number not in said and answer in ANSWERS:
            kind, status = ANSWERS[answer]
            giver = by_number[number].giver
            said[number] = Say(clipped(words), kind, (giver,), {"job": number, **status})
    return tuple(said.values())


def _in_text(text: str) -> Iterator[tuple[int, str, str]]:
    for found in _LINE.finditer(text):
        yield int(found[1]), found[2].lower(), found[3]


def _in_call(call: Mapping[str, Json]) -> Iterator[tuple[int, str, str]]:
    said = call.get("jobs")
    for one in said if isinstance(said, list) else ():
        if isinstance(one, dict) and type(one.get("job")) is int:
            yield one["job"], str(one.get("answer", "")), str(one.get("words") or "")


def without_jobs(text: str) -> str:
    """An answer in free text without what is said of jobs: no command is read from that."""
    return _LINE.sub("", text)
