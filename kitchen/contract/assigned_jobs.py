"""Track jobs: what one member asks another to do, and how far it is.

A job exists in messages only. `inform` gives it; `accept`, `decline` and `report` of its worker and
`withdraw` of its giver change it. Its state is computed from them. An `inform` to several members is one
job for each. It may have an aim of the world (`World.aims`) beside words. Plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kitchen.contract.organisation import ACCEPT, DECLINE, INFORM, REPORT, WITHDRAW
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Json

GIVEN, ACCEPTED, DECLINED = "given", "accepted", "declined"
STARTED, DONE, FAILED, WITHDRAWN = "started", "done", "failed", "withdrawn"
OPEN = frozenset({GIVEN, ACCEPTED, STARTED})
"""States of a job of which something may still become."""
REPORTED = frozenset({STARTED, DONE, FAILED})
"""What a worker may report, as `status`."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job of one worker."""

    number: int
    """Of the message that gave it."""
    giver: int
    worker: int
    text: str
    step: int
    """In which it was given."""
    state: str = GIVEN
    why: str = ""
    """What was said when it came to stand so."""
    aim: Aim = ()
    """What is to be brought about, in the codes of the world; empty where it is only words."""
    is_plain: bool = False
    """Nothing was written for it: its text is the aim in plain English, by the house."""
    since: Json = None
    """What the world marked for the worker's first seat when it was given (`World.aim_mark`)."""
    marks: Mapping[str, Json] = field(default_factory=dict)
    """Likewise for its other seats."""
    changed: int = 0
    """The step in which it came to stand so."""
    code: str = ""
    """Why it failed, where it was no person who said so: `gone`, there is nothing to do it with; `late`, it
    took too long; `stopped`, its worker was told to stop; `words`, an aim was missing."""

    @property
    def is_open(self) -> bool:
        """Something may still become of it."""
        return self.state in OPEN

    def mark_of(self, seat: int) -> Json:
        """What the world marked for this seat of the worker when it was given."""
        return self.marks.get(str(seat), self.since)


def jobs_in(messages: Iterable[TeamMessage]) -> tuple[Job, ...]:
    """All jobs in these messages, as they stand after them, in the order in which they were given."""
    return tuple({(job.number, job.worker): job for _, job in job_changes(messages)}.values())


def job_changes(messages: Iterable[TeamMessage]) -> Iterator[tuple[TeamMessage, Job]]:
    """All that these messages do to jobs, in order: each job as it stands after one that gave or changed
    it."""
    ledger = JobLedger()
    for said in messages:
        for job in ledger.hear(said):
            yield said, job


class JobLedger:
    """The jobs that are open after the messages that it has heard, each of them once and in order."""

    def __init__(self) -> None:
        self.heard = 0
        """So many messages."""
        self._open: dict[tuple[int, int], Job] = {}

    def copy(self) -> JobLedger:
        """Return a ledger that has heard the same."""
        other = JobLedger()
        other.heard, other._open = self.heard, dict(self._open)
        return other

    @property
    def open(self) -> tuple[Job, ...]:
        """In the order in which they were given."""
        return tuple(self._open.values())

    def hear(self, said: TeamMessage) -> list[Job]:
        """The next message; the jobs that it gave or changed, as they stand after it."""
        self.heard += 1
        made = [*_given(said), *_changed(self._open.values(), said)]
        for job in made:
            self._open[job.number, job.worker] = job
            if not job.is_open:
                del self._open[job.number, job.worker]
        return made


def _given(said: TeamMessage) -> list[Job]:
    if said.kind != INFORM or said.sender is None:
        return []
    return [_job(said, said.sender, worker) for worker in said.to]


def _job(said: TeamMessage, giver: int, worker: int) -> Job:
    aim = tuple(said.data.get("aim", ()))
    return Job(
        said.number,
        giver,
        worker,
        said.text,
        said.step,
        aim=aim,
        is_plain=said.data.get("plain") is True,
        since=said.data.get("since", {}).get(str(worker)) if aim else None,
        marks=said.data.get("marks", {}) if aim else {},
        changed=said.step,
    )


def _changed(jobs: Iterable[Job], said: TeamMessage) -> list[Job]:
    state = _state(said.kind, said.data.get("status"))
    return [
        replace(job, state=state, why=said.text, changed=said.step, code=str(said.data.get("code", "")))
        for job in jobs
        if state and job.is_open and _is_about(job, said)
    ]


def _state(kind: str, status: object) -> str:
    """How a job stands after a message of this kind; empty where it says nothing of that."""
    if kind == REPORT:
        return str(status) if status in REPORTED else ""
    return {ACCEPT: ACCEPTED, DECLINE: DECLINED, WITHDRAW: WITHDRAWN}.get(kind, "")


def _is_about(job: Job, said: TeamMessage) -> bool:
    if said.data.get("job") != job.number:
        return False
    if said.kind == WITHDRAW:
        return said.sender == job.giver and job.worker in said.to
    return said.sender == job.worker and (said.kind == REPORT or job.state == GIVEN)


def names_no_open_job(jobs: Iterable[Job], sender: int, to: tuple[int, ...], say: MessageDraft) -> bool:
    """Whether this is about a job that is none of those that are open, or somebody else's."""
    if say.kind not in {ACCEPT, DECLINE, REPORT, WITHDRAW}:
        return False
    said = TeamMessage(0, 0, sender, to, say.kind, say.text, say.data)
    return not _changed(jobs, said)
