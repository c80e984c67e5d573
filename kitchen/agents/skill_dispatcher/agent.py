"""Implement the agent `SkillDispatcher`, which plans skills (actions of several steps) for all its players.

One call of a language model plans for all players that need a skill. Each reply is read and checked. If a
player's plan cannot be carried out, the model is asked again for that player.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

from kitchen.agents.skill_agents.base_agent import (
    SCENE_GROWTH,
    DecisionParts,
    PlannedSkill,
    SeatStep,
    SkilledAgent,
    SkillMemory,
    failed_conditions,
    memory_of_seat,
    skill_fault,
    with_minimum_wait,
)
from kitchen.agents.skill_agents.decision_model import ModelSession, StandInFactory
from kitchen.agents.skill_agents.settings import INSTANT_SETTINGS
from kitchen.agents.skill_agents.skill_text import (
    NO_WORDS,
    before_next_scene,
    labelled_skills,
    read_plan,
    refusal_sentence,
    success_sentence,
)
from kitchen.agents.skill_dispatcher import prompt
from kitchen.agents.skill_dispatcher.prompt import SeatObservations, answer_text
from kitchen.agents.skill_dispatcher.settings import SETTINGS, SkillDispatcherOptions
from kitchen.contract.agent import Decision, ForecastTrial, Situation
from kitchen.contract.agent_skills import (
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    spell_skill,
    wait_skill,
)
from kitchen.contract.decision_notes import LEFT_OUT, NO_COMMAND
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Message
from kitchen.contract.world import Json
from kitchen.llm.provider_registry import STAND_IN
from kitchen.llm.providers.stand_in_model import StandInAdvice, WrittenCommand
from kitchen.registry.agent_registry import get_skills

MAX_REPLY_CHARACTERS = 4000
"""Maximum length of an answer that is sent again."""


@dataclass(frozen=True, slots=True)
class SkillAttempt:
    """The plan for one seat in one reply. `skill` is None if no skill could be read. `failed` are the
    conditions that do not hold."""

    skill: Skill | None
    failed: tuple[SkillCondition, ...] = ()

    @property
    def holds(self) -> bool:
        """Return True if the skill can begin now."""
        return self.skill is not None and not self.failed

    def why(self, name: str) -> str:
        """Return a sentence that tells the model why the plan for this seat (`name`) is rejected."""
        if self.skill is None:
            return f"No skill could be read for {name}."
        return refusal_sentence(name, self.skill, self.failed)

    def to_json(self) -> dict[str, Json]:
        """Return the attempt as JSON, for the log."""
        skill = spell_skill(self.skill) if self.skill else None
        return {
            "skill": skill,
            "read": self.skill is not None,
            "failed": [one.code for one in self.failed],
        }


@dataclass(slots=True)
class JointPlanResult:
    """The skills that the model planned for several seats, and all its tries by seat."""

    seats: Sequence[int]
    """The seats for which plans were requested."""
    tries: dict[int, list[SkillAttempt]]
    skills: dict[int, Skill] = field(default_factory=dict)
    """The skills by seat; seats without an answer are left out."""
    error: str = ""
    """The code of the call that had no answer."""

    @property
    def open(self) -> list[int]:
        """Return the seats that do not have a valid plan yet."""
        return [seat for seat in self.seats if seat not in self.skills]

    def faults(self, place: int) -> list[Json]:
        """Return what is wrong with the plan of each seat. `place` chooses the seat's first plan (0) or last
        plan (-1). Valid plans are left out."""
        tried = {seat: tries[place] for seat, tries in self.tries.items() if tries}
        unread = [seat for seat, one in tried.items() if one.skill is None]
        code = NO_COMMAND if len(unread) == len(self.seats) else LEFT_OUT
        return [
            skill_fault(seat, one.skill, one.failed, code) for seat, one in tried.items() if not one.holds
        ]

    @property
    def mended(self) -> list[Json]:
        """Return the faults of the model's first reply if the model was then asked again. Otherwise return an
        empty list."""
        return self.faults(0) if any(len(tries) > 1 for tries in self.tries.values()) else []


class JointPlanRequest:
    """The request to plan skills for several seats in one step."""

    def __init__(
        self, skills: Skills, sights: SeatObservations, options: SkillDispatcherOptions, session: ModelSession
    ) -> None:
        self.skills, self.sights, self.options, self.session = skills, sights, options, session
        self.manner = options.manner(skills.manner(next(iter(sights.values()))))

    async def plan(
        self, seats: Sequence[int], question: str, remembered: Sequence[Message]
    ) -> JointPlanResult:
        """Ask the model until each of these seats has a valid plan. After the last try, seats without a plan
        wait. `remembered` are messages of earlier steps."""
        made = JointPlanResult(seats, {seat: [] for seat in seats})
        fixed = Message("system", prompt.fixed_part(self.skills, self.sights, self.options), fixed=True)
        messages = [fixed, *remembered, Message("user", question)]
        for _ in range(1 + self.options.again):
            call = await self.session.ask(messages, self._stand_in(made.open))
            if call.reply is None:
                made.error = call.error
                return made
            text = before_next_scene(call.reply.text).strip() or NO_WORDS
            whys = self._take(made, self._read(text, made.open))
            if not whys:
                return made
            again = prompt.retry_part(self.skills, whys)
            messages += [Message("assistant", text[:MAX_REPLY_CHARACTERS]), Message("user", again)]
        made.skills |= {seat: wait_skill() for seat in made.open}
        return made

    def _stand_in(self, seats: Sequence[int]) -> StandInFactory:
        """Return the stand-in (a program that imitates a language model) that plans for these seats by the
        world's rules."""
        skills, sights = self.skills, self.sights
        right = {seat: skills.rule(sights[seat], seat, self.manner) for seat in seats}
        possible = {
            seat: [one for one in skills.offered(sights[seat], seat) if one != right[seat]] for seat in seats
        }

        def write(commands: Sequence[WrittenCommand], rng: Random) -> str:
            return answer_text(skills, dict(commands), "These are due." if self.options.analysis else "")

        return self.session.stand_in(min(seats), StandInAdvice(right, others=possible), write)

    def _read(self, text: str, seats: Sequence[int]) -> Mapping[int, Skill | None]:
        """Return the skill that the reply gives each seat, or None if no skill can be read. If there is only
        one seat, the reply need not name it."""
        first = self.sights[seats[0]]
        if len(seats) == 1:
            return {seats[0]: read_plan(text, self.skills, first).plan}
        found = labelled_skills(text, self.skills, first)
        return {seat: found.get(seat) for seat in seats}

    def _take(self, made: JointPlanResult, found: Mapping[int, Skill | None]) -> dict[int, str]:
        """Store the skills in `found` that can begin now. For every other seat, return the reason why its
        plan is rejected."""
        whys = {}
        for seat, skill in found.items():
            one = self._verified(seat, skill)
            made.tries[seat].append(one)
            if one.holds and one.skill:
                made.skills[seat] = one.skill
            else:
                whys[seat] = one.why(self.skills.named(seat))
        return whys

    def _verified(self, seat: int, skill: Skill | None) -> SkillAttempt:
        if skill is None:
            return SkillAttempt(None)
        planned = with_minimum_wait(self.skills, self.sights[seat], skill)
        return SkillAttempt(planned, failed_conditions(self.skills, self.sights[seat], planned))


