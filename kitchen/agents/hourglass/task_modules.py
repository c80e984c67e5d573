"""Define the three modules of the agent `hourglass`: progress monitor, task planner and action planner.

Each module has two versions: one follows rules, the other asks a language model. By rule, a leader gives each
idle member the most useful aim (goal) that nobody pursues yet. In worlds that cannot rank aims, it takes the
next untried one. By rule, other members do the jobs that they were given. If a model's reply cannot be read,
the module asks again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import TypeVar

from kitchen.agents.hourglass import prompt, reply_reading
from kitchen.agents.hourglass.prompt import sight_of
from kitchen.agents.hourglass.reply_reading import PlannedTask, PlanReply, TeamWords, UnreadablePlanError
from kitchen.agents.hourglass.settings import STRUCTURED, HourglassOptions
from kitchen.agents.hourglass.team_tasks import HourglassMemory, Task, TeamView, Worker
from kitchen.agents.skill_agents.decision_model import ModelSession
from kitchen.contract.agent_skills import Skills
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.decision_notes import LEFT_OUT
from kitchen.contract.language_model import Call, Message, Reply, Tool, UnreadableReplyError
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import FAIL, UNKNOWN, Aim, Command, Json
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting
from kitchen.llm.providers.stand_in_model import StandInAdvice
from kitchen.registry.agent_registry import get_skills
from kitchen.registry.world_registry import get_kit, get_page
from kitchen.words.gettext_without_django import in_english

T = TypeVar("T")

REPAIR = "That cannot be used: {why}. Answer again, in the form that was asked for."


class ModelModules:
    """The modules of a decision that use models. Each method returns the rule's answer, or nothing, if there
    is no readable reply."""

    def __init__(self, view: TeamView, options: HourglassOptions, deadline: float | None) -> None:
        """Store what the model calls need. `deadline` is the time until which models may be called; with
        None, no model is called."""
        self.view, self.options, self.situation = view, options, view.situation
        has_skills = get_kit(self.situation.world).skills is not None
        self.skills: Skills | None = get_skills(self.situation.world) if has_skills else None
        self.error = ""
        """The code of the last call without a usable reply."""
        self._asked, self._faults, self._mended = 0, list[Json](), list[Json]()
        self._planner = self._rest = None
        if deadline is not None:
            self._planner = ModelSession(options, self.situation, deadline)
            other = replace(options, model=options.rest_model or options.model)
            self._rest = ModelSession(other, self.situation, deadline)
            self._rest.calls = self._planner.calls  # one list, in the order of the calls

    @property
    def system(self) -> str:
        """Return the system message, which is the same at every step."""
        return prompt.system_text(self.view, self.skills)

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return all calls so far, in order."""
        return tuple(self._planner.calls) if self._planner else ()

    @property
    def is_stand_in(self) -> bool:
        """Return whether the plans come from the stand-in, a program that imitates a language model."""
        return parse_model_setting(self.options.model)[0] == STAND_IN

    def note(self) -> dict[str, Json]:
        """Return counts of how many replies could be read (`kitchen.contract.decision_notes`). Empty if no
        model was asked."""
        if not self._asked:
            return {}
        return {"asked": self._asked, "faults": self._faults, "mended": self._mended}

    async def plan(
        self, memory: HourglassMemory, idle: Sequence[Worker], jobs: Sequence[Job], by_rule: PlanReply
    ) -> PlanReply | None:
        """Return the plan that the model makes as task planner. Return None without a usable reply. `by_rule`
        is a plan made by rules. The stand-in (a program that imitates the model) answers with it."""
        names = [worker.name for worker in idle]
        question = prompt.plan_question(self.view, self.skills, memory, names, jobs, self.options)
        tool, rate = prompt.plan_tool(self.view), self.options.stand_in_errors

        def write(rng: Random) -> str:
            return reply_reading.written_plan(with_errors(by_rule, self.view, rate, rng))

        read = partial(reply_reading.read_plan_reply, words=self._words())
        return await self._ask(self._planner, question, tool, write, read)

    async def statuses(self, tasks: Sequence[Task]) -> list[str]:
        """Return the status of each task, as the model judges it."""
        question = prompt.monitor_question(self.view, self.skills, tasks, self.options)
        written = reply_reading.written_statuses([task.status for task in tasks])
        read = partial(reply_reading.read_statuses, count=len(tasks))
        found = await self._ask(self._rest, question, prompt.MONITOR_TOOL, lambda _: written, read) or {}
        return [found.get(number, UNKNOWN) for number in range(1, len(tasks) + 1)]

    async def informs(self, tasks: Sequence[Task]) -> list[PlannedTask]:
        """Return the jobs for workers that the model writes for these tasks."""
        planned = [PlannedTask(task.worker, task.text, task.aim) for task in tasks]
        written = reply_reading.written_informs(planned)
        question, tool = (
            prompt.inform_question(self.view, tasks, self.options),
            prompt.inform_tool(self.view, tasks),
        )
        read = partial(reply_reading.read_informs, words=self._words())
        return await self._ask(self._rest, question, tool, lambda _: written, read) or planned

    async def commands(self, seat: int, task: Task, by_rule: Sequence[Command]) -> Sequence[Command]:
        """Return the commands that the model chooses for a worker's task. `by_rule` are commands chosen by
        rules. The stand-in (a program that imitates the model) answers with them."""
        legal = self.situation.legal[seat]
        question = prompt.action_question(self.view, self.skills, task, legal, self.options)
        written = reply_reading.written_commands(by_rule)
        read = partial(reply_reading.read_commands, legal=legal)
        found = await self._ask(self._rest, question, prompt.ACTIONS_TOOL, lambda _: written, read)
        return by_rule if found is None else found

    def _words(self) -> TeamWords:
        return TeamWords([worker.name for worker in self.view.workers], prompt.spelled_aims(self.view))

    async def _ask(
        self,
        session: ModelSession | None,
        question: str,
        tool: Tool,
        write: Callable[[Random], str],
        read: Callable[[Reply], T],
    ) -> T | None:
        """Ask a model, and ask again if its reply cannot be read. Return the reply as converted by `read`, or
        None without a usable reply.

        `write` returns the reply of the stand-in, a program that can replace the model.
        """
        if session is None:
            return None
        seat = min(self.situation.seats, default=0)
        stand_in = session.stand_in(seat, StandInAdvice({}), lambda _, rng: write(rng))
        messages = [Message("system", self.system, fixed=True), Message("user", question)]
        given = tool if self.options.reply == STRUCTURED else None
        self._asked += 1
        faults: list[Json] = []
        for _ in range(1 + self.options.again):
            call = await session.ask(messages, stand_in, given)
            if call.reply is None:
                self.error = call.error
                return None
            try:
                answer = read(call.reply)
            except UnreadablePlanError as error:
                faults = [{"code": LEFT_OUT, "seat": None, "command": [], "text": str(error)}]
                said = call.reply.text or str(call.reply.call)
                messages += [Message("assistant", said), Message("user", REPAIR.format(why=error))]
            else:
                self._mended += faults
                return answer
        self._faults += faults
        self.error = UnreadableReplyError.code
        return None


