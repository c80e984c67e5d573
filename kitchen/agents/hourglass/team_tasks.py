"""Track the tasks of an agent `hourglass`: those it gave to others by message, and those it does itself.

Messages determine the state of a task given to others. The state of the game determines that of the agent's
own tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from kitchen.agents.job_monitor import judge_job
from kitchen.contract.advisers import AimPursuer
from kitchen.contract.agent import Situation
from kitchen.contract.assigned_jobs import DECLINED, DONE, FAILED, PASSED_ON, WITHDRAWN, Job, jobs_in
from kitchen.contract.organisation import ANSWER, SAY, Organisation
from kitchen.contract.team_schedules import FREE
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Json
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import in_english

ENDED: Mapping[str, str] = {
    **dict.fromkeys((DONE, PASSED_ON), SUCCESS),
    **dict.fromkeys((FAILED, DECLINED, WITHDRAWN), FAIL),
}
"""The status of a given task, by the state of its job, if that is over for its giver."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Somebody for whom an hourglass agent plans: a member that it may command, or one of its own seats."""

    name: str
    member: int
    seat: int | None
    """The own seat, or the first seat of the member; None for a member without a seat."""
    is_own: bool
    aims: tuple[Aim, ...] = ()
    capacity: int = 1
    """Number of tasks that it can have at once. A member that leads others passes tasks on to them."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a plan."""

    worker: str
    """The name of the worker."""
    text: str
    aim: Aim = ()
    job: int = 0
    """The number of the job. For a member's task, it is 0 before the job is known. For an own task, it is the
    job that the task belongs to, or 0."""
    part_of: int = 0
    """The number of the own job that it is a part of; 0 if it belongs to none."""
    passes: int = 0
    """The number of the own job that is passed on with it."""
    step: int = 0
    """The step in which the worker got it; 0 if it was not sent yet."""
    since: Json = None
    """The result of `AimPursuer.mark`, for an own task."""
    status: str = UNKNOWN
    acted: bool = False
    """True if the action planner has given commands for it."""

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """Read a task that `to_json` wrote."""
        return cls(**{**stored, "aim": tuple(stored["aim"])})

    def to_json(self) -> dict[str, Json]:
        """Return the task as JSON, for the memory."""
        return {**asdict(self), "aim": list(self.aim)}

    @property
    def is_open(self) -> bool:
        """Return True while the task has neither succeeded nor failed."""
        return self.status == UNKNOWN


@dataclass(slots=True)
class HourglassMemory:
    """The data that an hourglass agent keeps between decisions."""

    tasks: list[Task] = field(default_factory=list)
    """The tasks of the present stage; ended ones stay until the next plan."""
    plan: list[str] = field(default_factory=list)
    """The last plan, one line for each task."""
    objective: str = ""
    heard: int = 0
    """The number of the last message known when it planned last."""
    planned: int | None = None
    """Steps taken when it planned last; None before."""
    iterations: int = 0
    """The number of times that the agent has planned."""
    jobs: list[int] = field(default_factory=list)
    """Its own open jobs that it has planned for."""
    kept: list[int] = field(default_factory=list)
    """Its own open jobs that it could not pass on."""
    tried: list[list[str]] = field(default_factory=list)
    """Aims that the rule has given, where nothing shows what is useful."""
    by: str = ""
    """The kind of agent that made the present plan."""
    vain: int = 0
    """Plans in a row before the last one of which no task succeeded."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory that `to_json` stored. Return an empty memory for any other value."""
        if not isinstance(stored, dict) or "iterations" not in stored:
            return cls()
        return cls(**{**stored, "tasks": [Task.read(one) for one in stored["tasks"]]})

    def to_json(self) -> dict[str, Json]:
        """Return the memory as JSON."""
        told = {**asdict(self), "tasks": [task.to_json() for task in self.tasks]}
        return told if self.vain else {name: value for name, value in told.items() if name != "vain"}

    @property
    def plans_in_vain(self) -> int:
        """Return how many plans in a row, the last one included, have ended without a task that succeeded."""
        is_in_vain = self.planned is not None and all(task.status == FAIL for task in self.tasks)
        return self.vain + 1 if is_in_vain else 0


