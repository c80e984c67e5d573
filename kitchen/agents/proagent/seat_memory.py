"""Store what the agent ProAgent remembers for one of its players, as JSON of limited size.

The memory holds the player's current skill (an action of several steps) and the dialogue with the language
model. It also holds predictions of what other players will do. A prediction is checked when that other player
next finishes a skill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from kitchen.agents.proagent.settings import REPLACE, ProAgentOptions
from kitchen.agents.skill_agents.base_agent import PlannedSkill, SkillMemory
from kitchen.contract.agent_skills import SeatObservation, Skill, Skills, spell_skill
from kitchen.contract.decision_notes import Prediction, PredictionAccuracy
from kitchen.contract.language_model import Message, Role
from kitchen.contract.world import Json

MAX_CHARACTERS = 4000
"""Maximum length of one remembered message."""
MAX_BELIEFS = 10
"""Maximum number of predictions, and of finished skills, that are kept: the newest."""
EARLIER_HEADING = "Earlier in this game:"
"""Sent before a remembered dialogue that begins with an answer, because conversations must begin with a
question."""

DialogueLine = tuple[str, str]
"""A line of the dialogue: the role (`user` or `assistant`), and the text."""


@dataclass(frozen=True, slots=True)
class ProAgentMemory(SkillMemory):
    """The memory of one seat: its skill, its dialogue with the model, and its predictions about others."""

    dialogue: tuple[DialogueLine, ...] = ()
    foreseen: tuple[Prediction, ...] = ()
    """Open predictions, and the newest judged ones."""
    done: tuple[Prediction, ...] = ()
    """The newest skills that the others finished; only `of`, `done` and `done_in` are meaningful."""
    meanwhile: tuple[Prediction, ...] = ()
    """The first skills that each other seat finished while there was no plan. Predictions of a late answer
    are compared with them."""
    right: int = 0
    judged: int = 0
    vain: int = 0
    """Decisions in a row in which no plan of the model could begin."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory that `to_json` stored; an empty memory for any other value."""
        if not isinstance(stored, dict):
            return cls()
        return cls(
            plan=PlannedSkill.read(stored["plan"]),
            coming=PlannedSkill.read(stored["coming"]),
            dialogue=tuple((who, text) for who, text in stored["dialogue"]),
            foreseen=tuple(map(Prediction.read, stored["foreseen"])),
            done=tuple(map(Prediction.read, stored["done"])),
            meanwhile=tuple(map(Prediction.read, stored.get("meanwhile", ()))),
            right=stored["right"],
            judged=stored["judged"],
            vain=stored.get("vain", 0),
        )

    def to_json(self) -> dict[str, Json]:
        """Return the memory as JSON for storage."""
        return {
            **SkillMemory.to_json(self),
            "dialogue": [list(line) for line in self.dialogue],
            "foreseen": [one.to_json() for one in self.foreseen],
            "done": [one.to_json() for one in self.done],
            "meanwhile": [one.to_json() for one in self.meanwhile],
            "right": self.right,
            "judged": self.judged,
            **({"vain": self.vain} if self.vain else {}),
        }

    def with_thoughts_of(self, other: Self) -> Self:
        """Return this memory with the dialogue of `other`, and with the open predictions that only `other`
        has. Both memories belong to the same seat."""
        known = {_key(one) for one in self.foreseen}
        more = [one for one in other.open if _key(one) not in known]
        return replace(self.foreseeing(more), dialogue=other.dialogue)

    @property
    def open(self) -> list[Prediction]:
        """Return the predictions whose outcome is not known yet."""
        return [one for one in self.foreseen if one.right is None]

    @property
    def foresight(self) -> PredictionAccuracy:
        """Return how many predictions of this episode were judged so far, and how many were right."""
        return PredictionAccuracy(self.right, self.judged)

    def with_message(self, who: Role, text: str, most: int) -> Self:
        """Return the memory with one more message of the dialogue. Only the last `most` messages are kept.
        `who` is the role of the sender."""
        dialogue = (*self.dialogue, (who, text[:MAX_CHARACTERS]))
        return replace(self, dialogue=dialogue[-most:] if most else ())

    def messages(self) -> list[Message]:
        """Return the dialogue as messages for the model."""
        sent = [Message("assistant" if who == "assistant" else "user", text) for who, text in self.dialogue]
        return [Message("user", EARLIER_HEADING), *sent] if sent and sent[0].role == "assistant" else sent

    def foreseeing(self, found: Sequence[Prediction]) -> Self:
        """Return the memory with these predictions added. If two predictions are about the same seat and
        step, the newer one counts."""
        kept = [one for one in self.foreseen if all(_key(one) != _key(new) for new in found)]
        return replace(self, foreseen=_newest([*kept, *found]))

    def with_judged(self, judged: Sequence[Prediction]) -> Self:
        """Return the memory in which these judged predictions replace the open ones."""
        by_key = {_key(one): one for one in judged}
        foreseen = tuple(by_key.get(_key(one), one) for one in self.foreseen)
        right = self.right + sum(bool(one.right) for one in judged)
        return replace(self, foreseen=foreseen, right=right, judged=self.judged + len(judged))

    def with_done(self, of: int, done: Skill, step: int, by: int) -> Self:
        """Return the memory with the information that the seat `of` finished the skill `done` in this step.
        `by` is the agent's own seat."""
        found = Prediction(by, of, step, done, done, step, None)
        waits = self.newest is None and sum(one.of == of for one in self.meanwhile) < MAX_BELIEFS
        meanwhile = (*self.meanwhile, found) if waits else self.meanwhile
        return replace(self, done=_newest([*self.done, found]), meanwhile=meanwhile)