MAX_EXCHANGE_CHARACTERS = 4000
"""Maximum length of one remembered message."""
HISTORY = "history"
CHOICES_GROWTH = 400
"""Maximum number of tokens by which the list of possible skills grows later in an episode."""

SeatSteps = Mapping[int, SeatStep[SkillMemory]]
"""The steps of the seats, by seat."""


class SkillDispatcher(SkilledAgent):
    """An agent whose language model plans skills for all its seats in one call. It makes no predictions."""

    kind = "skill_dispatcher"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    options_class = SkillDispatcherOptions
    options: SkillDispatcherOptions

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for estimating the cost with a program that imitates the language model. In the
        worst case, all seats need a skill in every step, and all plans are rejected."""
        chosen = {**self.chosen, **INSTANT_SETTINGS}
        return ForecastTrial(
            chosen,
            self.options.memory,
            self.options.again,
            {**chosen, "memory": self.options.memory},
            extra_tokens=SCENE_GROWTH + CHOICES_GROWTH,
        )

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the system message, the part of the prompt that never changes in an episode."""
        return (prompt.fixed_part(get_skills(situation.world), _sights(situation), self.options),)

    async def decided(
        self, situation: Situation, deadline: float | None, late: Decision | None = None
    ) -> Decision:
        """Return the decision for all seats. One model call plans for all seats that need a skill. The model
        is not called if `deadline` is None.

        `late` is a decision for an earlier step. Its plans are adopted.
        """
        made, skills = DecisionParts.continue_from(late), get_skills(situation.world)
        session = None if deadline is None else ModelSession(self.options, situation, deadline)
        history = _history((late or situation).memory)
        carried = {
            seat: SeatStep(skills, sight, self.options, situation.step, _held(situation.memory, seat))
            for seat, sight in _sights(situation).items()
        }
        if late is not None:
            for seat, carrying in carried.items():
                carrying.arrive(late.note["seats"][str(seat)], _held(late.memory, seat))
        due = [seat for seat, each in carried.items() if each.needs_plan and self.may_ask(situation, seat)]
        if session and due:
            history = await self._ask(made, carried, due, situation, session, history)
        for carrying in carried.values():
            made.add_step(carrying, situation, carrying.intent())
        return Decision(
            made.commands,
            memory={"seats": made.memory, HISTORY: history},
            played_by=self.weakest_source(made.by),
            note={"seats": made.seats, **made.read()},
            calls=tuple(session.calls) if session else (),
            fallback=made.fallback,
            intents=made.intents,
        )

    async def _ask(
        self,
        made: DecisionParts,
        carried: SeatSteps,
        due: Sequence[int],
        situation: Situation,
        session: ModelSession,
        history: list[Json],
    ) -> list[Json]:
        """Ask the model for plans of the seats in `due`, and store the plans. Return `history` with this
        question and its answer added."""
        skills, sights = get_skills(situation.world), _sights(situation)
        scene = prompt.scene_part(skills, sights, situation.step + 1, list(self._happened(carried)))
        told = [scene, *prompt.others_part(skills, sights, situation.commanded)]
        told += prompt.choices_part(skills, sights, due) if self.options.choices else []
        question = "\n".join([*told, prompt.request_line(skills, due)])
        planned = await JointPlanRequest(skills, sights, self.options, session).plan(
            due, question, _messages(history)
        )
        self._take(made, carried, planned, session)
        exchange = [scene[:MAX_EXCHANGE_CHARACTERS], prompt.answer_text(skills, planned.skills)]
        kept = [*history, exchange] if planned.skills else history
        return kept[-self.options.memory :] if self.options.memory else []

    def _happened(self, carried: SeatSteps) -> list[str]:
        """Return sentences about the agent's seats: the skills that have just been completed, and the skills
        in progress."""
        said = []
        for seat, each in carried.items():
            name, plan = each.skills.named(seat), each.memory.newest
            if each.did:
                said.append(success_sentence(name, each.did))
            if plan:
                said.append(f"{name} is at {spell_skill(plan.skill)}.")
        return said

    def _take(
        self, made: DecisionParts, carried: SeatSteps, planned: JointPlanResult, session: ModelSession
    ) -> None:
        for seat in planned.seats:
            each = carried[seat]
            each.tries = [one.to_json() for one in planned.tries[seat]]
            if seat in planned.skills:
                by = STAND_IN if session.is_stand_in else self.kind
                each.take(PlannedSkill(planned.skills[seat], by, each.step))
            else:
                each.take(self.fallback_plan(each.skills, each.sight, each.step))
        made.fallback = planned.error
        if any(planned.tries.values()):
            made.asked = len(planned.seats)
            made.faults, made.mended = planned.faults(-1), planned.mended


def _sights(situation: Situation) -> dict[int, SeatObservation]:
    return {seat: SeatObservation.of(situation, seat) for seat in situation.seats}


def _held(memory: Json, seat: int) -> SkillMemory:
    return SkillMemory.read(memory_of_seat(memory["seats"], seat) if isinstance(memory, dict) else None)


def _history(memory: Json) -> list[Any]:
    return list(memory[HISTORY]) if isinstance(memory, dict) else []


def _messages(history: Sequence[Sequence[str]]) -> list[Message]:
    """Return the earlier questions and answers as messages for the model."""
    pairs = ((Message("user", asked), Message("assistant", said)) for asked, said in history)
    return [message for pair in pairs for message in pair]