# By rule


def rule_plan(
    view: TeamView,
    memory: HourglassMemory,
    idle: Sequence[Worker],
    jobs: Sequence[Job],
    said: Sequence[TeamMessage],
) -> PlanReply:
    """Return a plan of one stage for the workers in `idle`, made by rules. A worker is listed once for each
    task that it can get.

    `jobs` are the agent's own open jobs without a plan. `said` are the messages from others since the last
    plan, in which aims are searched.
    """
    if jobs:
        tasks = _tasks_for_jobs(view, memory, idle, jobs)
        objective = jobs[0].text
    elif asked := _asked_tasks(view, idle, said):
        tasks, objective = asked, said[-1].text
    elif view.is_root:
        tasks, objective = _useful_tasks(view, memory, idle), "Reach the goal of the game."
    else:
        tasks, objective = [], memory.objective
    return PlanReply(objective, {1: tasks} if tasks else {}, 1 if tasks else 0)


def _tasks_for_jobs(
    view: TeamView, memory: HourglassMemory, idle: Sequence[Worker], jobs: Sequence[Job]
) -> list[PlannedTask]:
    left, tasks = list(idle), list[PlannedTask]()
    for job in jobs:
        if not (aim := wanted_aim(view, job)):
            continue
        may_pass = job.number not in memory.kept
        fits = (
            worker
            for worker in left
            if worker.is_own
            or (may_pass and job.aim in worker.aims and worker.member not in {job.giver, *job.held})
        )
        if worker := next(fits, None):
            left.remove(worker)
            tasks.append(PlannedTask(worker.name, aim_words(view, aim), aim, job.number))
    return tasks