def _key(one: Prediction) -> tuple[int, int, int]:
    return one.step, one.by, one.of


def _newest(found: Sequence[Prediction]) -> tuple[Prediction, ...]:
    return tuple(found[-MAX_BELIEFS:])


def compare_predictions(
    memory: ProAgentMemory, skills: Skills, sight: SeatObservation, step: int
) -> tuple[ProAgentMemory, list[Prediction]]:
    """Compare open predictions with the skills that other seats have just finished. Return the new memory and
    the judged predictions. `step` is counted from 1."""
    judged: list[Prediction] = []
    for other in skills.seats(sight):
        if other == sight.seat:
            continue
        for done in skills.finished(sight, other):
            memory = memory.with_done(other, done, step, sight.seat)
            found = list(_judged(memory, skills, sight, memory.done[-1]))
            memory = memory.with_judged(found)
            judged += found
    return memory, judged


def compare_late_predictions(
    memory: ProAgentMemory, skills: Skills, sight: SeatObservation, late: ProAgentMemory
) -> tuple[ProAgentMemory, list[Prediction]]:
    """Add the dialogue and predictions of a late decision to the memory. Compare the predictions with what
    others finished in the meantime. Return the new memory and the judged predictions."""
    memory, judged = memory.with_thoughts_of(late), []
    for done in memory.meanwhile:
        found = list(_judged(memory, skills, sight, done))
        memory = memory.with_judged(found)
        judged += found
    return memory, judged


def _judged(
    memory: ProAgentMemory, skills: Skills, sight: SeatObservation, what: Prediction
) -> Iterator[Prediction]:
    """Yield each open prediction that can be judged now, with its outcome. `what` is the skill that another
    seat has just finished."""
    for one in memory.open:
        if one.of == what.of and one.step <= what.step:
            right = skills.agrees(sight, one.predicted, what.done)
            if right is not None:
                yield one.judged(what.done, what.step, right=right)


def belief_lines(memory: ProAgentMemory, skills: Skills, options: ProAgentOptions) -> list[str]:
    """Return prompt lines that list the model's predictions and what other seats really did. Empty if there
    is nothing to list, or if the settings leave these lines out."""
    if not options.corrects or not (memory.foreseen or memory.done):
        return []
    foreseen = [_believed(one, skills, options) for one in memory.foreseen]
    done = [f"- step {one.done_in}, {skills.named(one.of)}: {spell_skill(one.done)}" for one in memory.done]
    return [
        *(["What you foresaw:", *foreseen] if foreseen else []),
        *(["What was really done:", *done] if done else []),
    ]


def _believed(one: Prediction, skills: Skills, options: ProAgentOptions) -> str:
    of = f"- step {one.step}, {skills.named(one.of)}:"
    if one.right is not False:
        return f"{of} {spell_skill(one.predicted)}"
    if options.belief == REPLACE:
        return f"{of} {spell_skill(one.done)}"
    return f"{of} {spell_skill(one.predicted)} (that was wrong: it did {spell_skill(one.done)} instead)"
