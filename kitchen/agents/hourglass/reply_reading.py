"""Read a language model's replies to the prompts of the agent `hourglass`.

A reply may be a tool call, JSON, or lines of text. An unreadable reply raises UnreadablePlanError, whose
message tells the model what is missing. The module can also write such replies. The stand-in, which imitates
a language model, uses this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kitchen.agents.hourglass.prompt import NO_AIM, NOBODY, STATUSES
from kitchen.contract.agent import MAX_PLAN_STEPS
from kitchen.contract.assigned_jobs import aim_and_words
from kitchen.contract.data_limits import json_object_in_text
from kitchen.contract.language_model import Reply
from kitchen.contract.world import Aim, Command, Json

MAX_TASK_CHARACTERS = 300
MAX_TASKS = 60
_HEADING = re.compile(
    r"^[\s>*#_-]*(inventory|objective|analysis|now|asked by)[\s*_]*:[\s*_]*(.*)$", re.IGNORECASE
)
_STAGE = re.compile(r"^[\s>*#_-]*stage[\s*_]*(\d{1,3})\b", re.IGNORECASE)
_TASK = re.compile(r"^[\s>*#_-]*([^:\n]{1,60}?)[\s*_]*:[\s*_]*(.+)$")
_STATUS = re.compile(r"^[ \t>*#_-]*task[\s*_]*(\d{1,3})[\s*_]*:[\s*_`]*(\w+)", re.IGNORECASE | re.MULTILINE)
_INFORM = re.compile(
    r"^[ \t>*#_-]*inform[ \t]+(?P<to>[^:\n]{1,60}?)[\s*_]*:[\s*_]*(?P<job>.+)$", re.IGNORECASE | re.MULTILINE
)
_ACTIONS = re.compile(r"^[^\w\n]*actions[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
_BULLET = re.compile(r"^[\s>*-]*(?:\d{1,3}[.)]\s*)?|(?<![`*\s])[`*\s]+$")


class UnreadablePlanError(ValueError):
    """A reply from which the needed parts cannot be read."""


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One task of a plan. `aim` is empty for a task in words."""

    worker: str
    text: str
    aim: Aim = ()
    job: int = 0
    """The number of the own job that the rule planned it for; 0 in replies."""


@dataclass(frozen=True, slots=True)
class PlanReply:
    """The reply of the task planner."""

    objective: str
    stages: Mapping[int, Sequence[PlannedTask]]
    now: int
    """The stage to do now; 0 for none."""
    inventory: str = ""
    analysis: str = ""
    asked_by: str = NOBODY

    @property
    def tasks(self) -> Sequence[PlannedTask]:
        """Return the tasks of the plan's present stage, which must be done now."""
        return self.stages.get(self.now, ())

    def lines(self) -> list[str]:
        """Return the plan as text, one line for each task."""
        return [
            f"Stage {stage}, {task.worker}: {task.text}"
            for stage in sorted(self.stages)
            for task in self.stages[stage]
        ]


class TeamWords:
    """The names and aims of a team, for reading what a model writes."""

    def __init__(self, names: Sequence[str], aims: Mapping[str, Aim]) -> None:
        self.names = {_plain(name): name for name in names}
        self.aims = aims

    def name(self, written: str) -> str:
        """Return the name of the member that a model means by `written`. Return an empty text if no member
        fits."""
        return self.names.get(_plain(written), "")

    def task(self, worker: str, text: str, aim: str = "") -> PlannedTask | None:
        """Return a task for this worker. Return None if the worker is unknown or the task is empty. If `aim`
        is empty, it is read from the beginning of the text."""
        name, text = self.name(worker), " ".join(text.split())[:MAX_TASK_CHARACTERS]
        found = aim if aim in self.aims else aim_and_words(text, self.aims)[0]
        if not name or not (text or found):
            return None
        return PlannedTask(name, text or found, self.aims.get(found, ()))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def read_plan_reply(reply: Reply, words: TeamWords) -> PlanReply:
    """Return the plan that the task planner's reply contains."""
    said = _object(reply) or _plan_lines(reply.text)
    given = said.get("plan")
    if not isinstance(given, list):
        raise UnreadablePlanError("the plan is missing")
    stages: dict[int, list[PlannedTask]] = {}
    for one in given[:MAX_TASKS]:
        if isinstance(one, dict) and (task := _planned(one, words)):
            stages.setdefault(_number(one.get("stage"), 1), []).append(task)
    now = _number(said.get("now"), min(stages, default=0))
    if given and not stages:
        raise UnreadablePlanError("no task names a worker whom you may give tasks")
    if now and now not in stages:
        raise UnreadablePlanError("the stage to do now is not in the plan")
    texts = {name: str(said.get(name) or "").strip() for name in ("inventory", "objective", "analysis")}
    return PlanReply(stages=stages, now=now, asked_by=str(said.get("asked_by") or NOBODY), **texts)


