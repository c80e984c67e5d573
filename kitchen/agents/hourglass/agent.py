"""Implement the agent `hourglass`, which judges its progress, plans tasks, and turns tasks into actions.

A leader's actions are jobs, which it gives to other members by message. A worker's actions are game commands.
A member between both levels gives jobs and commands. The agent stores nothing between steps except
`Decision.memory`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import ClassVar

from kitchen.agents.hourglass import prompt
from kitchen.agents.hourglass.reply_reading import PlannedTask, PlanReply
from kitchen.agents.hourglass.settings import BY_MODEL, SETTINGS, HourglassOptions
from kitchen.agents.hourglass.task_modules import ModelModules, rule_plan, wanted_aim
from kitchen.agents.hourglass.team_tasks import HourglassMemory, Task, TeamView, Worker
from kitchen.agents.skill_agents.base_agent import FALLBACK_SENTENCES, NOOP_FALLBACK, RESERVE_SECONDS
from kitchen.agents.skill_agents.settings import BY_RULE, INSTANT_SETTINGS
from kitchen.contract.agent import (
    REASON_TO_ANSWER,
    Agent,
    Decision,
    ForecastTrial,
    Situation,
    run_without_waiting,
)
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.assigned_jobs import ACCEPTED, DONE, FAILED, GIVEN, STARTED, Job
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.declared_settings import Setting
from kitchen.contract.organisation import ACCEPT, ASK, DECLINE, INFORM, REPORT, SAY, WITHDRAW
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.team_schedules import TOGETHER
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command, Json
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting, why_not_usable
from kitchen.registry.agent_registry import get_pursuer

REPLAN_STEPS = 3
"""Steps after which it plans again for workers for whom it had no task."""
VAIN_PLANS = 3
"""Plans in a row without a task that succeeded, from which a model is asked less and less often."""
MAX_REPLAN_STEPS = 24
"""Largest number of steps until such a model is asked for its next plan."""
STROLL_RATE = 0.2
"""Share of random moves among those to a free place, where moving costs nothing."""
NO_WAY = "I found no way to do it."
TASK_GROWTH = 600
"""Maximum number of tokens by which messages and tasks grow beyond those of the first step."""


class Hourglass(Agent):
    """The agent of S-Agents (arXiv 2402.04578): progress monitor, task planner, action planner, execution."""

    kind: ClassVar[str] = "hourglass"
    pursues: ClassVar[bool] = True
    reads_words: ClassVar[bool] = True
    leads: ClassVar[bool] = True
    names_model: ClassVar[str] = "model"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. Raises SettingsError for a model of an unknown provider."""
        super().__init__(chosen)
        self.options = HourglassOptions(**self.chosen)
        for named in self._models():
            parse_model_setting(named)

    def _models(self) -> list[str]:
        """Return the model setting of each module, without repetitions."""
        options = self.options
        rest = options.rest_model or options.model
        named = [options.model] if options.planner == BY_MODEL else []
        return list(
            dict.fromkeys([*named, *([rest] if BY_MODEL in (options.monitor, options.actions) else [])])
        )

    def cautions(self) -> tuple[str, ...]:
        """Return a warning for each reason why a model cannot be used, such as a missing key or price. The
        fallback would then play every step."""
        whys = [why for named in self._models() for why in why_not_usable(*parse_model_setting(named))]
        return tuple(f"{why}: {FALLBACK_SENTENCES[self.options.fallback]}." for why in dict.fromkeys(whys))

    def model(self) -> str:
        """Return the name of the language model that makes plans: the one in the settings, or this process's
        default. Return an empty text if only rules decide."""
        return ":".join(parse_model_setting(self._models()[0])) if self._models() else ""

    def rehearsal(self) -> ForecastTrial | None:
        """Return the settings for estimating the cost with a program that imitates the language model. In the
        worst case, every module calls the model in every step."""
        if not self._models():
            return None
        chosen = {
            **self.chosen,
            **{name: INSTANT_SETTINGS[name] for name in INSTANT_SETTINGS if name in self.chosen},
        }
        return ForecastTrial(
            {**chosen, "rest_model": ""}, repairs=self.options.again, extra_tokens=TASK_GROWTH
        )

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the system message of the prompts, which is the same in every step."""
        return (_Turn(self, situation, None).modules.system,) if self._models() else ()

    def will_plan(self, situation: Situation) -> bool:
        """Return whether a model will plan in this situation. False if a model must judge the tasks' progress
        first, or if rules plan."""
        return self.options.planner == BY_MODEL and _Turn(self, situation, None).will_plan()

    async def decide(self, situation: Situation) -> Decision:
        """Return the agent's decision. Ask the models that are needed, within the situation's time limit."""
        seconds = situation.limits.seconds
        return await _Turn(
            self, situation, time.monotonic() + seconds - min(RESERVE_SECONDS, seconds / 4)
        ).decision()

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return a decision made by rules, without a language model."""
        return run_without_waiting(_Turn(self, situation, None).decision())


