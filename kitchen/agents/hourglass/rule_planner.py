"""Plan tasks by rule, for the setting `planner=rule`, for the stand-in model and as the fallback.

A root gives everybody without a task the most useful aim that nobody has (`AimPursuer.suggest`). Where
nothing shows what is useful, aims are given in the order of the list. Another member does jobs in the order
in which they came, and passes on what its own seats cannot begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kitchen.agents.hourglass.prompt import sight_of
from kitchen.agents.hourglass.reply_reading import PlannedTask, PlanReply
from kitchen.agents.hourglass.team_tasks import HourglassMemory, TeamView, Worker
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Aim
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import in_english


def rule_plan(
    view: TeamView,
    memory: HourglassMemory,
    idle: Sequence[Worker],
    jobs: Sequence[Job],
    said: Sequence[TeamMessage],
) -> PlanReply:
    """Return a plan of one stage for the workers in `idle` (each as often as it can get a task). `jobs` are
    the agent's own open jobs that it has not planned for. `said` are the words of others since its last plan;
    it reads aims in them, in plain English."""
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
    """Return the task that the newest words ask an own seat for, if they name an aim."""
    own = next((worker for worker in idle if worker.is_own), None)
    aim = aim_in_words(view, said[-1].text) if own and said else ()
    return [PlannedTask(own.name, aim_words(view, aim), aim)] if own and aim else []


def wanted_aim(view: TeamView, job: Job) -> Aim:
    """Return the aim of a job, or the one that its words name; empty for none."""
    return job.aim or aim_in_words(view, job.text)


def aim_in_words(view: TeamView, text: str) -> Aim:
    """Return the aim of an own seat that these words name in plain English, the longest; empty for none."""
    plain = text.casefold()
    known = {aim_words(view, aim): aim for worker in view.workers if worker.is_own for aim in worker.aims}
    found = [words for words in known if words.casefold() in plain]
    return known[max(found, key=len)] if found else ()


def _useful_tasks(view: TeamView, memory: HourglassMemory, idle: Sequence[Worker]) -> list[PlannedTask]:
    taken = [task.aim for task in memory.tasks if task.is_open and task.aim]
    tasks = []
    for worker in idle:
        if aim := _suggestion(view, memory, worker, taken):
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
    """Return an aim in plain English."""
    sight = sight_of(view)
    brief = sight.brief if sight else view.situation.talk.public_brief
    with in_english():
        return get_page(view.situation.world).aimed(brief, aim)


def with_errors(plan: PlanReply, view: TeamView, rate: float, rng: Random) -> PlanReply:
    """Return the plan of a stand-in that errs: this share of its tasks has another aim."""
    stages = {
        stage: [_other_task(task, view, rng) if rng.random() < rate else task for task in tasks]
        for stage, tasks in plan.stages.items()
    }
    return PlanReply(plan.objective, stages, plan.now)


def _other_task(task: PlannedTask, view: TeamView, rng: Random) -> PlannedTask:
    worker = view.worker(task.worker)
    aim = rng.choice(worker.aims) if worker and worker.aims else task.aim
    return PlannedTask(task.worker, " ".join(aim), aim)
