"""Ask a language model for ProAgent's next skill, and check that the skill can begin.

A skill is an action of several steps. If the skill cannot begin, the model is told why and asked again, for
at most four plans per decision. After several decisions in which no plan could begin, it is asked only once
per decision, until a plan can begin. The module also writes the replies of the stand-in, which imitates a
language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random

from kitchen.agents.proagent import prompt
from kitchen.agents.proagent.prompt import answer_text, other_seats
from kitchen.agents.proagent.seat_memory import ProAgentMemory, belief_lines
from kitchen.agents.proagent.settings import ALWAYS, BRAKE_AFTER, BY_MODEL, TRIES, ProAgentOptions
from kitchen.agents.skill_agents.base_agent import failed_conditions, skill_fault, with_minimum_wait
from kitchen.agents.skill_agents.decision_model import ModelSession, StandInFactory
from kitchen.agents.skill_agents.settings import BY_RULE
from kitchen.agents.skill_agents.skill_text import (
    NO_WORDS,
    ReadPlan,
    before_next_scene,
    read_plan,
    refusal_sentence,
)
from kitchen.contract.agent_skills import (
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    spell_skill,
    wait_skill,
)
from kitchen.contract.language_model import Message
from kitchen.contract.world import Json
from kitchen.llm.providers.stand_in_model import StandInAdvice, WrittenCommand


@dataclass(frozen=True, slots=True)
class PlanAttempt:
    """One plan that the model proposed, the conditions of its skill that did not hold, and the explanation
    that the model got."""

    skill: Skill
    failed: tuple[SkillCondition, ...] = ()
    unread: bool = False
    explanation: str = ""
    explained_by: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the attempt as JSON, for the log."""
        return {
            "skill": spell_skill(self.skill),
            "read": not self.unread,
            "failed": [one.code for one in self.failed],
            "explanation": self.explanation,
            "explained_by": self.explained_by,
        }

    def faults(self, seat: int) -> list[Json]:
        """Return the fault of the plan in a list (see `skill_fault`). The list is empty if the plan can
        begin."""
        if not (self.unread or self.failed):
            return []
        return [skill_fault(seat, None if self.unread else self.skill, self.failed)]


@dataclass(slots=True)
class PlanResult:
    """The skill that the model planned, with all its tries and predictions. `skill` is None if the model
    did not answer."""

    skill: Skill | None = None
    tries: list[PlanAttempt] = field(default_factory=list)
    foreseen: dict[int, Skill] = field(default_factory=dict)
    memory: ProAgentMemory = field(default_factory=ProAgentMemory)
    error: str = ""
    """The code of the call that had no answer."""
    braked: bool = False
    """True if the model was asked only once, because its earlier plans could not begin."""


