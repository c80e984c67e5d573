"""The dispatcher by skills as a co-player: notice, plan for all that need a skill, carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kitchen.agents.skill_dispatcher import prompt
from kitchen.agents.skill_dispatcher.options import SETTINGS, Options
from kitchen.agents.skill_dispatcher.planning import Asking, Planned
from kitchen.agents.skilled.agent import SCENE_GROWS, Made, SkilledAgent, of_seat
from kitchen.agents.skilled.carrying_out import Carrying
from kitchen.agents.skilled.door import Door
from kitchen.agents.skilled.plan import Held, Plan
from kitchen.agents.skilled.settings import AT_ONCE
from kitchen.agents.skilled.telling import succeeded
from kitchen.contract.agent import Decision, Rehearsal, Situation
from kitchen.contract.model import Message
from kitchen.contract.skills import Sight, spelled
from kitchen.contract.world import Json, Setting
from kitchen.llm.registry import STAND_IN
from kitchen.registry.agents import get_skills

LONGEST = 4000
"""Characters of one remembered message."""
HISTORY = "history"
CHOICES_GROW = 400
"""Tokens, at worst, by which the list of what a seat can begin is longer later on."""

Carried = Mapping[int, Carrying[Held]]
"""By seat."""


class SkillDispatcher(SkilledAgent):
    """A language model that plans for all its seats at once, and foresees nobody."""

    kind = "skill_dispatcher"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    options: Options

    def read_options(self, chosen: Mapping[str, Json]) -> Options:
        """Its own."""
        return Options.read(chosen)

    def rehearsal(self) -> Rehearsal:
        """By the stand-in. At worst all seats need a skill in every step, and all plans are refused."""
        chosen = {**self.chosen, **AT_ONCE}
        return Rehearsal(
            chosen,
            self.options.memory,
            self.options.again,
            {**chosen, "memory": self.options.memory},
            told=SCENE_GROWS + CHOICES_GROW,
        )

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """The system message."""
        return (prompt.fixed_part(get_skills(situation.world), _sights(situation), self.options),)

    def decided(self, situation: Situation, deadline: float | None, late: Decision | None = None) -> Decision:
        """One call for all seats that need a skill."""
        made, skills = Made.going_on(late), get_skills(situation.world)
        door = None if deadline is None else Door(self.options, situation, deadline)
        history = _history((late or situation).memory)
        carried = {
            seat: Carrying(skills, sight, self.options, situation.step, _held(situation.memory, seat))
            for seat, sight in _sights(situation).items()
        }
        if late is not None:
            for seat, carrying in carried.items():
                carrying.arrive(late.note["seats"][str(seat)], _held(late.memory, seat))
        due = [seat for seat, each in carried.items() if each.needs_plan and self.may_ask(situation, seat)]
        if door and due:
            history = self._ask(made, carried, due, situation, door, history)
        for carrying in carried.values():
            made.carried_out(carrying, situation, carrying.intent())
        return Decision(
            made.commands,
            memory={"seats": made.memory, HISTORY: history},
            played_by=self.who(made.by),
            note={"seats": made.seats, **made.read()},
            calls=tuple(door.calls) if door else (),
            fallback=made.fallback,
            intents=made.intents,
        )

    def _ask(
        self,
        made: Made,
        carried: Carried,
        due: Sequence[int],
        situation: Situation,
        door: Door,
        history: list[Json],
    ) -> list[Json]:
        """Plans for those that are due; the history with this exchange."""
        skills, sights = get_skills(situation.world), _sights(situation)
        scene = prompt.scene_part(skills, sights, situation.step + 1, list(self._happened(carried)))
        told = [scene, *prompt.others_part(skills, sights, situation.commanded)]
        told += prompt.choices_part(skills, sights, due) if self.options.choices else []
        question = "\n".join([*told, prompt.asking(skills, due)])
        planned = Asking(skills, sights, self.options, door).plan(due, question, _messages(history))
        self._take(made, carried, planned, door)
        exchange = [scene[:LONGEST], prompt.answer(skills, planned.skills)]
        kept = [*history, exchange] if planned.skills else history
        return kept[-self.options.memory :] if self.options.memory else []

    def _happened(self, carried: Carried) -> list[str]:
        """What ended now, and what the others of its seats are at."""
        said = []
        for seat, each in carried.items():
            name, plan = each.skills.named(seat), each.memory.newest
            if each.did:
                said.append(succeeded(name, each.did))
            if plan:
                said.append(f"{name} is at {spelled(plan.skill)}.")
        return said

    def _take(self, made: Made, carried: Carried, planned: Planned, door: Door) -> None:
        for seat in planned.seats:
            each = carried[seat]
            each.tries = [one.to_json() for one in planned.tries[seat]]
            if seat in planned.skills:
                by = STAND_IN if door.is_stand_in else self.kind
                each.take(Plan(planned.skills[seat], by, each.step))
            else:
                each.take(self.instead(each.skills, each.sight, each.step))
        made.fallback = planned.error
        if any(planned.tries.values()):
            made.asked = len(planned.seats)
            made.faults, made.mended = planned.faults(-1), planned.mended


def _sights(situation: Situation) -> dict[int, Sight]:
    return {seat: Sight.of(situation, seat) for seat in situation.seats}


def _held(memory: Json, seat: int) -> Held:
    return Held.read(of_seat(memory["seats"], seat) if isinstance(memory, dict) else None)


def _history(memory: Json) -> list[Any]:
    return list(memory[HISTORY]) if isinstance(memory, dict) else []


def _messages(history: Sequence[Sequence[str]]) -> list[Message]:
    """As they are sent again."""
    pairs = ((Message("user", asked), Message("assistant", said)) for asked, said in history)
    return [message for pair in pairs for message in pair]