@dataclass(slots=True)
class _Made:
    """The parts of a decision that have been made so far."""

    says: list[MessageDraft] = field(default_factory=list)
    commands: dict[int, Command] = field(default_factory=dict)
    plans: dict[int, Sequence[Command]] = field(default_factory=dict)
    plan: PlanReply | None = None
    """The plan of this decision, if it planned."""
    ended: bool = False
    """True if a task has ended since the last decision."""
    braked: bool = False
    """True if the model was not asked for a plan, because its last plans were in vain."""


class _Turn:
    """One decision in progress, with the agent's memory and view of the team."""

    def __init__(self, agent: Hourglass, situation: Situation, deadline: float | None) -> None:
        self.situation, self.options = situation, agent.options
        self.pursuer = get_pursuer(situation.world)
        self.view = TeamView(situation, self.pursuer, works=self.options.works)
        self.memory = HourglassMemory.read(situation.memory)
        self.made = _Made()
        self.modules = ModelModules(self.view, self.options, deadline)

    @property
    def step(self) -> int:
        return self.situation.step

    async def decision(self) -> Decision:
        if self.situation.request.because == REASON_TO_ANSWER:
            return Decision({}, memory=self.situation.memory)
        self._judge()
        jobs = self._answer_jobs()
        await self._monitor()
        pending = [job for job in jobs if job.number not in self.memory.jobs]
        self._report_ended_jobs(jobs)
        if idle := self._to_plan_for(pending):
            await self._plan(idle, pending)
        await self._inform()
        await self._act()
        return Decision(
            self.made.commands,
            memory=self.memory.to_json(),
            played_by=self._played_by(),
            note=self._note(),
            calls=self.modules.calls,
            fallback=self.modules.error,
            says=tuple(self.made.says),
            plans=self.made.plans,
            planned=self.made.plan is not None,
        )

    def will_plan(self) -> bool:
        """Return whether the planner must be asked now, as far as rules can tell. This changes the turn's
        data."""
        if self.situation.request.because == REASON_TO_ANSWER:
            return False
        self._judge()
        jobs = self._answer_jobs()
        pending = [job for job in jobs if job.number not in self.memory.jobs]
        return not self._tasks_to_monitor() and bool(self._to_plan_for(pending))

    # Progress

    def _judge(self) -> None:
        """Update the status of all tasks by rules. If a job could not be passed on to another member, the
        agent itself keeps the job."""
        memory, before = self.memory, self.memory.tasks
        after = self.view.judged(before, self.options.patience)
        for task in after:
            if task.passes and task.status == FAIL and not task.job:
                memory.kept.append(task.passes)
                memory.jobs = [number for number in memory.jobs if number != task.passes]
        open_jobs = {job.number for job in self.view.mine}
        memory.jobs = [number for number in memory.jobs if number in open_jobs]
        memory.kept = [number for number in memory.kept if number in open_jobs]
        ended = [task for old, task in zip(before, after, strict=True) if old.is_open and not task.is_open]
        self.made.ended = bool(ended)
        self._withdraw(ended)
        memory.tasks = after

    def _withdraw(self, ended: Iterable[Task]) -> None:
        """Withdraw the jobs of tasks that took too long."""
        for task in ended:
            worker = self.view.worker(task.worker)
            if worker is None or worker.is_own or task.status != FAIL:
                continue
            job = self.view.jobs.get((task.job, worker.member))
            if job and job.is_open:
                self.made.says.append(MessageDraft("", WITHDRAW, (worker.member,), {"job": job.number}))

    def _answer_jobs(self) -> list[Job]:
        """Accept or decline the new jobs that the agent was given. Give up jobs that took too long. Return
        the remaining open jobs."""
        kept = []
        for job in self.view.mine:
            late = self.options.patience and self.step + 1 - job.step >= self.options.patience
            can_do = bool(wanted_aim(self.view, job)) or self.options.planner == BY_MODEL
            if late:
                self._say(job, REPORT, status=FAILED, code="late")
            elif not can_do:
                self._say(job, DECLINE, code="words")
            else:
                kept.append(job)
                if job.state == GIVEN:
                    self._say(job, ACCEPT)
        return kept

    def _say(self, job: Job, kind: str, text: str = "", **data: str) -> None:
        self.made.says.append(MessageDraft(text, kind, (job.giver,), {"job": job.number, **data}))

    def _report_ended_jobs(self, jobs: Sequence[Job]) -> None:
        """Report to the givers of jobs without an aim that these jobs have ended. The system cannot notice
        this itself."""
        for job in jobs:
            tasks = [] if job.aim else [task for task in self.memory.tasks if task.part_of == job.number]
            if tasks and not any(task.is_open for task in tasks):
                done = all(task.status == SUCCESS for task in tasks)
                words = "Succeeded" if done else "Failed"
                self._say(job, REPORT, f"{words}: {job.text}", status=DONE if done else FAILED)

    async def _monitor(self) -> None:
        """Let the model judge the status of open tasks. Nothing happens if the settings select no model for
        this, or if nothing has been heard about the tasks."""
        if tasks := self._tasks_to_monitor():
            for task, status in zip(tasks, await self.modules.statuses(tasks), strict=True):
                self._change(task, replace(task, status=status))

    def _tasks_to_monitor(self) -> list[Task]:
        """Return the open tasks that the model is to judge now."""
        has_news = any(map(self._is_news, self.situation.talk.messages))
        if self.options.monitor != BY_MODEL or not has_news:
            return []
        return [task for task in self.memory.tasks if task.is_open and task.step]

    def _is_news(self, said: TeamMessage) -> bool:
        begins = said.kind == ACCEPT or said.data.get("status") == STARTED
        return said.is_new and said.sender != self.view.me and not begins

    # Plans

    def _to_plan_for(self, pending: Sequence[Job]) -> list[Worker]:
        """Return the workers for whom a plan is needed now, each as often as it can take a task. Empty if the
        agent should not plan now."""
        memory, view = self.memory, self.view
        idle = view.idle(memory.tasks)
        if not idle or self._words():
            return idle
        if self._is_braked:
            return []
        waited = memory.planned is None or self.step - memory.planned >= REPLAN_STEPS
        has_news = self.made.ended or any(map(self._is_news, self.situation.talk.messages))
        if pending or not view.is_root:
            return idle if pending and (waited or has_news) else []
        in_stages = self.options.planner == BY_MODEL or self.pursuer.suggests_in_stages
        whole = self.options.whole_stage and in_stages
        if memory.tasks and view.is_stage_over(memory.tasks, whole=whole):
            return idle
        given = Counter(task.worker for task in memory.tasks)
        had_none = any(given[worker.name] < worker.capacity for worker in idle)
        return idle if had_none and (waited or (has_news and not memory.tasks)) else []

    @property
    def _is_braked(self) -> bool:
        """Return whether the model is not asked for a plan yet, because none of its last plans had a task
        that succeeded. New words from others release the brake."""
        vain = self.memory.plans_in_vain
        if self.options.planner != BY_MODEL or self.memory.planned is None or vain < VAIN_PLANS:
            return False
        rest = min(REPLAN_STEPS * 2 ** (vain - VAIN_PLANS), MAX_REPLAN_STEPS)
        self.made.braked = self.step - self.memory.planned < rest
        return self.made.braked

    def _words(self) -> list[TeamMessage]:
        """Return the messages from others that are newer than the agent's last plan."""
        known = max(self.memory.heard, self.situation.talk.taken_over)
        said = (one for one in self.situation.talk.messages if one.number > known)
        return [one for one in said if one.kind in {SAY, ASK} and one.sender != self.view.me]

    async def _plan(self, idle: Sequence[Worker], pending: Sequence[Job]) -> None:
        """Make a plan for these workers. Add the tasks of the plan's present stage to the memory. `pending`
        are the agent's own jobs without a plan."""
        memory = self.memory
        by_rule = rule_plan(self.view, memory, idle, pending, self._words())
        memory.vain = memory.plans_in_vain
        plan = await self._planned(by_rule, idle, pending)
        memory.planned = self.step
        memory.heard = max((said.number for said in self.situation.talk.messages), default=0)
        if plan is None or not (plan.tasks or self.options.planner == BY_MODEL):
            return
        self.made.plan = plan
        memory.iterations += 1
        memory.plan, memory.objective = plan.lines(), plan.objective
        memory.tasks = [task for task in memory.tasks if task.is_open]
        left, fresh = [worker.name for worker in idle], list[Task]()
        for planned in plan.tasks:
            if planned.worker in left:
                left.remove(planned.worker)
                fresh.append(self._task(planned, pending))
        memory.tasks += fresh
        self._take_up(pending, fresh)

    async def _planned(
        self, by_rule: PlanReply, idle: Sequence[Worker], pending: Sequence[Job]
    ) -> PlanReply | None:
        """Return the model's plan. If the model gives none, return the plan `by_rule` if rules are the chosen
        fallback, else None. If the settings name rules as the planner, always return `by_rule`."""
        if self.options.planner != BY_MODEL:
            self.memory.by = Hourglass.kind
            return by_rule
        plan = await self.modules.plan(self.memory, idle, pending, by_rule)
        if plan is not None:
            self.memory.by = STAND_IN if self.modules.is_stand_in else Hourglass.kind
            return plan
        self.memory.by = STAND_IN if self.options.fallback == BY_RULE else NOOP_FALLBACK
        return by_rule if self.options.fallback == BY_RULE else None

    def _task(self, planned: PlannedTask, pending: Sequence[Job]) -> Task:
        """Return a planned task in the form in which the memory stores it. If the agent was given a job with
        the same aim, the task belongs to this job."""
        worker = self.view.worker(planned.worker)
        fits = (job for job in pending if job.number == planned.job or (job.aim and job.aim == planned.aim))
        job = next(fits, None)
        task = Task(planned.worker, planned.text, planned.aim)
        part_of = (job or next(iter(pending), None)) if pending else None
        task = replace(task, part_of=part_of.number if part_of else 0)
        if worker is None or not worker.is_own:
            return replace(task, passes=job.number if job and job.state != STARTED else 0)
        since = self.pursuer.mark(self.situation, worker.seat or 0, planned.aim) if planned.aim else None
        return replace(task, job=task.part_of, since=since, step=self.step + 1)

    def _take_up(self, pending: Sequence[Job], fresh: Sequence[Task]) -> None:
        """Record for which of the agent's own jobs there is a plan now.

        If a model made the plan, it may have ignored some jobs. Such a job gets a task if it has an aim.
        Otherwise it is reported as failed.
        """
        by_model = self.options.planner == BY_MODEL
        own = next((worker.name for worker in self.view.workers if worker.is_own), "")
        for job in pending:
            mine = [task for task in fresh if job.number in (task.part_of, task.passes)]
            is_there = any(task.aim == job.aim for task in mine) if job.aim else bool(mine)
            if by_model and job.aim and own and not is_there:
                name = next((task.worker for task in mine if task.job == job.number), own)
                task = Task(name, job.text, job.aim, job.number, step=self.step + 1, part_of=job.number)
                self.memory.tasks.append(task)
            elif by_model and not job.aim and not mine:
                self._say(job, REPORT, NO_WAY, status=FAILED)
            if by_model or is_there:
                self.memory.jobs.append(job.number)

    # Actions

    async def _inform(self) -> None:
        """Send other members their tasks as jobs, up to the number of messages allowed in one step."""
        own = {worker.name for worker in self.view.workers if worker.is_own}
        unsent = [
            task for task in self.memory.tasks if task.worker not in own and task.is_open and not task.step
        ]
        if not unsent or self.view.organisation is None:
            return
        if self.made.plan is not None and self.options.actions == BY_MODEL:
            unsent = await self._worded(unsent)
        most = max(self.view.organisation.messages_a_step - len(self.made.says), 0)
        timed = self.view.organisation.schedule != TOGETHER and self.made.plan is not None
        due = self.step + 1 + (self.view.organisation.least_think_steps if timed else 0)
        for task in unsent[:most]:
            worker = self.view.worker(task.worker)
            if worker is not None:
                data: dict[str, Json] = {"aim": list(task.aim)} if task.aim else {}
                data |= {"passed_on": task.passes} if task.passes else {}
                self.made.says.append(MessageDraft(task.text, INFORM, (worker.member,), data))
                self._change(task, replace(task, step=due))

    def _change(self, old: Task, new: Task) -> None:
        place = next(n for n, task in enumerate(self.memory.tasks) if task is old)
        self.memory.tasks[place] = new

    async def _worded(self, tasks: Sequence[Task]) -> list[Task]:
        """Let the model write the texts of tasks for other members. Return the tasks with these texts."""
        left, worded = await self.modules.informs(tasks), list[Task]()
        for task in tasks:
            said = next((one for one in left if one.worker == task.worker), None)
            fresh = task
            if said is not None:
                left.remove(said)
                fresh = replace(task, text=said.text, aim=task.aim if task.passes else said.aim)
                self._change(task, fresh)
            worded.append(fresh)
        return worded

    async def _act(self) -> None:
        """Give commands to those of the agent's own seats that are asked. Each seat works on the first of its
        open tasks."""
        request = self.situation.request
        for worker in self.view.workers:
            seat = worker.seat
            if not worker.is_own or seat is None or not (request.asked is None or seat in request.asked):
                continue
            open_tasks = (task for task in self.memory.tasks if task.worker == worker.name and task.is_open)
            if (task := next(open_tasks, None)) is None:
                self._stroll(seat)
            else:
                job = self.view.jobs.get((task.job, self.view.me))
                if job and job.state == ACCEPTED:
                    self._say(job, REPORT, status=STARTED)
                await self._command(seat, task, job)

    async def _command(self, seat: int, task: Task, job: Job | None) -> None:
        same = job is not None and job.aim == task.aim
        since = job.mark_of(seat) if job is not None and same else task.since
        pursued = self.pursuer.pursue(self.situation, seat, task.aim, since) if task.aim else None
        by_rule = [pursued.command] if pursued and pursued.status == UNKNOWN and pursued.command else []
        commands: Sequence[Command] = by_rule
        if self.options.actions == BY_MODEL:
            commands = await self.modules.commands(seat, task, by_rule)
            self._change(task, replace(task, acted=True))
        if commands and self.options.actions == BY_MODEL:
            self.made.commands[seat] = commands[0]
        else:
            self._stroll(seat, commands[0] if commands else None)
        if len(commands) > 1:
            self.made.plans[seat] = commands[1:]

    def _stroll(self, seat: int, command: Command | None = None) -> None:
        """Let a seat make a random move, if moves cost nothing, so that it does not block others.

        `command` is the seat's own command. It is sometimes replaced by a random move, so that two players
        who block each other get past each other.
        """
        skills = self.modules.skills
        strolls = skills.strolls(SeatObservation.of(self.situation, seat)) if skills else ()
        chance = Random(derived_seed(self.situation.seed, seat))  # noqa: S311
        if command is None or (command in strolls and chance.random() < STROLL_RATE):
            command = chance.choice([None, *strolls])
        if command is not None:
            self.made.commands[seat] = command

    # The record

    def _played_by(self) -> str:
        by = self.memory.by or Hourglass.kind
        asks = BY_MODEL in (self.options.planner, self.options.actions, self.options.monitor)
        return STAND_IN if asks and self.modules.is_stand_in and by != NOOP_FALLBACK else by

    def _note(self) -> dict[str, Json]:
        """Return the note for the log: the plan of this decision, and all tasks with their status."""
        note: dict[str, Json] = {"tasks": list(prompt.task_lines(self.memory.tasks))}
        if plan := self.made.plan:
            note |= {
                "iteration": self.memory.iterations,
                "objective": plan.objective,
                "plan": plan.lines(),
                "now": plan.now,
                **{
                    name: text
                    for name in ("inventory", "analysis", "asked_by")
                    if (text := getattr(plan, name))
                },
            }
        if self.made.braked:
            note["plans_in_vain"] = self.memory.plans_in_vain
        return note | self.modules.note()