class TeamView:
    """An agent's knowledge of its position in the team in one step."""

    def __init__(self, situation: Situation, pursuer: AimPursuer, *, works: bool) -> None:
        self.situation, self.pursuer, talk = situation, pursuer, situation.talk
        self.me, self.organisation = talk.member, talk.organisation
        led = self.organisation.commanded_by(self.me) if self.organisation else ()
        self.leads = bool(led)
        reached = members_by_employee(self.organisation, self.me) if self.organisation else {}
        employees = [
            Worker(
                self.name_of(number),
                number,
                next(iter(self.organisation.member(number).seats), None) if self.organisation else None,
                is_own=False,
                aims=tuple(talk.aims.get(number, ())),
                capacity=reached[number],
            )
            for number in led
        ]
        seats = situation.seats if works or not led or not self.is_root else ()
        own = [
            Worker(
                self.seat_name(seat), self.me, seat, is_own=True, aims=tuple(pursuer.aims(situation, seat))
            )
            for seat in seats
        ]
        self.workers: tuple[Worker, ...] = (*own, *employees)
        known = (*jobs_in(talk.messages), *talk.jobs)
        self.jobs: dict[tuple[int, int], Job] = {(job.number, job.worker): job for job in known}
        self.mine = sorted(
            (job for job in self.jobs.values() if job.worker == self.me and job.is_open),
            key=lambda job: job.number,
        )
        """Its own open jobs, in the order in which they were given."""

    @property
    def is_root(self) -> bool:
        """Return whether the agent plans on its own initiative: no member before it in the organisation can
        command it."""
        if self.organisation is None:
            return True
        order = self.organisation.numbers
        return not any(
            order.index(one) < order.index(self.me) for one in self.organisation.commanders_of(self.me)
        )

    def name_of(self, number: int | None) -> str:
        """Return the name that prompts use for the member with this number. None stands for the system."""
        if number is None or self.organisation is None:
            return "the game"
        member = self.organisation.member(number)
        return member.name or " and ".join(map(self.seat_name, member.seats))

    def seat_name(self, seat: int) -> str:
        """Return the name of a seat in prompts, as participants read it in English."""
        with in_english():
            return get_page(self.situation.world).named(seat + 1)

    @property
    def own_name(self) -> str:
        """Return the agent's own name."""
        return (
            self.name_of(self.me)
            if self.organisation
            else " and ".join(map(self.seat_name, self.situation.seats))
        )

    def worker(self, name: str) -> Worker | None:
        """Return the worker with this name; None if the worker has left."""
        return next((one for one in self.workers if one.name == name), None)

    def idle(self, tasks: Sequence[Task]) -> list[Worker]:
        """Return the workers that can take more tasks. A worker is listed once for each task that it can
        take."""
        busy = [task.worker for task in tasks if task.is_open]
        return [one for one in self.workers for _ in range(one.capacity - busy.count(one.name))]

    def is_stage_over(self, tasks: Sequence[Task], *, whole: bool) -> bool:
        """Return whether it is time for a new plan: all tasks have ended, or one has failed. With `whole`
        False, or with the schedule `free`, one ended task is enough."""
        ended = [task for task in tasks if not task.is_open]
        is_free = not whole or (self.organisation is not None and self.organisation.schedule == FREE)
        return (
            len(ended) == len(tasks)
            or any(task.status == FAIL for task in ended)
            or (is_free and bool(ended))
        )

    # Progress

    def judged(self, tasks: Sequence[Task], patience: int) -> list[Task]:
        """Return the tasks with their status now, judged by rules (`kitchen.agents.job_monitor`)."""
        known = {task.job for task in tasks}
        judged = []
        for task in tasks:
            judged.append(self._judged(task, patience, known))
            known.add(judged[-1].job)
        return judged

    def _judged(self, task: Task, patience: int, known: Collection[int]) -> Task:
        worker = self.worker(task.worker)
        if not task.is_open or worker is None:
            return task if worker else replace(task, status=FAIL)
        if worker.is_own:
            return replace(task, status=self._own_status(task, worker.seat or 0))
        task = self._bound(task, worker, known) if task.step else task
        late = patience and task.step and self.situation.step + 1 - task.step >= patience
        status = self._given_status(task, worker)
        return replace(task, status=FAIL if late and status == UNKNOWN else status)

    def _own_status(self, task: Task, seat: int) -> str:
        job = self.jobs.get((task.job, self.me))
        if task.job and (job is None or not job.is_open):
            return ENDED.get(job.state, FAIL) if job else FAIL
        if job and job.aim and job.aim == task.aim:
            return UNKNOWN  # the platform reports its end
        if not task.aim:
            return SUCCESS if task.acted and seat not in self.situation.plans else UNKNOWN
        return self.pursuer.status(self.situation, seat, task.aim, task.since)

    def _bound(self, task: Task, worker: Worker, known: Collection[int]) -> Task:
        """Return a worker's task with the number of the job that was sent for it. The task is returned
        unchanged while no such job is known."""
        if task.job:
            return task
        fitting = (
            job.number
            for job in self.jobs.values()
            if (job.giver, job.worker) == (self.me, worker.member)
            and job.step >= task.step
            and job.number not in known
            and job.aim == task.aim
            and (task.aim or job.text == task.text)
        )
        return replace(task, job=next(fitting, 0))

    def _given_status(self, task: Task, worker: Worker) -> str:
        if not task.job:  # the platform has not sent it
            return FAIL if task.step and self.situation.step + 1 > task.step else UNKNOWN
        job = self.jobs.get((task.job, worker.member))
        if job is None or not job.is_open:
            return ENDED.get(job.state, FAIL) if job else self._reported(task)
        return judge_job(UNKNOWN, self._words_of(worker, task.step))

    def _reported(self, task: Task) -> str:
        """Return the status of a task, according to the last report about its job. Use this if the job's
        first message is no longer delivered to the agent."""
        about = [said for said in self.situation.talk.messages if said.data.get("job") == task.job]
        return ENDED.get(str(about[-1].data.get("status", FAILED)), FAIL) if about else FAIL

    def _words_of(self, worker: Worker, since: int) -> Iterable[str]:
        """Return the texts of the messages from a worker since the step `since`."""
        said = (
            one for one in self.situation.talk.messages if one.sender == worker.member and one.step >= since
        )
        return [one.text for one in said if one.kind in {SAY, ANSWER}]


def members_by_employee(organisation: Organisation, leader: int) -> dict[int, int]:
    """Return, for each member that `leader` may command, the size of the group below it.

    A group contains the member itself and everybody it commands, directly or through others. A member that
    can be reached in several ways belongs to the nearest group.
    """
    through = {number: number for number in organisation.commanded_by(leader)}
    queue = list(through)
    while queue:
        number = queue.pop(0)
        fresh = [one for one in organisation.commanded_by(number) if one not in through and one != leader]
        through |= dict.fromkeys(fresh, through[number])
        queue += fresh
    counted = list(through.values())
    return {number: counted.count(number) for number in organisation.commanded_by(leader)}
