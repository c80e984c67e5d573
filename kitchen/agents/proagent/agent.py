"""Implement the agent `ProAgent`: observe, plan a skill, and carry it out, for each of its seats."""

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
from kitchen.agents.proagent.settings import BY_MODEL, SETTINGS, TRIES, ProAgentOptions
from kitchen.agents.proagent.skill_planning import PlanRequest, PlanResult, ProAgentModelSession
from kitchen.agents.skill_agents.base_agent import (
    SCENE_GROWTH,
    DecisionParts,
    PlannedSkill,
    SeatStep,
    SkilledAgent,
    memory_of_seat,
)
from kitchen.agents.skill_agents.settings import BY_RULE, INSTANT_SETTINGS
from kitchen.agents.skill_agents.skill_text import success_sentence
from kitchen.contract.agent import Decision, ForecastTrial, Situation
from kitchen.contract.agent_skills import SeatObservation, Skills
from kitchen.contract.decision_notes import JUDGED_KEY, PREDICTED_KEY, Prediction
from kitchen.contract.world import Intent, Json, Setting
from kitchen.llm.provider_registry import STAND_IN
from kitchen.registry.agent_registry import get_skills


class ProAgentSeatStep(SeatStep[ProAgentMemory]):
    """One seat in one step, with what it thinks."""

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
        """What has turned out of what comes late."""
        if self.did:
            said = success_sentence(skills.named(sight.seat), self.did)
            self.memory = self.memory.said("user", said, options.memory)

    def take(self, plan: PlannedSkill) -> None:
        """It waits for none any more."""
        self.memory = replace(self.memory, meanwhile=())
        super().take(plan)

    def take_late(self, other: ProAgentMemory) -> None:
        """With what it said and foresaw then, and what has come of that."""
        self.memory, self.judged = compare_late_predictions(self.memory, self.skills, self.sight, other)
        super().take_late(other)

    def intent_for(self, people: Sequence[int]) -> Intent:
        """What it is at, for people; and what it last foresaw of one of these, which has not turned out."""
        at = dict(self.intent())
        foreseen = next((one for one in reversed(self.memory.open) if one.of in people), None)
        if foreseen is None:
            return at
        told = self.skills.intent(foreseen.said)
        what = told.get("item") or told.get("to") or ""
        return {**at, "of": str(foreseen.of), "foresees": told.get("do", ""), "what": what}

    def note(self) -> dict[str, Json]:
        """And how often it foresaw rightly."""
        foresight = self.memory.foresight
        told = {"right": foresight.right, "judged": foresight.judged} if foresight.judged else {}
        return {**super().note(), **told}


BELIEF_CHARACTERS = 60
"""Tokens, at worst, of a line of what was foreseen or done."""
TRIAL_SETTINGS: Mapping[str, Json] = {**INSTANT_SETTINGS, "explainer": BY_RULE}
"""How it is tried out for a forecast."""


@dataclass(slots=True)
class ProAgentDecisionParts(DecisionParts):
    """With what it foresaw."""

    foreseen: list[Prediction] = field(default_factory=list)
    judged: list[Prediction] = field(default_factory=list)

    @classmethod
    def going_on(cls, late: Decision | None) -> Self:
        """With what is to be told of a decision that has come later. What it compared was compared since."""
        note = late.note if late else {}
        return replace(
            super(ProAgentDecisionParts, cls).going_on(late),
            foreseen=[Prediction.read(one) for one in note.get(PREDICTED_KEY, ())],
        )

    def note(self) -> dict[str, Json]:
        """What the log tells besides the calls."""
        return {
            "seats": self.seats,
            **({PREDICTED_KEY: [one.to_json() for one in self.foreseen]} if self.foreseen else {}),
            **({JUDGED_KEY: [one.to_json() for one in self.judged]} if self.judged else {}),
            **self.read(),
        }


