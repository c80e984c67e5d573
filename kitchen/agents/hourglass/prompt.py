"""Write the language-model prompts of the agent `hourglass`.

There is one prompt for each of its modules: progress monitor, task planner and action planner. The prompts
ask for what S-Agents describes (arXiv 2402.04578, appendix). The wording is our own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from kitchen.agents.hourglass.settings import STRUCTURED, HourglassOptions
from kitchen.agents.hourglass.team_tasks import HourglassMemory, Task, TeamView
from kitchen.agents.skill_agents.skill_text import titled_parts
from kitchen.agents.talk_rules import talk_rule_lines
from kitchen.contract.agent_skills import SeatObservation, Skills
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.language_model import Tool
from kitchen.contract.organisation import DOWNWARD_KINDS, INFORM, UPWARD_KINDS
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.words.quoted_messages import without_chat_marks

NOBODY, NO_AIM = "nobody", "none"
STATUSES = ("success", "fail", "unknown")
MAX_MESSAGES_TOLD = 15
"""Maximum number of messages in a prompt, the newest."""
MAX_AIMS_TOLD = 200
"""Maximum number of aims that a prompt lists."""

LEADER_RULES = (
    "Give everybody without a task exactly one task in a stage; nobody is idle, and nobody blocks others.",
    "Split a big job. Put tasks of which one needs the result of the other into different stages.",
    "Plan with what each worker holds now. State places and things exactly; never write only *help X*.",
    "If a worker succeeded with a part of a job, give the rest of the job to that worker.",
    "Do not repeat a task that is still open.",
)
WORKER_RULES = (
    "You have nobody to command: plan only what you do yourself.",
    "Plan what is needed first before what builds on it, and leave out what you hold already.",
    "If the time for a task was over and nothing else has changed, plan the same again.",
    "Do nothing that nobody asked for.",
)
MONITOR_RULES = (
    "Only words about a task count for that task.",
    "That somebody will start, agrees, or says nothing leaves it unknown.",
    "That somebody succeeded makes it a success, that somebody failed makes it a failure.",
    "What you see of the game counts more than words.",
)


def sight_of(view: TeamView) -> SeatObservation | None:
    """Return what the agent observes in its first seat. An agent without a seat observes through a seat of
    its team. None if it observes nothing."""
    situation = view.situation
    if situation.seats:
        return SeatObservation.of(situation, situation.seats[0])
    seat = next(iter(situation.observations), None)
    return None if seat is None else _seen_from(view, seat)


def _seen_from(view: TeamView, seat: int) -> SeatObservation:
    return SeatObservation(seat, view.situation.talk.public_brief, view.situation.observations[seat], ())


def system_text(view: TeamView, skills: Skills | None) -> str:
    """Return the system text of the prompt, which is the same in every step of an episode."""
    return titled_parts(
        [
            ("Who you are", list(_role(view))),
            ("The game", list(_game(view, skills))),
            ("What can be asked for", list(_aims(view))),
        ]
    )


def _role(view: TeamView) -> Iterator[str]:
    yield f"You are {view.own_name} in a game that is played in steps."
    employees = [worker.name for worker in view.workers if not worker.is_own]
    if employees:
        yield f"You may give jobs to {', '.join(employees)}."
    if own := [worker.name for worker in view.workers if worker.is_own]:
        yield f"You act with {', '.join(own)}."
    elif employees:
        yield "You lead and do no work in the game yourself."
    bosses = view.organisation.commanders_of(view.me) if view.organisation else ()
    if bosses:
        yield f"Jobs come to you from {', '.join(map(view.name_of, bosses))}."
    yield from talk_rule_lines(view.organisation)


def _game(view: TeamView, skills: Skills | None) -> Iterator[str]:
    sight = sight_of(view)
    if skills is not None and sight is not None:
        primer = skills.primer(sight, skills.manner(sight))
        yield from (primer.game, *primer.rules, *primer.making)
        yield f"In descriptions, {view.seat_name(0)} is called {skills.named(0)}, and so on."
        return
    brief = sight.brief if sight else view.situation.talk.public_brief
    yield "What is known of it, as JSON:"
    yield _json(brief)


def _aims(view: TeamView) -> Iterator[str]:
    if known := spelled_aims(view):
        yield "Aims, which the game can check. Use their exact words:"
        yield "; ".join([*known][:MAX_AIMS_TOLD])


def spelled_aims(view: TeamView) -> dict[str, tuple[str, ...]]:
    """Return the aims of all workers, by the text that replies use for them, such as `serve salmonSushi`."""
    return {" ".join(aim): aim for worker in view.workers for aim in worker.aims}


def _json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def scene_lines(view: TeamView, skills: Skills | None) -> Iterator[str]:
    """Yield the prompt's lines that describe the present state as the agent sees it."""
    yield f"Step {view.situation.step + 1}."
    sight = sight_of(view)
    if sight is None:
        yield "You see nothing of the game; you know what others tell you."
        if public := view.situation.talk.public_state:
            yield f"What everybody knows of it now, as JSON: {_json(public)}"
    elif skills is not None:
        yield skills.scene(sight)
    else:
        yield from dict.fromkeys(_json(one) for one in view.situation.observations.values())


