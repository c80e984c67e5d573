"""ProAgent as a co-player: notice, plan a skill, carry it out, in each of its seats for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from kitchen.agents.proagent.carrying import Thinking
from kitchen.agents.proagent.comparing import compare
from kitchen.agents.proagent.door import ThinkersDoor
from kitchen.agents.proagent.memory import MOST_BELIEFS, Memory
from kitchen.agents.proagent.options import BY_MODEL, SETTINGS, TRIES, Options
from kitchen.agents.proagent.planning import Asking, Planned
from kitchen.agents.proagent.prompt import fixed_part
from kitchen.agents.skilled.agent import SCENE_GROWS, Made, SkilledAgent, of_seat
from kitchen.agents.skilled.plan import Plan
from kitchen.agents.skilled.settings import AT_ONCE, BY_RULE
from kitchen.contract.agent import Decision, Rehearsal, Situation
from kitchen.contract.foreseeing import FORESEEN, JUDGED, Foreseen
from kitchen.contract.skills import Sight
from kitchen.contract.world import Json, Setting
from kitchen.llm.registry import STAND_IN
from kitchen.registry.agents import get_skills

BELIEF = 60
"""Tokens, at worst, of a line of what was foreseen or done."""
REHEARSED: Mapping[str, Json] = {**AT_ONCE, "explainer": BY_RULE}
"""How it is tried out for a forecast."""


@dataclass(slots=True)
class Thought(Made):
    """With what it foresaw."""

    foreseen: list[Foreseen] = field(default_factory=list)
    judged: list[Foreseen] = field(default_factory=list)

    @classmethod
    def going_on(cls, late: Decision | None) -> Self:
        """With what is to be told of a decision that has come later. What it compared was compared since."""
        note = late.note if late else {}
        return replace(
            super(Thought, cls).going_on(late),
            foreseen=[Foreseen.read(one) for one in note.get(FORESEEN, ())],
        )

    def note(self) -> dict[str, Json]:
        """What the log tells besides the calls."""
        return {
            "seats": self.seats,
            **({FORESEEN: [one.to_json() for one in self.foreseen]} if self.foreseen else {}),
            **({JUDGED: [one.to_json() for one in self.judged]} if self.judged else {}),
            **self.read(),
        }


class ProAgent(SkilledAgent):
    """A language model that plans skills beside others whom it does not know; several seats of one mind think
    for themselves. Nobody is told what it thinks."""

    kind = "proagent"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    options: Options

    def read_options(self, chosen: Mapping[str, Json]) -> Options:
        """Its own."""
        return Options.read(chosen)

    def remarks(self) -> tuple[str, ...]:
        """Settings of which nothing comes."""
        if self.options.recall == "always" and not self.options.memory:
            return ("It remembers no message, so it sees none again.",)
        return ()

    def rehearsal(self) -> Rehearsal:
        """By the stand-in. At worst it is asked for four plans in a step, and each is explained; it is told
        of as much that it foresaw as it may be, and all that can lie about does."""
        again = (TRIES - 1) + (TRIES if self.options.explainer == BY_MODEL else 0)
        chosen = {**self.chosen, **REHEARSED}
        kept = (self.options.memory + 1) // 2
        return Rehearsal(
            chosen,
            kept,
            again,
            {**chosen, "memory": self.options.memory},
            told=SCENE_GROWS + (2 * MOST_BELIEFS * BELIEF if self.options.corrects else 0),
            remembers_tries=True,
        )

    def foretells(self) -> bool:
        """Where it is asked what the others will do."""
        return self.options.foresees

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """The system message."""
        skills, sight = get_skills(situation.world), Sight.of(situation, situation.seats[0])
        return (fixed_part(skills, sight, self.options),)

    def decided(self, situation: Situation, deadline: float | None, late: Decision | None = None) -> Decision:
        """Seat by seat."""
        made = Thought.going_on(late)
        door = None if deadline is None else ThinkersDoor(self.options, situation, deadline)
        for seat in situation.seats:
            carrying = self._carrying(made, situation, seat)
            if door and self.may_ask(situation, seat) and carrying.needs_plan:
                self._ask(made, carrying, door)
            elif late is not None:
                carrying.arrive(late.note["seats"][str(seat)], Memory.read(of_seat(late.memory, seat)))
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

    def _carrying(self, made: Thought, situation: Situation, seat: int) -> Thinking:
        """What there is in this seat before anybody is asked, after a look at what happened."""
        skills, sight = get_skills(situation.world), Sight.of(situation, seat)
        before = Memory.read(of_seat(situation.memory, seat))
        memory, judged = compare(before, skills, sight, situation.step)
        made.judged += judged
        return Thinking(skills, sight, self.options, situation.step, memory)

    def _ask(self, made: Thought, carrying: Thinking, door: ThinkersDoor) -> None:
        skills, sight, step = carrying.skills, carrying.sight, carrying.step
        planned = Asking(skills, sight, self.options, door, step + 1).plan(carrying.memory)
        found = [Foreseen(sight.seat, of, step + 1, skill) for of, skill in planned.foreseen.items()]
        foreseen = found if self.options.foresees else []
        made.foreseen += foreseen
        carrying.memory = planned.memory.foreseeing(foreseen)
        carrying.tries = [one.to_json() for one in planned.tries]
        self._count(made, planned, sight.seat)
        if planned.skill is not None:
            by = STAND_IN if door.is_stand_in else self.kind
            carrying.take(Plan(planned.skill, by, step))
        else:
            made.fallback = planned.error
            carrying.take(self.instead(skills, sight, step))

    def _count(self, made: Thought, planned: Planned, seat: int) -> None:
        if planned.tries:
            made.asked += 1
            made.faults += planned.tries[-1].faults(seat)
            made.mended += [fault for one in planned.tries[:-1] for fault in one.faults(seat)]