class PlanRequest:
    """The request to plan a skill for one seat in one step."""

    def __init__(
        self,
        skills: Skills,
        sight: SeatObservation,
        options: ProAgentOptions,
        session: ModelSession,
        step: int,
    ) -> None:
        self.skills, self.sight, self.options, self.session, self.step = skills, sight, options, session, step
        self.name = skills.named(sight.seat)
        self.manner = options.manner(skills.manner(sight))

    @cached_property
    def scene(self) -> str:
        """Return the present state of the world as text, for the prompt."""
        return self.skills.scene(self.sight)

    async def plan(self, memory: ProAgentMemory) -> PlanResult:
        """Ask the model until it plans a skill that can begin. The model is told why each earlier plan
        failed. If the last try fails, the skill is to wait."""
        made, again = PlanResult(memory=memory), ""
        stand_in = self._planning_stand_in()
        made.braked = memory.vain >= BRAKE_AFTER
        while len(made.tries) < (1 if made.braked else TRIES):
            question = self._question(made.memory, again)
            call = await self.session.ask(self._messages(made.memory, question, again), stand_in)
            if call.reply is None:
                made.error = call.error
                return made
            text = before_next_scene(call.reply.text).strip() or NO_WORDS
            found = read_plan(call.reply.text, self.skills, self.sight)
            made.foreseen = dict(found.foreseen) or made.foreseen
            one = self._verified(found)
            made.memory = self._remembered(made.memory, question, text, one.skill)
            if not one.failed:
                made.tries.append(one)
                made.skill = one.skill
                made.memory = replace(made.memory, vain=0)
                return made
            one = await self._explained(one, by_rule=made.braked)
            made.tries.append(one)
            again = one.explanation
            made.memory = made.memory.with_message("user", again, self.options.memory)
        made.skill = wait_skill()
        made.memory = replace(made.memory, vain=memory.vain + 1)
        return made

    def _question(self, memory: ProAgentMemory, again: str) -> str:
        told = belief_lines(memory, self.skills, self.options)
        return prompt.scene_part(self.scene, self.step, told, again)

    def _messages(self, memory: ProAgentMemory, question: str, again: str) -> list[Message]:
        fixed = prompt.fixed_part(self.skills, self.sight, self.options)
        recalled = memory.messages() if again or self.options.recall == ALWAYS else []
        return [Message("system", fixed, fixed=True), *recalled, Message("user", question)]

    def _remembered(self, memory: ProAgentMemory, question: str, text: str, skill: Skill) -> ProAgentMemory:
        most = self.options.memory
        asked = memory.with_message("user", question, most).with_message("assistant", text, most)
        return asked.with_message("user", prompt.read_skill_line(self.name, skill), most)

    def _verified(self, found: ReadPlan) -> PlanAttempt:
        skill = with_minimum_wait(self.skills, self.sight, found.plan or wait_skill())
        return PlanAttempt(skill, failed_conditions(self.skills, self.sight, skill), found.plan is None)

    async def _explained(self, one: PlanAttempt, *, by_rule: bool) -> PlanAttempt:
        """Return the failed attempt with an explanation added. The settings say whether the model or a
        rule explains it; with `by_rule`, the model does not."""
        sentence = refusal_sentence(self.name, one.skill, one.failed)
        if self.options.explainer == BY_RULE or (by_rule and self.options.explainer == BY_MODEL):
            return replace(one, explanation=sentence, explained_by=BY_RULE)
        if self.options.explainer != BY_MODEL:
            failure = prompt.failure_line(self.name, one.skill)
            return replace(one, explanation=failure, explained_by=self.options.explainer)
        return await self._by_model(one, sentence)

    async def _by_model(self, one: PlanAttempt, sentence: str) -> PlanAttempt:
        """Return the failed attempt with the model's explanation. If the model gives none, use `sentence`,
        the explanation of a rule."""
        conditions = self.skills.conditions(self.sight, one.skill)
        question = prompt.explaining_part(self.scene, self.step, self.name, one.skill, conditions)
        messages = [Message("system", prompt.EXPLAINER_TEXT, fixed=True), Message("user", question)]
        call = await self.session.ask(messages, self._explaining_stand_in(one.skill, sentence))
        said = before_next_scene(call.reply.text).strip() if call.reply else ""
        by = BY_MODEL if said else BY_RULE
        return replace(one, explanation=said or sentence, explained_by=by)

    def _planning_stand_in(self) -> StandInFactory:
        """Return the stand-in (a program that imitates a language model). It plans, and predicts the
        skills of other seats, by the rules of the world."""
        skills, sight = self.skills, self.sight
        right = {seat: skills.rule(sight, seat, self.manner) for seat in skills.seats(sight)}
        possible = [one for one in skills.offered(sight, sight.seat) if one != right[sight.seat]]

        def write(commands: Sequence[WrittenCommand], rng: Random) -> str:
            plan = next(skill for _, skill in commands)
            foreseen = {seat: right[seat] for seat in other_seats(skills, sight)}
            analysis = f"{spell_skill(plan)} is what is due."
            return "\n".join(answer_text(skills, sight, self.options.level, analysis, foreseen, plan))

        advice = StandInAdvice({sight.seat: right[sight.seat]}, others={sight.seat: possible})
        return self.session.stand_in(sight.seat, advice, write)

    def _explaining_stand_in(self, skill: Skill, sentence: str) -> StandInFactory:
        """Return a substitute for the language model that replies with `sentence`, the explanation of a
        rule."""
        seat = self.sight.seat
        return self.session.stand_in(seat, StandInAdvice({seat: skill}), lambda commands, rng: sentence)
