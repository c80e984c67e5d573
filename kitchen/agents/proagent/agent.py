"""Implement the agent `ProAgent`, which plans a skill (an action of several steps) for each of its players.

The agent describes the world to a language model, which chooses the skill. The agent then carries out the
skill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from kitchen.agents.proagent.prompt import fixed_part
from kitchen.agents.proagent.seat_memory import (
    MAX_BELIEFS,
    ProAgentMemory,
    compare_late_predictions,
    compare_predictions,
)
from kitchen.agents.proagent.settings import BRAKE_AFTER, BY_MODEL, SETTINGS, TRIES, ProAgentOptions
from kitchen.agents.proagent.skill_planning import PlanRequest, PlanResult
from kitchen.agents.skill_agents.base_agent import (
    SCENE_GROWTH,
    DecisionParts,
    PlannedSkill,
    SeatStep,
    SkilledAgent,
    memory_of_seat,
)
from kitchen.agents.skill_agents.decision_model import ModelSession
from kitchen.agents.skill_agents.settings import BY_RULE, INSTANT_SETTINGS
from kitchen.agents.skill_agents.skill_text import success_sentence
from kitchen.contract.agent import Decision, ForecastTrial, Situation
from kitchen.contract.agent_skills import SeatObservation, Skills
from kitchen.contract.decision_notes import JUDGED_KEY, PREDICTED_KEY, Prediction
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Intent, Json
from kitchen.llm.provider_registry import STAND_IN
from kitchen.registry.agent_registry import get_skills


class ProAgentSeatStep(SeatStep[ProAgentMemory]):
    """One seat of the agent in one step, with the seat's dialogue and its predictions about others."""

    def __init__(
        self,
        skills: Skills,
        sight: SeatObservation,
        options: ProAgentOptions,
        step: int,
        memory: ProAgentMemory,
    ) -> None:
        super().__init__(skills, sight, options, step, memory)
        self.judged: list[Prediction] = []
        """Predictions of a late decision that have been judged by now."""
        self.braked = False
        """True if the model was asked only once, because its earlier plans could not begin."""
        if self.did:
            said = success_sentence(skills.named(sight.seat), self.did)
            self.memory = self.memory.with_message("user", said, options.memory)

    def take(self, plan: PlannedSkill) -> None:
        """Adopt a new plan for the seat. Forget the skills that other seats finished while this seat had no
        plan (`memory.meanwhile`)."""
        self.memory = replace(self.memory, meanwhile=())
        super().take(plan)

    def take_late(self, other: ProAgentMemory) -> None:
        """Adopt the plan, dialogue and predictions of a late decision, and compare the predictions with what
        others have done meanwhile."""
        self.memory, self.judged = compare_late_predictions(self.memory, self.skills, self.sight, other)
        super().take_late(other)

    def intent_for(self, people: Sequence[int]) -> Intent:
        """Return what the seat is doing, for display to people. If the agent has predicted what one of these
        `people` will do, the newest such prediction is added."""
        at = dict(self.intent())
        foreseen = next((one for one in reversed(self.memory.open) if one.of in people), None)
        if foreseen is None:
            return at
        told = self.skills.intent(foreseen.predicted)
        what = told.get("item") or told.get("to") or ""
        return {**at, "of": str(foreseen.of), "foresees": told.get("do", ""), "what": what}

    def note(self) -> dict[str, Json]:
        """Return the seat's note for the log. It includes how many predictions were judged, and how many were
        right."""
        foresight = self.memory.foresight
        told = {"right": foresight.right, "judged": foresight.judged} if foresight.judged else {}
        braked = {"asked_once_after": BRAKE_AFTER} if self.braked else {}
        return {**super().note(), **told, **braked}


BELIEF_CHARACTERS = 60
"""Maximum number of tokens of one line about a prediction or a finished skill."""
TRIAL_SETTINGS: Mapping[str, Json] = {**INSTANT_SETTINGS, "explainer": BY_RULE}
"""Settings for a cost forecast."""


@dataclass(slots=True)
class ProAgentDecisionParts(DecisionParts):
    """The parts of one decision, with the predictions made and judged."""

    foreseen: list[Prediction] = field(default_factory=list)
    judged: list[Prediction] = field(default_factory=list)

    @classmethod
    def continue_from(cls, late: Decision | None) -> Self:
        """Return an object that starts with the results of a late decision. Without a late decision, return
        an empty object. Predictions that were already judged are left out, because they are judged again."""
        note = late.note if late else {}
        return replace(
            super(ProAgentDecisionParts, cls).continue_from(late),
            foreseen=[Prediction.read(one) for one in note.get(PREDICTED_KEY, ())],
        )

    def note(self) -> dict[str, Json]:
        """Return the decision's note for the log: the seats, the predictions, and how replies were read."""
        return {
            "seats": self.seats,
            **({PREDICTED_KEY: [one.to_json() for one in self.foreseen]} if self.foreseen else {}),
            **({JUDGED_KEY: [one.to_json() for one in self.judged]} if self.judged else {}),
            **self.read(),
        }


