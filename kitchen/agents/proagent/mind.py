"""ProAgent as a co-player: notice, plan a skill, carry it out, in each of its seats for itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import ClassVar, Self

from kitchen.agents.proagent.carrying_out import Carrying
from kitchen.agents.proagent.comparing import compare
from kitchen.agents.proagent.door import Door
from kitchen.agents.proagent.memory import MOST_BELIEFS, Memory, Plan
from kitchen.agents.proagent.options import BY_MODEL, BY_RULE, SETTINGS, TRIES, Options
from kitchen.agents.proagent.planning import Asking, Planned
from kitchen.agents.proagent.prompt import fixed_part
from kitchen.contract.agent import TO_ANSWER, Agent, Decision, Rehearsal, Situation
from kitchen.contract.foreseeing import FORESEEN, JUDGED, Foreseen
from kitchen.contract.seeds import derived_seed
from kitchen.contract.skills import Sight, Skills, wait
from kitchen.contract.world import Command, Intent, Json, Setting
from kitchen.llm.registry import STAND_IN, hindrances, read_model
from kitchen.registry.agents import get_skills

RESERVE = 1.0
"""Seconds kept back of the time for a decision, so that the fallback is in time; a quarter where there are
less than four."""
NOBODY = "noop"
SCENE_GROWS, BELIEF = 300, 60
"""Tokens, at worst: by which a scene is longer than one in which nobody has done anything yet, and of a line
of what was foreseen or done."""
REHEARSED: Mapping[str, Json] = {
    "model": STAND_IN,
    "memory": 0,
    "explainer": BY_RULE,
    "stand_in_errors": 0.0,
    "stand_in_nonsense": 0.0,
    "stand_in_latency": 0.0,
    "stand_in_failures": 0.0,
}
"""How it is tried out for a forecast."""


@dataclass(slots=True)
class Made:
    """What comes together over the seats of one decision."""

    commands: dict[int, Command] = field(default_factory=dict)
    memory: dict[str, Json] = field(default_factory=dict)
    seats: dict[str, Json] = field(default_factory=dict)
    """For the note."""
    foreseen: list[Foreseen] = field(default_factory=list)
    judged: list[Foreseen] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)
    mended: list[Json] = field(default_factory=list)
    asked: int = 0
    by: list[str] = field(default_factory=list)
    fallback: str = ""
    intents: dict[int, Intent] = field(default_factory=dict)

    @classmethod
    def going_on(cls, late: Decision | None) -> Self:
        """With what is to be told of a decision that has come later. What it compared was compared since."""
        note = late.note if late else {}
        return cls(
            foreseen=[Foreseen.read(one) for one in note.get(FORESEEN, ())],
            faults=list(note.get("faults", ())),
            mended=list(note.get("mended", ())),
            asked=note.get("asked", 0),
        )

    def note(self) -> dict[str, Json]:
        """What the log tells besides the calls."""
        return {
            "seats": self.seats,
            **({FORESEEN: [one.to_json() for one in self.foreseen]} if self.foreseen else {}),
            **({JUDGED: [one.to_json() for one in self.judged]} if self.judged else {}),
            **({"faults": self.faults, "mended": self.mended, "asked": self.asked} if self.asked else {}),
        }


class ProAgent(Agent):
    """A language model that plans skills beside others whom it does not know; several seats of one mind think
    for themselves. Nobody is told what it thinks.

    Keeps nothing between steps but `Decision.memory`. `Decision.played_by` says who chose the skills that are
    carried out: `proagent` (a language model), `stand-in`, or `noop`.
    """

    kind = "proagent"
    skilled: ClassVar[bool] = True
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    names_model: ClassVar[str] = "model"

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """SettingsError for a model of a provider that there is not."""
        super().__init__(chosen)
        self.options = Options.read(self.chosen)
        read_model(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Without a key, a model's name or a price, the fallback would play every step."""
        provider, model = read_model(self.options.model)
        return tuple(f"{why}: {PLAYS[self.options.fallback]}." for why in hindrances(provider, model))

    def remarks(self) -> tuple[str, ...]:
        """Settings of which nothing comes."""
        if self.options.recall == "always" and not self.options.memory:
            return ("It remembers no message, so it sees none again.",)
        return ()

    def model(self) -> str:
        """What the settings name, or the default of this process."""
        return ":".join(read_model(self.options.model))

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

    def decide(self, situation: Situation) -> Decision:
        """Ask the model within the time of the situation where a skill is needed."""
        deadline = time.monotonic() + situation.seconds - min(RESERVE, situation.seconds / 4)
        return self._decision(situation, Door(self.options, situation, deadline))

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """It goes on with its skill where it has one that is not done, and does nothing elsewhere."""
        return self._decision(situation, None)

    def arrived(self, situation: Situation, late: Decision) -> Decision:
        """The skills of a decision that was asked for at an earlier step are taken up where they still hold;
        where they do not, it is asked again at the next step."""
        made = self._decision(situation, None, late)
        return replace(made, calls=late.calls, fallback=late.fallback)

    def _decision(self, situation: Situation, door: Door | None, late: Decision | None = None) -> Decision:
        made = Made.going_on(late)
        for seat in situation.seats:
            carrying = self._carrying(made, situation, seat)
            if door and self._may_ask(situation, seat) and carrying.needs_plan:
                self._ask(made, carrying, door)
            elif late is not None:
                carrying.tries = late.note["seats"][str(seat)].get("tries", [])
                carrying.take_late(_of(late.memory, seat))
            self._carry_out(made, carrying, situation)
        return Decision(
            made.commands,
            memory=made.memory,
            played_by=_who(made.by),
            note=made.note(),
            calls=tuple(door.calls) if door else (),
            fallback=made.fallback,
            intents=made.intents if situation.tells else {},
        )

    def _carrying(self, made: Made, situation: Situation, seat: int) -> Carrying:
        """What there is in this seat before anybody is asked, after a look at what happened."""
        skills, sight = get_skills(situation.world), Sight.of(situation, seat)
        memory, judged = compare(_of(situation.memory, seat), skills, sight, situation.step)
        made.judged += judged
        return Carrying(skills, sight, self.options, situation.step, memory)

    def _may_ask(self, situation: Situation, seat: int) -> bool:
        asked = situation.asked is None or seat in situation.asked
        return asked and situation.because != TO_ANSWER

    def _carry_out(self, made: Made, carrying: Carrying, situation: Situation) -> None:
        seat = carrying.sight.seat
        made.memory[str(seat)] = carrying.memory.to_json()
        made.seats[str(seat)] = carrying.note()
        if situation.asked is None or seat in situation.asked:
            chance = Random(derived_seed(situation.seed, seat))  # noqa: S311
            if command := carrying.command(chance):
                made.commands[seat] = command
            made.by.append(carrying.by or NOBODY)
        told = carrying.intent_for(situation.people if self.options.tell_foreseen else ())
        if told:
            made.intents[seat] = told

    def _ask(self, made: Made, carrying: Carrying, door: Door) -> None:
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
            carrying.take(self._instead(skills, sight, step))

    def _count(self, made: Made, planned: Planned, seat: int) -> None:
        if planned.tries:
            made.asked += 1
            made.faults += planned.tries[-1].faults(seat)
            made.mended += [fault for one in planned.tries[:-1] for fault in one.faults(seat)]

    def _instead(self, skills: Skills, sight: Sight, step: int) -> Plan:
        """What is planned without an answer."""
        if self.options.fallback != BY_RULE:
            return Plan(wait(), NOBODY, step)
        manner = self.options.manner(skills.manner(sight))
        return Plan(skills.rule(sight, sight.seat, manner), STAND_IN, step)


PLAYS = {
    BY_RULE: "the stand-in's rule will plan every skill, as the fallback",
    "none": "the teammate will wait in every step, as the fallback",
}


def _of(memory: Json, seat: int) -> Memory:
    return Memory.read(memory.get(str(seat)) if isinstance(memory, dict) else None)


def _who(by: list[str]) -> str:
    """Who chose, where several seats may differ: whoever is least of a model."""
    return next((one for one in (NOBODY, STAND_IN) if one in by), ProAgent.kind)
