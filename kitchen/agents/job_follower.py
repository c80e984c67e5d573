"""Carry out jobs, which are tasks that one team member gives to another by message.

Agents of any kind call `follow_jobs`. The agent `Follower` does nothing but follow jobs: it calls no language
model, and waits when it has no job. It follows a job only if the job has an aim, a goal that the world can
check.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kitchen.contract.advisers import AimPursuer
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.assigned_jobs import ACCEPTED, GIVEN, STARTED, Job, jobs_in
from kitchen.contract.declared_settings import Setting
from kitchen.contract.organisation import ACCEPT, ANSWER, ASK, DECLINE, REPORT, SAY
from kitchen.contract.team_messages import ONLY_JOBS, MessageDraft
from kitchen.contract.world import UNKNOWN, Command, Json
from kitchen.registry.agent_registry import get_pursuer


@dataclass(slots=True)
class JobProgress:
    """The result of one call of `follow_jobs`: commands, messages and the new memory."""

    commands: dict[int, Command] = field(default_factory=dict)
    """Commands of seats that act for a job."""
    at: dict[int, int] = field(default_factory=dict)
    """All seats that have a job, including those that wait, with its number."""
    says: tuple[MessageDraft, ...] = ()
    memory: dict[str, Json] = field(default_factory=dict)


def follow_jobs(
    situation: Situation,
    pursuer: AimPursuer,
    before: Json,
    *,
    patience: int,
    words: bool = False,
    stops: Mapping[int, int] = MappingProxyType({}),
) -> JobProgress:
    """Return the next command for each seat with a job (a task that another member gave it by message), and
    the new state of the jobs.

    A seat follows its newest job first, then older ones. A job is accepted if it has an aim (a goal that the
    world can check). A job with words only is declined or, with `words`, left to the caller. A job is given
    up after `patience` steps (0: never), or when its seat is told to stop: `stops` has the number of that
    message by seat. `before` is the memory from the previous call.
    """
    known = before or {"jobs": [], "seats": {}}
    jobs = _open(situation, known["jobs"])
    aimed = [job for job in jobs if job.aim]
    late = [job for job in aimed if patience and situation.step + 1 - job.step >= patience]
    stopped = [job for job in aimed if _is_stopped(job, situation.seats, known["seats"], stops)]
    mine = [job for job in aimed if job not in late and job not in stopped]
    unread = [job for job in jobs if not (job.aim or words)]
    at = _seats(mine, situation.seats, known["seats"])
    made = JobProgress(at={seat: number for number, seat in at.items()})
    for job in mine:
        if job.number in at:
            _pursue(made, situation, pursuer, job, at[job.number])
    made.says = (
        *(_message(job, REPORT, status="failed", code="stopped") for job in stopped),
        *(_message(job, REPORT, status="failed", code="late") for job in late if job not in stopped),
        *(_message(job, ACCEPT) for job in mine if job.state == GIVEN),
        *(_message(job, DECLINE, code="words") for job in unread if job.state == GIVEN),
        *(
            _message(job, REPORT, status=STARTED)
            for job in mine
            if job.state == ACCEPTED and job.number in at
        ),
    )
    made.memory = {"jobs": [_job_to_json(job) for job in mine], "seats": {str(job): at[job] for job in at}}
    return made


def _open(situation: Situation, kept: Sequence[Json]) -> list[Job]:
    """Return the open jobs of this agent, newest first. They are collected from its messages and from its
    memory (`kept`)."""
    told = {
        job.number: job for job in jobs_in(situation.talk.messages) if job.worker == situation.talk.member
    }
    first = situation.talk.messages[0].number if situation.talk.messages else 0
    old = [_job_from_json(one) for one in kept if one["number"] < first]
    jobs = [*(job for job in old if not _is_over(job, situation)), *told.values()]
    return sorted((job for job in jobs if job.is_open), key=lambda job: -job.number)


def _is_over(job: Job, situation: Situation) -> bool:
    """Return whether a later message shows that the job has ended. Use this for a job whose first message is
    no longer delivered."""
    about = [said for said in situation.talk.messages if said.data.get("job") == job.number]
    return any(said.kind != REPORT or said.data.get("status") != STARTED for said in about)


def _is_stopped(job: Job, seats: Sequence[int], before: Mapping[str, int], stops: Mapping[int, int]) -> bool:
    """Return whether the seat that works on a job was told to stop after the job was given. Without a seat,
    all seats must have been told to stop."""
    at = [before[str(job.number)]] if str(job.number) in before else seats
    return bool(stops) and all(stops.get(seat, 0) > job.number for seat in at)


def _seats(jobs: Sequence[Job], seats: Sequence[int], before: Mapping[str, int]) -> dict[int, int]:
    """Return the seat that works on each job, by job number. A job keeps its seat, and a new job gets a seat
    without a job. `before` has the seats of the jobs so far.

    If there are more jobs than seats, the jobs that come first in `jobs` get the seats.
    """
    kept = {job.number: before[str(job.number)] for job in jobs if str(job.number) in before}
    at: dict[int, int] = {}
    for job in jobs:
        idle = [seat for seat in seats if seat not in at.values()]
        rested = [seat for seat in idle if seat not in kept.values()]
        if job.number in kept and kept[job.number] in idle:
            at[job.number] = kept[job.number]
        elif idle:
            at[job.number] = (rested or idle)[0]
    return at


def _pursue(made: JobProgress, situation: Situation, pursuer: AimPursuer, job: Job, seat: int) -> None:
    pursuit = pursuer.pursue(situation, seat, job.aim, job.mark_of(seat))
    if pursuit.status == UNKNOWN and pursuit.command is not None:
        made.commands[seat] = pursuit.command


def _message(job: Job, kind: str, **data: str) -> MessageDraft:
    return MessageDraft("", kind, (job.giver,), {"job": job.number, **data})


def _job_to_json(job: Job) -> dict[str, Json]:
    fields = {name: getattr(job, name) for name in ("number", "giver", "worker", "step", "aim", "since")}
    return {**fields, "aim": list(job.aim), **({"marks": dict(job.marks)} if job.marks else {})}


def _job_from_json(kept: Mapping[str, Json]) -> Job:
    return Job(**{**kept, "text": "", "state": STARTED, "aim": tuple(kept["aim"])})


CANNOT_READ = "I do not read messages. I do the jobs that are chosen for me from the list."
"""The English text; pages show it in the reader's language."""