class ProAgent(SkilledAgent):
    """An agent whose language model plans skills next to unknown partners. If the agent has several seats,
    each seat plans on its own, without the dialogues of the others."""

    kind = "proagent"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    options_class = ProAgentOptions
    options: ProAgentOptions

    def remarks(self) -> tuple[str, ...]:
        """Return sentences about settings that have no effect; empty if there are none."""
        if self.options.recall == "always" and not self.options.memory:
            return ("It remembers no message, so it sees none again.",)
        return ()

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for estimating the cost with a program that imitates the language model. In the
        worst case, the model uses all its tries and also explains every failure."""
        again = (TRIES - 1) + (TRIES if self.options.explainer == BY_MODEL else 0)
        chosen = {**self.chosen, **TRIAL_SETTINGS}
        kept = (self.options.memory + 1) // 2
        return ForecastTrial(
            chosen,
            kept,
            again,
            {**chosen, "memory": self.options.memory},
            extra_tokens=SCENE_GROWTH + (2 * MAX_BELIEFS * BELIEF_CHARACTERS if self.options.corrects else 0),
            remembers_tries=True,
        )

    def foretells(self) -> bool:
        """Return whether the model is asked to predict what other seats will do next."""
        return self.options.foresees

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the system message, the part of the prompt that never changes in an episode."""
        skills, sight = get_skills(situation.world), SeatObservation.of(situation, situation.seats[0])
        return (fixed_part(skills, sight, self.options),)

    async def decided(
        self, situation: Situation, deadline: float | None, late: Decision | None = None
    ) -> Decision:
        """Return one decision for all seats. The model is asked separately for each seat. It is not asked if
        `deadline` is None.

        `late` is a decision for an earlier step. Its plans are adopted.
        """
        made = ProAgentDecisionParts.continue_from(late)
        session = None if deadline is None else ModelSession(self.options, situation, deadline)
        for seat in situation.seats:
            carrying = self._carrying(made, situation, seat)
            if session and self.may_ask(situation, seat) and carrying.needs_plan:
                await self._ask(made, carrying, session)
            elif late is not None:
                carrying.arrive(
                    late.note["seats"][str(seat)], ProAgentMemory.read(memory_of_seat(late.memory, seat))
                )
                made.judged += carrying.judged
            told = carrying.intent_for(situation.people if self.options.tell_foreseen else ())
            made.add_step(carrying, situation, told)
        return Decision(
            made.commands,
            memory=made.memory,
            played_by=self.weakest_source(made.by),
            note=made.note(),
            calls=tuple(session.calls) if session else (),
            fallback=made.fallback,
            intents=made.intents,
        )

    def _carrying(self, made: ProAgentDecisionParts, situation: Situation, seat: int) -> ProAgentSeatStep:
        """Return this seat's state at the beginning of a decision. Earlier predictions are first compared
        with what other seats have done."""
        skills, sight = get_skills(situation.world), SeatObservation.of(situation, seat)
        before = ProAgentMemory.read(memory_of_seat(situation.memory, seat))
        memory, judged = compare_predictions(before, skills, sight, situation.step)
        made.judged += judged
        return ProAgentSeatStep(skills, sight, self.options, situation.step, memory)

    async def _ask(
        self, made: ProAgentDecisionParts, carrying: ProAgentSeatStep, session: ModelSession
    ) -> None:
        skills, sight, step = carrying.skills, carrying.sight, carrying.step
        planned = await PlanRequest(skills, sight, self.options, session, step + 1).plan(carrying.memory)
        found = [Prediction(sight.seat, of, step + 1, skill) for of, skill in planned.foreseen.items()]
        foreseen = found if self.options.foresees else []
        made.foreseen += foreseen
        carrying.memory = planned.memory.foreseeing(foreseen)
        carrying.tries = [one.to_json() for one in planned.tries]
        carrying.braked = planned.braked
        self._count(made, planned, sight.seat)
        if planned.skill is not None:
            by = STAND_IN if session.is_stand_in else self.kind
            carrying.take(PlannedSkill(planned.skill, by, step))
        else:
            made.fallback = planned.error
            carrying.take(self.fallback_plan(skills, sight, step))

    def _count(self, made: ProAgentDecisionParts, planned: PlanResult, seat: int) -> None:
        if planned.tries:
            made.asked += 1
            made.faults += planned.tries[-1].faults(seat)
            made.mended += [fault for one in planned.tries[:-1] for fault in one.faults(seat)]