class ProAgent(SkilledAgent):
    """A language model that plans skills beside others whom it does not know; several seats of one mind think
    for themselves. Nobody is told what it thinks."""

    kind = "proagent"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    options: ProAgentOptions

    def read_options(self, chosen: Mapping[str, Json]) -> ProAgentOptions:
        """Its own."""
        return ProAgentOptions.read(chosen)

    def remarks(self) -> tuple[str, ...]:
        """Settings of which nothing comes."""
        if self.options.recall == "always" and not self.options.memory:
            return ("It remembers no message, so it sees none again.",)
        return ()

    def rehearsal(self) -> ForecastTrial:
        """By the stand-in. At worst it is asked for four plans in a step, and each is explained; it is told
        of as much that it foresaw as it may be, and all that can lie about does."""
        again = (TRIES - 1) + (TRIES if self.options.explainer == BY_MODEL else 0)
        chosen = {**self.chosen, **TRIAL_SETTINGS}
        kept = (self.options.memory + 1) // 2
        return ForecastTrial(
            chosen,
            kept,
            again,
            {**chosen, "memory": self.options.memory},
            told=SCENE_GROWTH + (2 * MAX_BELIEFS * BELIEF_CHARACTERS if self.options.corrects else 0),
            remembers_tries=True,
        )

    def foretells(self) -> bool:
        """Where it is asked what the others will do."""
        return self.options.foresees

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """The system message."""
        skills, sight = get_skills(situation.world), SeatObservation.of(situation, situation.seats[0])
        return (fixed_part(skills, sight, self.options),)

    def decided(self, situation: Situation, deadline: float | None, late: Decision | None = None) -> Decision:
        """Seat by seat."""
        made = ProAgentDecisionParts.going_on(late)
        door = None if deadline is None else ProAgentModelSession(self.options, situation, deadline)
        for seat in situation.seats:
            carrying = self._carrying(made, situation, seat)
            if door and self.may_ask(situation, seat) and carrying.needs_plan:
                self._ask(made, carrying, door)
            elif late is not None:
                carrying.arrive(
                    late.note["seats"][str(seat)], ProAgentMemory.read(memory_of_seat(late.memory, seat))
                )
                made.judged += carrying.judged
            told = carrying.intent_for(situation.people if self.options.tell_foreseen else ())
            made.carried_out(carrying, situation, told)
        return Decision(
            made.commands,
            memory=made.memory,
            played_by=self.who(made.by),
            note=made.note(),
            calls=tuple(door.calls) if door else (),
            fallback=made.fallback,
            intents=made.intents,
        )

    def _carrying(self, made: ProAgentDecisionParts, situation: Situation, seat: int) -> ProAgentSeatStep:
        """What there is in this seat before anybody is asked, after a look at what happened."""
        skills, sight = get_skills(situation.world), SeatObservation.of(situation, seat)
        before = ProAgentMemory.read(memory_of_seat(situation.memory, seat))
        memory, judged = compare_predictions(before, skills, sight, situation.step)
        made.judged += judged
        return ProAgentSeatStep(skills, sight, self.options, situation.step, memory)

    def _ask(
        self, made: ProAgentDecisionParts, carrying: ProAgentSeatStep, door: ProAgentModelSession
    ) -> None:
        skills, sight, step = carrying.skills, carrying.sight, carrying.step
        planned = PlanRequest(skills, sight, self.options, door, step + 1).plan(carrying.memory)
        found = [Prediction(sight.seat, of, step + 1, skill) for of, skill in planned.foreseen.items()]
        foreseen = found if self.options.foresees else []
        made.foreseen += foreseen
        carrying.memory = planned.memory.foreseeing(foreseen)
        carrying.tries = [one.to_json() for one in planned.tries]
        self._count(made, planned, sight.seat)
        if planned.skill is not None:
            by = STAND_IN if door.is_stand_in else self.kind
            carrying.take(PlannedSkill(planned.skill, by, step))
        else:
            made.fallback = planned.error
            carrying.take(self.instead(skills, sight, step))

    def _count(self, made: ProAgentDecisionParts, planned: PlanResult, seat: int) -> None:
        if planned.tries:
            made.asked += 1
            made.faults += planned.tries[-1].faults(seat)
            made.mended += [fault for one in planned.tries[:-1] for fault in one.faults(seat)]