def _asked_tasks(view: TeamView, idle: Sequence[Worker], said: Sequence[TeamMessage]) -> list[PlannedTask]:
    """Return the task that the newest message requests from one of the agent's own seats, if the message
    names an aim."""
    own = next((worker for worker in idle if worker.is_own), None)
    aim = aim_in_words(view, said[-1].text) if own and said else ()
    return [PlannedTask(own.name, aim_words(view, aim), aim)] if own and aim else []


def wanted_aim(view: TeamView, job: Job) -> Aim:
    """Return the aim of a job. If it has none, return the aim that its text names. Empty if there is none."""
    return job.aim or aim_in_words(view, job.text)


def aim_in_words(view: TeamView, text: str) -> Aim:
    """Return the aim that a text names in plain English. It must be possible for one of the agent's own
    seats. If there are several, the one with the longest name counts. Empty if the text names none."""
    plain = text.casefold()
    known = {aim_words(view, aim): aim for worker in view.workers if worker.is_own for aim in worker.aims}
    found = [words for words in known if words.casefold() in plain]
    return known[max(found, key=len)] if found else ()


def _useful_tasks(view: TeamView, memory: HourglassMemory, idle: Sequence[Worker]) -> list[PlannedTask]:
    taken = [task.aim for task in memory.tasks if task.is_open and task.aim]
    last = {task.worker: task for task in memory.tasks}
    failed = {worker: [task.aim] for worker, task in last.items() if task.aim and task.status == FAIL}
    tasks = []
    for worker in sorted(idle, key=lambda one: one.name in failed):  # others first
        left_out = failed.get(worker.name, []) if len(view.workers) > 1 else []
        if aim := _suggestion(view, memory, worker, [*taken, *left_out]):
            taken.append(aim)
            tasks.append(PlannedTask(worker.name, aim_words(view, aim), aim))
    return tasks


def _suggestion(view: TeamView, memory: HourglassMemory, worker: Worker, taken: Sequence[Aim]) -> Aim | None:
    sight = sight_of(view)
    if worker.seat is not None and sight is not None and view.pursuer.can_suggest(sight.brief):
        aim = view.pursuer.suggest(sight.brief, sight.seen, worker.seat, taken)
        return aim if aim in worker.aims else None
    fresh = [aim for aim in worker.aims if list(aim) not in memory.tried and aim not in taken]
    if not fresh:  # all were tried: from the beginning
        memory.tried = []
        fresh = [aim for aim in worker.aims if aim not in taken]
    if fresh:
        memory.tried.append(list(fresh[0]))
    return fresh[0] if fresh else None


def aim_words(view: TeamView, aim: Aim) -> str:
    """Return the aim as a readable English text."""
    sight = sight_of(view)
    brief = sight.brief if sight else view.situation.talk.public_brief
    with in_english():
        return get_page(view.situation.world).aimed(brief, aim)


def with_errors(plan: PlanReply, view: TeamView, rate: float, rng: Random) -> PlanReply:
    """Return the plan with deliberate errors: in the share `rate` of its tasks (0 to 1), another aim replaces
    the right one. The stand-in uses this to imitate a fallible model."""
    stages = {
        stage: [_other_task(task, view, rng) if rng.random() < rate else task for task in tasks]
        for stage, tasks in plan.stages.items()
    }
    return PlanReply(plan.objective, stages, plan.now)


def _other_task(task: PlannedTask, view: TeamView, rng: Random) -> PlannedTask:
    worker = view.worker(task.worker)
    aim = rng.choice(worker.aims) if worker and worker.aims else task.aim
    return PlannedTask(task.worker, " ".join(aim), aim)