def _planned(one: Mapping[str, Json], words: TeamWords) -> PlannedTask | None:
    return words.task(*(str(one.get(name) or "") for name in ("worker", "task", "aim")))


def _number(value: Json, other: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = re.search(r"\d{1,3}", str(value)) if isinstance(value, str) else None
    return int(digits[0]) if digits else other


def _plan_lines(text: str) -> dict[str, Json]:
    """Read a plan that consists of lines under headings. Return it in the form of a JSON reply."""
    said: dict[str, Json] = {}
    tasks: list[Json] = []
    stage = 0
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            said[heading[1].lower().replace(" ", "_")] = heading[2].strip()
        elif found := _STAGE.match(line):
            stage = int(found[1])
        elif stage and (task := _TASK.match(line)):
            tasks.append({"stage": stage, "worker": task[1], "task": task[2].strip(" *_`")})
    return {**said, "plan": tasks} if stage or "now" in said else said


def read_statuses(reply: Reply, count: int) -> dict[int, str]:
    """Return the status of each task in the monitor's reply, by task number from 1 to `count`."""
    said = _object(reply)
    if said is None:
        pairs: Iterator[tuple[Json, str]] = ((int(one[1]), one[2]) for one in _STATUS.finditer(reply.text))
    else:
        listed = said.get("tasks")
        objects = (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))
        pairs = ((one.get("task"), str(one.get("status", ""))) for one in objects)
    found = {number: status.lower() for number, status in pairs if isinstance(number, int)}
    known = {
        number: "fail" if status.startswith("fail") else status
        for number, status in found.items()
        if 1 <= number <= count and (status in STATUSES or status.startswith("fail"))
    }
    if not known:
        raise UnreadablePlanError("the status of each task is missing")
    return known


def read_informs(reply: Reply, words: TeamWords) -> list[PlannedTask]:
    """Return the tasks that a leader's reply gives to workers by message. Raises UnreadablePlanError if
    the reply informs nobody."""
    said = _object(reply)
    if said is None:
        pairs = [(one["to"], one["job"], "") for one in _INFORM.finditer(reply.text)]
    else:
        listed = said.get("inform")
        objects = [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict)]
        pairs = [
            (str(one.get("to", "")), str(one.get("words") or ""), str(one.get("aim") or ""))
            for one in objects
        ]
    found = [task for one in pairs[:MAX_TASKS] if (task := words.task(*one))]
    if not found:
        raise UnreadablePlanError("nobody is informed")
    return found


def read_commands(reply: Reply, legal: Sequence[Command]) -> list[Command]:
    """Return the commands in a worker's reply. The first command must be in `legal`. A reply without commands
    means waiting."""
    said = _object(reply)
    if said is None:
        after = _ACTIONS.split(reply.text)[-1]
        listed: Json = [_BULLET.sub("", line) for line in after.splitlines()]
    else:
        listed = said.get("actions")
    if not isinstance(listed, list):
        raise UnreadablePlanError("the list of actions is missing")
    commands = [tuple(str(one).split()) for one in listed if str(one).split()][: MAX_PLAN_STEPS + 1]
    if commands and commands[0] not in legal:
        raise UnreadablePlanError(f"`{' '.join(commands[0])}` is not possible now")
    return commands


def _object(reply: Reply) -> Mapping[str, Json] | None:
    """Return the JSON object in a reply: the arguments of its tool call, or the JSON in its text. None if
    there is none."""
    return reply.call if reply.call is not None else json_object_in_text(reply.text)


# The stand-in's replies


def written_plan(plan: PlanReply) -> str:
    """Return a plan as text in the form of a model's reply. The stand-in (a program that imitates a
    language model) sends it."""
    tasks = [
        {"stage": stage, "worker": task.worker, "task": task.text, "aim": " ".join(task.aim) or NO_AIM}
        for stage, listed in plan.stages.items()
        for task in listed
    ]
    said = {"inventory": plan.inventory, "objective": plan.objective, "analysis": plan.analysis}
    return json.dumps({**said, "plan": tasks, "now": plan.now, "asked_by": plan.asked_by})


def written_statuses(statuses: Sequence[str]) -> str:
    """Return the tasks' statuses as text in the form of a model's reply. The stand-in (a program that
    imitates a language model) sends it."""
    return json.dumps({"tasks": [{"task": n, "status": one} for n, one in enumerate(statuses, start=1)]})


def written_informs(tasks: Sequence[PlannedTask]) -> str:
    """Return jobs for workers as text in the form of a model's reply. The stand-in (a program that
    imitates a language model) sends it."""
    listed = [{"to": one.worker, "aim": " ".join(one.aim) or NO_AIM, "words": one.text} for one in tasks]
    return json.dumps({"inform": listed})


def written_commands(commands: Sequence[Command]) -> str:
    """Return commands as text in the form of a model's reply. The stand-in (a program that imitates a
    language model) sends it."""
    return json.dumps({"actions": [" ".join(command) for command in commands]})