class Follower(Agent):
    """An agent that carries out jobs with an aim (a goal that the world can check). Without such a job,
    the agent only makes way for others."""

    kind = "follower"
    instant = True
    pursues = True
    settings = (
        Setting(
            "patience",
            "int",
            "Steps after which a job is given up",
            30,
            help="It says then that the job was not possible. 0: never.",
            minimum=0,
            maximum=1000,
        ),
    )

    def will_plan(self, situation: Situation) -> bool:
        """Return False: this agent never makes a plan. It only continues its jobs."""
        return False

    async def decide(self, situation: Situation) -> Decision:
        """Return the next command of each seat towards its aim. If a person writes to the agent, the agent
        answers once that it reads no messages.

        The memory holds the open jobs and, under `told`, the people who got this answer.
        """
        pursuer, patience = get_pursuer(situation.world), self.chosen["patience"]
        made = follow_jobs(situation, pursuer, situation.memory, patience=patience)
        made.commands |= _ways_made(situation, pursuer, made.commands)
        before = situation.memory.get("told", []) if situation.memory else []
        new = _wrote(situation, before)
        told = {"told": [*before, *new]} if before or new else {}
        answer = (MessageDraft(CANNOT_READ, ANSWER, new, {"code": ONLY_JOBS}),) if new else ()
        says = (*made.says, *answer)
        return Decision(made.commands, memory={**made.memory, **told}, says=says, planned=False)


def _ways_made(
    situation: Situation, pursuer: AimPursuer, commands: Mapping[int, Command]
) -> dict[int, Command]:
    """Return the commands with which seats let other players pass: seats that have to choose and have no
    command in `commands`."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    ways = {seat: pursuer.make_way(situation, seat) for seat in asked if seat not in commands}
    return {seat: way for seat, way in ways.items() if way is not None and way in situation.legal[seat]}


def _wrote(situation: Situation, told: Collection[int]) -> tuple[int, ...]:
    """Return the people to whom the agent must say that it reads no messages. They wrote to the agent, and it
    may write to them. `told` lists the people who already got this answer."""
    organisation = situation.talk.organisation
    if organisation is None:
        return ()
    people = {one.number for one in organisation.members if one.is_person} - set(told)
    said = [
        one
        for one in situation.talk.messages
        if one.kind in {SAY, ASK} and one.number > situation.talk.taken_over
    ]
    wrote = {one.sender for one in said} & people & set(organisation.to(situation.talk.member, ANSWER))
    return tuple(sorted(one for one in wrote if one is not None))
