"""Implement the co-player `human_like`: a program with the habits of people.

In each step it does what the world's adviser program recommends, or waits, or makes a detour, at the rates of
one person. It may serve as a synthetic teammate whose mistakes are like those of people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from random import Random
from typing import ClassVar

from kitchen.agents.human_like.habit_choice import HabitState, habit_choice
from kitchen.agents.human_like.play_habits import (
    NUMBERS_IN_LINE,
    USEFUL,
    PlayHabits,
    made_up_habits,
    read_habits,
)
from kitchen.contract.agent import Agent, Decision, Situation, TeamTalk
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Command, Json, World
from kitchen.registry.agent_registry import NO_ADVISER, get_adviser

MADE_UP = made_up_habits()


class HumanLike(Agent):
    """Plays like one of the people in its setting. Each seat is a person of its own, drawn at the start of
    an episode."""

    kind: ClassVar[str] = "human_like"
    instant: ClassVar[bool] = True
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "people",
            "text",
            "How people play",
            "",
            help="One line for each person, as `manage.py fit_people` writes them: a name, "
            f"{NUMBERS_IN_LINE - 1} percentages, the number of steps. The program plays like one of them, "
            "drawn for each episode. Empty: like people who are made up.",
            maximum=40_000,
            lines=8,
        ),
    )

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the people. Raises SettingsError for a line that cannot be read."""
        super().__init__(chosen)
        self.people: tuple[PlayHabits, ...] = read_habits(self.chosen["people"])

    def remarks(self) -> tuple[str, ...]:
        """Return a sentence if nobody was measured."""
        if self.people:
            return ()
        return ("Without lines under How people play, this program plays like people who are made up.",)

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why the agent cannot play this world; empty if it can. It writes nothing, and needs an
        adviser that plays without words."""
        adviser = get_adviser(world.kind)
        if adviser is NO_ADVISER:
            return "the world has no adviser program"
        return "it writes nothing, and nobody can play here without words" if adviser.needs_words else ""

    async def decide(self, situation: Situation) -> Decision:
        """Return a command for each seat that has one, with a note: the person, and the kind of the step."""
        people, memory = self.people or MADE_UP, situation.memory or {}
        commands: dict[int, Command] = {}
        kept: dict[str, Json] = {}
        note: dict[str, Json] = {}
        for seat in situation.seats:
            chance = Random(derived_seed(situation.seed, seat))  # noqa: S311
            known = memory.get(str(seat)) or {"person": chance.randrange(len(people)), "kind": USEFUL}
            alone = seat_situation(situation, seat, known.get("adviser"))
            advised = get_adviser(situation.world).decide(alone)
            habits, state = people[known["person"] % len(people)], state_from_json(known)
            if offered := situation.legal[seat]:
                wanted = advised.commands.get(seat)
                commands[seat], state = habit_choice(alone, wanted, habits, state, chance, offered)
            kept[str(seat)] = {
                "person": known["person"],
                "adviser": advised.memory,
                **state_to_json(state),
            }
            note[str(seat)] = {"person": habits.name, "kind": state.kind}
        said = {"habits": note, "made_up": not self.people}
        return Decision(commands, memory=kept, note=said)


def seat_situation(situation: Situation, seat: int, memory: Json) -> Situation:
    """Return the situation of one seat of the agent, with the adviser's memory and without messages."""
    return replace(
        situation,
        seats=(seat,),
        briefs={seat: situation.briefs[seat]},
        observations={seat: situation.observations[seat]},
        legal={seat: situation.legal[seat]},
        memory=memory,
        talk=TeamTalk(),
    )


def state_to_json(state: HabitState) -> dict[str, Json]:
    """Return the state as JSON for the agent's memory."""
    return {"kind": state.kind, "detour": list(state.detour) if state.detour else None}


def state_from_json(known: Mapping[str, Json]) -> HabitState:
    """Return the state that the memory holds."""
    detour = known.get("detour")
    return HabitState(known["kind"], tuple(detour) if detour else None)
