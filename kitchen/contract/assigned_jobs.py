"""Track jobs, which are tasks that one member of an episode gives to another by message.

Messages alone determine a job's state. An `inform` message gives a job to each addressee. The worker answers
with `accept`, `decline` or `report`, and the giver can cancel the job with `withdraw`. A job is described by
a text, by a goal that the world can check (`World.aims`), or by both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kitchen.contract.organisation import ACCEPT, DECLINE, INFORM, REPORT, WITHDRAW
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Json

GIVEN, ACCEPTED, DECLINED = "given", "accepted", "declined"
STARTED, DONE, FAILED, WITHDRAWN = "started", "done", "failed", "withdrawn"
PASSED_ON = "passed_on"
"""The state of a job that its worker gave to somebody else. In the data of an `inform`: the number of the job
that the sender passes on with it."""
OPEN = frozenset({GIVEN, ACCEPTED, STARTED})
"""States in which a job can still change."""
BY_PLATFORM = "house"
"""Key of the data of reports that the platform sends for a worker."""
REPORTED = frozenset({STARTED, DONE, FAILED})
"""The values of `status` that a worker may report."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job (a task) that a member was given by message, in its present state. The member that carries
    it out is the worker."""

    number: int
    """The number of the message that gave it."""
    giver: int
    worker: int
    text: str
    step: int
    """The step in which it was given."""
    state: str = GIVEN
    why: str = ""
    """The text of the message that set its state."""
    aim: Aim = ()
    """The aim of the world, in its codes; empty for a job in words only."""
    is_plain: bool = False
    """True if nobody wrote a text for it: its text is the aim in plain English, written by the platform."""
    since: Json = None
    """The world's record for the worker's first seat when the job was given (`World.aim_mark`)."""
    marks: Mapping[str, Json] = field(default_factory=dict)
    """The world's records for the worker's other seats when the job was given."""
    changed: int = 0
    """The step in which its state was set."""
    code: str = ""
    """The reason why it failed, if a program reported this. `gone`: the means for it are gone. `late`: it
    took too long. `stopped`: its worker was told to stop. `words`: it had no aim."""
    held: tuple[int, ...] = ()
    """The members that gave it, in order, if it was passed on before anybody started it; the last is `giver`.
    Empty for a job that was not passed on."""

    @property
    def cycle(self) -> int:
        """Return the number of members in the circle if the job was passed back to an earlier worker. Return
        0 if it was not."""
        lap, length = list[int](), 0
        for member in (*self.held, self.worker):
            length = len(lap) - lap.index(member) if member in lap else 0
            lap = [member] if length else [*lap, member]
        return length

    @property
    def is_open(self) -> bool:
        """Return True while the job has not ended: it is given, accepted or started."""
        return self.state in OPEN

    def mark_of(self, seat: int) -> Json:
        """Return the facts that the world recorded for this seat when the job was given (`World.aim_mark`).
        The seat belongs to the worker."""
        return self.marks.get(str(seat), self.since)


def jobs_in(messages: Iterable[TeamMessage]) -> tuple[Job, ...]:
    """Return the jobs that these messages give, in order. Each has the status that the last message about it
    reports."""
    return tuple({(job.number, job.worker): job for _, job in job_changes(messages)}.values())


def job_changes(messages: Iterable[TeamMessage]) -> Iterator[tuple[TeamMessage, Job]]:
    """Yield each change of a job: the message that changed it, and the job afterwards."""
    ledger = JobLedger()
    for message in messages:
        for job in ledger.hear(message):
            yield message, job


class JobLedger:
    """Tracks the open jobs while messages arrive. Call `hear` once for each message, in order."""

    def __init__(self) -> None:
        self.heard = 0
        """Number of messages heard."""
        self._open: dict[tuple[int, int], Job] = {}

    def copy(self) -> JobLedger:
        """Return an independent ledger with the same open jobs."""
        other = JobLedger()
        other.heard, other._open = self.heard, dict(self._open)
        return other

    @property
    def open(self) -> tuple[Job, ...]:
        """Return the open jobs, in the order in which they were given."""
        return tuple(self._open.values())

    def hear(self, message: TeamMessage) -> list[Job]:
        """Process the next message. Return the jobs that it gives or changes, in their new state."""
        self.heard += 1
        made = [*_given(message, self._open.values()), *_changed(self._open.values(), message)]
        for job in made:
            self._open[job.number, job.worker] = job
            if not job.is_open:
                del self._open[job.number, job.worker]
        return made


def _given(message: TeamMessage, jobs: Iterable[Job]) -> list[Job]:
    if message.kind != INFORM or message.sender is None:
        return []
    before = job_passed_on(jobs, message.sender, message.data)
    is_same = before is not None and before.state != STARTED
    held = (*(before.held or (before.giver,)), message.sender) if before and is_same else ()
    return [_job(message, message.sender, worker, held) for worker in message.to]


def is_same_job(job: Job, later: Job) -> bool:
    """Return whether `later` is the same job (`is_copy_of`), given in a later message."""
    return is_copy_of(job, later) and later.number > job.number


def is_copy_of(job: Job, other: Job) -> bool:
    """Return whether both are the same job, given by the same member. A job is the same if it has the same
    aim or, without an aim, the same text."""
    return (job.giver, job.aim or job.text) == (other.giver, other.aim or other.text)


def job_passed_on(jobs: Iterable[Job], sender: int, data: Mapping[str, Json]) -> Job | None:
    """Return the job of `sender` that a message with this `data` passes on to somebody else. None if it
    passes no job on."""
    mine = (job for job in jobs if job.is_open and job.worker == sender)
    return next((job for job in mine if job.number == data.get(PASSED_ON)), None)


def aim_and_words(text: str, aims: Iterable[str]) -> tuple[str, str]:
    """Split the text of a job into its aim and the rest. Return both texts. If the text does not begin with
    an aim, the aim is empty. `aims` lists how aims are written, such as `serve salmonSushi`."""
    for aim in sorted(aims, key=len, reverse=True):
        rest = text[len(aim) :]
        if text.lower().startswith(aim.lower()) and not (rest[:1].isalnum() or rest[:1] == "_"):
            return aim, rest.strip(" .,;:-")
    return "", text


def _job(message: TeamMessage, giver: int, worker: int, held: tuple[int, ...]) -> Job:
    aim = tuple(message.data.get("aim", ()))
    return Job(
        message.number,
        giver,
        worker,
        message.text,
        message.step,
        aim=aim,
        is_plain=message.data.get("plain") is True,
        since=message.data.get("since", {}).get(str(worker)) if aim else None,
        marks=message.data.get("marks", {}) if aim else {},
        changed=message.step,
        held=held,
    )


def _changed(jobs: Iterable[Job], message: TeamMessage) -> list[Job]:
    state = _state(message.kind, message.data)
    return [
        replace(
            job, state=state, why=message.text, changed=message.step, code=str(message.data.get("code", ""))
        )
        for job in jobs
        if state and job.is_open and _is_about(job, message)
    ]


def _state(kind: str, data: Mapping[str, Json]) -> str:
    """Return the state of a job after a message of this kind; empty if the message does not change it."""
    if kind == REPORT:
        status = data.get("status")
        if status == PASSED_ON and data.get(BY_PLATFORM):
            return PASSED_ON
        return str(status) if status in REPORTED else ""
    return {ACCEPT: ACCEPTED, DECLINE: DECLINED, WITHDRAW: WITHDRAWN}.get(kind, "")


def _is_about(job: Job, message: TeamMessage) -> bool:
    if message.data.get("job") != job.number:
        return False
    if message.kind == WITHDRAW:
        return message.sender == job.giver and job.worker in message.to
    return message.sender == job.worker and (message.kind == REPORT or job.state == GIVEN)


def names_no_open_job(jobs: Iterable[Job], sender: int, to: tuple[int, ...], say: MessageDraft) -> bool:
    """Return True if a message refers to a job that is not open, or that does not concern the sender."""
    if say.kind == INFORM and PASSED_ON in say.data:
        return job_passed_on(jobs, sender, say.data) is None
    if say.kind not in {ACCEPT, DECLINE, REPORT, WITHDRAW}:
        return False
    message = TeamMessage(0, 0, sender, to, say.kind, say.text, say.data)
    return not _changed(jobs, message)