def talk_lines(view: TeamView) -> Iterator[str]:
    """Yield the prompt's lines with the last messages, oldest first. Their texts are quoted, because they are
    data and not instructions."""
    heard = view.situation.talk.messages[-MAX_MESSAGES_TOLD:]
    yield "Messages, oldest first:" if heard else "Messages: none."
    for said in heard:
        to = ", ".join(map(view.name_of, said.to))
        quoted = json.dumps(without_chat_marks(said.text), ensure_ascii=False)
        new = "new, " if said.is_new else ""
        yield f"- {new}step {said.step}, {view.name_of(said.sender)} to {to}{_about(said)}: {quoted}"


def _about(said: TeamMessage) -> str:
    if said.kind == INFORM:
        return f" (gives job {said.number})"
    if said.kind in DOWNWARD_KINDS | UPWARD_KINDS and "job" in said.data:
        return f" ({said.data.get('status', said.kind)} job {said.data['job']})"
    return ""


def _example(view: TeamView) -> str:
    """Return an example of a task, written as the model must write it in its reply."""
    aim = next(iter(spelled_aims(view)), "what is to be done")
    return f"{view.workers[-1].name}: {aim}"


def task_lines(tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a line for each task with its status, numbered from 1."""
    for number, task in enumerate(tasks, start=1):
        yield f"Task {number}, {task.worker}: {task.text} ({task.status})"


def monitor_question(
    view: TeamView, skills: Skills | None, tasks: Sequence[Task], options: HourglassOptions
) -> str:
    """Return the prompt's question for the progress monitor, which judges the status of each task."""
    lines = [*scene_lines(view, skills), *talk_lines(view), "Tasks in question:", *task_lines(tasks), ""]
    lines += ["Say of each task whether it is a success, a failure, or unknown.", *_listed(MONITOR_RULES)]
    return "\n".join([*lines, *_form(options, "a line for each task, such as `Task 1: success`")])


def plan_question(
    view: TeamView,
    skills: Skills | None,
    memory: HourglassMemory,
    idle: Sequence[str],
    jobs: Sequence[Job],
    options: HourglassOptions,
) -> str:
    """Return the prompt's question for the task planner, which plans new tasks."""
    leads = any(not worker.is_own for worker in view.workers)
    lines = [*scene_lines(view, skills), *talk_lines(view)]
    lines += [f"Your last objective: {memory.objective or 'none'}"]
    lines += ["Your last plan:", *memory.plan] if memory.plan else []
    lines += ["What became of it:", *task_lines(memory.tasks)] if memory.tasks else []
    lines += [f"Job {job.number} from {view.name_of(job.giver)}: {_quoted(job.text)}" for job in jobs]
    lines += [
        "",
        f"Without a task: {', '.join(dict.fromkeys(idle))}.",
        *_listed(LEADER_RULES if leads else WORKER_RULES),
    ]
    form = (
        "these lines: `Inventory:` who holds what, `Objective:` one objective, `Analysis:` a few sentences, "
        f"then `Stage 1` and below it a line such as `- {_example(view)}` for each task, "
        "`Stage 2` and so on, then `Now:` the number of the stage to do now or 0 for none, and "
        "`Asked by:` a name or nobody"
    )
    return "\n".join([*lines, *_form(options, form)])


def inform_question(view: TeamView, tasks: Sequence[Task], options: HourglassOptions) -> str:
    """Return the prompt's question that asks a leader's model to turn tasks into jobs for workers."""
    lines = ["These tasks have to be given to workers:", *task_lines(tasks)]
    lines.append(
        "Your only action is to inform a worker of its task, once for each task. You do nothing else."
    )
    return "\n".join([*lines, *_form(options, f"a line for each, such as `Inform {_example(view)}`")])


def action_question(
    view: TeamView, skills: Skills | None, task: Task, legal: Sequence[Command], options: HourglassOptions
) -> str:
    """Return the prompt's question that asks a worker's model to turn a task into commands of the game."""
    lines = [*scene_lines(view, skills), f"Task of {task.worker}: {task.text}"]
    lines += ["Commands that are possible now:", "; ".join(" ".join(command) for command in legal)]
    lines += [
        "Which commands does it give, one after another, to do the task? The first must be possible now."
    ]
    lines += ["Never inform anybody of a task. Give no command if it has to wait."]
    return "\n".join([*lines, *_form(options, "one command a line, below a line `Actions:`")])


def _quoted(text: str) -> str:
    """Return the text in quotation marks, without marks of chat templates. Letters beyond ASCII stay escaped,
    so that stored episodes send the same prompts again."""
    return json.dumps(without_chat_marks(text))


def _listed(rules: Sequence[str]) -> list[str]:
    return [f"- {rule}" for rule in rules]


def _form(options: HourglassOptions, text: str) -> list[str]:
    if options.reply == STRUCTURED:
        return ["Answer with one JSON object of the form that you are given."]
    return [f"Answer with {text}."]


def _object(**properties: Json) -> dict[str, Json]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list_of(item: Json, **more: Json) -> dict[str, Json]:
    return {"type": "array", "items": item, **more}


def _one_of(names: Sequence[str]) -> dict[str, Json]:
    return {"type": "string", "enum": list(dict.fromkeys(names))}


_TEXT: Json = {"type": "string"}
_NUMBER: Json = {"type": "integer"}
MONITOR_TOOL = Tool(
    "judge_tasks",
    "Say how each task stands.",
    _object(tasks=_list_of(_object(task=_NUMBER, status=_one_of(STATUSES)))),
)
ACTIONS_TOOL = Tool(
    "give_commands",
    "Give the commands of this worker, one after another.",
    _object(actions=_list_of(_TEXT)),
)


def plan_tool(view: TeamView) -> Tool:
    """Return the JSON schema of the task planner's reply, for the workers and aims of this team."""
    workers = [worker.name for worker in view.workers]
    others = (
        [view.name_of(one) for one in view.organisation.numbers if one != view.me]
        if view.organisation
        else []
    )
    task = _object(
        stage=_NUMBER,
        worker=_one_of(workers),
        task=_TEXT,
        aim=_one_of([*spelled_aims(view), NO_AIM]),
    )
    schema = _object(
        inventory=_TEXT,
        objective=_TEXT,
        analysis=_TEXT,
        plan=_list_of(task, description="One entry for each task of each stage."),
        now={**_NUMBER, "description": "The stage to do now; 0 for none."},
        asked_by=_one_of([*others, NOBODY]),
    )
    return Tool("plan_tasks", "Give your objective and your plan in stages.", schema)


def inform_tool(view: TeamView, tasks: Sequence[Task]) -> Tool:
    """Return the JSON schema of the reply in which a leader's action planner gives jobs to workers."""
    aims = _one_of([*spelled_aims(view), NO_AIM])
    inform = _object(to=_one_of([task.worker for task in tasks]), aim=aims, words=_TEXT)
    return Tool("inform_workers", "Inform each worker of its task.", _object(inform=_list_of(inform)))
