"""Asking for a skill until one can be done: plan, verify, explain, plan again; four plans at most."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from kitchen.agents.proagent import prompt
from kitchen.agents.proagent.comparing import beliefs
from kitchen.agents.proagent.door import ThinkersDoor
from kitchen.agents.proagent.memory import Memory
from kitchen.agents.proagent.options import ALWAYS, BY_MODEL, TRIES, Options
from kitchen.agents.skilled.plan import failed, long_enough
from kitchen.agents.skilled.settings import BY_RULE
from kitchen.agents.skilled.telling import refused
from kitchen.agents.skilled.wording import Read, before_next_scene, read
from kitchen.contract.model import Message
from kitchen.contract.reading import NO_COMMAND
from kitchen.contract.skills import Condition, Sight, Skill, Skills, spelled, wait
from kitchen.contract.world import Json

SILENCE = "(no words)"
"""Stands for an empty answer in the dialogue: providers refuse empty messages."""


@dataclass(frozen=True, slots=True)
class Try:
    """One plan of the model, and what came of it."""

    skill: Skill
    failed: tuple[Condition, ...] = ()
    unread: bool = False
    explanation: str = ""
    explained_by: str = ""

    def to_json(self) -> dict[str, Json]:
        """For the decision's note."""
        return {
            "skill": spelled(self.skill),
            "read": not self.unread,
            "failed": [one.code for one in self.failed],
            "explanation": self.explanation,
            "explained_by": self.explained_by,
        }

    def faults(self, seat: int) -> list[Json]:
        """What was wrong with it, as files count it (`kitchen.contract.reading`)."""
        if self.unread:
            return [{"code": NO_COMMAND, "seat": seat, "command": [], "text": "No skill could be read."}]
        said = [one.why_not for one in self.failed[:1]]
        codes = " ".join(one.code for one in self.failed)
        return [{"code": codes, "seat": seat, "command": list(self.skill), "text": text} for text in said]


@dataclass(slots=True)
class Planned:
    """What came of asking. `skill` is None where there was no answer."""

    skill: Skill | None = None
    tries: list[Try] = field(default_factory=list)
    foreseen: dict[int, Skill] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    error: str = ""
    """The code of the call that had no answer."""


class Asking:
    """One seat in one step in which a skill is needed."""

    def __init__(self, skills: Skills, sight: Sight, options: Options, door: ThinkersDoor, step: int) -> None:
        self.skills, self.sight, self.options, self.door, self.step = skills, sight, options, door, step
        self.name = skills.named(sight.seat)
        self.manner = options.manner(skills.manner(sight))

    @cached_property
    def scene(self) -> str:
        """This moment in words."""
        return self.skills.scene(self.sight)

    def plan(self, memory: Memory) -> Planned:
        """Until a skill can be done, or waiting after the last try; the last failure is explained, too."""
        made, again = Planned(memory=memory), ""
        stand_in = self.door.planning(self.skills, self.sight, self.manner)
        while len(made.tries) < TRIES:
            question = self._question(made.memory, again)
            call = self.door.ask(self._messages(made.memory, question, again), stand_in)
            if call.reply is None:
                made.error = call.error
                return made
            text = before_next_scene(call.reply.text).strip() or SILENCE
            found = read(call.reply.text, self.skills, self.sight)
            made.foreseen = dict(found.foreseen) or made.foreseen
            one = self._verified(found)
            made.memory = self._remembered(made.memory, question, text, one.skill)
            if not one.failed:
                made.tries.append(one)
                made.skill = one.skill
                return made
            one = self._explained(one)
            made.tries.append(one)
            again = one.explanation
            made.memory = made.memory.said("user", again, self.options.memory)
        made.skill = wait()
        return made

    def _question(self, memory: Memory, again: str) -> str:
        told = beliefs(memory, self.skills, self.options)
        return prompt.scene_part(self.scene, self.step, told, again)

    def _messages(self, memory: Memory, question: str, again: str) -> list[Message]:
        fixed = prompt.fixed_part(self.skills, self.sight, self.options)
        recalled = memory.messages() if again or self.options.recall == ALWAYS else []
        return [Message("system", fixed, fixed=True), *recalled, Message("user", question)]

    def _remembered(self, memory: Memory, question: str, text: str, skill: Skill) -> Memory:
        most = self.options.memory
        asked = memory.said("user", question, most).said("assistant", text, most)
        return asked.said("user", prompt.read_as(self.name, skill), most)

    def _verified(self, found: Read) -> Try:
        skill = long_enough(self.skills, self.sight, found.plan or wait())
        return Try(skill, failed(self.skills, self.sight, skill), found.plan is None)

    def _explained(self, one: Try) -> Try:
        """Why it failed, by whoever is to say so."""
        sentence = refused(self.name, one.skill, one.failed)
        if self.options.explainer == BY_RULE:
            return _with(one, sentence, BY_RULE)
        if self.options.explainer != BY_MODEL:
            return _with(one, prompt.only_failed(self.name, one.skill), self.options.explainer)
        return self._by_model(one, sentence)

    def _by_model(self, one: Try, sentence: str) -> Try:
        """The model's explanation; the rule's where it has none."""
        conditions = self.skills.conditions(self.sight, one.skill)
        question = prompt.explaining_part(self.scene, self.step, self.name, one.skill, conditions)
        messages = [Message("system", prompt.EXPLAINER, fixed=True), Message("user", question)]
        call = self.door.ask(messages, self.door.explaining(self.sight, one.skill, sentence))
        said = before_next_scene(call.reply.text).strip() if call.reply else ""
        return _with(one, said, BY_MODEL) if said else _with(one, sentence, BY_RULE)


def _with(one: Try, explanation: str, by: str) -> Try:
    return Try(one.skill, one.failed, one.unread, explanation, by)
