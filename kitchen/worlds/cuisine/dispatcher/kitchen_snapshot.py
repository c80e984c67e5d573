"""Describe one step of a kitchen before the dispatcher commands, and spell commands for the model."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from kitchen.contract.agent import NO_ONE, REASON_TO_ANSWER, LateDecision, Situation
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Event, Json
from kitchen.words.english_text import and_list

GivenCommand = tuple[int, Command]
"""A seat and its command."""
SENTENCES: Mapping[str, Json] = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
"""The fixed sentences of the prompt, of the feedback, and of the stand-in's replies."""


@dataclass(frozen=True, slots=True)
class CommandedTeam:
    """The agents of a kitchen, by commander; seat 1 is `agent1`."""

    agents: int
    mine: tuple[int, ...]
    """Seats that the dispatcher commands."""
    people: tuple[int, ...] = ()
    settled: tuple[int, ...] = ()
    """Seats of `mine` that already have a command in this step."""

    @property
    def others(self) -> tuple[int, ...]:
        """Seats that another agent program commands."""
        return tuple(seat for seat in range(self.agents) if seat not in (*self.mine, *self.people))

    @property
    def asked(self) -> tuple[int, ...]:
        """Seats that the dispatcher commands in this step."""
        return tuple(seat for seat in self.mine if seat not in self.settled)

    def named(self, seat: int) -> str:
        """Return the name `agent1`, with a mark for seats that the dispatcher does not command: `agent0 (a
        person)`."""
        mark = " (a person)" if seat in self.people else " (not yours)" if seat in self.others else ""
        return agent_name(seat) + mark

    def list_mine(self) -> str:
        """Return the names of all agents of the dispatcher, as text: `agent1, agent2 and agent3`."""
        return and_list([agent_name(seat) for seat in self.mine])

    def list_asked(self) -> str:
        """Return the names of the dispatcher's agents that need a command in this step, as text."""
        return and_list([agent_name(seat) for seat in self.asked])


@dataclass(frozen=True, slots=True)
class KitchenMoment:
    """One step of a CuisineWorld kitchen before the dispatcher commands."""

    brief: Mapping[str, Json]
    observation: Mapping[str, Json]
    team: CommandedTeam
    commanded: Mapping[int, Command] = field(default_factory=dict)
    """Commands of this step that run before the dispatcher's new ones: first those of others, then those of
    its settled seats."""
    events: tuple[Event, ...] = ()
    """Events of the last step."""
    organisation: Organisation | None = None
    """The organisation, if people and co-players may write to each other; else None."""
    member: int = 0
    messages: tuple[TeamMessage, ...] = ()
    """Messages to and from the dispatcher."""
    jobs: tuple[Job, ...] = ()
    """Open jobs that the dispatcher received or gave."""
    late: tuple[LateDecision, ...] = ()
    """Decisions of the dispatcher that came too late."""
    sees_people: bool = True
    """True if the dispatcher learns people's commands of a step before it decides."""
    only_answers: bool = False
    """True if the dispatcher may only answer messages; the rest of its reply is ignored."""

    @classmethod
    def of(cls, situation: Situation) -> Self:
        """Return the moment of a situation; every seat of CuisineWorld observes the same."""
        seat = situation.seats[0]
        brief, observation = situation.briefs[seat], situation.observations[seat]
        people = tuple(each for each in situation.people if each not in situation.seats)
        asked = situation.seats if situation.request.asked is None else situation.request.asked
        settled = tuple(sorted(set(situation.seats) - set(asked)))
        agents, mine = len(observation["agents"]), tuple(sorted(situation.seats))
        team = CommandedTeam(agents, mine, tuple(sorted(people)), settled)
        others = {s: c for s, c in situation.commanded.items() if s not in situation.seats}
        ours = {s: c for s, c in situation.commanded.items() if s in settled}
        moment = cls(brief, observation, team, {**others, **ours}, situation.events)
        moment = replace(moment, sees_people=situation.request.knowing != NO_ONE, late=situation.late)
        if situation.talk.organisation is None or situation.talk.organisation.is_silent:
            return moment
        return replace(
            moment,
            organisation=situation.talk.organisation,
            member=situation.talk.member,
            messages=situation.talk.messages,
            jobs=situation.talk.jobs,
            only_answers=situation.request.because == REASON_TO_ANSWER,
        )


def agent_name(seat: int) -> str:
    """Return the name of a seat in the prompts."""
    return f"agent{seat}"


def is_useful_item(item: str, brief: Mapping[str, Json]) -> bool:
    """Return whether the item is a dish of this level or an ingredient of one of its recipes."""
    return item in brief["dishes"] or any(item in r["ingredients"] for r in brief["recipes"].values())


NO_ARGUMENT = "none"
"""The value for no location or item in the structured reply."""


def spell_command(seat: int, command: Command) -> str:
    """Return a command as text, such as `get_agent1_storage0_tuna`."""
    return "_".join([command[0] if command else "", agent_name(seat), *command[1:]])


def command_object(seat: int, command: Command) -> dict[str, str]:
    """Return a command as one entry of the structured reply."""
    verb, location, item = (*command, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT)[:3]
    return {"agent": agent_name(seat), "verb": verb, "location": location, "item": item}


def spell_commands(given: Iterable[GivenCommand], *, as_tool: bool) -> str:
    """Return several commands in the form that the model has to use."""
    if as_tool:
        return json.dumps({"commands": [command_object(*each) for each in given]})
    return "\n".join(spell_command(*each) for each in given)
